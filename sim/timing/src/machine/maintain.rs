//! Cache maintenance through the core's registers (DDI 0403 B3.2 and table B2-1).

use super::Machine;
use crate::front::NO_LINE;

/// An operation on caches or predictor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maintenance {
    /// Drop all instruction lines.
    InvalidateInstructions,
    /// Drop the instruction line of this address.
    InvalidateInstructionLine(u32),
    /// On the data line of this address.
    DataLine {
        /// Address in the line.
        addr: u32,
        /// Write it back if it is changed.
        clean: bool,
        /// Drop it.
        invalidate: bool,
    },
    /// On the data line at this place.
    DataSetWay {
        /// The register's value, with set and way in it.
        set_way: u32,
        /// Write it back if it is changed.
        clean: bool,
        /// Drop it.
        invalidate: bool,
    },
    /// Forget all branch predictions.
    InvalidatePredictor,
    /// Turn the caches on or off.
    Enable {
        /// CCR.IC.
        instruction: bool,
        /// CCR.DC.
        data: bool,
    },
}

impl Maintenance {
    /// The effect of a word store of `value` to the core register at `addr` on caches and predictor; `None` for every
    /// other register.
    pub const fn decode(addr: u32, value: u32) -> Option<Self> {
        Some(match addr {
            0xE000_ED14 => Self::Enable { instruction: value & 1 << 17 != 0, data: value & 1 << 16 != 0 },
            0xE000_EF50 => Self::InvalidateInstructions,
            0xE000_EF58 => Self::InvalidateInstructionLine(value),
            0xE000_EF5C => Self::DataLine { addr: value, clean: false, invalidate: true },
            0xE000_EF60 => Self::DataSetWay { set_way: value, clean: false, invalidate: true },
            0xE000_EF64 | 0xE000_EF68 => Self::DataLine { addr: value, clean: true, invalidate: false },
            0xE000_EF6C => Self::DataSetWay { set_way: value, clean: true, invalidate: false },
            0xE000_EF70 => Self::DataLine { addr: value, clean: true, invalidate: true },
            0xE000_EF74 => Self::DataSetWay { set_way: value, clean: true, invalidate: true },
            0xE000_EF78 => Self::InvalidatePredictor,
            _ => return None,
        })
    }
}

impl Machine {
    /// Performs an operation and returns its cycles; a write-back goes on behind it in the store buffer.
    pub fn maintain(&mut self, operation: Maintenance) -> u32 {
        self.counters.maintenance += 1;
        let spent = self.spend(self.params.maintenance);
        match operation {
            Maintenance::InvalidateInstructions => {
                self.icache.cache.invalidate_all();
                self.front.last_fetch_line = NO_LINE;
            }
            Maintenance::InvalidateInstructionLine(addr) => {
                self.icache.cache.invalidate_line(u64::from(addr >> self.line_log2));
                self.front.last_fetch_line = NO_LINE;
            }
            Maintenance::DataLine { addr, clean, invalidate } => {
                return spent + self.data_line(u64::from(addr >> self.line_log2), clean, invalidate);
            }
            Maintenance::DataSetWay { set_way, clean, invalidate } => {
                return spent + self.data_place(set_way, clean, invalidate);
            }
            Maintenance::InvalidatePredictor => self.front.predictor.clear(),
            Maintenance::Enable { instruction, data } => {
                self.icache.switch(instruction);
                self.side.l1.switch(data);
            }
        }
        spent
    }

    fn data_line(&mut self, line: u64, clean: bool, invalidate: bool) -> u32 {
        if self.side.maintain_line(line, clean, invalidate) { self.buffer_write_back(line) } else { 0 }
    }

    fn data_place(&mut self, set_way: u32, clean: bool, invalidate: bool) -> u32 {
        self.side.maintain_place(set_way, clean, invalidate).map_or(0, |line| self.buffer_write_back(line))
    }

    fn buffer_write_back(&mut self, line: u64) -> u32 {
        let stall = self.side.buffer_write_back(line, self.now, &mut self.counters);
        self.spend(stall)
    }

    /// The worst that others can leave behind: caches full of lines of somebody else, changed where they can be, a flash accelerator
    /// that keeps nothing of use, a predictor that has learned the wrong things, closed rows. It takes no time here.
    pub fn spoil(&mut self) {
        self.front.last_fetch_line = NO_LINE;
        self.front.predictor.spoil();
        self.icache.spoil(false);
        self.side.spoil();
        if let Some(art) = &mut self.art {
            art.spoil(self.now);
        }
    }
}
