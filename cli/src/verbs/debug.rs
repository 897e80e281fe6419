//! `cofferdam debug`: gdb attached, with the symbols of the kernel and every domain.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use build_tool::{Built, Install, find_in_path, prepare};
use manifest::Diagnostic;
use place::Isa;
use runner::Go;
use serde_json::json;

use super::run::wrong;
use super::{build_system, instead, load, one};
use crate::cli::Debug;
use crate::output::{OK, Outcome, Output};

/// Builds, starts QEMU stopped at the first instruction, and hands the terminal to gdb.
pub fn run(args: &Debug, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.manifest).map_err(one)?;
    let loaded = load(&install, &args.manifest, instead(&args.board, &args.profile))?;
    let prefix = Isa::of_target(&loaded.board.core.targets.domain).map_or("", |isa| isa.tools);
    let own = format!("{prefix}gdb");
    let Some(gdb) = ["gdb-multiarch", &own].into_iter().find_map(find_in_path) else {
        return Err(one(Diagnostic::new("CF0601", "no gdb for the board's processor is installed")
            .rule(format!("debugging needs gdb-multiarch or {own}"))
            .remedy("install the package gdb-multiarch")));
    };
    let simulator = runner::find(&loaded.board.simulator).map_err(|e| one(wrong(&e)))?;
    if !simulator.debugs() {
        let text = format!("no debugger can be attached to the board `{}`", loaded.board.name);
        return Err(one(Diagnostic::new("CF0601", text)
            .rule("a debugger needs a simulator with a port for one; the soft core's debug port is not connected")
            .remedy(
                "run the system, and read `run/events.bin` with `cofferdam trace`; or debug it on another board",
            )));
    }
    let built = build_system(&install, loaded, true, output)?;
    let mut run = prepare(&built, false).map_err(|e| one(wrong(&e)))?;
    run.debugger_port = Some(args.port);
    let over = Arc::new(AtomicBool::new(false));
    let told = over.clone();
    // Ctrl-C is for gdb; QEMU is killed when gdb ends.
    runner::stop_on_interrupt();
    let running = std::thread::spawn(move || {
        run.start(&*simulator, &mut |_| if told.load(Ordering::Relaxed) { Go::Stop } else { Go::On })
    });
    let status = Command::new(&gdb).args(arguments(args, &built)).status();
    over.store(true, Ordering::Relaxed);
    let ended = running.join();
    output.field("gdb", json!(gdb));
    match (status, ended) {
        (Err(error), _) => {
            Err(one(Diagnostic::new("CF0601", format!("`{}` cannot be started: {error}", gdb.display()))
                .rule("debugging needs gdb")
                .remedy("install the package gdb-multiarch")))
        }
        (Ok(status), _) if status.success() => Ok(OK),
        (Ok(_), Ok(Err(error))) => Err(one(wrong(&error))),
        (Ok(_), _) => Ok(OK),
    }
}

/// Kernel first, then every domain at its final addresses.
fn arguments(args: &Debug, built: &Built) -> Vec<String> {
    let mut list: Vec<String> = ["-q", "-iex", "set confirm off"].map(String::from).to_vec();
    if !args.commands.is_empty() {
        list.push("-batch".into());
    }
    list.push(built.kernel.display().to_string());
    let mut execute = |command: String| list.extend(["-ex".to_owned(), command]);
    for domain in &built.domains {
        execute(format!("add-symbol-file {}", domain.display()));
    }
    execute(format!("target remote localhost:{}", args.port));
    args.commands.iter().for_each(|command| execute(command.clone()));
    list
}
