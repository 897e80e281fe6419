//! Reads a manifest with the board and the profile that it names, and admits it as far as no program is needed.

use std::path::{Path, PathBuf};

use manifest::{Board, Bound, Diagnostic, Document, Refusal};

use crate::install::Install;
use crate::locate::refusal;
use crate::profile::Profile;

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
}

/// Refuses a profile whose processor has other numbers of what the kernel divides than the kernel knows.
fn disagreement(profile: &Profile, name: &str) -> Option<Refusal> {
    let core = profile.parameters.application.as_ref()?;
    let (ways, size) = (core.l2.cache.ways.value, core.l2.cache.size.value);
    let facts = [
        ("application.mmu.lock_entries", core.mmu.lock_entries.value, protect::vmsa::LOCK_SLOTS as u32),
        ("application.l2.cache.ways", ways, protect::vmsa::lockdown::WAYS),
        ("application.l2.cache.size", size, protect::vmsa::lockdown::WAYS * protect::vmsa::lockdown::WAY_BYTES),
    ];
    let (key, found, known) = facts.into_iter().find(|(_, found, known)| found != known)?;
    let text = format!("the profile `{name}` is of another processor than the kernel's");
    Some(
        Refusal::at("CF0202", "system.profile", text)
            .value(format!("{key} = {found}"))
            .limit(known.to_string())
            .rule("the kernel for a processor knows how many entries and ways of it can be locked")
            .remedy("choose a profile of the board's processor, or correct this one"),
    )
}

impl Loaded {
    /// Reads a manifest from a file.
    ///
    /// # Errors
    /// What is wrong with the file, or the names of board and profile.
    pub fn load(install: &Install, path: &Path) -> Result<Loaded, Diagnostic> {
        Loaded::new(install, Document::read(path)?)
    }

    /// As [`Loaded::load`], for another board than the manifest's if one is given. The profile is then the board's own unless the manifest's
    /// is for that board, too.
    ///
    /// # Errors
    /// As [`Loaded::load`].
    pub fn load_for(install: &Install, path: &Path, board: Option<&str>) -> Result<Loaded, Diagnostic> {
        let mut document = Document::read(path)?;
        let system = &mut document.manifest.system;
        if let Some(name) = board.filter(|name| *name != system.board) {
            let board = install.board(name)?;
            let profile = system.profile.take();
            system.profile = profile.filter(|profile| {
                let found = Profile::find(install, profile, path.parent().unwrap_or(Path::new(".")));
                found.is_ok_and(|found| found.parameters.board == board.machine)
            });
            name.clone_into(&mut system.board);
            let loaded = Loaded::new(install, document)?;
            let results = results_of(&loaded.results, name);
            return Ok(Loaded { results, ..loaded });
        }
        Loaded::new(install, document)
    }

    /// Finds board and profile of a document.
    ///
    /// # Errors
    /// CF0202 for an unknown board or profile.
    pub fn new(install: &Install, document: Document) -> Result<Loaded, Diagnostic> {
        let at = |place: &str, d: Diagnostic| {
            let refusal = Refusal { place: place.into(), ..d.refusal().clone() };
            document.locate(refusal)
        };
        let system = &document.manifest.system;
        let board = install.board(&system.board).map_err(|d| at("system.board", d))?;
        let name = system.profile.as_deref().unwrap_or(&board.profile);
        let profile = Profile::find(install, name, document.directory()).map_err(|d| at("system.profile", d))?;
        if profile.parameters.board != board.machine {
            let text = format!("the profile `{name}` is for the board `{}`", profile.parameters.board);
            let refusal = Refusal::at("CF0202", "system.profile", text)
                .rule("a profile maps the addresses of one board to a chip's memories")
                .remedy("choose a profile for the board");
            return Err(document.locate(refusal));
        }
        if let Some(refusal) = disagreement(&profile, name) {
            return Err(document.locate(refusal));
        }
        let results = system.name.clone();
        Ok(Loaded { document, board, profile, results })
    }

    /// Every check that needs no program: names, memory as declared, time. Returns the response-time bounds; without budgets
    /// there are none, because nothing bounds what a thread takes.
    ///
    /// # Errors
    /// Every refusal found.
    pub fn admit(&self, budgets: bool) -> Result<Vec<Bound>, Vec<Diagnostic>> {
        let manifest = &self.document.manifest;
        let mut found = manifest::check(manifest, &self.board);
        found.extend(self.programs_there());
        let mut bounds = Vec::new();
        if found.is_empty() && budgets {
            match manifest::analyse(manifest, &self.board, self.profile.cpu_hz()) {
                Ok(all) => bounds = all,
                Err(refused) => found = refused,
            }
        }
        if found.is_empty() { Ok(bounds) } else { Err(found.into_iter().map(|r| self.document.locate(r)).collect()) }
    }

    /// Paths in a manifest are relative to it; `data:` leads to the directory of fetched data.
    pub fn path(&self, install: &Install, text: &str) -> PathBuf {
        resolve(install, self.document.directory(), text)
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
                match std::fs::read(directory.join(&path)) {
                    Err(error) => found.push(missing(place, &path, &error)),
                    Ok(file) if key == "elf" => {
                        let refused = place::Program::parse(name, &file).err();
                        let refused = refused.map(|error| refusal(&self.document.manifest, &error));
                        found.extend(refused.map(|refusal| Refusal { place, ..refusal }));
                    }
                    Ok(_) => {}
                }
            }
        }
        found
    }
}

/// Name of the directory of results of a system on another board than its manifest's.
pub fn results_of(system: &str, board: &str) -> String {
    format!("{system}.{board}")
}

fn missing(place: String, path: &Path, error: &std::io::Error) -> Refusal {
    let why = if error.kind() == std::io::ErrorKind::NotFound { "does not exist".into() } else { error.to_string() };
    Refusal::at("CF0501", place, format!("`{}` {why}", path.display()))
        .rule("the program of a domain exists; paths are relative to the manifest")
        .remedy("correct the path, or build the program first")
}

/// `data:NAME` is a file of fetched data (`COFFERDAM_DATA`, or `data` in the target directory).
pub(crate) fn resolve(install: &Install, directory: &Path, text: &str) -> PathBuf {
    let Some(name) = text.strip_prefix("data:") else { return directory.join(text) };
    let data = std::env::var_os("COFFERDAM_DATA").map_or(install.root.join("target/data"), PathBuf::from);
    data.join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_another_processor_is_refused() {
        let install = Install::find().unwrap();
        let mut profile = Profile::find(&install, "xc7z020", Path::new(".")).unwrap();
        assert_eq!(disagreement(&profile, "xc7z020").map(|refusal| refusal.place), None);
        profile.parameters.application.as_mut().unwrap().mmu.lock_entries.value = 6;
        let refusal = disagreement(&profile, "other").unwrap();
        assert_eq!((refusal.place.as_str(), refusal.limit.as_str()), ("system.profile", "4"));
    }
}
