//! A copy of the sources in which one check at a time is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Attack, Catalogue, Evidence, Mutant};
use crate::{root, target_dir};

/// Modelled time after which a run with a mutant is over: what hangs has broken something.
const LIMIT: &str = "limit = \"120 ms\"";

/// What became of a mutant.
#[derive(Clone, Debug)]
pub struct Breach {
    /// What showed.
    pub signs: Vec<String>,
    /// The sign that was expected among them, if it was.
    pub seen: Option<String>,
}

/// A copy of the sources and a directory for what is built from it.
pub struct Bench {
    pub(crate) tree: PathBuf,
    pub(crate) target: PathBuf,
    pub(crate) tool: PathBuf,
}

impl Bench {
    /// Makes or renews the copy of that name.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn new(name: &str) -> Bench {
        let base = target_dir().join("mutants").join(name);
        let tree = base.join("tree");
        copy(&root(), &tree, true);
        Bench { tree, target: base.join("target"), tool: target_dir().join("release/cofferdam") }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.tree.join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    fn original(&self, file: &str) -> String {
        let path = root().join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Applies a mutant, performs its attack, takes the mutant back.
    ///
    /// # Errors
    /// A mutant that does not apply or does not build, or a system that fails without the attack.
    pub fn try_mutant(&self, catalogue: &Catalogue, mutant: &Mutant) -> Result<Breach, String> {
        let original = self.original(&mutant.file);
        self.write(&mutant.file, &mutant.apply(&original)?);
        let attack = catalogue.attack(&mutant.attack);
        let signs = match &attack.host {
            Some(package) => self.on_host(package, &attack.name),
            None => self.on_chip(attack, &mutant.always),
        };
        self.write(&mutant.file, &original);
        let signs = signs.map_err(|how| format!("mutant of `{}` in {}: {how}", mutant.check, mutant.file))?;
        let seen = mutant.sign.iter().find(|sign| signs.contains(sign)).cloned();
        Ok(Breach { signs, seen })
    }

    fn on_host(&self, package: &str, test: &str) -> Result<Vec<String>, String> {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["test", "--quiet", "--offline", "-p", package, "--lib", "--", "--exact", test]);
        command.current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        let output = start(&mut command);
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.success() {
            return if said.contains("1 passed") { Ok(Vec::new()) } else { Err(format!("no test `{test}`")) };
        }
        if said.contains("test result: FAILED") || said.contains("panicked") {
            return Ok(vec!["test-fails".into()]);
        }
        Err(format!("does not build:\n{}", String::from_utf8_lossy(&output.stderr)))
    }

    fn on_chip(&self, attack: &Attack, always: &[String]) -> Result<Vec<String>, String> {
        let control = self.run("\n")?;
        if control.failures.iter().any(|failure| !always.contains(failure)) {
            return Err(format!("the system fails even without the attack: {:?}", control.failures));
        }
        // Without the attack there was a report: now the machine itself has stopped.
        let Ok(evidence) = self.run(&format!("{}\n", attack.name)) else { return Ok(vec!["machine-stops".into()]) };
        let mut signs = evidence.shortfalls(0, attack);
        signs.extend(evidence.failures.into_iter().filter(|failure| !always.contains(failure)));
        Ok(signs)
    }

    fn run(&self, order: &str) -> Result<Evidence, String> {
        let manifest = self.original("tests/attacks/system.toml");
        let limit = manifest.lines().find(|line| line.starts_with("limit = ")).unwrap_or_default().to_owned();
        self.write("tests/attacks/system.toml", &manifest.replace(&limit, LIMIT));
        // A file that is paged needs a region of 256 bytes.
        self.write("tests/attacks/order.txt", &format!("{order}{}", "\n".repeat(256)));
        let system = self.target.join("cofferdam/attacks");
        let report = system.join("report.json");
        let _ = fs::remove_file(&report);
        let mut command = Command::new(&self.tool);
        command.args(["run", "--quiet", "tests/attacks/system.toml"]).current_dir(&self.tree);
        command.env("COFFERDAM_ROOT", &self.tree).env("CARGO_TARGET_DIR", &self.target);
        let output = start(&mut command);
        if !report.is_file() {
            return Err(format!("no report:\n{}", String::from_utf8_lossy(&output.stderr)));
        }
        Ok(Evidence::read(&system))
    }
}

fn start(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Copies what has changed, so that only that is built again. At the top, results and history stay behind.
fn copy(from: &Path, to: &Path, top: bool) {
    fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
    let entries = fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    let entries: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    for gone in fs::read_dir(to).into_iter().flatten().flatten() {
        if !entries.contains(&gone.file_name()) {
            let _ = if gone.path().is_dir() { fs::remove_dir_all(gone.path()) } else { fs::remove_file(gone.path()) };
        }
    }
    for name in entries {
        let (source, target) = (from.join(&name), to.join(&name));
        if top && (name == "target" || name.to_string_lossy().starts_with('.')) {
            continue;
        }
        if source.is_dir() {
            copy(&source, &target, false);
        } else if let Ok(bytes) = fs::read(&source)
            && fs::read(&target).ok().as_ref() != Some(&bytes)
        {
            fs::write(&target, bytes).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        }
    }
}
