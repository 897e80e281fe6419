//! Text about a fault for a person: who, what, where and why.
//!
//! Registers, stack and program are of a domain that may be hostile: nothing here trusts them, and everything ends.

mod lines;
mod reason;
mod unwind;

use std::collections::BTreeMap;

use record::{HandlerPlace, Summary};

use crate::Report;
use crate::describe::{Copied, SystemDescription};
use crate::schema::{CallSite, FaultReport};

use lines::Program;
pub use reason::{Account, account, of_handler};
use unwind::Place;

/// Calls of which the text of a fault tells; `report.json` has more.
const CALLS_TOLD: usize = 4;
/// Symbol at which the run-time of a program in C begins.
const ENTRY: &str = "__cofferdam_entry";

impl Report {
    /// Adds to each fault whose context was recorded the functions in which it happened. `read` gives a domain's ELF file at its final
    /// addresses, if there is one.
    pub fn trace_calls(
        &mut self,
        system: &SystemDescription,
        summary: &Summary,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) {
        let mut files: BTreeMap<u8, Option<Vec<u8>>> = BTreeMap::new();
        for fault in &mut self.faults {
            let context = summary.faults.iter().find(|kept| kept.cycle == fault.at && kept.domain == fault.domain);
            let Some(context) = context else { continue };
            let Some(domain) = system.domains.iter().find(|domain| domain.index == fault.domain) else { continue };
            let file = files.entry(fault.domain).or_insert_with(|| read(&domain.name));
            let Some(program) = file.as_deref().and_then(Program::parse) else { continue };
            if fault.in_handler {
                fault.calls =
                    context.handler.and_then(|at| of_copy(system, &program, fault.domain, at)).unwrap_or_default();
                fault.text = text(fault, &domain.name);
                continue;
            }
            let walk = unwind::walk(&program, context, summary.architecture);
            fault.calls = walk.places.iter().flat_map(|place| program.functions(*place)).collect();
            fault.calls_end = walk.end;
            fault.text = text(fault, &domain.name);
        }
        self.verdict = crate::verdict::judge(self);
    }
}

/// The functions in which a handler was, by the program of which its code is a copy.
fn of_copy(system: &SystemDescription, program: &Program, domain: u8, at: HandlerPlace) -> Option<Vec<CallSite>> {
    let address = u64::from(at.pc.unwrap_or(at.ran.start));
    let holds = |copy: &&Copied| copy.domain == domain && (copy.at..copy.at + copy.bytes).contains(&address);
    let copy = system.copies.iter().find(holds)?;
    let address = u32::try_from(copy.of + (address - copy.at)).ok()?;
    Some(program.functions(Place { address, look_up: address, exact: at.pc.is_some() }))
}

/// Returns the functions at an address of an ELF file, the innermost first: those that were inlined there, and the one that holds them all.
pub fn sources(file: &[u8], address: u32) -> Vec<CallSite> {
    let place = Place { address, look_up: address, exact: true };
    Program::parse(file).map(|program| program.functions(place)).unwrap_or_default()
}

/// Text about a fault: who, what, where, why.
pub fn text(fault: &FaultReport, domain: &str) -> String {
    let during = match &fault.thread {
        _ if fault.in_handler => ", in a handler".to_owned(),
        Some(thread) if thread != domain && !thread.starts_with(&format!("{domain}.")) => {
            format!(" in a call of {thread}")
        }
        _ => String::new(),
    };
    let place = place(fault);
    let why = if fault.reason.is_empty() { String::new() } else { format!(": {}", fault.reason) };
    format!("{domain}{during}: {}{place}{why}", fault.what)
}

/// " in deep() nullp.c:2, from main() nullp.c:7", as far as it is known.
pub fn place(fault: &FaultReport) -> String {
    let Some((first, callers)) = fault.calls.split_first() else {
        let symbol = fault.symbol.as_ref().map(|symbol| format!(" in {symbol}"));
        return symbol.or(fault.pc.filter(|pc| *pc != 0).map(|pc| format!(" at {pc:#x}"))).unwrap_or_default();
    };
    // Everything is called from the run-time's entry.
    let callers = match callers.split_last() {
        Some((last, inner)) if last.function == ENTRY => inner,
        _ => callers,
    };
    let mut told = format!(" {} {}", if first.exact { "in" } else { "near" }, site(first));
    for caller in callers.iter().take(CALLS_TOLD - 1) {
        told += &format!(", from {}", site(caller));
    }
    if callers.len() >= CALLS_TOLD {
        told += &format!(" and {} more", callers.len() + 1 - CALLS_TOLD);
    }
    told
}

/// "deep() nullp.c:2".
fn site(call: &CallSite) -> String {
    let file = call.file.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
    match (file, call.line) {
        (Some(file), Some(line)) => format!("{}() {file}:{line}", call.function),
        _ => format!("{}()", call.function),
    }
}
