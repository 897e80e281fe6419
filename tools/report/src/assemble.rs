//! Puts what was described, counted and analysed together.

use std::io;
use std::path::Path;

use abi::BootError;
use record::{
    Architecture, ClockSeen, DomainCounters, EndReason, ExceptionCount, Mode, RunEvent, Summary, ViolationKind, Window,
};

use crate::analyse::{Analysis, GateLimits, MEM_MANAGE, call_name};
use crate::describe::{Domain, SystemDescription};
use crate::highlights::highlights;
use crate::output::{self, WriteError};
use crate::place::symbol_at;
use crate::schema::*;
use crate::timeline::{Highlight, Marker, MarkerKind};
use crate::windows::windows;
use crate::{MAX_CONSOLE_BYTES, json, page, verdict};

impl Report {
    /// The report of a run: what was placed and admitted, what the observer counted, and what happened.
    /// [`Self::set_console`] adds what the console printed.
    ///
    /// The events are read twice: a clone of `events` must yield the same ones.
    ///
    /// # Errors
    /// [`WriteError`] when the jobs of a long run find no room in the directory for temporary files.
    ///
    /// # Time complexity
    /// O(events * log(gates) + jobs); memory does not grow with the events.
    pub fn build(
        system: &SystemDescription,
        summary: &Summary,
        events: impl IntoIterator<Item = RunEvent> + Clone,
    ) -> Result<Report, WriteError> {
        let mut analysis = Analysis::new(system, summary);
        for event in events.clone() {
            analysis.feed(&event);
        }
        let end = analysis.close(summary.cycles);
        let spooled = |source| WriteError::new(&std::env::temp_dir(), source);
        let mut report = assemble(system, summary, analysis, end).map_err(spooled)?;
        report.verdict = verdict::judge(&report);
        let (mut places, left_out) = highlights(&report);
        let wanted = places.iter().map(Highlight::wanted).collect();
        let windows = windows(system, wanted, events, end);
        for place in &mut places {
            place.exact = windows.iter().any(|window| (window.from..=window.to).contains(&place.at));
        }
        let timeline = &mut report.timeline;
        timeline.exact_cycles = windows.iter().map(|window| window.to - window.from).sum();
        (timeline.windows, timeline.highlights, timeline.highlights_left_out) = (windows, places, left_out);
        Ok(report)
    }

    /// Adds the output of the console, as [`record::visible_bytes`] makes it; of more than [`MAX_CONSOLE_BYTES`] only the end is kept.
    pub fn set_console(&mut self, text: &str) {
        let mut from = text.len().saturating_sub(MAX_CONSOLE_BYTES);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        self.console_cut_bytes = from as u64;
        self.console = text[from..].to_owned();
    }

    /// The report as JSON: indented to the third level, with a newline at the end.
    ///
    /// # Panics
    /// Never: a report holds only plain values.
    pub fn to_json(&self) -> String {
        record::visible_json(&json::to_text(self).expect("a report holds only plain values"))
    }

    /// The report as one page that needs nothing else.
    ///
    /// # Panics
    /// Never: writing to a string does not fail.
    pub fn to_html(&self) -> String {
        page::render(self)
    }

    /// Writes `report.json`. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`WriteError`]; an older file of that name is then untouched.
    pub fn write_json(&self, path: &Path) -> Result<(), WriteError> {
        output::write(path, self.to_json().as_bytes())
    }

    /// Writes `report.json` and `report.html`: both, or neither.
    ///
    /// # Errors
    /// [`WriteError`]; older files of these names are then untouched.
    pub fn write(&self, json: &Path, html: &Path) -> Result<(), WriteError> {
        output::write_together(&[(json, self.to_json().as_bytes()), (html, self.to_html().as_bytes())])
    }

    /// Writes `report.html`. The file appears complete or not at all.
    ///
    /// # Errors
    /// [`WriteError`]; an older file of that name is then untouched.
    pub fn write_html(&self, path: &Path) -> Result<(), WriteError> {
        output::write(path, self.to_html().as_bytes())
    }
}

