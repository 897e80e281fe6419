//! `cofferdam check`

use build_tool::{Admitted, Install};
use manifest::resolved::{System, Thread};
use manifest::{Bound, Kind, Term};
use place::{Placed, PlacedAccount, PlacedMemory as Memory};
use serde_json::json;

use super::boards::in_place_of;
use super::{load, one};
use crate::cli::Check;
use crate::output::{OK, Outcome, Output};

/// Admits a system, or explains why not.
pub fn run(args: &Check, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.manifest).map_err(one)?;
    let loaded = load(&install, &args.manifest, args.board.as_deref())?;
    let Admitted { system, bounds } = loaded.admit(true)?;
    let name = &system.name;
    if args.quick {
        output.say(format!("{name}: admitted as far as the manifest alone tells"));
    } else {
        let mut tell = |what: &str| output.progress(format!("{name}: building {what}"));
        let programs = build_tool::programs(&install, &loaded, &mut tell).map_err(one)?;
        let placed = build_tool::place_programs(&install, &loaded, &system, &programs).map_err(one)?;
        output.say(format!("{name}: admitted"));
        for memory in &placed.layout.memories {
            let share = memory.used as f64 * 100.0 / f64::from(memory.bytes);
            let board = loaded.board.memory.get(&memory.name);
            let roles = board.map_or(String::new(), |memory| in_place_of(&memory.stands_in_for));
            let Memory { name, used, bytes, .. } = memory;
            output.say(format!("  {name:<8}{used:>9} of {bytes:>9} bytes ({share:.0} %){roles}"));
        }
        let objects = &placed.layout.objects;
        let share = objects.used as f64 * 100.0 / objects.bytes as f64;
        let name = "objects";
        output
            .say(format!("  {name:<8}{:>9} of {:>9} bytes ({share:.0} %), the kernel's", objects.used, objects.bytes));
        output.field("objects", json!(objects));
        let locked = placed.layout.locked_ways;
        if locked.ways > 0 {
            output.say(format!(
                "  {} ways of the level-2 cache locked, with {} bytes of tables",
                locked.ways, locked.bytes
            ));
            output.field("locked_ways", json!(locked));
        }
        ledger(&placed, loaded.board.protection.walks(), output);
        output.field("memories", json!(placed.layout.memories));
        output.field("domains", json!(placed.layout.domains));
    }
    responses(&system, &bounds, output);
    Ok(OK)
}

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
fn ledger(placed: &Placed, pages: bool, output: &mut Output) {
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

/// The response times that admission computed, with their slack and what contributes to them.
fn responses(system: &System, bounds: &[Bound], output: &mut Output) {
    let rate = f64::from(system.ticks_per_second);
    let us = |ticks: u64| ticks as f64 * 1e6 / rate;
    let named = |(domain, thread): (usize, &Thread)| format!("{}.{}", system.domains[domain].name, thread.name);
    let names: Vec<String> = system.threads().map(named).collect();
    let mut listed = Vec::new();
    for bound in bounds {
        let name = names.get(bound.thread).map_or("", String::as_str);
        let (response, deadline) = (us(bound.response), us(bound.deadline));
        let slack = deadline - response;
        output
            .say(format!("  {name} responds within {response:.1} us (deadline {deadline:.1} us, slack {slack:.1} us)"));
        explain(bound, us, output);
        let terms: Vec<_> = bound.terms.iter().map(|term| as_json(term, us)).collect();
        listed.push(json!({
            "thread": name, "response_us": response, "deadline_us": deadline, "slack_us": slack, "terms": terms,
        }));
    }
    output.field("responses", json!(listed));
}

/// One row for the thread's own job, and one for each other term.
fn explain(bound: &Bound, us: impl Fn(u64) -> f64, output: &mut Output) {
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

fn as_json(term: &Term, us: impl Fn(u64) -> f64) -> serde_json::Value {
    let mut value = json!({ "term": term.kind.word(), "us": us(term.ticks) });
    if let Some(of) = term.kind.of() {
        value["of"] = json!(of);
    }
    if let Kind::Budget { hits, capacity, carried, .. } = term.kind {
        value["hits"] = json!(hits);
        value["capacity_us"] = json!(us(capacity));
        value["carried_us"] = json!(us(carried));
    }
    value
}
