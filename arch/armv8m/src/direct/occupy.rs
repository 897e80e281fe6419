//! The change of the domain that occupies Non-secure state.
//!
//! Everything happens in the meter's exception, above handlers: between the last instruction of one domain's handlers and the first of the other's there is
//! no time at which both, or a half of each, can be reached.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::Relaxed;

use armv_m::regs;
use kernel::boot::BootError;
use system::System;
use system::direct::{self, MAX_OWNERS};

use super::access::{Access, Facts};
use super::left::put_back;
use super::lines::{asks, is_paid, pay, take};
use super::owner::{COFFERDAM_OWNER, Request};
use super::registers::{set_priority, write_bit};
use crate::registers::KERNEL_PRIORITY;

/// Memory and devices of each domain with handlers. They are computed at boot, because a change
/// happens above all handlers and must be short.
struct Places(UnsafeCell<[Access; MAX_OWNERS]>);

// SAFETY: after boot only the meter's exceptions use it, which have one priority.
unsafe impl Sync for Places {}

static PLACES: Places = Places(UnsafeCell::new([Access::NONE; MAX_OWNERS]));

/// Notes what each domain's handlers may access, at boot, and has the first one occupy.
///
/// # Errors
/// [`BootError::BadTables`]: the board cannot open it.
pub(super) fn start(system: &System<'_>, facts: &Facts) -> Result<(), BootError> {
    // SAFETY: at boot, before any exception.
    let places = unsafe { &mut *PLACES.0.get() };
    for (place, own) in places.iter_mut().zip(direct::owners(system)) {
        *place = Access::of(system, facts, &own)?;
    }
    enter(0);
    // The state is as after a reset, so SysTick needs no clearing.
    COFFERDAM_OWNER.timed.store(0, Relaxed);
    Ok(())
}

/// What the domain of a seat has open while it occupies.
fn access(seat: u32) -> &'static Access {
    // SAFETY: written at boot only.
    let places = unsafe { &*PLACES.0.get() };
    &places[seat as usize % MAX_OWNERS]
}

/// Asks the meter's exception for a change, because that is above all handlers. Returns false if
/// the domain has no handlers.
///
/// # Bound
/// The lines of handlers, and the blocks of memory that two domains open to them.
pub(crate) fn occupy(domain: u8) -> bool {
    let owner = &COFFERDAM_OWNER;
    let Some(index) = owner.seat_of(domain) else { return false };
    if index as u32 != owner.seat.load(Relaxed) {
        owner.next.store(index as u32, Relaxed);
        owner.ask(Request::Change);
        // Lines whose handlers are reached without the kernel again may have wakes to deliver.
        regs::ICSR.write(regs::PENDSVSET);
    }
    true
}

/// Closes the handlers of the domain that occupies, and enters those of another one. The caller is
/// the meter's exception, so no handler runs in between.
pub(super) fn change() {
    let owner = &COFFERDAM_OWNER;
    leave();
    let left = owner.occupant();
    enter(owner.next.load(Relaxed));
    owner.counter.exchange_doubt(&left.doubt, &owner.occupant().doubt);
}

fn leave() {
    let owner = &COFFERDAM_OWNER;
    owner.close();
    for (line, _) in owner.lines() {
        let (target, bit) = regs::nvic_itns(line);
        target.write(target.read() & !bit);
        set_priority(line, KERNEL_PRIORITY as u8);
        // The kernel takes these lines from now on, as often as is paid for. What handlers have
        // asked for comes first.
        if asks(line) {
            write_bit(regs::nvic_ispr(line));
        }
        if is_paid(line) {
            write_bit(regs::nvic_iser(line));
        }
        take(line);
    }
    access(owner.seat.load(Relaxed)).set(false);
}

/// Opens what a domain has, and leads its lines to its handlers. They stay closed until `reopen`,
/// when the registers are as after a reset.
fn enter(seat: u32) {
    let owner = &COFFERDAM_OWNER;
    owner.occupy(seat);
    access(seat).set(true);
    put_back();
    for (line, _) in owner.lines() {
        let (enabled, bit) = regs::nvic_iser(line);
        if enabled.read() & bit != 0 {
            pay(line);
        }
        write_bit(regs::nvic_icer(line));
        let (target, bit) = regs::nvic_itns(line);
        target.write(target.read() | bit);
    }
    owner.close();
}
