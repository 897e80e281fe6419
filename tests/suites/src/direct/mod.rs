//! The suite of hostile handlers (`tests/direct/hostile.toml`): how each life must end, and changes to the kernel after which one does not
//! (`tests/direct/mutants.toml`).

pub mod random;
pub mod returns;

use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::attacks::{Bench, Change, exchange};
use crate::{named, root};

/// The system.
pub const MANIFEST: &str = "tests/direct/hostile.toml";
/// The same with the sampler.
pub const SAMPLED: &str = "tests/direct/hostile-sampled.toml";

/// Modelled time after which a run with a mutant is over; without one it takes 1.2 s.
const LIMIT: &str = "limit = \"2 s\"";

/// Lives of `tests/direct/hostile`: the attack, and the kind of fault in which it must end, or two of which one depends on when the kernel is needed, or the budget is empty.
pub const LIVES: [(&str, &str); 84] = [
    ("a handler returns to a thread", "usage"),
    ("a handler returns to the kernel", "usage"),
    ("endless, over a thread: cut off until its budget is filled", "usage"),
    ("endless, over the kernel", "usage"),
    ("asleep with PRIMASK_NS set", "data access"),
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
    ("less important than the kernel", "exception return or usage"),
    ("a floating-point instruction", "usage"),
    ("return into Non-secure Thread mode: the thread goes on", "exception return"),
    ("the same with its region registers off", "exception return"),
    ("the same with a region open to it", "exception return"),
    ("the same over the kernel", "exception return"),
    ("the same with its faults handled in Non-secure state", "exception return or usage"),
    ("the way into the kernel", "usage"),
    ("the way into the kernel with a link that is an EXC_RETURN", "execution"),
    ("entered behind SG", "execution"),
    ("a thread goes to Non-secure code", "stack"),
    ("the same with a frame on its stack as if a handler had come", "usage"),
    ("calls with the stack in memory that handlers write, who change the frame over the kernel", "stack"),
    ("a handler comes when its thread has failed", "usage"),
    ("SysTick_NS with a vector of its own, endless", "usage"),
    ("EXC_RETURN with DCRS = 0, over another thread", "exception return"),
    ("EXC_RETURN with ES = 1, over another thread", "exception return"),
    ("EXC_RETURN to Handler mode, over another thread", "exception return"),
    ("less important than the kernel, whose timer comes", "exception return"),
    ("the kernel comes when a handler returns: the thread keeps its registers", "usage"),
    ("endless, with its stack in Secure memory, over another thread", "data access"),
    ("stack in Secure memory, and a fault, over another thread", "data access"),
    ("endless calls of the way into the kernel", "data access or usage"),
    ("less important than the kernel in the way in, over another thread", "exception return"),
    ("SysTick_NS marked as active in SHCSR_NS, over another thread", "exception return"),
    ("asleep, which is not counted", "data access"),
    ("the counter set back, without end", "data access"),
    ("the counter stopped, without end", "data access"),
    ("the comparator moved, without end", "data access"),
    ("the counter set ahead, without end", "data access"),
    ("the comparator moved, and a return: no look meets the handler", "data access"),
    ("a handler comes while a thread's stack pointer strays above its stack", "stack"),
    ("an endless handler comes while a thread's stack pointer strays: it is cut off", "stack"),
    ("store to a frame on its own thread's stack, over the kernel", "data access"),
    ("entered at an SG of the domain's own", "execution"),
    ("each return to a thread puts it to sleep: SLEEPONEXIT", "exception return"),
    ("a nested handler returns to the thread, and the other one stays active above it", "exception return"),
    ("the same over another thread: the other one", "exception return"),
    ("a nested handler returns to the thread, which calls the kernel under the other one", "exception return"),
    ("a nested handler returns to the kernel, and the other one stays active above it", "exception return"),
    // `stack` if a look comes before the budget is used up; otherwise the handler is cut off, and its thread ends itself.
    ("endless, with its stack in a device of its own", "stack or usage"),
    ("endless, with its stack above the one that it has", "stack or usage"),
    ("Thread mode opened, with the main stack where its statics are for Secure code", "exception return"),
    ("the same with the main stack in Secure memory", "exception return"),
    ("the same with the main stack in a Secure device", "exception return"),
    ("the same with the main stack at 0", "exception return"),
    ("the same with the main stack at the end of all addresses", "exception return"),
    ("return into Non-secure Thread mode in another thread's place", "exception return"),
    ("privileged in Thread mode, and unprivileged again before it fails", "usage or exception return"),
    ("EXC_RETURN to Handler mode with a reserved bit set", "exception return"),
    ("EXC_RETURN with a reserved bit set, over another thread", "exception return"),
    ("PRIMASK_NS left set, over another thread", "exception return"),
];

/// Those that only looks beside a counter find: handlers that are sampled are cut off, and their thread ends itself.
const COUNTED: [&str; 8] = [
    "asleep with PRIMASK_NS set",
    "asleep, which is not counted",
    "the counter set back, without end",
    "the counter stopped, without end",
    "the comparator moved, without end",
    "the counter set ahead, without end",
    "the comparator moved, and a return: no look meets the handler",
    "endless, with its stack in a device of its own",
];

