//! The timer that looks at random times whether handlers run, and for how long. It is above all of them, and whatever they do, it comes.
//!
//! Each look that meets a handler charges it one mean interval; `sched::sampling` draws them.

use core::sync::atomic::Ordering::Relaxed;

use armv_m::regs::{self, Reg};

use sched::sampling;

use super::judge::{self, GO_ON};
use super::owner::{COFFERDAM_OWNER, Request, Sampler, is_masked};

impl Sampler {
    /// Begins to look.
    pub(super) fn start(&self, seed: u32) {
        self.seed.store(seed | 1, Relaxed);
        self.left.store(self.capacity.load(Relaxed) as i32, Relaxed);
        self.rest.store(self.period.load(Relaxed) as i32, Relaxed);
        self.arm();
        let (register, bit): (Reg, u32) = regs::nvic_iser(self.line.load(Relaxed));
        register.write(bit);
    }

    /// Has something done at once: its line is above all others.
    pub(super) fn ask(&self, request: Request) {
        self.request.store(request as u32, Relaxed);
        let (register, bit) = regs::nvic_ispr(self.line.load(Relaxed));
        register.write(bit);
        armv_m::barrier();
    }

    /// Draws the next interval, and starts it.
    fn arm(&self) {
        let (seed, ticks) = sampling::draw(self.seed.load(Relaxed));
        self.seed.store(seed, Relaxed);
        self.interval.store(ticks, Relaxed);
        let timer = self.timer.load(Relaxed);
        register(timer, CONTROL).write(0);
        register(timer, CLEAR).write(1);
        register(timer, LOAD).write(ticks);
        register(timer, CONTROL).write(ENABLE | INTERRUPT | WIDE | ONCE);
    }

    /// Does what the kernel has asked for, once.
    fn serve(&self, request: u32) {
        let owner = &COFFERDAM_OWNER;
        self.request.store(0, Relaxed);
        if request == Request::Stop as u32 {
            owner.stopped.store(1, Relaxed);
            owner.close();
        } else {
            owner.stopped.store(0, Relaxed);
            if self.exhausted.load(Relaxed) == 0 {
                owner.reopen();
            }
        }
    }

    /// An interval has ended, in which handlers ran at the end or not. Whether their budget is used up now.
    fn look(&self, meets: bool) -> bool {
        let interval = self.interval.load(Relaxed) as i32;
        let mut left = self.left.load(Relaxed) - if meets { sampling::MEAN_TICKS as i32 } else { 0 };
        let rest = self.rest.load(Relaxed) - interval;
        let begins = rest <= 0;
        self.rest.store(if begins { self.period.load(Relaxed) as i32 } else { rest }, Relaxed);
        if begins {
            // A deferrable server; what was overdrawn is paid back.
            let capacity = self.capacity.load(Relaxed) as i32;
            left = (left + capacity).min(capacity);
        }
        self.left.store(left, Relaxed);
        left <= 0
    }
}

// CMSDK dual-input timer, its first half.
const LOAD: u32 = 0x00;
const CONTROL: u32 = 0x08;
const CLEAR: u32 = 0x0c;
const MASKED_STATUS: u32 = 0x14;
const ENABLE: u32 = 1 << 7;
const INTERRUPT: u32 = 1 << 5;
const WIDE: u32 = 1 << 1;
const ONCE: u32 = 1;

fn register(timer: u32, offset: u32) -> Reg {
    // SAFETY: a register of the board's file.
    unsafe { Reg::new(timer + offset) }
}

/// The sampler's interrupt, with EXC_RETURN and both stack pointers as they were; returns a verdict as `judge` does.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_sample(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let owner = &COFFERDAM_OWNER;
    let state = &owner.sampler;
    let request = state.request.load(Relaxed);
    if request != 0 {
        state.serve(request);
    }
    if register(state.timer.load(Relaxed), MASKED_STATUS).read() & 1 == 0 {
        return GO_ON;
    }
    let outside = exc_return & judge::SECURE == 0;
    // Also on its way into the kernel, which is left before it can be ended.
    let meets = outside || judge::is_active();
    let is_empty = state.look(meets);
    state.arm();
    let was_empty = state.exhausted.swap(u32::from(is_empty), Relaxed) != 0;
    if is_empty && !was_empty {
        owner.close();
    } else if was_empty && !is_empty && owner.stopped.load(Relaxed) == 0 {
        owner.reopen();
    }
    if outside {
        return judge::met(exc_return, psp, msp, is_empty);
    }
    if !meets && is_masked() {
        judge::blame(abi::trace::Fault::Return, 0);
    }
    GO_ON
}
