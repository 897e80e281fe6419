//! A copy of the sources in which one check at a time is missing.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;

use build_tool::{
    Claim, Install, Instead, Loaded, Options, Programs, Toolchain, assemble, build_kernel, prepare, programs,
};
use manifest::Diagnostic;
use record::EventsFile;
use report::Report;
use runner::{Go, RunError, Simulator};

use super::store::Store;
use super::{Attack, Catalogue, Evidence, Mutant, Scheme, Suite};
use crate::{root, target_dir};

/// Modelled time after which a run with a mutant is over: what hangs has broken something.
const LIMIT: &str = "120 ms";

/// The result of a mutant.
#[derive(Clone, Debug)]
pub struct Breach {
    /// Signs that were seen.
    pub signs: Vec<String>,
    /// The sign that was expected among them, if it was.
    pub seen: Option<String>,
}

/// A copy of the sources, a directory for what is built from it, and what was built from it before.
pub struct Bench {
    pub(crate) install: Install,
    /// Nobody else changes the copy meanwhile.
    _claim: Claim,
    store: Store,
    /// By name.
    simulators: RefCell<BTreeMap<String, Rc<dyn Simulator>>>,
    /// Domains as they are without a change, by manifest and board.
    domains: RefCell<BTreeMap<[String; 2], Vec<Vec<u8>>>>,
}

impl Bench {
    /// Makes or renews the copy of that name; what is built is kept in the copy's store of that name.
    ///
    /// # Panics
    /// When it cannot be written, or a compiler is missing.
    pub fn keeping(name: &str, store: &str) -> Bench {
        let base = target_dir().join("mutants").join(name);
        let install = Install::new(base.join("tree"), base.join("target")).without_debug();
        let claim = told(install.claim("sources", &mut || ())).unwrap_or_else(|how| panic!("{how}"));
        copy(&root(), &install.root, true);
        let suite = install.root.join(Suite::of(Scheme::Regions).manifest);
        let suite = told(Loaded::load(&install, &suite)).unwrap_or_else(|how| panic!("{how}"));
        let tools = told(Toolchain::find(&install, &suite.board.core)).unwrap_or_else(|how| panic!("{how}"));
        let (cargo, gcc) = (cargo(), tools.gcc);
        let rustc = cargo.with_file_name("rustc");
        let compilers = [(&cargo, "-vV"), (&rustc, "-vV"), (&tools.cargo, "-vV"), (&tools.rustc, "-vV"), (&gcc, "-v")];
        let compilers = compilers.map(|(path, version)| (path.as_path(), version));
        let store = Store::new(base.join(store), &root(), &compilers);
        Bench { install, _claim: claim, store, simulators: RefCell::default(), domains: RefCell::default() }
    }

    /// Removes what was built from changes that were not tried.
    pub fn forget_the_rest(&self) {
        self.store.forget_the_rest();
    }

    fn path(&self, file: &str) -> PathBuf {
        self.install.root.join(file)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }

    /// From now on runs of a system are over after another time: the manifest's line.
    pub(crate) fn limit(&self, manifest: &str, line: &str) {
        let text = self.original(manifest);
        let old = text.lines().find(|line| line.starts_with("limit = ")).unwrap_or_default().to_owned();
        self.write(manifest, &text.replace(&old, line));
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
        let changed = mutant.apply(&self.original(&mutant.file))?;
        let change = Change { file: &mutant.file, text: &changed };
        let attack = catalogue.attack(&mutant.attack);
        let signs = match &attack.host {
            Some(package) => self.on_host(package, &attack.name, &change),
            None => self.on_chip(attack, mutant, &change),
        };
        let signs = signs.map_err(|how| format!("mutant of `{}` in {}: {how}", mutant.check, mutant.file))?;
        let seen = mutant.sign.iter().find(|sign| signs.contains(sign)).cloned();
        Ok(Breach { signs, seen })
    }

