//! `cofferdam check`

mod detail;

use build_tool::{Admitted, Compiled, Install};
use manifest::resolved::{Budget, System, Thread};
use manifest::{Bound, Kind, Slips, Term};
use place::{Placed, PlacedMemory};
use serde_json::json;

use super::boards::in_place_of;
use super::{building, instead, leave_if_interrupted, load, one};
use crate::cli::Check;
use crate::output::{OK, Outcome, Output};
use crate::table::Columns;

/// How many parts of a response stand in its row.
const PARTS: usize = 3;

/// Admits a system, or explains why not.
pub fn run(args: &Check, output: &mut Output) -> Outcome {
    let install = Install::find_for(&args.manifest).map_err(one)?;
    let loaded = load(&install, &args.manifest, instead(&args.board, &args.profile))?;
    let Admitted { system, bounds } = loaded.admit(true)?;
    let name = &system.name;
    output.warn(&loaded.warnings());
    let placed = if args.quick {
        None
    } else {
        runner::stop_on_interrupt();
        let mut tell = |what: &str| building(name, what, output);
        let compiled = build_tool::programs(&install, &loaded, &mut tell);
        leave_if_interrupted("built", output);
        let Compiled { programs, warnings } = compiled.map_err(one)?;
        output.warn(&warnings);
        let placed = build_tool::place_programs(&install, &loaded, &system, &programs).map_err(one)?;
        output.warn(&build_tool::silent(&loaded, &placed));
        Some(placed)
    };
    let mut closing = vec![responses(&system, &bounds, args.verbose, output), utilisation(&system, output)];
    if let Some(placed) = &placed {
        let pages = loaded.board.protection.facts().walked;
        let roles = |name: &str| {
            loaded.board.memory.get(name).map_or(String::new(), |memory| in_place_of(&memory.stands_in_for))
        };
        closing.push(memories(placed, roles, output));
        closing.push(slots(placed, pages, output));
        detail::handlers(&system, &loaded.board.kernel, placed, output);
        if args.verbose {
            output.say("\npromised to each domain");
            detail::ledger(placed, pages, output);
        }
        output.field("domains", json!(placed.layout.domains));
    }
    closing.retain(|text| !text.is_empty());
    let far = if args.quick { ", as far as the manifest alone tells" } else { "" };
    output.say(format!("\n{name}: admitted{far}: {}", closing.join("; ")));
    Ok(OK)
}

/// The response times that admission computed, the smallest slack first; returns what the last line says of them.
fn responses(system: &System, bounds: &[Bound], verbose: bool, output: &mut Output) -> String {
    let us = |ticks| system.rate().us(ticks);
    let named = |(domain, thread): (usize, &Thread)| format!("{}.{}", system.domains[domain].name, thread.name);
    let names: Vec<String> = system.threads().map(named).collect();
    let name = |bound: &Bound| names.get(bound.thread).map_or("", String::as_str);
    let slack = |bound: &Bound| bound.deadline - bound.response;
    let mut sorted: Vec<&Bound> = bounds.iter().collect();
    sorted.sort_by_key(|bound| slack(bound));
    let mut table = Columns::new(&["thread", "slack us", "response", "deadline", "its largest parts"], 1..4);
    let mut listed = Vec::new();
    for bound in &sorted {
        let (response, deadline, slack) = (us(bound.response), us(bound.deadline), us(slack(bound)));
        let mut largest: Vec<&Term> = bound.terms.iter().collect();
        largest.sort_by_key(|term| std::cmp::Reverse(term.ticks));
        let parts: Vec<String> =
            largest.iter().take(PARTS).map(|term| format!("{} {:.1}", term.kind, us(term.ticks))).collect();
        let times = [slack, response, deadline].map(|time| format!("{time:.1}"));
        table.row([vec![name(bound).to_owned()], times.to_vec(), vec![parts.join(", ")]].concat());
        let terms: Vec<_> = bound.terms.iter().map(|term| as_json(term, us)).collect();
        listed.push(json!({
            "thread": name(bound), "response_us": response, "deadline_us": deadline, "slack_us": slack, "terms": terms,
            "unpriced_resumptions": bound.unpriced_resumptions,
        }));
    }
    output.field("responses", json!(listed));
    let Some(first) = sorted.first() else { return "no thread has a deadline".into() };
    output.say("deadlines, the smallest slack first");
    output.say(table.text());
    detail::caches(&sorted, name, output);
    if verbose {
        for bound in &sorted {
            output.say(format!("  {} responds within {:.1} us", name(bound), us(bound.response)));
            detail::explain(bound, us, output);
        }
    }
    let share = slack(first) as f64 * 100.0 / first.deadline.max(1) as f64;
    let least = json!({ "thread": name(first), "slack_us": us(slack(first)), "of_deadline": share / 100.0 });
    output.field("smallest_slack", least);
    format!("smallest slack {:.1} us ({share:.0} %) of {}", us(slack(first)), name(first))
}

