//! Attacks that must be refused, or have no effect on anybody else.

use cofferdam::abi::{CALLS, Call, rights};
use cofferdam::{Area, Error, hostile, now, sys};
use repertoire::refused::Outcome;
use repertoire::trap::orders;

use crate::Random;
use crate::gate::{copy_in_turns, moods, wait_for_a_client};
use crate::marks::{LEAK, mark};
use crate::theft;
use crate::world::World;

/// Name and attack.
pub type Attack = (&'static str, fn(&World) -> Outcome);

/// The attacks.
pub const ATTACKS: &[Attack] = &[
    ("look at registers after a switch", look_after_switch),
    ("look at registers at the start of a thread", look_at_start),
    ("look at a caller's registers at a gate's entry", |_| client(moods::LOOK)),
    ("look at another callee's registers at a gate's entry", look_after_callee),
    ("change a caller's registers", |_| client(moods::SPOIL)),
    ("copy what is not the caller's", copies),
    ("exit in another's thread", |_| client(moods::EXIT)),
    ("every call with arguments at their limits", limits),
    ("stop, restart and burden a victim without the right", without_right),
    ("use handles after they were revoked", revoked),
    ("buffers of which only the first byte is valid", first_byte),
    ("change a request while it is read", change_request),
    ("have an answer written where the service may only read", answer_in_requests),
    ("look at what is behind a constant file's text", look_behind),
    ("an interrupt storm from the own device", theft::storm),
    ("acknowledge a line that is still up, without end", theft::level_storm),
    ("sleep a tick at a time", theft::sleep_storm),
    ("sleep until the end of time, in every way that returns", theft::far_sleeps),
    ("knock with too little budget left", theft::knock),
    ("gate calls one after the other", theft::gate_chain),
    ("signal without end", theft::signal_storm),
    ("copy and delete handles without end", theft::handle_storm),
    ("thrash the data cache", theft::thrash),
    ("run out of misses with stores under way", theft::run_out_of_misses),
    ("hammer shared memory with exclusive accesses", theft::exclusives),
];

/// The first address behind an area.
pub fn end(area: Area) -> u32 {
    area.base + area.bytes
}

fn client(mood: u32) -> Outcome {
    wait_for_a_client(mood);
    Ok(())
}

fn copies(world: &World) -> Outcome {
    copy_in_turns(world.own.part.min(3));
    Ok(())
}

fn look(seen: &[u32]) -> Outcome {
    let found = seen.iter().copied().find(|word| *word != 0);
    mark(LEAK, found.unwrap_or(0));
    found.map_or(Ok(()), |_| Err("a register held something"))
}

/// The helper stored them before anything else; it says what they were while this thread waits.
fn look_at_start(_: &World) -> Outcome {
    crate::order_helper();
    sys::sleep_until(now() + 250_000).map_err(|_| "could not sleep")
}

/// The helper's work when it is told to.
pub fn helper_looks() {
    let _ = look(&hostile::SEEN_AT_START.words());
}

/// This thread has not used floating point yet, others do all the time.
fn look_after_switch(_: &World) -> Outcome {
    let until = now() + 76_000;
    // SAFETY: the call touches no memory.
    look(&unsafe { hostile::floats_after(Call::SleepUntil as u32, [until as u32, (until >> 32) as u32]) })
}

/// The service's gate has used registers while it copied; what the kernel saved of them then must not come back here.
fn look_after_callee(world: &World) -> Outcome {
    let own = [7_u32; 4];
    let _ = world.service.call(own.as_ptr() as u32, 16, 0);
    let _ = world.own.trap.call(orders::BLOCK, 0, 0);
    look(&hostile::SEEN_AT_GATE.words())
}

/// The kernel writes for the service with the service's regions loaded, one of which says that nobody writes there.
fn answer_in_requests(world: &World) -> Outcome {
    world.long.call(world.requests.base() as u32, 0, 0).map(drop).map_err(|_| "the answer was refused")
}

/// The rest of the file's area, behind its text, is empty: protection is not as fine as the lengths of texts.
fn look_behind(world: &World) -> Outcome {
    // SAFETY: the area is constant memory of this domain.
    let bytes = unsafe { core::slice::from_raw_parts(world.order.base as *const u8, world.order.bytes as usize) };
    let rest = bytes.iter().skip_while(|byte| matches!(byte, b'\n' | b' '..=b'~'));
    let found = rest.fold(0, |all, byte| all | u32::from(*byte));
    mark(LEAK, found);
    if found == 0 { Ok(()) } else { Err("there is something behind a file") }
}

/// Numbers at which arithmetic on 32 bits turns over.
const EDGES: [u32; 12] = [
    0,
    1,
    31,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ff00,
    0xffff_ffe0,
    0xffff_fff8,
    0xffff_fffc,
    u32::MAX - 1,
    u32::MAX,
];

/// Calls that would end or block the thread when they succeed, or change what later attacks need.
fn is_spared(call: Call) -> bool {
    matches!(call, Call::Exit | Call::Wait | Call::SleepUntil | Call::CapDelete | Call::Poll | Call::GateReturn)
}

fn limits(world: &World) -> Outcome {
    let handles = [world.own.console.slot(), world.events.slot(), world.victim.slot(), world.fired.slot(), u32::MAX];
    let mut random = Random(0x9e37_79b9);
    for call in CALLS.iter().map(|call| call.call).filter(|call| !is_spared(*call)) {
        for round in 0..60 / world.own.part.min(2) as usize {
            let first = handles[round % handles.len()];
            let mut edge = || EDGES[random.below(EDGES.len() as u32) as usize];
            // SAFETY: no call writes memory of this domain outside of a gate.
            let _ = unsafe { sys::any(call as u32, [first, edge(), edge(), edge()]) };
        }
    }
    // Copies in slots at the edges would be in the way of other attacks.
    for slot in world.own.last_slot + 1..64 {
        if !REVOKED.contains(&slot) {
            let _ = sys::cap_delete(slot);
        }
    }
    Ok(())
}

fn without_right(world: &World) -> Outcome {
    let victim = world.victim.slot();
    let tries = [
        sys::domain_stop(victim),
        world.victim.restart_step().map(|_| ()),
        sys::cap_grant(victim, world.own.console.slot(), 40, u32::from(rights::WRITE)),
        sys::revoke(victim),
    ];
    if tries.iter().all(|told| *told == Err(Error::NoRight)) { Ok(()) } else { Err("the right was not asked for") }
}

/// The warden has put two capabilities here and revoked their object since.
const REVOKED: [u32; 2] = [60, 61];

fn revoked(_: &World) -> Outcome {
    let _ = sys::sleep_until(now() + 500_000);
    let all = REVOKED.iter().all(|slot| {
        sys::signal(*slot, 1) == Err(Error::BadHandle) && sys::cap_copy(*slot, 50, 2) == Err(Error::BadHandle)
    });
    for slot in REVOKED {
        let _ = sys::cap_delete(slot);
    }
    if all { Ok(()) } else { Err("a revoked handle was taken") }
}

fn first_byte(world: &World) -> Outcome {
    let (stack, heap, foreign) = (end(world.own.stack), end(world.heap), world.own.chip.foreign);
    for (address, bytes) in [
        (stack - 1, 2),
        (stack - 1, 64),
        (heap - 4, 8),
        (heap - 32, 64),
        (foreign.heaps - 4, 8),
        (foreign.kernel_objects, 1),
    ] {
        if world.service.call(address, bytes, 0).is_ok() {
            return Err("the service took memory that is not ours");
        }
    }
    Ok(())
}

/// The service reads a length, checks it, and copies so many words; this thread interrupts it at ever other moments.
fn change_request(world: &World) -> Outcome {
    let mut random = Random(77);
    // Several times what was seen to suffice without the check: when it hits depends on every cycle of both.
    for _ in 0..3000 / world.own.part {
        world.requests.write(0, 4);
        let _ = sys::sleep_until(now() + 260 + u64::from(random.below(400)));
        world.requests.write(0, 0x4000);
        let _ = sys::sleep_until(now() + 260 + u64::from(random.below(400)));
    }
    world.requests.write(0, 0);
    Ok(())
}