fn assemble(system: &SystemDescription, summary: &Summary, mut analysis: Analysis, end: u64) -> io::Result<Report> {
    let threads = threads(system, &mut analysis, end)?;
    let domains: Vec<_> = system.domains.iter().map(|d| domain(d, system, summary, &analysis, end)).collect();
    let run = run(system, summary, &analysis, &threads, &domains, end);
    let interrupts = system.interrupts.iter().map(|line| InterruptReport {
        line: line.clone(),
        count: analysis.interrupts.get(&line.line).copied().unwrap_or(0),
        cycles: analysis.execution.lines.get(&line.line).copied().unwrap_or(0),
        latency: analysis.handlers.latency_of(line.line),
        separation: analysis.handlers.separation_of(line.line),
    });
    let interrupts = interrupts.collect();
    let (unprinted, unpaid) = (unprinted(&analysis), unpaid(&analysis, summary.architecture));
    Ok(Report {
        schema: SCHEMA,
        system: system.system.clone(),
        board: system.board.clone(),
        verdict: Verdict::default(),
        run,
        kernel_use: analysis.execution.kernel.values().copied().collect(),
        threads,
        domains,
        budgets: budgets(system, &analysis),
        gates: gates(system, &analysis),
        interrupts,
        outputs: analysis.outputs.into_iter().map(|output| output.report(end)).collect(),
        unprinted,
        violations: summary.violations.iter().map(|v| violation(v, system)).collect(),
        violations_total: summary.violations_total,
        witness: summary.witness,
        unpaid,
        exceptions: summary.exceptions.iter().map(|e| exception(e, summary)).collect(),
        probes: summary.probes.clone(),
        marks: analysis.marks.into_values().collect(),
        checks: system.checks.clone(),
        keeping: system.keeping.clone(),
        effort: system.effort.clone(),
        manager: system.manager,
        grants: analysis.grants.list,
        grants_total: analysis.grants.total,
        memories: system.memories.clone(),
        kernel_areas: system.kernel_areas.clone(),
        kernel_image: system.kernel_image,
        console: String::new(),
        console_cut_bytes: 0,
        timeline: analysis.timeline.finish(),
        faults: analysis.faults.into_list(),
        profile: system.profile.clone(),
        host: Host { seconds: summary.host_seconds, mips: summary.mips },
        provenance: None,
    })
}

/// Cycles of the kernel that no account pays for.
fn unpaid_cycles(analysis: &Analysis) -> u64 {
    analysis.execution.nobody.values().map(|unpaid| unpaid.cycles).sum()
}

fn unprinted(analysis: &Analysis) -> Vec<Unprinted> {
    let ended = |domain: u8| analysis.exits.get(usize::from(domain)).is_some_and(Option::is_some);
    let writes = analysis.printing.unprinted();
    writes.map(|(domain, writes)| Unprinted { domain, writes, ended: ended(domain) }).collect()
}

fn unpaid(analysis: &Analysis, architecture: Architecture) -> Vec<Unpaid> {
    let named = |(&(exception, call), unpaid): (&(u16, Option<u8>), &Unpaid)| Unpaid {
        exception,
        call,
        name: match (exception, call) {
            (0, _) => "Start and idling".to_owned(),
            (_, Some(call)) => call_name(call.into()),
            _ => architecture.exception_name(exception),
        },
        ..unpaid.clone()
    };
    analysis.execution.nobody.iter().map(named).collect()
}

fn kernel_failure(event: &RunEvent, system: &SystemDescription) -> KernelFailure {
    let pc = Some(event.payload).filter(|&pc| pc != 0);
    KernelFailure {
        at: event.cycle,
        why: BootError::from_number(event.detail).map_or("It went wrong.", BootError::text).to_owned(),
        pc,
        symbol: pc.and_then(|pc| symbol_at(&system.symbols, u64::from(pc))),
    }
}

fn run(
    system: &SystemDescription,
    summary: &Summary,
    analysis: &Analysis,
    threads: &[ThreadReport],
    domains: &[DomainReport],
    end: u64,
) -> Run {
    let window = |window: &Window| MaskedWindow {
        core: window.core,
        cycles: window.cycles,
        instructions: window.instructions,
        waits: window.waits,
        at: window.start_cycle,
        exception: summary.architecture.exception_name(window.exception),
        symbol: symbol_at(&system.symbols, u64::from(window.pc)),
    };
    let (refused, retried) = analysis.refused.totals();
    Run {
        end: end_name(summary.end.reason).to_owned(),
        status: summary.end.status.map(i64::from).or(summary.end.trace_status.map(|s| i64::from(s as i32))),
        kernel_failure: analysis.kernel_failed.map(|event| kernel_failure(&event, system)),
        finished: summary.end.reason == EndReason::Exit
            || (summary.end.reason == EndReason::CycleLimit && system.ends_at_limit),
        cycles: end,
        instructions: summary.instructions,
        seconds: end as f64 / system.cpu_hz.max(1) as f64,
        cpu_hz: system.cpu_hz,
        ticks_per_second: system.ticks_per_second,
        seen_ticks_per_second: summary.clock.and_then(|seen| rate(seen, system.cpu_hz)),
        clock_reads: summary.clock.map(|seen| seen.reads),
        timer_interrupts: system.timer_exception.map(|timer| taken(summary, timer)),
        seen_regions: summary.regions,
        regions: system.regions,
        counter: summary.counter,
        tick_zero_cycles: analysis.time.tick_zero(),
        tick_zero_known: analysis.time.is_known(),
        modelled: summary.modelled,
        exact: summary.exact,
        mode: match summary.mode {
            Mode::Quantum => "quantum".to_owned(),
            Mode::Exact => "exact".to_owned(),
        },
        quantum_cycles: summary.quantum_cycles,
        sleep_cycles: summary.sleep_cycles,
        idle: summary.domain(record::IDLE).map(counters).unwrap_or_default(),
        events: analysis.events,
        lost_events: summary.events.saturating_sub(analysis.events),
        strange_events: analysis.strange,
        switches: analysis.switches,
        missed_deadlines: threads.iter().map(|thread| thread.missed_deadlines).sum(),
        faults: domains.iter().map(|domain| domain.faults).sum(),
        refused_calls: refused,
        retried_calls: retried,
        region_misses: domains.iter().map(|domain| domain.region_misses).sum(),
        longest_masked: summary.masked.longest.as_ref().map(window),
        longest_to_thread: summary.masked.longest_to_thread.as_ref().map(window),
        masked_bound_cycles: system.masked_bound_cycles,
        use_from_execution: analysis.execution.is_recorded,
        timer_cycles: analysis.execution.timer,
        unpaid_cycles: unpaid_cycles(analysis),
        release_late_bound_cycles: analysis.release_late_bound,
        mismatches: analysis.execution.mismatches,
        mismatch: analysis.execution.mismatch,
        broken_stretches: summary.broken_stretches,
    }
}

