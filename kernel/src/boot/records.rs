//! Objects as the tables describe them.

use sched::budget::Params;
use system::System;
use units::Instant;

use crate::arch::{Arch, Start};
use crate::boot::BootError;
use crate::boot::pool::Pool;
use crate::objects::{Activation, Budget, Domain, Interrupt, Notification, State, Thread};
use crate::ranks::{Turn, Waiters};
use crate::table::{Ref, Table};

/// Every activation, and the threads. They are made together, because each refers to the other.
pub(super) type Activations<A> = (Table<Activation<A>>, Table<Thread<A>>);

/// The threads, and all that they can be in.
pub(super) fn activations<A: Arch>(
    tables: &System<'static>,
    arch: &mut A,
    pool: &mut Pool<A>,
    domains: &Table<Domain<A>>,
    idle: Ref<Domain<A>>,
    budgets: &Table<Budget>,
) -> Result<Activations<A>, BootError> {
    let (count, gates) = (tables.count::<system::Thread>(), tables.count::<system::Gate>());
    let mut activations = pool.reserve::<Activation<A>>(arch, count + gates + 1)?;
    let mut threads = pool.reserve::<Thread<A>>(arch, count)?;
    let domain = |number: u32| domains.find(number as usize).ok_or(BootError::BadTables);
    for index in 0..count {
        let entry: system::Thread = tables.get(index);
        let (thread, base) = (threads.find(index)?, activations.find(index)?);
        let budget = budgets.find(entry.budget as usize).ok_or(BootError::BadTables)?;
        activations.push(Activation {
            who: (index as u32) << 16,
            place: entry.domain << 8 | (index as u32) << 16,
            priority: entry.priority as u8,
            thread: Some(thread),
            ..new_activation(domain(entry.domain)?)
        });
        threads.push(new_thread(&entry, index as u8, thread, base, budget));
    }
    for index in 0..gates {
        let entry: system::Gate = tables.get(index);
        let callee = domain(entry.domain)?;
        let start = Start {
            entry: entry.entry.into(),
            link: domains.at(callee).gate_return,
            stack_base: entry.stack_base.into(),
            stack_bytes: entry.stack_bytes.into(),
            args: [A::Width::default(); 4],
        };
        let mut activation = new_activation(callee);
        activation.entry = arch.entry(&mut activation.context, start);
        activation.place = entry.domain << 8;
        activation.priority = entry.ceiling as u8;
        activation.number = index as u32;
        activation.bound = entry.bound.min(i32::MAX as u32);
        activations.push(activation);
    }
    activations.push(Activation { context: arch.idle(), ..new_activation(idle) });
    Ok((activations.table()?, threads.table()?))
}

fn new_activation<A: Arch>(domain: Ref<Domain<A>>) -> Activation<A> {
    Activation {
        context: A::EMPTY,
        entry: A::NO_ENTRY,
        domain,
        thread: None,
        who: 0,
        outer: None,
        until: Instant::of(0),
        epoch: 0,
        number: 0,
        place: 0,
        bound: 0,
        generation: 0,
        priority: u8::MAX,
        disturbed: false,
        untouched: Default::default(),
        answer: None,
    }
}

fn new_thread<A: Arch>(
    entry: &system::Thread,
    number: u8,
    own: Ref<Thread<A>>,
    base: Ref<Activation<A>>,
    budget: Ref<Budget>,
) -> Thread<A> {
    Thread {
        base,
        top: base,
        next: own,
        prev: own,
        budget,
        away: Instant::of(0),
        held: 0,
        number,
        queue: entry.priority as u8,
        state: State::Ended,
        rank: 0,
        pending: None,
        mask: 0,
        period: entry.period,
        release: 0,
        open: false,
        generation: 0,
    }
}

pub(super) fn new_budget(entry: &system::Budget) -> Result<Budget, BootError> {
    let params = Params::new(entry.period.into(), entry.capacity.into()).map_err(|_| BootError::BadTables)?;
    let (time, misses) = (sched::budget::Budget::new(params, 0), entry.misses);
    Ok(Budget {
        time,
        misses,
        misses_left: misses,
        waiters: Waiters::NONE,
        turn: Turn::Nobody,
        priority: u8::MAX,
        generation: 0,
    })
}

pub(super) fn new_interrupt<A: Arch>(
    entry: &system::Interrupt,
    notifications: &Table<Notification<A>>,
) -> Result<Interrupt<A>, BootError> {
    let notification = notifications.find(entry.notification as usize).ok_or(BootError::BadTables)?;
    Ok(Interrupt { line: entry.line as u16, notification, bits: entry.bits, generation: 0 })
}
