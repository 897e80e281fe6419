//! The counter of cycles of Non-secure state: DWT, with CYCDISS (DDI 0553 D1.2). When it comes to what is left, it interrupts, above all handlers.
//!
//! The registers are where the board's file says, and so is the interrupt: a simulator may have them elsewhere. Handlers can write them: none is banked.
//! The looks find that ([`Counter::is_kept`]).

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use armv_m::regs::Reg;

use super::looks::{enable_above_all, register};
use super::meter::Meter;

/// The counter. All zero: there is none.
pub(super) struct Counter {
    /// Address of the words that stand for registers from 0xE000_0000 on, and of the device by which its interrupt comes.
    registers: AtomicU32,
    device: AtomicU32,
    /// Its line.
    pub line: AtomicU32,
    /// So many cycles pass in so many ticks.
    cycles: AtomicU32,
    ticks: AtomicU32,
    /// The count up to which handlers are charged, and what it is compared with.
    charged: AtomicU32,
    compared: AtomicU32,
}

impl Counter {
    pub(super) const NEW: Counter = Counter {
        registers: AtomicU32::new(0),
        device: AtomicU32::new(0),
        line: AtomicU32::new(0),
        cycles: AtomicU32::new(0),
        ticks: AtomicU32::new(0),
        charged: AtomicU32::new(0),
        compared: AtomicU32::new(0),
    };

    /// Whether it is what meters.
    pub(super) fn is_there(&self) -> bool {
        self.registers.load(Relaxed) != 0
    }

    /// So many cycles pass in so many ticks, neither 0.
    pub(super) fn rate(&self) -> (u32, u32) {
        (self.cycles.load(Relaxed).max(1), self.ticks.load(Relaxed).max(1))
    }

    /// Address of the count, if there is one.
    pub(super) fn count(&self) -> Option<u32> {
        self.is_there().then(|| self.registers.load(Relaxed) + CYCCNT)
    }

    /// Begins to count.
    pub(super) fn start(&self, [registers, device, line]: [u32; 3], (cycles, ticks): (u32, u32)) {
        self.registers.store(registers, Relaxed);
        self.device.store(device, Relaxed);
        self.line.store(line, Relaxed);
        self.cycles.store(cycles, Relaxed);
        self.ticks.store(ticks, Relaxed);
        self.set_up();
        register(device, UART_CONTROL).write(RECEIVE | RECEIVE_INTERRUPT);
        enable_above_all(line);
    }

    /// Sets its registers, but for the count and what it is compared with.
    pub(super) fn set_up(&self) {
        self.at(DEMCR).write(TRCENA | MON_EN);
        self.at(FUNCTION0).write(CYCLES_MATCH);
        self.at(CTRL).write(CYCDISS | CYCCNTENA);
    }

    /// Whether it has interrupted, which is taken back.
    pub(super) fn take_match(&self) -> bool {
        if !self.is_there() {
            return false;
        }
        let device = self.device.load(Relaxed);
        let has = register(device, UART_STATE).read() & RECEIVED != 0;
        if has {
            register(device, UART_DATA).read();
            register(device, UART_CLEAR).write(RECEIVED);
        }
        has
    }

    /// Whether its registers are as they were set, and it has not gone back.
    pub(super) fn is_kept(&self) -> bool {
        let kept = [
            (DEMCR, TRCENA | MON_EN),
            (FUNCTION0, CYCLES_MATCH),
            (CTRL, CYCDISS | CYCCNTENA),
            (COMP0, self.compared.load(Relaxed)),
        ];
        kept.iter().all(|(offset, value)| self.at(*offset).read() == *value) && self.passed() <= MOST_CYCLES
    }

    /// Cycles for which handlers have not yet been charged.
    fn passed(&self) -> u32 {
        self.at(CYCCNT).read().wrapping_sub(self.charged.load(Relaxed))
    }

    fn at(&self, offset: u32) -> Reg {
        register(self.registers.load(Relaxed), offset)
    }
}

impl Meter for Counter {
    fn used(&self, _met: Option<bool>) -> u32 {
        let (cycles, ticks) = self.rate();
        let passed = self.passed();
        // More than there can be between two looks is none of its counting.
        if passed > MOST_CYCLES {
            self.charged.store(self.at(CYCCNT).read(), Relaxed);
            return 0;
        }
        let used = passed * ticks / cycles;
        // The rest of a tick is charged with the next.
        let charged = self.charged.load(Relaxed).wrapping_add(used * cycles / ticks);
        self.charged.store(charged, Relaxed);
        used
    }

    fn grant(&self, left: i32) {
        let (cycles, ticks) = self.rate();
        // No more than what is multiplied without overflow: a look comes long before.
        let ahead = ((left.max(0) as u32).min(MOST_CYCLES) * cycles).div_ceil(ticks);
        // It stands still now, and matches when it becomes equal.
        let now = self.at(CYCCNT).read();
        let first = now.wrapping_add(1);
        let compared = self.charged.load(Relaxed).wrapping_add(ahead);
        let compared = if (compared.wrapping_sub(first) as i32) < 0 { first } else { compared };
        self.compared.store(compared, Relaxed);
        self.at(COMP0).write(compared);
    }
}

/// Cycles, more than there are in the longest interval between two looks; few enough to be multiplied by a number of ticks.
const MOST_CYCLES: u32 = 1 << 16;

// Offsets from 0xE000_0000, and bits (DDI 0553 D1.2).
const CTRL: u32 = 0x1000;
const CYCCNT: u32 = 0x1004;
const COMP0: u32 = 0x1020;
const FUNCTION0: u32 = 0x1028;
const DEMCR: u32 = 0xedfc;
const CYCCNTENA: u32 = 1;
const CYCDISS: u32 = 1 << 23;
/// MATCH: the cycle counter; ACTION: a debug event.
const CYCLES_MATCH: u32 = 1 | 1 << 4;
const TRCENA: u32 = 1 << 24;
const MON_EN: u32 = 1 << 16;

// CMSDK UART, by whose receiver a simulator interrupts.
const UART_DATA: u32 = 0x00;
const UART_STATE: u32 = 0x04;
const UART_CONTROL: u32 = 0x08;
const UART_CLEAR: u32 = 0x0c;
const RECEIVE: u32 = 1 << 1;
const RECEIVE_INTERRUPT: u32 = 1 << 3;
const RECEIVED: u32 = 1 << 1;
