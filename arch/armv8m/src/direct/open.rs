//! Memory, devices and lines of handlers: set up once, at boot.

use core::sync::atomic::Ordering::Relaxed;

use kernel::boot::BootError;
use system::System;
use system::direct::{self, Direct};

use super::access::{Blocks, CALLABLE, Facts, Region};
use super::displaced::DISPLACED;
use super::left;
use super::meter;
use super::occupy::start;
use super::owner::{COFFERDAM_OWNER, MAX_LINE};
use super::registers::set;

unsafe extern "C" {
    static cofferdam_wake: u8;
    static __cofferdam_wake_callable_end: u8;
}

/// Opens what the tables say is open to handlers.
///
/// # Errors
/// [`BootError::BadTables`]: the board cannot open it.
///
/// # Time complexity
/// Linear in the blocks; runs once.
pub fn open(system: &System<'_>, facts: &Facts) -> Result<(), BootError> {
    DISPLACED.start(None, 0);
    let Some(first) = direct::owners(system).next() else { return Ok(()) };
    if let Some([register, bit]) = facts.callable {
        set(register, 1 << bit, true);
    }
    let way_in = (&raw const cofferdam_wake) as u32 & !31;
    Region::new(way_in, (&raw const __cofferdam_wake_callable_end) as u32 & !31, CALLABLE)?.write(0);
    for own in direct::owners(system) {
        Blocks::new(facts, own.text_base | own.alias, own.text_bytes)?.set(true);
    }
    lines(system)?;
    meters(system, facts, &first)?;
    start(system, facts)
}

/// Notes all lines of handlers. Each leads to the kernel as long as its domain does not occupy, so
/// nothing of the interrupt controller changes here.
fn lines(system: &System<'_>) -> Result<(), BootError> {
    let owner = &COFFERDAM_OWNER;
    let mut count = 0;
    for (line, level, seat) in direct::lines(system) {
        let places = owner.all.get(count).filter(|_| line < MAX_LINE);
        let place = places.ok_or(BootError::BadTables)?;
        place.line.store(line as u8, Relaxed);
        place.level.store((level as u8 - 1) << 6, Relaxed);
        place.seat.store(seat as u8, Relaxed);
        count += 1;
    }
    owner.count.store(count as u32, Relaxed);
    for (seat, own) in owner.seats.iter().zip(direct::owners(system)) {
        let is_stack = |(base, bytes, is_device): &(u32, u32, bool)| {
            !is_device && own.stack_top.wrapping_sub(*base).wrapping_sub(1) < *bytes
        };
        let (base, ..) = direct::open(system, &own).find(is_stack).ok_or(BootError::BadTables)?;
        seat.take(&own, base);
    }
    Ok(())
}

fn meters(system: &System<'_>, facts: &Facts, first: &Direct) -> Result<(), BootError> {
    let owner = &COFFERDAM_OWNER;
    let (timer, line) = facts.sampler;
    if timer == 0 {
        return Err(BootError::BadTables);
    }
    left::start(facts.counter.map_or(0, |[units, ..]| units));
    owner.looks.timer.store(timer, Relaxed);
    owner.looks.line.store(line, Relaxed);
    owner.counter.line.store(line, Relaxed);
    if let Some(rate) = first.rate() {
        let [registers, device, line] = facts.counter.ok_or(BootError::BadTables)?;
        owner.counter.start([registers, device, line, facts.way_in_cycles], rate);
    }
    let met = u64::from(facts.met_cycles) * u64::from(system.ticks_per_second()) / u64::from(system.cpu_hz().max(1));
    DISPLACED.start(owner.counter.count(), met as u32);
    let servers = direct::owners(system).map(|own| (own.period, own.capacity));
    meter::start(servers, system.cpu_hz() ^ first.text_base).ok_or(BootError::BadTables)
}
