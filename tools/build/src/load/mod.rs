//! Reads a manifest with the board and the profile that it names, and admits it as far as no program is needed.

use std::path::{Path, PathBuf};

use manifest::input::{self, Unread};
use manifest::resolved::System;
use manifest::{Board, BoardFile, Bound, Diagnostic, Document, Refusal};
use place::Placed;

use crate::c::no_source;
use crate::install::Install;
use crate::locate::{of_program, of_suspects};
use crate::options::Options;
use crate::profile::Profile;
use crate::services::Services;
use crate::sources::can_be_compiled;

/// A manifest with what it refers to.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The manifest.
    pub document: Document,
    /// Its board.
    pub board: Board,
    /// Its profile.
    pub profile: Profile,
    /// Name of the directory of results: the system's, with the board's if that is another than the manifest's.
    pub results: String,
    /// The services that come with Cofferdam.
    services: Services,
}

/// The board and the profile that are asked for in the place of those that a manifest names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instead<'a> {
    /// The board, if one is.
    pub board: Option<&'a str>,
    /// The profile, if one is.
    pub profile: Option<&'a str>,
}

impl<'a> Instead<'a> {
    /// Another board with its own chip.
    pub fn board(name: &'a str) -> Instead<'a> {
        Instead { board: Some(name), profile: None }
    }
}

/// Those of the two that are not the document's own.
#[derive(Clone, Copy, Default)]
struct Given {
    board: bool,
    profile: bool,
}

/// A system that the checks without programs have admitted.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The system.
    pub system: System,
    /// Its response-time bounds; without budgets there are none, because nothing bounds what a thread takes.
    pub bounds: Vec<Bound>,
}

impl Loaded {
    /// Reads a manifest from a file.
    ///
    /// # Errors
    /// What is wrong with the file, or the names of board and profile.
    pub fn load(install: &Install, path: &Path) -> Result<Loaded, Diagnostic> {
        Loaded::new(install, Document::read(path)?)
    }

    /// As [`Loaded::load`], for another board or another profile than the manifest's if one is given. The profile of another board is that
    /// board's own unless one is given, or the manifest's is for that board, too.
    ///
    /// # Errors
    /// As [`Loaded::load`].
    pub fn load_for(install: &Install, path: &Path, instead: Instead) -> Result<Loaded, Diagnostic> {
        Loaded::of(install, Document::read(path)?, instead)
    }

    /// As [`Loaded::load_for`], for a document.
    ///
    /// # Errors
    /// As [`Loaded::load`].
    pub fn of(install: &Install, mut document: Document, instead: Instead) -> Result<Loaded, Diagnostic> {
        let directory = document.directory().to_owned();
        let system = &mut document.manifest.system;
        let mut given = Given::default();
        if let Some(name) = instead.board.filter(|name| *name != system.board) {
            let board = install.board_file(name, Path::new("."))?;
            system.profile = system.profile.take().filter(|profile| {
                let found = Profile::find(install, profile, &directory);
                found.is_ok_and(|found| found.parameters.board == board.machine)
            });
            system.board = install.board_text(&board);
            given.board = true;
        }
        if let Some(name) = instead.profile {
            // Paths of the command line are not relative to the manifest.
            let path = std::path::absolute(name).ok().filter(|_| name.ends_with(".toml"));
            system.profile = Some(path.map_or(name.to_owned(), |path| path.display().to_string()));
            given.profile = true;
        }
        let loaded = Loaded::resolved(install, document, given)?;
        let board = given.board.then_some(&*loaded.board.name);
        Ok(Loaded { results: results_of(&loaded.results, board, instead.profile), ..loaded })
    }

    /// Finds board and profile of a document.
    ///
    /// # Errors
    /// CF0202 for an unknown board or profile.
    pub fn new(install: &Install, document: Document) -> Result<Loaded, Diagnostic> {
        Loaded::resolved(install, document, Given::default())
    }

