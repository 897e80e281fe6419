//! A random history of requests that depends on nothing but its seed.

use crate::contestants::{Contestant, SLOTS};

const SMALLEST: u32 = 32;

/// xorshift32 (Marsaglia 2003).
pub struct Random(u32);

impl Random {
    pub fn new() -> Self {
        Random(0x2545_F491)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }

    /// Sizes range over so many powers of two, each as likely as the next.
    fn size(&mut self, powers: u32) -> u32 {
        let power = SMALLEST << self.below(powers);
        power + self.below(power + 1)
    }
}

/// The result of a history.
pub struct Done {
    /// Requests that were refused.
    pub refused: u32,
    /// The most bytes that were live.
    pub most_live: u32,
}

/// Plays `steps` operations and frees what is left; `touched` is told of each new block.
pub fn play<C: Contestant>(random: &mut Random, steps: u32, touched: fn(*mut u8, u32)) -> Done {
    run::<C>(random, steps, C::alloc, C::free, touched)
}

/// The same between labels. Programs write into their blocks: the first and the last word of each.
pub fn play_measured<C: Contestant>(random: &mut Random, steps: u32) -> Done {
    run::<C>(random, steps, C::history_alloc, C::history_free, |block, bytes| {
        // SAFETY: the block has that many bytes, at least 32.
        unsafe {
            block.cast::<u32>().write_volatile(bytes);
            block.add(bytes as usize - 4 & !3).cast::<u32>().write_volatile(bytes);
        }
    })
}

fn run<C: Contestant>(
    random: &mut Random,
    steps: u32,
    alloc: fn(u32) -> *mut u8,
    free: fn(*mut u8, u32),
    touched: fn(*mut u8, u32),
) -> Done {
    let mut slots = [(core::ptr::null_mut::<u8>(), 0u32); SLOTS];
    let (mut live, mut done) = (0, Done { refused: 0, most_live: 0 });
    for _ in 0..steps {
        let slot = &mut slots[random.below(SLOTS as u32) as usize];
        let (block, bytes) = core::mem::replace(slot, (core::ptr::null_mut(), 0));
        let mut wanted = random.size(C::POWERS);
        if !block.is_null() {
            free(block, bytes);
            live -= bytes;
            continue;
        }
        while live + wanted > C::MOST_LIVE && wanted > SMALLEST {
            wanted /= 2;
        }
        if live + wanted > C::MOST_LIVE {
            continue;
        }
        let block = alloc(wanted);
        if block.is_null() {
            done.refused += 1;
            continue;
        }
        touched(block, wanted);
        *slot = (block, wanted);
        live += wanted;
        done.most_live = done.most_live.max(live);
    }
    slots.iter().filter(|(block, _)| !block.is_null()).for_each(|(block, bytes)| free(*block, *bytes));
    done
}