    /// Builds with the change, and takes it back.
    fn with<T>(&self, change: &Change, build: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
        self.write(change.file, change.text);
        let built = build();
        self.write(change.file, &self.original(change.file));
        built
    }

    fn on_host(&self, package: &str, test: &str, change: &Change) -> Result<Vec<String>, String> {
        let program = self.tests(package, change)?;
        let output = start(Command::new(program).args(["--exact", test]).current_dir(&self.install.root));
        let said = String::from_utf8_lossy(&output.stdout);
        match output.status.success() {
            true if said.contains("1 passed") => Ok(Vec::new()),
            true => Err(format!("no test `{test}`")),
            false => Ok(vec!["test-fails".into()]),
        }
    }

    /// The tests of a package's library with the change.
    pub(crate) fn tests(&self, package: &str, change: &Change) -> Result<PathBuf, String> {
        let build = || self.with(change, || self.test_program(package));
        self.store.file(&[package, change.file, change.text], build)
    }

    /// Builds the tests of a package's library.
    fn test_program(&self, package: &str) -> Result<PathBuf, String> {
        let mut command = Command::new(cargo());
        command.args(["test", "--no-run", "--offline", "-p", package, "--lib", "--message-format", "json"]);
        command.current_dir(&self.install.root).env("CARGO_TARGET_DIR", &self.install.target);
        // Each mutant differs in one file, whatever the caller's builds keep.
        command.env("CARGO_INCREMENTAL", "1");
        let output = start(&mut command);
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let mut programs = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
        let failed = || format!("does not build:\n{}", String::from_utf8_lossy(&output.stderr));
        programs.next().filter(|_| output.status.success()).ok_or_else(failed)
    }

    fn on_chip(&self, attack: &Attack, mutant: &Mutant, change: &Change) -> Result<Vec<String>, String> {
        let suite = Suite::of(mutant.on);
        let programs = self.programs(suite.manifest, None, change)?;
        let unasked = |failure: &String| !mutant.always.contains(failure);
        if !mutant.blamed {
            let control = self.run(suite, &programs, &[], None)?.ok_or("it stops even without the attack")?;
            if control.failures.iter().any(unasked) {
                return Err(format!("the system fails even without the attack: {:?}", control.failures));
            }
        }
        let order: Vec<&str> = attack.needs.iter().chain([&attack.name]).map(String::as_str).collect();
        let Some(evidence) = self.run(suite, &programs, &order, mutant.limit.as_deref())? else {
            return Ok(vec!["machine-stops".into()]);
        };
        let mut signs = evidence.shortfalls(order.len() as u32 - 1, attack, suite.scheme);
        signs.extend(evidence.failures.into_iter().filter(unasked));
        Ok(signs)
    }

    /// Kernel and domains of a system with the change. A check of the kernel, in its own sources or in a crate that domains have, too, is taken
    /// away from the kernel alone: the domains are those of the checkout, where they are built already.
    pub(crate) fn programs(&self, manifest: &str, board: Option<&str>, change: &Change) -> Result<Programs, String> {
        let build = || {
            begin_with(&target_dir(), &self.install.target);
            let loaded = self.load(manifest, board)?;
            if change.file.starts_with("tests/") {
                let built = told(programs(&self.install, &loaded, &mut |_| ()))?.programs;
                return Ok([vec![built.kernel], built.domains].concat());
            }
            let tools = told(Toolchain::find(&self.install, &loaded.board.core))?;
            let kernel = told(build_kernel(&self.install, &tools, &loaded.board))?;
            Ok([vec![kernel], self.domains(manifest, board)?].concat())
        };
        let parts = [manifest, board.unwrap_or_default(), change.file, change.text];
        let mut built = self.store.contents(&parts, || self.with(change, build))?.into_iter();
        let kernel = built.next().ok_or("nothing was built")?;
        Ok(Programs { kernel, domains: built.collect() })
    }

