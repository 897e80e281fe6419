//! The interrupt controller of the Cortex-A9 MPCore: architecture version 1 (ARM IHI 0048A; ARM DDI 0407, chapter 3).
//! The kernel runs in Secure state and leaves every line in the Secure group, signalled as IRQ.

use crate::block::Block;

/// Number that stands for "nothing is pending" (IHI 0048A 3.2.5: 1020 to 1023 are no interrupts).
const FIRST_SPECIAL: u32 = 1020;

/// Priority of every line; lower is more urgent. They are all the same, because the kernel is not
/// preempted. The five upper bits count (DDI 0407, 3.1.2).
const PRIORITY: u32 = 0x80;

/// Offsets of the distributor's registers (IHI 0048A 4.1.2).
mod dist {
    pub const CONTROL: u32 = 0x000;
    pub const TYPE: u32 = 0x004;
    pub const SECURITY: u32 = 0x080;
    pub const ENABLE_SET: u32 = 0x100;
    pub const ENABLE_CLEAR: u32 = 0x180;
    pub const PENDING_SET: u32 = 0x200;
    pub const PENDING_CLEAR: u32 = 0x280;
    pub const ACTIVE_CLEAR: u32 = 0x380;
    pub const PRIORITY: u32 = 0x400;
    pub const TARGETS: u32 = 0x800;
}

/// Offsets of the registers of the CPU interface (IHI 0048A 4.1.3).
mod cpu {
    pub const CONTROL: u32 = 0x00;
    pub const PRIORITY_MASK: u32 = 0x04;
    pub const BINARY_POINT: u32 = 0x08;
    pub const ACKNOWLEDGE: u32 = 0x0c;
    pub const END: u32 = 0x10;
}

/// An interrupt that was acknowledged and has to be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Taken(u32);

impl Taken {
    /// Number of the interrupt: the line.
    pub const fn line(self) -> u32 {
        self.0 & 0x3ff
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Gic {
    dist: Block,
    cpu: Block,
    /// Lines that the distributor has, a multiple of 32.
    lines: u32,
}

impl Gic {
    /// Sets the controller up with every line masked.
    pub fn new(dist: Block, cpu: Block) -> Gic {
        const ENABLE_SECURE: u32 = 1;
        const THIS_CPU: u32 = 0x0101_0101;
        dist.write(dist::CONTROL, 0);
        let words = (dist.read(dist::TYPE) & 0x1f) + 1;
        for word in 0..words {
            dist.write(dist::ENABLE_CLEAR + 4 * word, u32::MAX);
            dist.write(dist::PENDING_CLEAR + 4 * word, u32::MAX);
            // An interrupt that a loader left active would hold off every other of its priority.
            dist.write(dist::ACTIVE_CLEAR + 4 * word, u32::MAX);
            dist.write(dist::SECURITY + 4 * word, 0);
        }
        for word in 0..8 * words {
            dist.write(dist::PRIORITY + 4 * word, PRIORITY * 0x0101_0101);
        }
        // The first 32 lines are private to a CPU and have no target to choose.
        for word in 8..8 * words {
            dist.write(dist::TARGETS + 4 * word, THIS_CPU);
        }
        cpu.write(cpu::PRIORITY_MASK, 0xf0);
        cpu.write(cpu::BINARY_POINT, 0);
        cpu.write(cpu::CONTROL, ENABLE_SECURE);
        dist.write(dist::CONTROL, ENABLE_SECURE);
        Gic { dist, cpu, lines: 32 * words }
    }

    /// Allows a line to interrupt. A level-sensitive line that is up interrupts at once; an edge
    /// that came while it was masked was kept.
    pub fn unmask(&self, line: u32) {
        if line < self.lines {
            self.dist.write(dist::ENABLE_SET + 4 * (line / 32), 1 << (line % 32));
        }
    }

    /// Keeps a line from interrupting. An interrupt that was signalled before may still come, and
    /// is then spurious: [`Gic::acknowledge`] finds none.
    pub fn mask(&self, line: u32) {
        if line < self.lines {
            self.dist.write(dist::ENABLE_CLEAR + 4 * (line / 32), 1 << (line % 32));
        }
    }

    /// Makes a line interrupt, whatever its device says.
    pub fn pend(&self, line: u32) {
        if line < self.lines {
            self.dist.write(dist::PENDING_SET + 4 * (line / 32), 1 << (line % 32));
        }
    }

    /// Takes the most urgent interrupt. There may be none, if it was withdrawn after the CPU was
    /// interrupted.
    pub fn acknowledge(&self) -> Option<Taken> {
        let taken = Taken(self.cpu.read(cpu::ACKNOWLEDGE));
        (taken.line() < FIRST_SPECIAL).then_some(taken)
    }

    /// Ends an interrupt. Its line must be masked or its cause removed before, or it would
    /// interrupt again at once.
    pub fn end(&self, taken: Taken) {
        // The cause must be gone when the controller looks again (DDI 0407, 3.2): device writes are complete before.
        crate::cp15::dsb();
        self.cpu.write(cpu::END, taken.0);
    }
}
