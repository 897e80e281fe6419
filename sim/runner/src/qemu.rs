//! QEMU with the plug-in that drives its clock and observes: finding both, and how they are started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::Duration;

use record::Mode;

use crate::error::RunError;
use crate::monitor::Monitor;
use crate::simulator::{Simulator, Start};
use crate::version::Version;

const QEMU: &str = "qemu-system-arm";
const PLUGIN: &str = "libcofferdam_plugin.so";
/// Fall-back: 2^2 ns an instruction, near the chip's 216 MHz, and sleeping takes no host time.
const FALLBACK_CLOCK: &str = "shift=2,sleep=off";

/// QEMU, and the plug-in unless this is the fall-back.
#[derive(Clone, Debug)]
pub struct Qemu {
    /// The emulator.
    pub program: PathBuf,
    /// Its version.
    pub version: Version,
    /// The plug-in; `None`: time is not modelled and nothing is checked.
    pub plugin: Option<PathBuf>,
}

impl Qemu {
    /// Its name in the files of boards.
    pub const NAME: &str = "qemu";

    /// Finds QEMU 10.0 (`COFFERDAM_QEMU`, else by `PATH`) and the plug-in (`COFFERDAM_PLUGIN`, else beside this program or in
    /// the directories above it).
    ///
    /// # Errors
    /// A part is missing or of the wrong version.
    pub fn find() -> Result<Self, RunError> {
        Self::at(&qemu_path(), plugin_places())
    }

    /// The same with a given QEMU, and the first of `plugins` that exists.
    ///
    /// # Errors
    /// As [`Qemu::find`].
    pub fn at(qemu: &Path, plugins: Vec<PathBuf>) -> Result<Self, RunError> {
        let found = Self::without_model(qemu)?;
        if !found.version.is_supported() {
            return Err(RunError::ProgramVersion { path: qemu.to_path_buf(), found: found.version });
        }
        match plugins.iter().find(|place| place.is_file()).and_then(|place| place.canonicalize().ok()) {
            Some(plugin) => Ok(Self { plugin: Some(plugin), ..found }),
            None => Err(RunError::PluginMissing(plugins)),
        }
    }

    /// The fall-back: any QEMU, no plug-in. Time is then QEMU's instruction count; the summary says so.
    ///
    /// # Errors
    /// When there is no QEMU at all.
    pub fn find_fallback() -> Result<Self, RunError> {
        Self::without_model(&qemu_path())
    }

    fn without_model(qemu: &Path) -> Result<Self, RunError> {
        let output = version_of(qemu).map_err(|_| RunError::ProgramMissing(qemu.to_path_buf()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let said = if said.trim().is_empty() { String::from_utf8_lossy(&output.stderr) } else { said };
        let version = Version::parse(&said).ok_or_else(|| {
            RunError::ProgramUnknown(qemu.to_path_buf(), said.lines().next().unwrap_or("").to_owned())
        })?;
        Ok(Self { program: qemu.to_path_buf(), version, plugin: None })
    }
}

impl Simulator for Qemu {
    fn program(&self) -> &Path {
        &self.program
    }

    fn observes(&self) -> bool {
        self.plugin.is_some()
    }

    fn command(&self, start: &Start<'_>) -> Command {
        let mut command = Command::new(&self.program);
        let shared = if start.counter.is_some() { ",memory-backend=shared" } else { "" };
        command.arg("-M").arg(format!("{}{shared}", start.machine.name));
        // The guest has no way out but its first UART: neither semihosting (off unless it is asked for) nor a network, and a reset ends the process.
        command.args(["-display", "none", "-no-user-config", "-nodefaults", "-nic", "none", "-no-reboot"]);
        // On silicon the system controller masks it.
        command.args(["-action", "watchdog=none"]);
        if let Some(bytes) = &start.machine.memory {
            command.args(["-m", bytes]);
        }
        command.arg("-serial").arg(concat("file:", start.uart));
        if let Some(counter) = start.counter {
            let bytes = start.machine.memory.as_deref().unwrap_or_default();
            let memory = format!("memory-backend-file,id=shared,size={bytes},share=on,mem-path=");
            command.arg("-object").arg(option(&memory, &counter.share));
            for _ in 1..counter.serial {
                command.args(["-serial", "null"]);
            }
            command.arg("-chardev").arg(option("pipe,id=receiver,path=", &counter.receiver));
            command.args(["-serial", "chardev:receiver"]);
        }
        let one_by_one = if start.mode == Mode::Exact { ",one-insn-per-tb=on" } else { "" };
        command.arg("-accel").arg(format!("tcg,thread=single{one_by_one}"));
        match &self.plugin {
            Some(plugin) => {
                let mut argument = option("", plugin);
                argument.push(option(",config=", start.watch));
                command.env("LD_PRELOAD", plugin).arg("-plugin").arg(argument).args(["-monitor", "none"]);
            }
            None => {
                command.args(["-icount", FALLBACK_CLOCK]).args(Monitor::ARGUMENTS);
            }
        }
        if let Some(port) = start.debugger_port {
            command.args(["-S", "-gdb", &format!("tcp:127.0.0.1:{port}")]);
        }
        command.arg("-kernel").arg(start.image);
        command
    }
}

fn concat(prefix: &str, path: &Path) -> OsString {
    let mut whole = OsString::from(prefix);
    whole.push(path);
    whole
}

/// The same where a comma begins the next option.
fn option(prefix: &str, path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes().iter();
    let doubled: Vec<u8> = bytes.flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b','))).collect();
    let mut whole = OsString::from(prefix);
    whole.push(OsStr::from_bytes(&doubled));
    whole
}

/// A program's output about its version. A program that is being written this moment cannot be started; it soon can.
fn version_of(program: &Path) -> io::Result<Output> {
    const TRIES: u32 = 100;
    let ask = || Command::new(program).arg("--version").output();
    for _ in 0..TRIES {
        match ask() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            answer => return answer,
        }
    }
    ask()
}

fn qemu_path() -> PathBuf {
    env::var_os("COFFERDAM_QEMU").map_or_else(|| PathBuf::from(QEMU), PathBuf::from)
}

/// Beside the command or one above it; for a command that `cargo install` has put elsewhere, where the checkout's builds are.
fn plugin_places() -> Vec<PathBuf> {
    if let Some(place) = env::var_os("COFFERDAM_PLUGIN") {
        return vec![PathBuf::from(place)];
    }
    let program = env::current_exe().unwrap_or_default();
    let above = program.ancestors().skip(1).take(2).map(Path::to_path_buf);
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let built = env::var_os("CARGO_TARGET_DIR").map_or(checkout, PathBuf::from).join("release");
    above.chain([built]).map(|directory| directory.join(PLUGIN)).collect()
}
