//! Finds the compilers.

use std::path::{Path, PathBuf};
use std::process::Command;

use manifest::{Core, Diagnostic};

use crate::core_rules;
use crate::files::{short, write_file};
use crate::install::Install;

/// A Rust compiler for bare-metal targets, and the C compiler.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// cargo.
    pub cargo: PathBuf,
    /// rustc.
    pub rustc: PathBuf,
    /// The library is compiled from source (no compiled one for the target is installed).
    pub build_std: bool,
    /// What rustc says of itself: its file can be that of a chooser, which stays the same when another compiler is chosen.
    pub(crate) version: String,
    /// The C compiler of the core's instruction set, which links, too.
    pub gcc: PathBuf,
    /// `ar`, which comes with it.
    pub ar: PathBuf,
}

/// A program's file, with size and time.
fn told(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let facts = std::fs::metadata(&path).ok();
    let facts = facts.and_then(|facts| Some((facts.len(), facts.modified().ok()?)));
    format!("{} {facts:?}", path.display())
}

/// The first executable file of that name in `PATH`.
pub fn find_in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Directories that may hold cargo and rustc: `PATH`, then those that a shell without a login profile misses.
fn rust_dirs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo/bin"));
    let cargo = std::env::var_os("CARGO_HOME").map(|home| PathBuf::from(home).join("bin"));
    std::env::split_paths(&path).chain(cargo).chain(home).chain([PathBuf::from("/usr/bin")]).collect()
}

fn sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

/// Minor version of a rustc 1.x.
fn minor(rustc: &Path) -> Option<u32> {
    let output = Command::new(rustc).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}

/// Oldest compiler that knows the edition used.
const OLDEST_MINOR: u32 = 90;

impl Toolchain {
    /// Finds the compilers for a core: first what `scripts/env.sh` has found (`COFFERDAM_BARE_*`), then by looking.
    ///
    /// # Errors
    /// CF0601 names what is missing; CF0605 a target, a processor or flags of the core's file that the compilers do not know.
    pub fn find(install: &Install, core: &Core) -> Result<Toolchain, Diagnostic> {
        let prefix = core_rules::isa(core)?.tools;
        let tool = |name: &str| {
            let name = format!("{prefix}{name}");
            find_in_path(&name).ok_or_else(|| missing(&format!("`{name}`")))
        };
        let (gcc, ar) = (tool("gcc")?, tool("ar")?);
        let (rustc, cargo, build_std) =
            given().or_else(|| looked_for(core)).ok_or_else(|| missing("a Rust compiler for bare-metal targets"))?;
        // A compiler that does not run is found by the question that follows.
        let version = core_rules::said(Command::new(&rustc).arg("-vV")).unwrap_or_default();
        let tools = Toolchain { cargo, rustc, build_std, version, gcc, ar };
        tools.know(install, core)?;
        Ok(tools)
    }

    /// The compilers know what the core's file names. They are asked once and not by each build, because four of their programs take a tenth of a
    /// second. The note of it is named by the core's targets and the compilers' files; if it cannot be written, they are asked again.
    fn know(&self, install: &Install, core: &Core) -> Result<(), Diagnostic> {
        let asked = format!("{:?}\n{}", core.targets, self.compilers());
        let note = install.target.join("compilers").join(short(asked.as_bytes()));
        if !note.is_file() {
            core_rules::targets(core, &self.rustc, &self.gcc)?;
            let _ = write_file(&note, asked.as_bytes());
        }
        Ok(())
    }

    /// What tells these compilers from others: files with size and time, and the version.
    pub(crate) fn compilers(&self) -> String {
        [told(&self.cargo), told(&self.rustc), self.version.clone(), told(&self.gcc)].join("\n")
    }

    /// What tells one linker from another, with the compiler that runs it: their files, with size and time.
    pub(crate) fn linker(&self) -> String {
        self.files(&["ld"])
    }

    /// What tells one compiler of C and C++ from another: the files of its parts, with size and time.
    pub(crate) fn compiler(&self) -> String {
        self.files(&["cc1", "cc1plus", "as"])
    }

    /// The files of the compiler's driver and of these programs that it runs, with size and time.
    fn files(&self, programs: &[&str]) -> String {
        let file = |program: &&str| {
            let asked = Command::new(&self.gcc).arg(format!("-print-prog-name={program}")).output().ok()?;
            let named = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
            if named.contains('/') { Some(PathBuf::from(named)) } else { find_in_path(&named) }
        };
        let all = [self.gcc.clone()].into_iter().chain(programs.iter().filter_map(file));
        all.map(|path| told(&path)).collect::<Vec<_>>().join("\n")
    }

    /// The C++ compiler, which comes with the one for C.
    pub fn gxx(&self) -> PathBuf {
        let name = self.gcc.file_name().unwrap_or_default().to_string_lossy();
        self.gcc.with_file_name(format!("{}g++", name.strip_suffix("gcc").unwrap_or(&name)))
    }
}

fn given() -> Option<(PathBuf, PathBuf, bool)> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let kind = std::env::var("COFFERDAM_BARE_KIND").ok()?;
    Some((var("COFFERDAM_BARE_RUSTC")?, var("COFFERDAM_BARE_CARGO")?, kind != "rustup"))
}

fn looked_for(core: &Core) -> Option<(PathBuf, PathBuf, bool)> {
    rust_dirs().into_iter().find_map(|dir| {
        let (rustc, cargo) = (dir.join("rustc"), dir.join("cargo"));
        if !rustc.is_file() || !cargo.is_file() || minor(&rustc)? < OLDEST_MINOR {
            return None;
        }
        let lib = sysroot(&rustc)?.join("lib/rustlib");
        let compiled = lib.join(&core.targets.domain).join("lib").is_dir();
        let source = lib.join("src/rust/library/core/Cargo.toml").exists();
        (compiled || source).then_some((rustc, cargo, !compiled))
    })
}

pub(crate) fn missing(what: &str) -> Diagnostic {
    Diagnostic::new("CF0601", format!("{what} is not installed"))
        .rule("programs for the chip are built by rustc with a bare-metal library (or its source) and the core's gcc")
        .remedy("run `make setup` in the checkout of Cofferdam; for the soft core `make -C rtl setup`")
}