    /// Refusals of board and profile show where the document names them, unless they were given otherwise.
    fn resolved(install: &Install, document: Document, given: Given) -> Result<Loaded, Diagnostic> {
        let at = |place: &str, d: Diagnostic| {
            if given.board && place == "system.board" || given.profile && place == "system.profile" {
                return d;
            }
            let refusal = Refusal { place: place.into(), ..d.refusal().clone() };
            document.locate(refusal)
        };
        let system = &document.manifest.system;
        let file = install.board_file(&system.board, document.directory()).map_err(|d| at("system.board", d))?;
        let profile = match system.profile.as_deref() {
            None => install.chip_of(&file),
            Some(name) => Profile::find(install, name, document.directory()),
        };
        let profile = profile.map_err(|d| at("system.profile", d))?;
        let name = system.profile.as_deref().unwrap_or(&file.chip);
        if profile.parameters.board != file.machine {
            let text = format!("the profile `{name}` is for the board `{}`", profile.parameters.board);
            let refused = Diagnostic::new("CF0202", text)
                .rule("a profile maps the addresses of one board to a chip's memories")
                .remedy("choose a profile for the board");
            return Err(at("system.profile", refused));
        }
        if system.profile.is_some() {
            same_kernel(install, &file, &profile, name).map_err(|d| at("system.profile", d))?;
        }
        let console_bound = file.console_bound_us;
        let services = Services::new(install.root.join("services"), &file, name);
        let board = profile.board(install, file).map_err(|d| at("system.board", d))?;
        let results = system.name.clone();
        let mut document = document;
        manifest::fit_console(&mut document.manifest, console_bound);
        Ok(Loaded { document, board, profile, results, services })
    }

    /// Every check that needs no program: names, memory as declared, time.
    ///
    /// # Errors
    /// Every refusal found.
    pub fn admit(&self, budgets: bool) -> Result<Admitted, Vec<Diagnostic>> {
        self.admit_with(Options { budgets, ..Options::default() })
    }

    /// As [`Loaded::admit`].
    pub(crate) fn admit_with(&self, Options { budgets, analysis }: Options) -> Result<Admitted, Vec<Diagnostic>> {
        let manifest = &self.document.manifest;
        let checked = manifest::check(manifest, &self.board, budgets);
        let package = |path: &str| self.package(path);
        let services =
            [&self.services.refused(manifest, &self.board, package)[..], &self.services.unserved(manifest, package)];
        let others = [self.programs_there(), services.concat()].concat();
        let located = |found: Vec<Refusal>| found.into_iter().map(|refusal| self.document.locate(refusal)).collect();
        let system = match checked {
            Ok(system) if others.is_empty() => system,
            checked => return Err(located([checked.err().unwrap_or_default(), others].concat())),
        };
        let bounds =
            if budgets && analysis { manifest::analyse(&system, &self.board).map_err(located)? } else { Vec::new() };
        Ok(Admitted { system, bounds })
    }

    /// The number of the domain that runs the console that comes with Cofferdam.
    pub(crate) fn console(&self) -> Option<usize> {
        self.services.console(&self.document.manifest, |path| self.package(path))
    }

    /// Refuses what the memory manager would refuse when it starts.
    pub(crate) fn opens(&self, placed: &Placed) -> Option<Refusal> {
        self.services.opens(&self.document.manifest, placed, |path| self.package(path))
    }

    /// Paths in a manifest are relative to it; `data:NAME` is a file of fetched data (`COFFERDAM_DATA`, or `data` in the target directory).
    pub fn path(&self, install: &Install, text: &str) -> PathBuf {
        let Some(name) = text.strip_prefix("data:") else { return self.document.directory().join(text) };
        let data = std::env::var_os("COFFERDAM_DATA").map_or(install.root.join("target/data"), PathBuf::from);
        data.join(name)
    }

