//! Builds the peers of `eval/peers/` with the compiler and the flags that Cofferdam's own C domains are built with.

use std::path::{Path, PathBuf};
use std::process::Command;

use build_tool::{Install, Toolchain, compiler_flags};
use manifest::Board;
use serde::Deserialize;
use serde_json::Value;

use crate::Error;

/// The crate that carries the sources of FreeRTOS.
const SOURCES_CRATE: &str = "freertos-next";

/// A system that Cofferdam is compared with, as the file of the board for which it is written describes it. Paths begin below `eval/peers/`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    /// Suffix of the ids of its rows.
    pub suffix: String,
    /// Its name in the table.
    pub title: String,
    /// Directory of its headers.
    directory: String,
    /// Directory of the port below `FreeRTOS-Kernel/portable/GCC`; none without FreeRTOS.
    #[serde(default)]
    port: Option<String>,
    /// Sources of the port beside `port.c`, relative to `FreeRTOS-Kernel/portable`.
    #[serde(default)]
    portable: Vec<String>,
    /// Its own sources.
    sources: Vec<String>,
    /// The linker script.
    linker_script: String,
    /// A published value that holds for all of its operations.
    #[serde(default)]
    pub(crate) paper: Option<String>,
}

/// `FreeRTOS-Kernel` in the sources that cargo fetched.
///
/// # Errors
/// [`Error::Sources`] when cargo cannot say where they are.
pub fn sources(install: &Install) -> Result<PathBuf, Error> {
    let cargo = std::env::var_os("COFFERDAM_HOST_CARGO").filter(|cargo| !cargo.is_empty());
    let mut command = Command::new(cargo.unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--format-version", "1", "--manifest-path"]).arg(install.root.join("Cargo.toml"));
    let output = command.output().map_err(|error| Error::Sources(error.to_string()))?;
    if !output.status.success() {
        return Err(Error::Sources(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| Error::Sources(error.to_string()))?;
    let mut packages = metadata["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == SOURCES_CRATE);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.ok_or_else(|| Error::Sources(format!("{SOURCES_CRATE} is not among the dependencies")))?;
    Ok(Path::new(manifest).with_file_name("FreeRTOS-Kernel"))
}

/// Directory below `eval/peers/` of the linker script `memory.ld` and the header `board.h` of a board.
fn of_board(root: &Path, board: &Board) -> PathBuf {
    root.join("eval/peers").join(&board.name)
}

/// Compiles and links a peer for its board from the `FreeRTOS-Kernel` directory `kernel` into `out`; returns the image.
///
/// # Errors
/// [`Error::Build`] with what the compiler said.
pub fn build(install: &Install, board: &Board, kernel: &Path, peer: &Peer, out: &Path) -> Result<PathBuf, Error> {
    let refused = |refusal: manifest::Diagnostic| Error::Build(refusal.to_string());
    let tools = Toolchain::find(install, &board.core).map_err(refused)?;
    let objects = out.join(&peer.directory);
    std::fs::create_dir_all(&objects).map_err(|error| Error::file(&objects, &error))?;
    let root = &install.root;
    let flags = compiler_flags(install, &tools, board).map_err(refused)?;
    let mut linked = Vec::new();
    for (source, ours) in source_list(root, kernel, peer) {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let object = objects.join(format!("{name}.o"));
        let mut command = Command::new(&tools.gcc);
        for include in includes(root, board, kernel, peer) {
            command.arg("-I").arg(include);
        }
        command.args(&flags).args(if ours { &["-Wall", "-Werror"][..] } else { &["-w"] });
        checked(command.arg("-c").arg(&source).arg("-o").arg(&object))?;
        linked.push(object);
    }
    let image = out.join(format!("{}.elf", peer.directory));
    let mut link = Command::new(&tools.gcc);
    link.args(&board.core.targets.c_flags)
        .args(["-nostartfiles", "-Wl,--gc-sections", "-L"])
        .arg(of_board(root, board));
    link.arg("-T").arg(root.join("eval/peers").join(&peer.linker_script)).args(linked).arg("-o").arg(&image);
    checked(&mut link)?;
    Ok(image)
}

/// Every source with whether it is this repository's own.
fn source_list(root: &Path, kernel: &Path, peer: &Peer) -> Vec<(PathBuf, bool)> {
    let mut list = Vec::new();
    if let Some(port) = &peer.port {
        let portable = kernel.join("portable");
        list.extend(["tasks.c", "queue.c", "list.c"].map(|name| (kernel.join(name), false)));
        list.push((portable.join("GCC").join(port).join("port.c"), false));
        list.extend(peer.portable.iter().map(|name| (portable.join(name), false)));
    }
    list.extend(peer.sources.iter().map(|name| (root.join("eval/peers").join(name), true)));
    list
}

fn includes(root: &Path, board: &Board, kernel: &Path, peer: &Peer) -> Vec<PathBuf> {
    let own = [peer.directory.as_str(), "common"].map(|name| root.join("eval/peers").join(name));
    let mut list = [&own[..], &[of_board(root, board)]].concat();
    if let Some(port) = &peer.port {
        list.extend([kernel.join("include"), kernel.join("portable/GCC").join(port)]);
    }
    list
}

/// Runs a command; its error output is the error.
fn checked(command: &mut Command) -> Result<(), Error> {
    let output = command.output().map_err(|error| Error::Build(format!("{:?}: {error}", command.get_program())))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Error::Build(String::from_utf8_lossy(&output.stderr).into_owned()))
}
