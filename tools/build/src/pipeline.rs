//! The whole way: admit, build, place, write.

use std::path::{Path, PathBuf};

use manifest::resolved::{Domain, File, System};
use manifest::{Bound, Diagnostic, Refusal, input};
use place::{Placed, Programs};
use serde_json::json;

use crate::c::{Flags, build_c};
use crate::claim::Claim;
use crate::files::write_file;
use crate::install::{Install, unreadable};
use crate::load::{Admitted, Loaded};
use crate::options::Options;
use crate::origin::Origin;
use crate::toolchain::Toolchain;
use crate::{Linked, build_crate, build_kernel, describe, locate};

/// The word of progress while somebody else builds or runs this system.
pub const WAITING: &str = "when the run under way is over";

/// An image with what belongs to it.
#[derive(Clone, Debug)]
pub struct Built {
    /// The manifest and what it refers to.
    pub loaded: Loaded,
    /// The system as it was admitted.
    pub system: System,
    /// Directory of the system's results.
    pub dir: PathBuf,
    /// The image.
    pub image: PathBuf,
    /// The kernel's own ELF, with debug information.
    pub kernel: PathBuf,
    /// Each domain's ELF at its final addresses.
    pub domains: Vec<PathBuf>,
    /// Result of placing the system.
    pub placed: Placed,
    /// The description for reports, also in `layout.json`.
    pub description: report::SystemDescription,
    /// The bounds that admission computed.
    pub bounds: Vec<Bound>,
    /// Warnings of compilers.
    pub warnings: Vec<Diagnostic>,
    /// Nobody else builds or runs this system meanwhile.
    pub claim: Claim,
}

/// Programs that compilers made.
pub struct Compiled {
    /// Kernel and domains.
    pub programs: Programs,
    /// Warnings of compilers (CF0523).
    pub warnings: Vec<Diagnostic>,
}

