//! Attacks on other domains' time. The witness is their deadlines.

use core::hint::black_box;

use cofferdam::abi::rights;
use cofferdam::{hostile, now, sys};
use repertoire::refused::Outcome;

use crate::world::World;

/// Between two interrupts of the own timer, as often as it can.
const EVERY_US: u32 = 10;

impl World {
    fn stop_timer(&self) {
        self.timer.stop();
        self.timer.clear();
        let _ = self.fired.ack();
        let _ = self.events.poll(u32::MAX);
    }
}

/// An interrupt every 10 us, acknowledged as fast as it can be.
pub fn storm(world: &World) -> Outcome {
    let _ = world.fired.ack();
    world.timer.start(EVERY_US);
    for _ in 0..400 / world.own.part {
        let _ = world.events.wait(u32::MAX);
        world.timer.clear();
        let _ = world.fired.ack();
    }
    world.stop_timer();
    Ok(())
}

/// The device keeps its line up, so that every acknowledgement lets it interrupt again.
pub fn level_storm(world: &World) -> Outcome {
    let _ = world.fired.ack();
    world.timer.start(EVERY_US);
    for _ in 0..2000 / world.own.part {
        let _ = world.fired.ack();
    }
    world.stop_timer();
    Ok(())
}

/// The time queue and the one-shot timer, as often as can be: times that have passed when they are asked for, and times from 4 to 32 us ahead, for which
/// the thread sleeps.
pub fn sleep_storm(world: &World) -> Outcome {
    const STEP_TICKS: u64 = 100;
    for round in 0..600 / u64::from(world.own.part) {
        let _ = sys::sleep_until(now() + if round % 4 == 0 { 1 } else { STEP_TICKS * (1 + round % 8) });
    }
    Ok(())
}

/// Times that lie before now in 64 bits or in the low word only.
pub fn far_sleeps(_: &World) -> Outcome {
    let low = now();
    for time in [0, 1, low.saturating_sub(1), low, low & 0xffff_ffff, (low as u32).wrapping_add(300).into()] {
        let _ = sys::sleep_until(time);
    }
    Ok(())
}

/// The gate's bound is most of the budget: each call has to wait for a whole one, and must not starve anybody for that.
pub fn knock(world: &World) -> Outcome {
    for _ in 0..30 {
        let end = now() + 4_000;
        while now() < end {
            core::hint::spin_loop();
        }
        world.long.call(0, 0, 0).map_err(|_| "the call was refused")?;
    }
    Ok(())
}

/// Calls at the ceiling's priority, whose time is the caller's.
pub fn gate_chain(world: &World) -> Outcome {
    let own = [0_u32; 4];
    for _ in 0..500 / world.own.part {
        let _ = world.service.call(own.as_ptr() as u32, 16, 0);
        let _ = world.long.call(0, 0, 0);
    }
    Ok(())
}

/// Everybody who waits is woken for nothing.
pub fn signal_storm(world: &World) -> Outcome {
    for bits in 0..3000 / world.own.part {
        let _ = world.events.signal(bits);
    }
    let _ = world.events.poll(u32::MAX);
    Ok(())
}

/// The table of handles, filled and emptied.
pub fn handle_storm(world: &World) -> Outcome {
    for _ in 0..40 / world.own.part.min(20) {
        for slot in 40..56 {
            let _ = sys::cap_copy(world.own.console.slot(), slot, u32::from(rights::WRITE));
        }
        for slot in 40..56 {
            let _ = sys::cap_delete(slot);
        }
    }
    Ok(())
}

/// Every line of a data cache of up to 32 KiB, again and again.
pub fn thrash(world: &World) -> Outcome {
    const LINE_BYTES: u32 = 32;
    for _ in 0..8 / world.own.part.min(8) {
        for offset in (0..world.heap.bytes).step_by(LINE_BYTES as usize) {
            // SAFETY: within the own heap.
            unsafe { ((world.heap.base + offset) as *mut u32).write_volatile(black_box(offset)) };
        }
    }
    Ok(())
}

/// Areas in turns, more than there are slots: the budget of misses runs out again and again, always with a store under way.
pub fn run_out_of_misses(world: &World) -> Outcome {
    for round in 0..200 {
        for address in [world.notices.base() as u32, world.order.base] {
            // SAFETY: the heap is written, what may only be read is read.
            unsafe {
                ((world.heap.base + 4 * round) as *mut u32).write_volatile(round);
                black_box((address as *const u32).read_volatile());
            }
        }
    }
    Ok(())
}

/// Exclusive accesses to memory that a victim uses as well.
pub fn exclusives(world: &World) -> Outcome {
    for _ in 0..20_000 / world.own.part {
        // SAFETY: the last word of the shared memory, which nobody takes for anything.
        black_box(unsafe { hostile::store_exclusive(world.requests.base().add(world.requests.words() - 1) as u32) });
    }
    Ok(())
}