/// The threads; each completion after a deadline becomes a marker.
fn threads(system: &SystemDescription, analysis: &mut Analysis, end: u64) -> io::Result<Vec<ThreadReport>> {
    let mut reports = Vec::new();
    for thread in &system.threads {
        let index = usize::from(thread.index);
        let claims_until = analysis.claims_until(thread);
        let Analysis { jobs, execution, time, timeline, .. } = analysis;
        let (kind, lane, domain) = (MarkerKind::Late, timeline.lane(thread.index), Some(thread.domain));
        let on_late = |at| timeline.mark(Marker { at, kind, lane, domain });
        reports.push(jobs[index].report(thread, &execution.threads[index], (time, end), claims_until, on_late)?);
    }
    Ok(reports)
}

fn domain(
    domain: &Domain,
    system: &SystemDescription,
    summary: &Summary,
    analysis: &Analysis,
    end: u64,
) -> DomainReport {
    let counted = summary.domain(domain.index);
    let counters = counted.map(counters).unwrap_or_default();
    let misses = counted.map_or(0, |counted| counted.paged_misses);
    let timed = analysis.misses.of(domain.index).filter(|meter| meter.timed > 0 && meter.timed == meter.count);
    let handler = summary.masked.vectors.iter().find(|vector| vector.exception == MEM_MANAGE);
    let (cost, max) = match (timed, handler) {
        (Some(meter), _) => (meter.cycles, meter.max),
        (None, Some(handler)) if misses > 0 => (misses * handler.cycles.median, handler.cycles.max),
        _ => (0, 0),
    };
    let index = usize::from(domain.index);
    DomainReport {
        index: domain.index,
        name: domain.name.clone(),
        color: domain.color,
        hostile: domain.hostile,
        fault_policy: domain.fault_policy.name().to_owned(),
        counters,
        used: {
            let (user, calls) = analysis.execution.domains.get(&domain.index).copied().unwrap_or_default();
            let at_home = system.threads.iter().filter(|thread| thread.domain == domain.index);
            let activations = at_home.map(|thread| analysis.execution.threads[usize::from(thread.index)].activations);
            DomainUse {
                user_cycles: user,
                call_cycles: calls,
                activation_cycles: activations.sum(),
                handlers: analysis.execution.served.get(&domain.index).copied(),
                handlers_budget: analysis.handlers.budget_of(domain.index),
            }
        },
        share: (counters.cycles + counters.kernel_cycles) as f64 / end.max(1) as f64,
        region_misses: misses,
        region_miss_cycles: cost,
        region_miss_max_cycles: max,
        region_miss_exact: timed.is_some() || misses == 0,
        refused: analysis.refused.of(domain.index),
        faults: analysis.faults.counts[index],
        restarts: analysis.faults.restarts[index],
        exit_code: analysis.exits[index],
        stopped: analysis.stopped[index],
        areas: domain.areas.clone(),
        account: domain.account.clone(),
        image: domain.image,
    }
}

fn counters(counted: &DomainCounters) -> Counters {
    Counters {
        cycles: counted.cycles,
        kernel_cycles: counted.kernel_cycles,
        instructions: counted.instructions,
        kernel_instructions: counted.kernel_instructions,
        entries: counted.entries,
        data_accesses: counted.data_accesses,
        icache: counted.icache,
        dcache: counted.dcache,
        translation: counted.translation,
        kernel_translation: counted.kernel_translation,
    }
}

