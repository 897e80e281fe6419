//! Locations of the parts of Cofferdam: sources, scripts of the linker, board files, and results.

use std::path::{Path, PathBuf};

use board_facts::BoardText;
use manifest::input::{self, Unread};
use manifest::{BoardFile, Core, Diagnostic};

use crate::core_rules;

/// The checkout that this tool belongs to, and the directory for results.
#[derive(Clone, Debug)]
pub struct Install {
    /// The root of the checkout.
    pub root: PathBuf,
    /// Directory of everything that is built: `CARGO_TARGET_DIR`, or `target` in the root.
    pub target: PathBuf,
    /// Directory of the results of systems.
    results: PathBuf,
    /// Programs get no debug information, which takes a third of the time of a build.
    pub(crate) no_debug: bool,
}

impl Install {
    /// A checkout that builds into `target`.
    pub fn new(root: PathBuf, target: PathBuf) -> Install {
        let results = target.join("cofferdam");
        Install { root, target, results, no_debug: false }
    }

    /// Finds the checkout: `COFFERDAM_ROOT` (the wrapper sets it), otherwise where the tool was compiled.
    ///
    /// # Errors
    /// CF0605 when there is no checkout there.
    pub fn find() -> Result<Install, Diagnostic> {
        let compiled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = std::env::var_os("COFFERDAM_ROOT").map_or(compiled, PathBuf::from);
        let root = root.canonicalize().unwrap_or(root);
        if !root.join("boards").is_dir() {
            return Err(Diagnostic::new("CF0605", format!("there is no Cofferdam checkout at `{}`", root.display()))
                .rule("the tool needs the sources that it was built from: kernel, run-time, board files")
                .remedy("set COFFERDAM_ROOT to the checkout"));
        }
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
        let target = if target.is_absolute() { target } else { root.join(target) };
        Ok(Install::new(root, target))
    }

    /// As [`Install::find`], for a system: the results of one outside the checkout lie beside its manifest, in `target/cofferdam`,
    /// unless `CARGO_TARGET_DIR` says where.
    ///
    /// # Errors
    /// As [`Install::find`].
    pub fn find_for(manifest: &Path) -> Result<Install, Diagnostic> {
        let install = Install::find()?;
        Ok(if std::env::var_os("CARGO_TARGET_DIR").is_some() { install } else { install.beside(manifest) })
    }

    /// Builds programs without debug information, for those who build many and debug none.
    pub fn without_debug(self) -> Install {
        Install { no_debug: true, ..self }
    }

    /// With results beside the manifest, if that is a file outside the checkout.
    pub(crate) fn beside(mut self, manifest: &Path) -> Install {
        let manifest = manifest.canonicalize().ok().filter(|path| path.is_file() && !path.starts_with(&self.root));
        if let Some(project) = manifest.as_deref().and_then(Path::parent) {
            self.results = project.join("target/cofferdam");
        }
        self
    }

    /// The directory of a system's results.
    pub fn system_dir(&self, system: &str) -> PathBuf {
        self.results.join(system)
    }

    /// Names of the boards.
    pub fn boards(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join("boards")).into_iter().flatten().flatten();
        let with_file = entries.filter(|entry| entry.path().join("board.toml").is_file());
        let mut names: Vec<String> = with_file.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Names of the profiles that come with Cofferdam.
    pub fn profiles(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join("chips")).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = files.filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned())).collect();
        names.sort();
        names
    }

    /// Whether a board's file is one of the user's own, which manifests and builds name by its path.
    pub fn is_own(&self, path: &Path) -> bool {
        !path.starts_with(self.root.join("boards"))
    }

    /// The text by which a manifest names a board: its name, or the path of a file of the user's own.
    pub fn board_text(&self, file: &BoardFile) -> String {
        if self.is_own(&file.path) { file.path.display().to_string() } else { file.name.clone() }
    }

    /// Reads the description of a core.
    ///
    /// # Errors
    /// CF0605 for a damaged file, and for one that names directories without what they should have.
    pub fn core(&self, name: &str) -> Result<Core, Diagnostic> {
        let path = self.root.join("cores").join(format!("{name}.toml"));
        let core = Core::parse(&input::read_text(&path).map_err(|why| unreadable(&path, &why))?)?;
        if core.name != name {
            return Err(misnamed(&path, &core.name));
        }
        core_rules::directories(&core, &self.root)?;
        Ok(core)
    }

    /// Reads a board's description: a name (of a directory below `boards`), or the path of a file of one's own, relative to `directory`, that
    /// ends in `.toml`.
    ///
    /// # Errors
    /// CF0202 for an unknown board, and for one of one's own with another's name; CF0605 for a damaged file.
    pub fn board_file(&self, name: &str, directory: &Path) -> Result<BoardFile, Diagnostic> {
        let is_own = name.ends_with(".toml");
        let path = if is_own { directory.join(name) } else { self.root.join("boards").join(name).join("board.toml") };
        if !path.is_file() || !(is_own || manifest::name_ok(name)) {
            return Err(Diagnostic::new("CF0202", format!("there is no board `{name}`"))
                .limit(format!("known: {}", self.boards().join(", ")))
                .rule("a board is a directory below boards with a file board.toml, or a path that ends in .toml")
                .remedy("choose one of the known boards, or correct the path"));
        }
        let path = path.canonicalize().unwrap_or(path);
        let BoardText { text, .. } = BoardText::read(&path).map_err(|why| unreadable(&path, &why))?;
        let file = BoardFile::parse(&text, path.clone())?;
        if !is_own && file.name != name {
            return Err(misnamed(&path, &file.name));
        }
        let elsewhere = self.root.join("boards").join(&file.name).join("board.toml");
        if !manifest::name_ok(&file.name) || (elsewhere.is_file() && elsewhere.canonicalize().ok() != Some(path)) {
            return Err(Diagnostic::new("CF0202", format!("the board `{name}` cannot be called `{}`", file.name))
                .rule("a board has a name of its own, in lower-case letters, digits and `-`: what is built for it is kept by that name")
                .remedy("give it another name"));
        }
        Ok(file)
    }
}

/// CF0605 for a file that has another name than it says.
pub(crate) fn misnamed(path: &Path, name: &str) -> Diagnostic {
    Diagnostic::new("CF0605", format!("`{}` says that its name is `{name}`", path.display()))
        .rule("a board, a chip and a core are called as their directory or file is")
        .remedy("correct the name")
}

/// CF0501 for a file that should be there, CF0509 for one that is not read.
pub(crate) fn unreadable(path: &Path, why: &Unread) -> Diagnostic {
    manifest::unread(path, why, "CF0501").into()
}