/// Builds the programs of a system. `progress` is told what is built.
///
/// # Errors
/// The first program that does not build.
pub fn programs(install: &Install, loaded: &Loaded, progress: &mut dyn FnMut(&str)) -> Result<Compiled, Diagnostic> {
    let tools = Toolchain::find(install, &loaded.board.core)?;
    progress("kernel");
    let kernel = build_kernel(install, &tools, &loaded.board)?;
    let directory = loaded.document.directory();
    let (mut domains, mut commands, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let results = install.system_dir(&loaded.results);
    let mut flags = None;
    for (name, domain) in &loaded.document.manifest.domain {
        progress(name);
        let place = |d: Diagnostic| {
            let refusal = Refusal { place: format!("domain.{name}"), ..d.refusal().clone() };
            loaded.document.locate(refusal)
        };
        let linked = if let Some(source) = &domain.package {
            build_crate(install, &tools, &loaded.board, &loaded.package(&source.path), source)
        } else if let Some(source) = &domain.c {
            let objects = results.join("c").join(name);
            if flags.is_none() {
                flags = Some(Flags::of(install, &tools, &loaded.board).map_err(place)?);
            }
            let flags = flags.as_ref().expect("they were made a moment ago");
            build_c(install, &tools, &loaded.board, flags, directory, &objects, source)
        } else {
            let finished = directory.join(domain.elf.as_deref().unwrap_or_default());
            domains.push(read(&finished).map_err(place)?);
            continue;
        };
        let Linked { nominal, elsewhere, commands: more, warnings: said } = linked.map_err(place)?;
        commands.extend(more);
        if !said.is_empty() {
            warnings.push(place(warned(name, &said)).as_warning());
        }
        if let Some(elsewhere) = elsewhere {
            place::moves(name, &nominal, &elsewhere)
                .map_err(|error| loaded.document.locate(locate::of_program(&error)))?;
        }
        domains.push(nominal);
    }
    if !commands.is_empty() {
        write_file(&results.join("compile_commands.json"), format!("{:#}\n", json!(commands)).as_bytes())?;
    }
    Ok(Compiled { programs: Programs { kernel, domains }, warnings })
}

fn warned(domain: &str, said: &str) -> Diagnostic {
    Diagnostic::new("CF0523", format!("the compiler warns about the program of `{domain}`\n{said}"))
        .rule("the compiler takes every program without a warning; this one is used all the same")
        .remedy("correct the program as the compiler says")
}

fn files(install: &Install, loaded: &Loaded, system: &System) -> Result<Vec<Vec<u8>>, Diagnostic> {
    let contents = |file: &File| {
        let refused = |d: Diagnostic| Refusal { place: format!("file.{}.path", file.name), ..d.refusal().clone() };
        read(&loaded.path(install, &file.path)).map_err(|d| loaded.document.locate(refused(d)))
    };
    system.files.iter().map(contents).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    input::read(path, input::MOST_BINARY).map_err(|why| unreadable(path, &why))
}

/// Places programs that were built.
///
/// # Errors
/// CF0501 for a constant file that cannot be read; what placement refuses, with its place in the manifest.
pub fn place_programs(
    install: &Install,
    loaded: &Loaded,
    system: &System,
    programs: &Programs,
) -> Result<Placed, Diagnostic> {
    let files = files(install, loaded, system)?;
    let refusal = |error| locate::refusal(system, &*loaded.board.protection, &error);
    let placed = place::place(system, programs, &files).map_err(|error| loaded.document.locate(refusal(error)))?;
    match loaded.opens(&placed) {
        None => Ok(placed),
        Some(refused) => Err(loaded.document.locate(refused)),
    }
}

/// Admits, builds and places a system and writes `image.elf`, the relocated programs and `layout.json` below the target directory.
///
/// # Errors
/// Every refusal of admission, or the first of the later steps.
pub fn build(
    install: &Install,
    loaded: Loaded,
    options: Options,
    progress: &mut dyn FnMut(&str),
) -> Result<Built, Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    loaded.admit_with(options)?;
    let claim = install.claim(&loaded.results, &mut || progress(WAITING)).map_err(one)?;
    let Compiled { programs, warnings } = programs(install, &loaded, progress).map_err(one)?;
    progress("placement");
    let built = assemble(install, loaded, options, &programs, claim)?;
    Ok(Built { warnings, ..built })
}

/// The second half of [`build`]: programs that were built become an image.
///
/// # Errors
/// Every refusal of admission, or the first of the later steps.
pub fn assemble(
    install: &Install,
    loaded: Loaded,
    options: Options,
    programs: &Programs,
    claim: Claim,
) -> Result<Built, Vec<Diagnostic>> {
    let one = |d: Diagnostic| vec![d];
    let Admitted { system, bounds } = loaded.admit_with(options)?;
    let placed = place_programs(install, &loaded, &system, programs).map_err(one)?;
    let description = describe(&loaded, &system, &placed, &bounds);
    let dir = install.system_dir(&loaded.results);
    Origin::clear(&dir);
    let image = dir.join("image.elf");
    write_file(&image, &placed.image).map_err(one)?;
    let kernel = dir.join("kernel.elf");
    write_file(&kernel, &programs.kernel).map_err(one)?;
    let elf = |domain: &Domain| dir.join(format!("{}.elf", domain.name));
    let domains: Vec<PathBuf> = system.domains.iter().map(elf).collect();
    for (path, elf) in domains.iter().zip(&placed.domains) {
        write_file(path, elf).map_err(one)?;
    }
    let mut layout = serde_json::to_vec_pretty(&description).expect("a description holds only plain values");
    layout.push(b'\n');
    write_file(&dir.join("layout.json"), &layout).map_err(one)?;
    Origin::of(&loaded.document).write(&dir).map_err(one)?;
    let warnings = Vec::new();
    Ok(Built { loaded, system, dir, image, kernel, domains, placed, description, bounds, warnings, claim })
}