fn budgets(system: &SystemDescription, analysis: &Analysis) -> Vec<BudgetReport> {
    let report = |budget: &crate::describe::Budget| {
        let payers = system.threads.iter().filter(|thread| thread.budget == budget.index);
        let names = payers.map(|thread| thread.name.clone()).collect();
        analysis.budgets[&budget.index].report(budget, names)
    };
    system.budgets.iter().map(report).collect()
}

fn gates(system: &SystemDescription, analysis: &Analysis) -> Vec<GateReport> {
    let report = |gate: &crate::describe::Gate| {
        analysis.gates[&gate.index].report(gate, GateLimits::of(gate, system, &analysis.time))
    };
    system.gates.iter().map(report).collect()
}

fn violation(violation: &record::Violation, system: &SystemDescription) -> Violation {
    Violation {
        core: violation.core,
        at: violation.cycle,
        domain: violation.domain,
        kind: violation_name(violation.kind).to_owned(),
        address: u64::from(violation.address),
        bytes: violation.len,
        victim: violation.victim,
        pc: u64::from(violation.pc),
        symbol: symbol_at(&system.symbols, u64::from(violation.pc)),
        broken: broken(violation),
    }
}

fn broken(violation: &record::Violation) -> Option<BrokenRule> {
    let failure = if violation.kind == ViolationKind::UncleanTable { "unclean-table" } else { "stale-translation" };
    let opinion = violation.translation?;
    Some(BrokenRule {
        failure: failure.to_owned(),
        rule: violation.kind.rule()?.to_owned(),
        remedy: violation.kind.remedy()?.to_owned(),
        space: opinion.space,
        held: u64::from(opinion.held),
        tables: opinion.tables.map(u64::from),
    })
}

fn exception(count: &ExceptionCount, summary: &Summary) -> ExceptionReport {
    let handler = summary.masked.vectors.iter().find(|vector| vector.exception == count.number);
    ExceptionReport {
        number: count.number,
        name: summary.architecture.exception_name(count.number),
        taken: count.taken,
        tail_chained: count.tail_chained,
        cycles: handler.map(|vector| vector.cycles),
        instructions: handler.map(|vector| vector.instructions),
    }
}

const fn violation_name(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::Read => "read that silicon denies",
        ViolationKind::Write => "write that silicon denies",
        ViolationKind::Execute => "execution that silicon denies",
        ViolationKind::KernelEntry => "kernel entered beside its entries",
        ViolationKind::MemoryChanged => "memory of another domain changed",
        ViolationKind::HostileStore => "store outside the domain's memory",
        ViolationKind::KernelDevice => "access of the kernel to a device that is not its own",
        ViolationKind::KernelStack => "access of the kernel below its stack",
        ViolationKind::LateFault => "switch before the kernel looked for a store that failed late",
        ViolationKind::DeepSleep => "deep sleep, in which a chip may stop the clocks of the kernel's timers",
        ViolationKind::SoftwareTrigger => {
            "interrupt of Secure state pended by Non-secure code through STIR, which the emulator alone lets through"
        }
        ViolationKind::StaleTranslation => "translation that the tables no longer say",
        ViolationKind::StaleLocked => "locked entry that the tables no longer say",
        ViolationKind::StaleSpace => "translation of another space with the same identifier",
        ViolationKind::StaleBarrier => "translation whose invalidation was not completed",
        ViolationKind::UncleanTable => "walk past a cache that holds the descriptor changed",
        ViolationKind::Elsewhere => "access elsewhere than the observer's tables say",
    }
}

const fn end_name(reason: EndReason) -> &'static str {
    match reason {
        EndReason::Exit => "it ended itself",
        EndReason::CycleLimit => "the limit on its time was reached",
        EndReason::InstructionLimit => "the limit on its instructions was reached",
        EndReason::IdleForever => "it slept and nothing would have woken it",
        EndReason::ObserverFailed => "the observer could not go on",
        EndReason::Killed => "it was stopped from outside",
    }
}

/// Counts of a clock in a second, where it was seen for a millisecond at least.
fn rate(seen: ClockSeen, cpu_hz: u64) -> Option<u64> {
    let ClockSeen { counts, cycles, .. } = seen;
    let rate = || u64::try_from(u128::from(counts) * u128::from(cpu_hz) / u128::from(cycles)).ok();
    (cycles > 0 && cycles >= cpu_hz / 1000).then(rate).flatten()
}

/// How often an exception was taken.
fn taken(summary: &Summary, number: u16) -> u64 {
    summary.exceptions.iter().find(|count| count.number == number).map_or(0, |count| count.taken)
}
