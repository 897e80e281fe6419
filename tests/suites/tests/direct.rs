//! Interrupts that reach a domain's handlers without the kernel: that they do, and what handlers cannot do to anybody else (docs/interrupts.md).

use serde_json::{Value, json};
use system_tests::Ran;

const BOARD: &str = "mps2-an505";

#[test]
fn a_timer_reaches_a_handler_and_its_thread() {
    let ran = Ran::on(BOARD, "tests/direct/system.toml", &[]);
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let used = &ran.named("domains", "name", "commutes")["used"]["handlers"];
    assert_eq!(used["count"], 200, "{used:#}");
    let line = ran.named("exceptions", "name", "interrupt 4");
    assert_eq!(line["taken"], 200, "{line:#}");
}

/// An end of a life of `tests/direct/hostile`: name, and the kind of fault.
const LIVES: [(&str, &str); 44] = [
    ("a handler returns to a thread", "usage"),
    ("a handler returns to the kernel", "usage"),
    ("endless, over a thread: cut off until its budget is filled", "usage"),
    ("endless, over the kernel", "usage"),
    ("asleep with PRIMASK_NS set", "usage"),
    ("two nested handlers, both endless", "usage"),
    ("the same over the kernel", "usage"),
    ("SysTick_NS without a vector, if it comes before the cut-off", "execution or usage"),
    ("endless, with its stack in Secure memory: the cut-off's frame fails, too", "data access"),
    ("store to the kernel's data", "data access"),
    ("the same over the kernel", "data access"),
    ("load of the kernel's data", "data access"),
    ("store to the kernel's data through the Non-secure alias", "data access"),
    ("store to the kernel's code", "data access"),
    ("store to a Secure device at its Non-secure address", "data access"),
    ("store to the sampler's timer", "data access"),
    ("load of Secure code", "data access"),
    ("attribution switched off: ignored", "usage"),
    ("all lines taken: ignored", "usage"),
    ("the sampler's line disabled: ignored", "usage"),
    ("the chip reset: ignored", "usage"),
    ("deep sleep: ignored", "usage"),
    ("EXC_RETURN with DCRS = 0", "exception return"),
    ("EXC_RETURN with a floating-point frame", "exception return"),
    ("EXC_RETURN with ES = 1", "exception return"),
    ("EXC_RETURN to Handler mode, over a thread", "exception return"),
    ("EXC_RETURN to Thread mode, over the kernel", "exception return"),
    ("PRIMASK_NS left set", "exception return"),
    ("PRIMASK_NS left set, over the kernel", "exception return"),
    ("BASEPRI_NS left set", "exception return"),
    ("stack in Secure memory, and a fault", "data access"),
    ("VTOR_NS in Secure memory", "exception return"),
    ("less important than the kernel", "exception return"),
    ("a floating-point instruction", "usage"),
    ("return into Non-secure Thread mode: the thread goes on", "usage"),
    ("the same with that mode opened", "exception return"),
    ("the same over the kernel", "exception return"),
    ("the same with its faults handled in Non-secure state", "exception return"),
    ("the way into the kernel", "usage"),
    ("the way into the kernel with a link that is an EXC_RETURN", "execution"),
    ("entered behind SG", "execution"),
    ("a thread goes to Non-secure code", "stack"),
    ("the same with a frame on its stack as if a handler had come", "usage"),
    ("a handler comes while a thread's stack pointer strays", "stack"),
];

fn kinds(report: &Value) -> Vec<String> {
    let faults = report["faults"].as_array().expect("faults");
    faults.iter().map(|fault| fault["kind"].as_str().unwrap_or("").to_owned()).collect()
}

/// In each life the handlers or their thread end, and nobody else does: the victim meets every deadline, and the neighbour computes what it must.
#[test]
fn hostile_handlers_end_alone() {
    let ran = Ran::on(BOARD, "tests/direct/hostile.toml", &[]);
    let found = kinds(&ran.report);
    let differs = |(at, (_, kind)): &(usize, &(&str, &str))| {
        found.get(*at).is_none_or(|found| kind.split(" or ").all(|kind| kind != found))
    };
    let wrong = LIVES.iter().enumerate().filter(differs);
    let wrong: Vec<String> =
        wrong.map(|(at, (name, kind))| format!("{at} {name}: {kind}, not {:?}", found.get(at))).collect();
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), ran.stderr);
    assert_eq!(found.len(), LIVES.len());
    assert_eq!(ran.report["verdict"]["failures"], json!([]), "{}", ran.stderr);
    let victim = ran.named("threads", "name", "victim");
    assert!(victim["releases"].as_u64() > Some(100) && victim["missed_deadlines"] == 0, "{victim:#}");
}
