//! A figure is the same every time it is measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use bench::{Bench, Peer, Row, peer_subject};
use build_tool::{Install, Profile};
use runner::Tools;

/// The directory that cargo builds into.
fn target() -> PathBuf {
    let program = std::env::current_exe().expect("a test knows itself");
    program.ancestors().nth(3).expect("target/debug/deps/test").to_path_buf()
}

/// QEMU and the observer, which is built here.
fn tools() -> Tools {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "-p", "cofferdam-plugin", "--target-dir"]).arg(target());
    assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo starts").success());
    let plugin = target().join("release/libcofferdam_plugin.so");
    Tools::at(Path::new("qemu-system-arm"), vec![plugin]).expect("QEMU 10.0 is installed")
}

fn measure(tools: &Tools, peer: Peer, directory: &Path) -> Vec<Row> {
    let install = Install::find().expect("the tests run in a checkout");
    let profile = Profile::find(&install, "stm32f767", &install.root).expect("the profile comes with Cofferdam");
    let subject = peer_subject(&install, peer, directory).expect("the peer builds");
    let bench = Bench { tools, board: "mps2-an500", profile: ("stm32f767", &profile.text), directory };
    subject.measure(&bench).expect("the run ends as it should")
}

#[test]
fn a_peer_measured_twice_has_the_same_figures() {
    let tools = tools();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let first = measure(&tools, Peer::FreeRtos, &out.join("first"));
    let second = measure(&tools, Peer::FreeRtos, &out.join("second"));
    assert_eq!(first, second);
    let ids: Vec<&str> = first.iter().map(|row| row.id.as_str()).collect();
    assert!(ids.contains(&"m7.gate.call_return.freertos") && ids.contains(&"m7.masked.longest.freertos"), "{ids:?}");
    for row in &first {
        assert!(row.cycles.median > 0 && row.cycles.median <= row.cycles.max && row.instructions > 0, "{row:?}");
    }
}

#[test]
fn isolation_costs_the_protected_peer_more_than_the_plain_one() {
    let tools = tools();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("both");
    let queues = |peer: Peer| {
        let rows = measure(&tools, peer, &out);
        let id = format!("m7.gate.call_return.{}", peer.suffix());
        rows.iter().find(|row| row.id == id).expect("a row for the queues").instructions
    };
    // Orientation: 838 and 2010 instructions, counted by another tool on another build of the same sources.
    let (plain, protected) = (queues(Peer::FreeRtos), queues(Peer::FreeRtosMpu));
    assert!((800..900).contains(&plain) && (1800..2200).contains(&protected), "{plain} {protected}");
}