    /// The domains of a system without a change.
    fn domains(&self, manifest: &str, board: Option<&str>) -> Result<Vec<Vec<u8>>, String> {
        let key = [manifest, board.unwrap_or_default()].map(str::to_owned);
        if let Some(known) = self.domains.borrow().get(&key) {
            return Ok(known.clone());
        }
        let own = Install::new(root(), target_dir());
        let loaded = told(Loaded::load_for(&own, &root().join(manifest), Instead { board, profile: None }))?;
        let _claim = told(own.claim(&loaded.results, &mut || ()))?;
        let built = told(programs(&own, &loaded, &mut |_| ()))?.programs.domains;
        self.domains.borrow_mut().insert(key, built.clone());
        Ok(built)
    }

    fn load(&self, manifest: &str, board: Option<&str>) -> Result<Loaded, String> {
        let instead = Instead { board, profile: None };
        told(Loaded::load_for(&self.install, &self.path(manifest), instead))
    }

    /// Runs a suite's system with these programs and attacks; `None` when the machine itself has stopped.
    fn run(
        &self,
        suite: &Suite,
        programs: &Programs,
        attacks: &[&str],
        how_long: Option<&str>,
    ) -> Result<Option<Evidence>, String> {
        self.limit(suite.manifest, &format!("limit = \"{}\"", how_long.unwrap_or(LIMIT)));
        // A file that is paged needs a region of 256 bytes.
        self.write(suite.order, &format!("{}{}", attacks.join("\n"), "\n".repeat(256)));
        Ok(self.perform(suite.manifest, None, programs)?.map(|dir| Evidence::read(&dir)))
    }

    fn simulator(&self, name: &str) -> Rc<dyn Simulator> {
        let found = || runner::find(name).unwrap_or_else(|error| panic!("{error}")).into();
        Rc::clone(self.simulators.borrow_mut().entry(name.to_owned()).or_insert_with(found))
    }

    /// Runs a system with these programs; the directory of its results, or `None` when the machine itself has stopped.
    pub(crate) fn perform(
        &self,
        manifest: &str,
        board: Option<&str>,
        programs: &Programs,
    ) -> Result<Option<PathBuf>, String> {
        let loaded = self.load(manifest, board)?;
        let claim = told(self.install.claim(&loaded.results, &mut || ()))?;
        let built = assemble(&self.install, loaded, Options::default(), programs, claim);
        let built = built.map_err(|refused| format!("{refused:?}"))?;
        let run = prepare(&built, false).map_err(|error| error.to_string())?;
        let ran = match run.start(&*self.simulator(&built.loaded.board.simulator), &mut |_| Go::On) {
            Err(RunError::NoSummary { .. }) => return Ok(None),
            ran => ran.map_err(|error| error.to_string())?,
        };
        let events = EventsFile::open(&ran.events).map_err(|error| error.to_string())?;
        let report = Report::build(&built.description, &ran.summary, events).map_err(|error| error.to_string())?;
        report.write_json(&built.dir.join("report.json")).map_err(|error| error.to_string())?;
        Ok(Some(built.dir))
    }
}

/// A file's text with a change.
pub(crate) struct Change<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

fn told<T>(result: Result<T, Diagnostic>) -> Result<T, String> {
    result.map_err(|refused| manifest::render(&refused, false))
}

/// The cargo that runs the tests.
pub(crate) fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

fn start(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// Begins an empty directory of kernels with those that were built: their core library does not depend on where the sources are, and takes
/// longer to build than a mutant. (That of domains is another for each place, as the compiler's options name their linker script: one more
/// reason not to build them.) `cp` keeps the times by which cargo knows what is up to date.
fn begin_with(from: &Path, to: &Path) {
    let [built, copy] = [from, to].map(|target| target.join("kernel"));
    if built.is_dir() && !copy.exists() {
        fs::create_dir_all(to).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
        let copied = start(Command::new("cp").arg("-a").arg(&built).arg(&copy));
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    }
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
            // With its permissions: one of the files is a program.
            fs::copy(&source, &target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        }
    }
}
