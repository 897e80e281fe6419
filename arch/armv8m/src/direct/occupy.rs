//! The change of the domain that occupies Non-secure state.
//!
//! Everything happens in the meter's exception, above handlers: between the last instruction of one domain's handlers and the first of the other's there is
//! no time at which both, or a half of each, can be reached.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering::Relaxed;

use armv_m::{Port, regs};
use kernel::boot::BootError;
use system::System;
use system::direct::{self, Direct};

use super::access::{Facts, access, close_thread_mode};
use super::lines::{asks, is_paid, pay, take};
use super::owner::{COFFERDAM_OWNER, Request};
use super::registers::{set_priority, write_bit};
use crate::registers::{CPACR_NS, SCR_NS, SHPR1_NS, SHPR2_NS, SHPR3_NS};
use crate::unit::Armv8;

/// Everything that a change needs: written at boot.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub system: System<'static>,
    pub facts: &'static Facts,
}

struct Placed(UnsafeCell<Option<Place>>);

// SAFETY: after boot only the meter's exceptions use it, which have one priority.
unsafe impl Sync for Placed {}

static PLACED: Placed = Placed(UnsafeCell::new(None));

/// The kernel asks for it. Whether the domain has handlers.
///
/// # Bound
/// The areas of the system, and the lines of handlers.
pub(crate) fn occupy(domain: u8) -> bool {
    let owner = &COFFERDAM_OWNER;
    let Some(index) = owner.seat_of(domain) else { return false };
    if index as u32 != owner.seat.load(Relaxed) {
        owner.next.store(index as u32, Relaxed);
        owner.ask(Request::Change);
        // Wakes of lines that are reached without the kernel again.
        regs::ICSR.write(regs::PENDSVSET);
    }
    true
}

/// The handlers of the domain that occupies are closed, and those of another one entered. Above all handlers.
pub(super) fn change() {
    // SAFETY: see above; the exception does not interrupt itself.
    let Some(place) = (unsafe { *PLACED.0.get() }) else { return };
    leave(&place);
    // At boot both have been tried; the tables have not changed.
    let _ = enter(place, COFFERDAM_OWNER.next.load(Relaxed));
}

fn leave(place: &Place) {
    let owner = &COFFERDAM_OWNER;
    owner.close();
    for (line, _) in owner.lines() {
        let (target, bit) = regs::nvic_itns(line);
        target.write(target.read() & !bit);
        set_priority(line, Armv8::KERNEL_PRIORITY as u8);
        // The kernel takes them from now on: as often as is paid for, and what handlers have asked for first.
        if asks(line) {
            write_bit(regs::nvic_ispr(line));
        }
        if is_paid(line) {
            write_bit(regs::nvic_iser(line));
        }
        take(line);
    }
    if let Some(own) = nth(place, owner.seat.load(Relaxed)) {
        let _ = access(&place.system, place.facts, &own, false);
    }
    owner.keep();
}

/// Opens what a domain has, and leads its lines to its handlers. None of them runs before its thread has acknowledged one.
///
/// # Errors
/// [`BootError::BadTables`]: the board cannot open it.
pub(super) fn enter(place: Place, seat: u32) -> Result<(), BootError> {
    let owner = &COFFERDAM_OWNER;
    let own = nth(&place, seat).ok_or(BootError::BadTables)?;
    owner.occupant(seat as usize, &own);
    access(&place.system, place.facts, &own, true)?;
    close_thread_mode();
    // The domain before may have set these.
    [SCR_NS, SHPR1_NS, SHPR2_NS, SHPR3_NS, CPACR_NS].iter().for_each(|register| register.write(0));
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
    // SAFETY: at boot, or in the meter's exception.
    unsafe { *PLACED.0.get() = Some(place) };
    Ok(())
}

fn nth(place: &Place, seat: u32) -> Option<Direct> {
    direct::owners(&place.system).nth(seat as usize)
}
