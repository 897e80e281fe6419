//! Origin of a run: written beside the run's files when it ends, and put into every report of it.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

use build_tool::{Built, Install};
use report::schema::{Program, Provenance};
use sha2::{Digest, Sha256};

/// File beside the summary of the run.
const FILE: &str = "provenance.json";
/// Name of the whole image among the programs that ran.
const IMAGE: &str = "image";

/// Notes where the run comes from whose summary is at a path. Facts that cannot be read or written stay unknown.
pub fn keep(install: &Install, built: &Built, subject: &Path, summary: &Path) {
    let programs = programs(built);
    let from = Provenance {
        run: Some(run(&built.placed.image)),
        image_hash: programs.iter().find(|program| program.name == IMAGE).map(|program| program.hash.clone()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: commit(&install.root),
        command: command(),
        manifest: subject.display().to_string(),
        manifest_hash: std::fs::read(subject).ok().map(|bytes| hash(&bytes)),
        board_hash: std::fs::read(&built.loaded.board.path).ok().map(|bytes| hash(&bytes)),
        profile_hash: Some(hash(built.loaded.profile.text.as_bytes())),
        programs,
        date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        host: host(),
    };
    let path = summary.with_file_name(FILE);
    let _ = std::fs::remove_file(&path);
    if let Ok(text) = serde_json::to_vec_pretty(&from) {
        let _ = std::fs::write(path, text);
    }
}

/// The facts that were noted for the run whose summary is at a path.
pub fn kept(summary: &Path) -> Option<Provenance> {
    serde_json::from_slice(&std::fs::read(summary.with_file_name(FILE)).ok()?).ok()
}

/// The command and its arguments, without the place where it is installed.
fn command() -> Vec<String> {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(env!("CARGO_PKG_NAME").to_owned()).chain(arguments).collect()
}

fn hash(bytes: &[u8]) -> String {
    format!("sha256:{}", build_tool::hash(bytes))
}

/// What ran, as it was placed: from memory, not from files that somebody may have written since.
fn programs(built: &Built) -> Vec<Program> {
    let program = |name: &str, path: &Path, bytes: &[u8]| Program {
        name: name.to_owned(),
        path: path.display().to_string(),
        hash: hash(bytes),
    };
    let domains = built.system.domains.iter().zip(&built.domains).zip(&built.placed.domains);
    let domains = domains.map(|((domain, path), bytes)| program(&domain.name, path, bytes));
    let image = program(IMAGE, &built.image, &built.placed.image);
    let kernel = std::fs::read(&built.kernel).ok().map(|bytes| program("kernel", &built.kernel, &bytes));
    [image].into_iter().chain(kernel).chain(domains).collect()
}

/// The commit of the checkout, with `-dirty` when a file was changed; `None` without git, or in a tree that is no checkout.
fn commit(root: &Path) -> Option<String> {
    root.join(".git").exists().then_some(())?;
    let describe = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"];
    let output = Command::new("git").arg("-C").arg(root).args(describe).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| output.status.success() && !text.is_empty())
}

/// Returns a name for this run, so that files of two runs that stand side by side can be told apart: a hash of image, time and process.
fn run(image: &[u8]) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let all = Sha256::new().chain_update(image).chain_update(now.as_nanos().to_le_bytes());
    let digits = all.chain_update(std::process::id().to_le_bytes()).finalize();
    digits.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn host() -> String {
    let kernel = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
    let [name, system] = ["hostname", "ostype"].map(kernel);
    format!("{}, {} {}", name.trim(), system.trim(), std::env::consts::ARCH)
}
