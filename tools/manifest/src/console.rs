//! `[console]`: the console's domain, notification and budget in a line, for systems that want no other than the usual one.

use indexmap::IndexMap;

use crate::diagnostic::Refusal;
use crate::quantity::Time;
use crate::schema::{
    Budget, Console, CrateSource, Domain, Gate, InterruptLine, Manifest, Notification, Thread, Use, gate_stack,
    main_name,
};

/// Longest time of one call of the gate, unless manifest or board say another.
const BOUND: Time = Time(80_000);

/// Name of the domain, the notification and the budget.
const NAME: &str = "console";

/// The tables for which `[console]` stands.
const TABLES: [&str; 3] = ["domain.console", "budget.console", "notification.console"];

/// Puts domain, notification and budget of the console before all others, if the manifest asks for them.
///
/// # Errors
/// CF0203 when one of them is written out, too.
pub fn expand(manifest: &mut Manifest) -> Result<(), Box<Refusal>> {
    let Some(console) = manifest.console.clone() else { return Ok(()) };
    let taken = [
        manifest.domain.contains_key(NAME),
        manifest.budget.contains_key(NAME),
        manifest.notification.contains_key(NAME),
    ];
    if let Some((table, _)) = TABLES.iter().zip(taken).find(|(_, taken)| *taken) {
        manifest.console = None;
        let refusal = Refusal::at("CF0203", *table, format!("`{table}` stands beside `[console]`, which makes one"))
            .rule("`[console]` stands for a domain, a budget and a notification of that name")
            .remedy("remove `[console]` and write all three, or remove this table");
        return Err(Box::new(refusal));
    }
    manifest.notification.shift_insert(0, NAME.into(), Notification { initial: 0 });
    let budget = Budget { period: console.period, capacity: console.capacity, misses: None };
    manifest.budget.shift_insert(0, NAME.into(), budget);
    manifest.domain.shift_insert(0, NAME.into(), domain(console));
    Ok(())
}

fn domain(console: Console) -> Domain {
    let source = CrateSource { path: "cofferdam:console".into(), bin: None, features: Vec::new() };
    let thread = Thread { name: main_name(), priority: console.priority, budget: NAME.into(), ..Thread::default() };
    let stack = gate_stack();
    let bound = console.bound.unwrap_or(BOUND);
    let gate = Gate { entry: "console_write".into(), ceiling: console.ceiling, bound, stack };
    let (device, line, notification) = (console.device.clone(), "tx".into(), NAME.into());
    let line = InterruptLine { device, line, notification, bit: 1, ..InterruptLine::default() };
    let events = Use { notification: Some(NAME.into()), ..Use::default() };
    Domain {
        package: Some(source),
        devices: vec![console.device],
        thread: vec![thread],
        gate: IndexMap::from([("write".into(), gate)]),
        interrupt: IndexMap::from([("tx".into(), line)]),
        uses: IndexMap::from([("events".into(), events)]),
        ..Domain::default()
    }
}

/// The bound of the gate of `[console]`, in microseconds, on a board that says one, unless the manifest does.
pub fn fit_console(manifest: &mut Manifest, bound_us: Option<u32>) {
    let written = manifest.console.as_ref().is_none_or(|console| console.bound.is_some());
    let Some(bound) = bound_us.filter(|_| !written) else { return };
    let gate = manifest.domain.get_mut(NAME).and_then(|domain| domain.gate.get_mut("write"));
    if let Some(gate) = gate {
        gate.bound = Time(u64::from(bound) * 1000);
    }
}

/// Whether a place lies in a table that `[console]` made, so that the text has only `[console]` for it.
pub fn made(manifest: &Manifest, place: &str) -> bool {
    let within = |table: &str| place.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    manifest.console.is_some() && TABLES.iter().any(|table| within(table))
}
