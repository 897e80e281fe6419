//! All that `check` knows of an admitted system, for `--verbose`.

use manifest::resolved::System;
use manifest::{Bound, KernelCosts, Kind, Slips, Term};
use place::{Placed, PlacedAccount};
use serde_json::json;

use crate::output::Output;

/// The region registers of a domain, as text.
fn registers(account: &PlacedAccount) -> String {
    let table = match account.table_bytes {
        0 => "nothing paged".to_owned(),
        bytes => format!("table {} of {bytes} bytes in {}", account.table_used, account.table),
    };
    format!("{} registers pinned, {} left; {table}", account.pinned, account.paged)
}

/// A domain's share of the TLB and of the memory for page tables, as text.
fn translation(account: &PlacedAccount) -> String {
    let PlacedAccount { pinned, table, table_used, table_bytes, far_bytes, .. } = account;
    format!(
        "{pinned} locked entries; first table {table}, second {table_used} of {table_bytes} bytes near, {far_bytes} bytes off it"
    )
}

/// Prints what the ledger has promised each domain.
pub fn ledger(placed: &Placed, pages: bool, output: &mut Output) {
    let kept = |code: &str| placed.layout.keeping_text(code).to_owned();
    for domain in &placed.layout.domains {
        let account = &domain.account;
        let name = &domain.name;
        let held = if pages { translation(account) } else { registers(account) };
        output.say(format!("  {name:<12}{held}"));
        for area in &domain.areas {
            let within =
                |cycles: u32| format!("check ends at {} within {cycles} cycles ({})", area.level, area.bound_method);
            let promise = match area.bound_cycles {
                Some(cycles) if pages => format!("{}: {}", kept(&area.kept), within(cycles)),
                None if pages => format!("{}: no bound", kept(&area.kept)),
                Some(_) if area.pinned => "in registers: never misses".to_owned(),
                Some(cycles) => within(cycles),
                None => continue,
            };
            output.say(format!(
                "    {:<12}{:<14} {:>9} bytes of {:<7} {promise}",
                area.name, area.spec, area.bytes, area.memory
            ));
        }
        for envelope in &account.envelopes {
            let (live, largest, count) = (envelope.live, envelope.largest, envelope.count);
            output.say(format!(
                "    {:<12}holds {live} bytes live in {count} blocks of at most {largest}, {}: {} bytes",
                envelope.arena, envelope.spec, envelope.bytes
            ));
        }
    }
    for (index, pool) in placed.ledger.pools().iter().enumerate() {
        let quotas = placed.layout.domains.iter().enumerate().filter_map(|(domain, placed_domain)| {
            let most = placed.ledger.quota(domain as u8, index as u8).most?;
            Some(format!("; {most} for {}", placed_domain.name))
        });
        output.say(format!(
            "  pool {index}      {} bytes of frames, {}{}",
            pool.clean.total,
            pool.class.text().trim_start_matches("data-"),
            quotas.collect::<String>()
        ));
    }
}