/// The share of the processor that each budget promises, the largest first, and the rest.
fn utilisation(system: &System, output: &mut Output) -> String {
    let us = |ticks: u32| system.rate().us(ticks.into());
    let share = |budget: &Budget| f64::from(budget.capacity) / f64::from(budget.period.max(1));
    let mut sorted: Vec<(usize, &Budget)> = system.budgets.iter().enumerate().collect();
    sorted.sort_by(|a, b| share(b.1).total_cmp(&share(a.1)));
    let mut table = Columns::new(&["budget", "share", "capacity us", "period us", "pays for"], 1..4);
    let mut listed = Vec::new();
    for (index, budget) in sorted {
        let threads = system.threads().filter(|(_, thread)| thread.budget == index);
        let threads = threads.map(|(domain, thread)| format!("{}.{}", system.domains[domain].name, thread.name));
        let threads: Vec<String> = threads.collect();
        let pays = if threads.is_empty() { "nobody".to_owned() } else { threads.join(", ") };
        table.row(vec![
            budget.name.clone(),
            format!("{:.1} %", share(budget) * 100.0),
            format!("{:.1}", us(budget.capacity)),
            format!("{:.1}", us(budget.period)),
            pays,
        ]);
        listed.push(json!({
            "budget": budget.name, "share": share(budget), "capacity_us": us(budget.capacity),
            "period_us": us(budget.period), "threads": threads,
        }));
    }
    let mut promised: f64 = system.budgets.iter().map(share).sum();
    for (owner, handlers) in system.handlers() {
        let part = f64::from(handlers.capacity) / f64::from(handlers.period.max(1));
        let (capacity, period) = (us(handlers.capacity), us(handlers.period));
        let (percent, name) = (format!("{:.1} %", part * 100.0), &system.domains[owner].name);
        let counted = match system.times_counted(owner, &handlers) {
            1 => String::new(),
            times => format!(", which deadlines, budgets and gates expect to use {times} times that"),
        };
        let hidden = match system.hidden_ticks(owner, &handlers) {
            0 => String::new(),
            ticks => format!(", and {:.1} us once", system.rate().us(ticks)),
        };
        let slips = match (handlers.slips, system.domains[owner].hostile) {
            (Slips::Accepted, true) => "; their slips are accepted, and nothing counts them",
            _ => "",
        };
        let pays = format!("handlers of {name}{counted}{hidden}{slips}");
        let times = [format!("{capacity:.1}"), format!("{period:.1}"), pays];
        table.row([vec!["-".to_owned(), percent], times.to_vec()].concat());
        promised += part;
    }
    output.say("\nprocessor");
    output.say(table.text());
    output.field("utilisation", json!({ "promised": promised, "left": 1.0 - promised, "budgets": listed }));
    format!("{:.1} % of the processor promised, {:.1} % left", promised * 100.0, (1.0 - promised) * 100.0)
}

/// Free space of each memory, the fullest first.
fn memories(placed: &Placed, roles: impl Fn(&str) -> String, output: &mut Output) -> String {
    let free = |memory: &PlacedMemory| u64::from(memory.bytes).saturating_sub(memory.used);
    let objects = &placed.layout.objects;
    let mut rows: Vec<(String, u64, u64, String)> = Vec::new();
    for memory in &placed.layout.memories {
        let role = roles(&memory.name).trim_start_matches([',', ' ']).to_owned();
        rows.push((memory.name.clone(), free(memory), memory.bytes.into(), role));
    }
    rows.push(("objects".into(), objects.bytes.saturating_sub(objects.used), objects.bytes, "the kernel's".into()));
    rows.sort_by(|a, b| (a.1 * b.2.max(1)).cmp(&(b.1 * a.2.max(1))));
    let percent = |free: u64, bytes: u64| format!("{:.0} %", free as f64 * 100.0 / bytes.max(1) as f64);
    let mut table = Columns::new(&["memory", "free", "free bytes", "of bytes", ""], 1..4);
    for (name, free, bytes, role) in &rows {
        table.row(vec![name.clone(), percent(*free, *bytes), free.to_string(), bytes.to_string(), role.clone()]);
    }
    output.say("\nmemory, the fullest first");
    output.say(table.text());
    let listed =
        rows.iter().map(|(name, free, bytes, _)| json!({ "memory": name, "free_bytes": free, "bytes": bytes }));
    output.field("free", json!(listed.collect::<Vec<_>>()));
    output.field("memories", json!(placed.layout.memories));
    output.field("objects", json!(objects));
    let (name, free, bytes, _) = &rows[0];
    format!("{name} is fullest, {} free", percent(*free, *bytes))
}

/// Registers or locked entries of each domain, and what its table has left.
fn slots(placed: &Placed, pages: bool, output: &mut Output) -> String {
    let held = if pages { "locked entries" } else { "pinned" };
    let mut table = Columns::new(&["domain", held, "left to page", "table bytes", "left"], 1..5);
    for domain in &placed.layout.domains {
        let account = &domain.account;
        let left = if pages { "-".into() } else { account.paged.to_string() };
        let (used, bytes) = (account.table_used, account.table_bytes);
        let unused = bytes.saturating_sub(used).to_string();
        table.row(vec![domain.name.clone(), account.pinned.to_string(), left, bytes.to_string(), unused]);
    }
    output.say(if pages { "\ntranslation" } else { "\nregion registers" });
    output.say(table.text());
    let locked = placed.layout.locked_ways;
    if locked.ways > 0 {
        output
            .say(format!("  {} ways of the level-2 cache locked, with {} bytes of tables", locked.ways, locked.bytes));
        output.field("locked_ways", json!(locked));
    }
    if pages {
        let entries: u32 = placed.layout.domains.iter().map(|domain| domain.account.pinned).sum();
        return format!("{entries} locked entries in use");
    }
    let least = placed.layout.domains.iter().min_by_key(|domain| domain.account.paged);
    least.map_or(String::new(), |domain| {
        format!("fewest registers left to page: {} of {}", domain.account.paged, domain.name)
    })
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