/// How lives have ended, in order.
pub fn ends(report: &Value) -> Vec<String> {
    let faults = report["faults"].as_array().into_iter().flatten();
    faults.map(|fault| fault["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Lives behind those that take all the time there is: handlers that are sampled can find nothing left then, do nothing, and their thread ends itself.
const SPENT: [&str; 5] = [
    "Thread mode opened, with the main stack where its statics are for Secure code",
    "the same with the main stack in Secure memory",
    "the same with the main stack in a Secure device",
    "the same with the main stack at 0",
    "the same with the main stack at the end of all addresses",
];

/// Lives that ended otherwise, or not at all.
pub fn wrong(found: &[String], sampled: bool) -> impl Iterator<Item = usize> + '_ {
    let ends =
        |at: usize, kinds: &str| found.get(at).is_some_and(|found| kinds.split(" or ").any(|kind| kind == found));
    let kinds = move |name: &str, kinds: &'static str| if sampled && COUNTED.contains(&name) { "usage" } else { kinds };
    let spent = move |at: usize, name: &str| sampled && SPENT.contains(&name) && ends(at, "usage");
    let wrong =
        move |at: usize, (name, counted): (&str, &'static str)| !ends(at, kinds(name, counted)) && !spent(at, name);
    LIVES.iter().enumerate().filter(move |(at, life)| wrong(*at, **life)).map(|(at, _)| at)
}

/// Whether the attacker's handlers exceed their capacity by more than two looks can be apart: 200 us, and a look. None is found later whose time is
/// charged, in whatever state.
pub fn is_overdrawn(report: &Value) -> bool {
    const MOST_CYCLES: u64 = 30_000 + 3_300;
    let attacker = named(report, "domains", "name", "attacker").unwrap_or(&Value::Null);
    let budget = &attacker["used"]["handlers_budget"];
    let [used, given] = ["max_used_cycles", "capacity_cycles"].map(|key| budget[key].as_u64());
    used.zip(given).is_none_or(|(used, given)| used > given + MOST_CYCLES)
}

/// A handler that winds its counter back: the manifest.
pub const REWINDS: &str = "tests/direct/rewinds.toml";

/// Whether that handler uses more in a period than looks leave it that charge a counter which they doubt: twice its capacity, and 12 mean intervals. (Admission counts 23.)
pub fn hides_more(report: &Value) -> bool {
    const MOST_CYCLES: u64 = 2 * 15_000 + 12 * 15_750;
    let used = &named(report, "domains", "name", "rewinds").unwrap_or(&Value::Null)["used"];
    used["handlers_budget"]["max_used_cycles"].as_u64().is_none_or(|used| used > MOST_CYCLES)
}

/// Deviations of a run of `tests/direct/slips.toml`: what a fault takes that handlers slip to others, and what it costs them (docs/interrupts.md has both).
pub fn slipped(report: &Value) -> Vec<String> {
    const MOST_CYCLES: u64 = 250;
    const LEAST_CYCLES: u64 = 32;
    let mut wrong = Vec::new();
    if report["verdict"]["failures"].as_array().is_none_or(|failures| !failures.is_empty()) {
        wrong.push(format!("{:#}", report["verdict"]["failures"]));
    }
    // The longest are those that end a life, because the handlers are blamed for something else as well.
    let fault = named(report, "exceptions", "name", "HardFault").unwrap_or(&Value::Null);
    let [taken, usual] = [&fault["taken"], &fault["cycles"]["median"]].map(|figure| figure.as_u64().unwrap_or(0));
    let used = report["run"]["counter"]["cycles"].as_u64().unwrap_or(0);
    if usual > MOST_CYCLES {
        wrong.push(format!("a fault takes {usual} cycles, not {MOST_CYCLES} at most"));
    }
    if taken < 1_000 || used < taken * LEAST_CYCLES {
        wrong.push(format!("{taken} faults for {used} cycles of handlers, not {LEAST_CYCLES} each at least"));
    }
    wrong
}

/// Two domains with handlers, of which one at a time occupies: the manifest.
pub const OWNERS: &str = "tests/direct/owners.toml";

/// Deviations of a run in which two domains contend: from how their lives end, in order, and from both their handlers and the kernel taking their interrupts.
pub fn contended(report: &Value) -> Vec<String> {
    const ENDS: [&str; 7] = ["usage", "data access", "data access", "execution", "usage", "exception return", "usage"];
    let entry = |list: &str, name: &str| named(report, list, "name", name).unwrap_or(&Value::Null);
    let mut wrong = Vec::new();
    // The handler of `two` in its last life takes the only interrupt, and never wakes its thread.
    for (name, lives, line, source, least) in
        [("one", 7, "interrupt 4", "timer1 zero", 500), ("two", 6, "interrupt 35", "uart1 tx", 20)]
    {
        let domain = entry("domains", name);
        let faults =
            report["faults"].as_array().into_iter().flatten().filter(|fault| fault["domain"] == domain["index"]);
        let ends: Vec<_> = faults.map(|fault| fault["kind"].as_str().unwrap_or_default()).collect();
        if ends != ENDS[..lives] {
            wrong.push(format!("the lives of {name} end in {ends:?}"));
        }
        // Of the line alone: the stub for SysTick of the state is a handler, too.
        let handled = entry("interrupts", source)["latency"]["count"].as_u64().unwrap_or(0);
        let by_kernel = entry("exceptions", line)["taken"].as_u64().unwrap_or(0).saturating_sub(handled);
        if handled <= least || by_kernel <= least {
            wrong.push(format!("of {name}, {handled} by its handler, {by_kernel} by the kernel"));
        }
    }
    wrong
}

/// `tests/direct/mutants.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutants {
    /// All of them.
    pub mutant: Vec<Mutant>,
}

/// A change to the kernel that takes a protection away.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The protection.
    pub protection: String,
    /// The file that it changes.
    pub file: String,
    /// The text there, which occurs exactly once.
    pub find: String,
    /// The text in its place.
    pub replace: String,
    /// Another system that shows it, of `tests/direct`.
    pub system: Option<String>,
    /// The attack that it lets through: a life. Those before it end as they must. None: of another system, or of any life, where it depends on the phase.
    pub life: Option<String>,
    /// How that shows, one of these: see there.
    pub sign: Vec<String>,
    /// Only `make test-long` tries it.
    #[serde(default)]
    pub long: bool,
}

impl Mutants {
    /// Reads them.
    ///
    /// # Panics
    /// When they are not as they should be.
    pub fn read() -> Mutants {
        let path = root().join("tests/direct/mutants.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

/// The outcome of a mutant.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Signs that were seen.
    pub signs: Vec<String>,
    /// The first life that ended otherwise, or did not end.
    pub first: Option<usize>,
}

impl Mutant {
    /// The file with the change.
    ///
    /// # Errors
    /// The change does not apply.
    pub fn apply(&self) -> Result<String, String> {
        let original =
            fs::read_to_string(root().join(&self.file)).map_err(|error| format!("{}: {error}", self.file))?;
        exchange(&original, &self.find, &self.replace).map_err(|times| {
            format!("the text to replace stands {times} times in {}, not once:\n{}", self.file, self.find)
        })
    }

    /// Runs the system with the change.
    ///
    /// # Errors
    /// A change that does not apply or does not build.
    pub fn perform(&self, bench: &Bench) -> Result<Outcome, String> {
        let text = self.apply()?;
        let manifest = self.system.as_ref().map_or(MANIFEST.to_owned(), |name| format!("tests/direct/{name}.toml"));
        let programs = bench.programs(&manifest, None, &Change { file: &self.file, text: &text })?;
        if self.system.is_none() {
            bench.limit(&manifest, LIMIT);
        }
        let Some(dir) = bench.perform(&manifest, None, &programs)? else {
            return Ok(Outcome { signs: vec!["machine-stops".into()], first: None });
        };
        let path = dir.join("report.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let report: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let failures = report["verdict"]["failures"].as_array().into_iter().flatten();
        let mut signs: Vec<String> =
            failures.filter_map(|failure| failure["code"].as_str().map(str::to_owned)).collect();
        signs.dedup();
        if self.system.is_some() {
            let is_otherwise = manifest == OWNERS && !contended(&report).is_empty();
            signs.extend(is_otherwise.then(|| "ends-otherwise".to_owned()));
            signs.extend((manifest == REWINDS && hides_more(&report)).then(|| "overdrawn".to_owned()));
            return Ok(Outcome { signs, first: None });
        }
        let found = ends(&report);
        let first = wrong(&found, false).next().or((found.len() > LIVES.len()).then_some(LIVES.len()));
        signs.extend(is_overdrawn(&report).then(|| "overdrawn".to_owned()));
        signs.extend(first.map(|at| if at < found.len() { "ends-otherwise" } else { "does-not-end" }.to_owned()));
        Ok(Outcome { signs, first })
    }

    /// A line about it when it was seen as it says.
    ///
    /// # Errors
    /// The same when it was not.
    pub fn judge(&self, bench: &Bench) -> Result<String, String> {
        let name = self.life.as_deref().unwrap_or("any life");
        let life = self.life.as_ref().map_or(Some(0), |own| LIVES.iter().position(|(name, _)| name == own));
        let life = life.ok_or_else(|| format!("there is no life `{name}`"))?;
        let what = format!("without {}: `{name}` succeeds", self.protection);
        let Outcome { signs, first } = self.perform(bench).map_err(|how| format!("{what}: {how}"))?;
        let other = first.map(|at| LIVES.get(at).map_or("beyond the last", |life| life.0));
        let seen = self.sign.iter().any(|sign| signs.contains(sign));
        let line =
            format!("{what} ({}; first: {}; of {})", self.sign.join(", "), other.unwrap_or("none"), signs.join(", "));
        if seen && first.is_none_or(|at| at >= life) { Ok(line) } else { Err(line) }
    }
}