    /// Admitted, and yet hardly meant: circles of gates, and words of finished programs that may be addresses and that no relocation names.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let circles = manifest::circles(&self.document.manifest).into_iter();
        let mut found: Vec<Diagnostic> = circles.map(|refusal| self.document.locate(refusal).as_warning()).collect();
        for (name, domain) in &self.document.manifest.domain {
            let Some(path) = &domain.elf else { continue };
            let Ok(file) = input::read(&self.document.directory().join(path), input::MOST_BINARY) else { continue };
            let suspects = place::suspects(name, &file).unwrap_or_default();
            if let Some(refusal) = of_suspects(name, &suspects) {
                found.push(self.document.locate(refusal).as_warning());
            }
        }
        found
    }

    /// The directory of a domain's package: relative to the manifest, or `cofferdam:NAME`, a service that comes with Cofferdam.
    pub fn package(&self, text: &str) -> PathBuf {
        match text.strip_prefix("cofferdam:") {
            Some(service) => self.services.directory.join(service),
            None => self.document.directory().join(text),
        }
    }

    /// Programs that are not there, and finished ELF files that cannot be used.
    fn programs_there(&self) -> Vec<Refusal> {
        let directory = self.document.directory();
        let mut found = Vec::new();
        for (name, domain) in &self.document.manifest.domain {
            let crates = domain.package.as_ref().map(|c| ("crate", Path::new(&c.path).join("Cargo.toml")));
            let sources = domain.c.iter().flat_map(|c| c.sources.iter().filter(|s| !s.contains('*')));
            let sources = sources.map(|source| ("c.sources", PathBuf::from(source)));
            let elf = domain.elf.as_ref().map(|e| ("elf", PathBuf::from(e)));
            for (key, path) in crates.into_iter().chain(sources).chain(elf) {
                let place = format!("domain.{name}.{key}");
                if key != "elf" {
                    let file =
                        if key == "crate" { self.package(&path.to_string_lossy()) } else { directory.join(&path) };
                    let refused = input::readable(&file, input::MOST_TEXT).err();
                    let refused = refused.map(|why| missing(place.clone(), &path, &why));
                    let no_source = (key != "crate" && !can_be_compiled(&path))
                        .then(|| Refusal { place, ..no_source(&path, &path.to_string_lossy()) });
                    found.extend(refused.or(no_source));
                    continue;
                }
                match input::read(&directory.join(&path), input::MOST_BINARY) {
                    Err(why) => found.push(missing(place, &path, &why)),
                    Ok(file) => {
                        let suits = |isa| place::suits(name, &file, isa);
                        let isa = place::Isa::of_target(&self.board.core.targets.domain);
                        let refused = isa.map_or(Ok(()), suits).and_then(|()| place::suspects(name, &file).map(drop));
                        let refused = refused.err();
                        found.extend(refused.map(|error| Refusal { place, ..of_program(&error) }));
                    }
                }
            }
        }
        found
    }
}

/// Name of the directory of results of a system on another board than its manifest's, or with another profile: a name of one, or a path.
pub fn results_of(system: &str, board: Option<&str>, profile: Option<&str>) -> String {
    let profile = profile.and_then(|profile| Path::new(profile.trim_end_matches(".toml")).file_name()?.to_str());
    [Some(system), board, profile].into_iter().flatten().collect::<Vec<_>>().join(".")
}

fn missing(place: String, path: &Path, why: &Unread) -> Refusal {
    let refusal = Refusal { place, ..manifest::unread(path, why, "CF0501") };
    match why {
        Unread::Io(_) => refusal
            .rule("the program of a domain exists; paths are relative to the manifest")
            .remedy("correct the path, or build the program first"),
        _ => refusal,
    }
}

/// Refuses a profile whose processor needs another kernel than the board's own chip: that is the one that is built.
fn same_kernel(install: &Install, file: &BoardFile, profile: &Profile, name: &str) -> Result<(), Diagnostic> {
    let own = install.chip_of(file)?;
    let ways = |profile: &Profile| {
        let core = profile.parameters.application.as_ref();
        core.map_or("none".to_owned(), |core| {
            format!("{} in {:#x} bytes", core.l2.cache.ways.value, core.l2.cache.size.value)
        })
    };
    let (found, limit) = if profile.core != own.core {
        (format!("core {}", profile.core), format!("core {}", own.core))
    } else if profile.setup != own.setup {
        ("another `setup`".to_owned(), format!("that of `{}`", file.chip))
    } else if ways(profile) != ways(&own) {
        (format!("ways: {}", ways(profile)), format!("ways: {}", ways(&own)))
    } else {
        return Ok(());
    };
    Err(Diagnostic::new(
        "CF0202",
        format!("the profile `{name}` needs another kernel than the board's own chip `{}`", file.chip),
    )
    .value(found)
    .limit(limit)
    .rule("a board's kernel is made for one core, with one set-up and so many ways of its second-level cache")
    .remedy("describe a board of its own with this chip, or choose a profile of the board's processor"))
}

#[cfg(test)]
mod tests;
