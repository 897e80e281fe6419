//! Attacks that must be refused or have no effect. Each returns what succeeded that should not have.

use cofferdam::abi::{CALLS, Call, CallDoc, rights};
use cofferdam::{Error, hostile, now, sys};

use crate::places::Places;
use crate::trap::orders;

/// The result of an attack; the error names an act that succeeded and should not have, as far as
/// the attacker can tell.
pub type Outcome = Result<(), &'static str>;
/// Name and attack.
pub type Attack = (&'static str, fn(&Places) -> Outcome);

/// The attacks, in order.
pub const ATTACKS: &[Attack] = &[
    ("system calls that do not exist", unknown_calls),
    ("hostile pointers and lengths to the console", hostile_pointers),
    ("forged handles in every call", forged_handles),
    ("handles of another kind", wrong_kinds),
    ("more rights than were given", more_rights),
    ("every free handle", exhaust_handles),
    ("a gate's calls outside of a gate", outside_gates),
    ("blocking inside a gate", block_in_gate),
    ("gate calls without end", flood_gate),
    ("special registers", special_registers),
    ("rounding of floating-point numbers", rounding),
    ("arguments at their limits", limits),
    ("never yielding", never_yield),
    ("yielding without end", yield_storm),
    ("markers without end", marker_storm),
];

fn must(refused: bool, otherwise: &'static str) -> Outcome {
    if refused { Ok(()) } else { Err(otherwise) }
}

fn unknown_calls(_: &Places) -> Outcome {
    let first = CALLS.len() as u32;
    for number in [first, first + 1, 255, 256, 0x7fff_ffff, 0x8000_0000, 0xffff_fff9, u32::MAX] {
        // SAFETY: no such call exists.
        let (status, _, _) = unsafe { sys::any(number, [0; 4]) };
        must(status == Error::BadCall.status(), "an unknown call did something")?;
        must(hostile::call_immediate(number) == Error::BadCall.status(), "an unknown call did something")?;
    }
    Ok(())
}

fn hostile_pointers(own: &Places) -> Outcome {
    let (end, foreign) = (own.stack.base + own.stack.bytes, own.chip.foreign);
    let addresses = [
        (foreign.kernel_objects, 64),
        (foreign.kernel_code, 16),
        (foreign.kernel_tables, 64),
        (foreign.heaps, 64),
        (foreign.console, 4),
        (0xe000_ed00, 4),
        (own.stack.base - 1, 2),
        (end - 4, 64),
        (end - 64, 65),
        (end - 64, 200),
        (0xffff_fff0, 64),
        (0xffff_ffff, 1),
        (own.stack.base, u32::MAX),
        (own.stack.base, 0x8000_0000),
        (own.stack.base, 257),
    ];
    for (address, bytes) in addresses {
        must(own.console.call(address, bytes, 0).is_err(), "the console took memory that is not ours")?;
    }
    Ok(())
}

/// Handles that name nothing: beyond what was given, beyond every table, negative.
fn forged(own: &Places) -> impl Iterator<Item = u32> {
    let near = own.last_slot + 1..own.last_slot + 1 + 99 / own.part.min(20);
    near.chain([255, 256, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, u32::MAX])
}

/// Calls whose first argument is a handle, with the others chosen so that a right handle would be taken.
fn by_handle() -> impl Iterator<Item = Call> {
    let named = |call: &&CallDoc| {
        call.args.first().is_some_and(|first| ["handle", "slot"].iter().any(|word| first.unit.contains(word)))
    };
    CALLS.iter().filter(named).map(|call| call.call)
}

fn forged_handles(own: &Places) -> Outcome {
    for call in by_handle() {
        for handle in forged(own) {
            // SAFETY: the handle names nothing, so that nothing can happen.
            let (status, _, _) = unsafe { sys::any(call as u32, [handle, 1, 1, 1]) };
            must(Error::from_status(status).is_some(), "a forged handle was taken")?;
        }
    }
    Ok(())
}

fn wrong_kinds(own: &Places) -> Outcome {
    let elsewhere = [Call::CapCopy, Call::CapDelete, Call::Revoke, Call::GateCall];
    for call in by_handle().filter(|call| !elsewhere.contains(call)) {
        // SAFETY: the handle is a gate's, which none of these calls takes.
        let (status, _, _) = unsafe { sys::any(call as u32, [own.console.slot(), 1, 1, 1]) };
        must(status == Error::WrongKind.status(), "a gate was taken for something else")?;
    }
    Ok(())
}

fn more_rights(own: &Places) -> Outcome {
    let (console, free) = (own.console.slot(), own.last_slot + 1);
    must(sys::cap_copy(console, free, u32::from(rights::ALL)).is_err(), "rights were added")?;
    must(sys::cap_copy(console, free, u32::MAX).is_err(), "rights were added")?;
    must(sys::revoke(console) == Err(Error::NoRight), "a gate was revoked")?;
    must(sys::cap_grant(console, console, free, 2).is_err(), "a capability was granted")
}

fn exhaust_handles(own: &Places) -> Outcome {
    let (console, write) = (own.console.slot(), u32::from(rights::WRITE));
    let first = own.last_slot + 1;
    let mut slot = first;
    while sys::cap_copy(console, slot, write).is_ok() {
        slot += 1;
        must(slot < 1024, "a table of handles has no end")?;
    }
    must(sys::cap_copy(console, first, write) == Err(Error::BadSlot), "a full slot was overwritten")?;
    for slot in first..slot {
        must(sys::cap_delete(slot).is_ok(), "a handle could not be given back")?;
    }
    must(slot > first, "there was no free handle to begin with")
}

fn outside_gates(own: &Places) -> Outcome {
    // SAFETY: the thread is in no gate, so that the call can only be refused.
    let (status, _, _) = unsafe { sys::any(Call::GateReturn as u32, [0; 4]) };
    must(status == Error::NotInGate.status(), "returned from a gate that was never entered")?;
    let mut word = [0; 4];
    must(
        sys::gate_copy_in(&mut word, own.chip.foreign.kernel_objects) == Err(Error::NotInGate),
        "copied from the kernel",
    )?;
    must(sys::gate_copy_in(&mut word, own.stack.base) == Err(Error::NotInGate), "copied outside a gate")?;
    must(sys::gate_copy_out(own.chip.foreign.kernel_objects, &word) == Err(Error::NotInGate), "copied into the kernel")
}

fn block_in_gate(own: &Places) -> Outcome {
    must(own.trap.call(orders::BLOCK, 0, 0) == Ok(0), "a call that blocks was let through inside a gate")
}

fn flood_gate(own: &Places) -> Outcome {
    for _ in 0..200 / own.part {
        must(
            own.console.call(own.chip.foreign.kernel_objects, 64, 0).is_err(),
            "the console took memory that is not ours",
        )?;
    }
    Ok(())
}

fn special_registers(own: &Places) -> Outcome {
    const UNPRIVILEGED: u32 = 1;
    let (control, primask) = hostile::write_special_registers();
    must(control & UNPRIVILEGED != 0, "the thread became privileged")?;
    must(primask == 0, "interrupts are masked")?;
    never_yield_for(own, 5)
}

/// Witness: the control loop's numbers, which would change if it inherited this.
fn rounding(own: &Places) -> Outcome {
    hostile::spoil_rounding();
    never_yield_for(own, 5)
}

fn limits(own: &Places) -> Outcome {
    must(sys::wait_period() == Err(Error::NotPeriodic), "a thread without a period waited for one")?;
    must(sys::sleep_until(0).is_ok(), "sleeping until the past failed")?;
    // SAFETY: neither call touches memory.
    let (copied, _, _) = unsafe { sys::any(Call::CapCopy as u32, [own.console.slot(), u32::MAX, 2, 0]) };
    must(copied == Error::BadSlot.status(), "copied a capability outside the table")?;
    // SAFETY: as above.
    let (marked, _, _) = unsafe { sys::any(Call::Mark as u32, [u32::MAX, 0, 0, 0]) };
    let _ = marked; // an id out of range may be refused or cut; it must not harm
    Ok(())
}

/// Milliseconds of the processor's time that are asked for; the budget decides how long they take.
fn never_yield_for(own: &Places, milliseconds: u64) -> Outcome {
    const TICKS_PER_MS: u64 = 25_000;
    let end = now() + milliseconds * TICKS_PER_MS / u64::from(own.part);
    while now() < end {
        core::hint::spin_loop();
    }
    Ok(())
}

fn never_yield(own: &Places) -> Outcome {
    // Without system calls: only the timer can take the processor away.
    for _ in 0..2_000_000 / own.part {
        core::hint::spin_loop();
    }
    never_yield_for(own, 20)
}

fn yield_storm(own: &Places) -> Outcome {
    (0..2000 / own.part).try_for_each(|_| sys::yield_now()).map_err(|_| "yield was refused")
}

fn marker_storm(own: &Places) -> Outcome {
    (0..500 / own.part).try_for_each(|number| sys::mark(3, number)).map_err(|_| "a marker was refused")
}
