//! Shared by the tests: guests are assembled and the plug-in is built here, once.
#![allow(dead_code)]

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use record::Range;
use runner::{EventsReader, Go, ImageFacts, Machine, Outcome, ProfileSource, Qemu, Run, RunEvent, Watch};

/// `abi::trace::Event::Mark` and others, as the guests store them.
pub const MARK: u8 = 12;
pub const INTERRUPT: u8 = 11;

/// The directory that cargo builds into.
fn target() -> PathBuf {
    let program = env::current_exe().expect("a test knows itself");
    program.ancestors().nth(3).expect("target/debug/deps/test").to_path_buf()
}

/// The plug-in, which the command builds: by itself cargo would link it with other features to the same place, while other tests load it
/// from there.
pub fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let command = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cofferdam");
        let built = Command::new(command).arg("--version").env("CARGO_TARGET_DIR", target()).output();
        assert!(built.expect("the command starts").status.success(), "the plug-in does not build");
        target().join("release/libcofferdam_plugin.so")
    })
}

/// An example of this package, built.
pub fn example(name: &str) -> PathBuf {
    build(&["-p", "cofferdam-runner", "--example", name]);
    target().join("debug/examples").join(name)
}

fn build(what: &[&str]) {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--target-dir"])
        .arg(target())
        .args(what)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo starts");
    assert!(built.success(), "{what:?} does not build");
}

/// QEMU and the plug-in.
pub fn tools() -> Qemu {
    Qemu::at(Path::new("qemu-system-arm"), vec![plugin().to_path_buf()]).expect("QEMU 10.0 is installed")
}

/// A place for one test's files, empty.
pub fn directory(name: &str) -> PathBuf {
    let directory = target().join("runner-tests").join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the target directory can be written");
    directory
}

/// A guest, assembled into `directory`.
pub struct Guest {
    pub image: PathBuf,
    pub facts: ImageFacts,
    pub directory: PathBuf,
}

impl Guest {
    /// Assembles `guests/NAME.S` for the test `test`.
    pub fn build(name: &str, test: &str) -> Self {
        Self::build_for(&["-mcpu=cortex-m7", "-mfpu=fpv5-d16", "-mfloat-abi=hard"], "guest.ld", name, test)
    }

    /// The same for a processor that the compiler knows by these flags, with another linker script.
    pub fn build_for(flags: &[&str], script: &str, name: &str, test: &str) -> Self {
        let directory = directory(test);
        let guests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests");
        let image = directory.join("guest.elf");
        let built = Command::new("arm-none-eabi-gcc")
            .args(flags)
            .args(["-nostdlib", "-T"])
            .arg(guests.join(script))
            .args([guests.join("start.S"), guests.join(format!("{name}.S"))])
            .arg("-o")
            .arg(&image)
            .status()
            .expect("arm-none-eabi-gcc starts");
        assert!(built.success(), "{name} does not assemble");
        let facts = ImageFacts::read(&image).expect("what was just built can be read");
        Self { image, facts, directory }
    }

    /// Address of a symbol that the guest must have.
    pub fn symbol(&self, name: &str) -> u32 {
        self.facts.symbol(name).unwrap_or_else(|| panic!("no symbol {name}"))
    }

    /// The guest's own facts, under a simple profile: one cycle an instruction, two more an access.
    pub fn watch(&self) -> Watch {
        Watch {
            profile: ProfileSource::Constant {
                architecture: record::Architecture::default(),
                cpu_hz: 216_000_000,
                cycles_per_instruction: 1,
                cycles_per_access: 2,
            },
            trace_port: self.facts.trace_port,
            vectors: self.facts.vectors.clone(),
            kernel_text: vec![Range { start: self.symbol("kernel_start"), end: self.symbol("kernel_end") }],
            exception_events: true,
            ..Watch::default()
        }
    }

    /// Runs to the end, at most 60 s.
    pub fn run(&self, watch: Watch) -> Outcome {
        self.run_on(machine(), watch)
    }

    /// The same on another board.
    pub fn run_on(&self, machine: Machine, watch: Watch) -> Outcome {
        let mut run = Run::new(machine, &self.image, self.directory.join("run"), watch);
        run.time_limit = Some(Duration::from_secs(60));
        run.start(&tools(), &mut |_| Go::On).expect("the run leaves an outcome")
    }
}

/// The board.
pub fn machine() -> Machine {
    Machine::named("mps2-an500")
}

/// The profile of the chip.
pub fn chip() -> ProfileSource {
    profile("stm32f767.toml")
}

/// The profile of a chip.
pub fn profile(chip: &str) -> ProfileSource {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = timing::profile::read_text(&root.join("chips").join(chip), &root.join("cores"));
    ProfileSource::Text(text.expect("the profile is part of the repository").profile)
}

/// All records of a run.
pub fn events(outcome: &Outcome) -> Vec<RunEvent> {
    let file = File::open(&outcome.events).expect("the events file");
    EventsReader::new(file).expect("an events file").map(|event| event.expect("a whole record")).collect()
}