/// Time and memory of handlers that interrupts reach without the kernel, and their part of everybody's stacks.
pub fn handlers(system: &System, kernel: &KernelCosts, placed: &Placed, output: &mut Output) {
    let all = &placed.layout.handlers;
    if all.is_empty() {
        return;
    }
    let us = |ticks: u32| system.rate().us(ticks.into());
    let row = |what: &str, text: String| format!("  {what:<20}{text}");
    let mut all_uncounted = serde_json::Map::new();
    for (index, (handlers, (owner, shared))) in all.iter().zip(system.handlers()).enumerate() {
        let when = if index == 0 { "" } else { " while it occupies Non-secure state, not at the start" };
        let domain = &system.domains[owner].name;
        output.say(format!("\nhandlers of {domain}, which interrupts reach without the kernel{when}"));
        output.say(row("time", format!("{:.1} us in every {:.1} us", us(shared.capacity), us(shared.period))));
        let times = system.times_counted(owner, &shared);
        if times > 1 {
            let why = "the domain is hostile, and can set the counter back";
            output.say(row("", format!("response times count {times} times as much: {why}")));
        }
        let hidden = match (system.hidden_ticks(owner, &shared), shared.counted) {
            (0, _) => "the counter is believed: the domain is not declared hostile".to_owned(),
            (ticks, true) => {
                format!("and {:.1} us once, which 1 of 1000 lives hides for longer", system.rate().us(ticks))
            }
            (ticks, false) => {
                format!("and {:.1} us once, which looks miss more of in 2 of 1000 periods", system.rate().us(ticks))
            }
        };
        output.say(row("", hidden));
        let slips = system.slip_ticks(owner, kernel, u64::from(shared.capacity) * times);
        if slips > 0 {
            let counted = match shared.slips {
                Slips::Counted => "counted",
                Slips::Accepted => "accepted and not counted",
            };
            let us = system.rate().us(slips);
            let text = "of others' time in each period, by faults that they have others' threads take";
            output.say(row("slips", format!("up to {us:.1} us {text}; {counted}")));
        }
        let accepted = if shared.slips == Slips::Accepted { slips } else { 0 };
        all_uncounted.insert(domain.clone(), json!(accepted));
        output.say(row("code", format!("{} bytes at {:#010x}", handlers.bytes, handlers.base)));
        output.say(row("stack", format!("{} bytes at {:#010x}", handlers.stack.1, handlers.stack.0)));
    }
    for (domain, gate) in system.gates() {
        let (own, taken) = (us(gate.bound - gate.handlers), us(gate.handlers));
        let text = format!("{own:.1} us for the callee, and {taken:.1} us that handlers can take");
        output.say(row(&format!("{}.{}", system.domains[domain].name, gate.name), text));
    }
    let frames = format!("{} bytes more for each stack of the system", placed.layout.frame_bytes);
    output.say(row("frames of handlers", frames));
    output.field("handlers", json!(all));
    output.field("uncounted_ticks", all_uncounted.into());
    output.field("frame_bytes", json!(placed.layout.frame_bytes));
}

/// One row for the thread's own job, and one for each other term.
pub fn explain(bound: &Bound, us: impl Fn(u64) -> f64, output: &mut Output) {
    let mut row = |name: &str, of: &str, ticks: u64, detail: String| {
        output.say(format!("    {name:<8}{of:<16}{:>9.1} us  {detail}", us(ticks)).trim_end());
    };
    let own: Vec<&Term> = bound.terms.iter().filter(|term| term.kind.is_own()).collect();
    let parts: Vec<String> = own.iter().map(|term| format!("{} {:.1}", term.kind, us(term.ticks))).collect();
    row("own", "", own.iter().map(|term| term.ticks).sum(), parts.join(", "));
    for Term { kind, ticks } in bound.terms.iter().filter(|term| !term.kind.is_own()) {
        let detail = match kind {
            Kind::Budget { hits, capacity, carried, .. } => {
                format!("{hits} x {:.1}, and {:.1} carried in or overdrawn", us(*capacity), us(*carried))
            }
            _ => String::new(),
        };
        row(kind.word(), kind.of().unwrap_or(""), *ticks, detail);
    }
}

/// Names the threads that declare a `wcet` and no `reload`: nothing else pays for what their jobs load into caches again after others have run.
pub fn caches<'n>(bounds: &[&Bound], name: impl Fn(&Bound) -> &'n str, output: &mut Output) {
    let unpriced = bounds.iter().filter(|bound| bound.unpriced_resumptions > 0);
    let told: Vec<String> =
        unpriced.map(|bound| format!("{} up to {} times", name(bound), bound.unpriced_resumptions)).collect();
    if !told.is_empty() {
        output.say(format!(
            "  no `reload` is declared: `wcet` has to hold with what a job loads again into caches each time that it goes on after others ({})",
            told.join(", ")
        ));
    }
}
