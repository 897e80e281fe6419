//! An application core: what QEMU's devices need of the clock there.

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use runner::{Go, ImageFacts, Machine, Run, Watch};
use support::{directory, tools};

/// A device model that arms its timer for now, as its interval has been rounded to nothing, does not stop the run.
#[test]
fn a_timer_that_is_due_again_at_once_comes_to_an_end() {
    let directory = directory("ttc");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let image = directory.join("guest.elf");
    let built = Command::new("arm-none-eabi-gcc")
        .args(["-mcpu=cortex-a9", "-nostdlib", "-Wl,-Ttext=0x100000"])
        .arg(here.join("tests/guests/ttc.S"))
        .arg("-o")
        .arg(&image)
        .status()
        .expect("arm-none-eabi-gcc starts");
    assert!(built.success());
    let cluster = Some(record::ClusterWatch { private: 0xf8f0_0000, controller: 0xf8f0_2000 });
    let profile = support::profile("xc7z020.toml");
    let trace_port = ImageFacts::read(&image).expect("what was just built can be read").trace_port;
    let run = Run {
        time_limit: Some(Duration::from_secs(60)),
        ..Run::new(
            Machine::named("xilinx-zynq-a9"),
            &image,
            directory.join("run"),
            Watch { profile, cluster, trace_port, ..Watch::default() },
        )
    };
    let summary = run.start(&tools(), &mut |_| Go::On).expect("the run leaves an outcome").summary;
    assert_eq!(summary.end.status, Some(7));
    // Twenty intervals of 20001 ticks at 133 MHz, in cycles at 767 MHz.
    let expected = 20 * 20_001 * 767 / 133;
    assert!((expected..expected + expected / 100).contains(&summary.cycles), "{}", summary.cycles);
}
