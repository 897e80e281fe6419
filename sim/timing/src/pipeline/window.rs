//! Issue out of order: an instruction that waits does not hold up those behind it.
//!
//! Instructions are dispatched in order, as many in a cycle as the core is wide, and begin in the first cycle in which their operands
//! are ready, their unit is free and fewer have begun than the core is wide. Instructions for the same unit begin in order: loads and stores
//! never pass each other, nor does floating point. Every result has a register of its own, so that only true dependencies count. Dispatch
//! can be ahead of what has begun by the window; then it waits. The time that is counted is that of what has begun: `next` is
//! the first cycle by which all that was dispatched has.

use super::units::{KEPT, unit, units};
use super::{CostTable, Scoreboard, is_predicted, short};
use crate::insn::{Class, Flags, InsnInfo};

/// Cycles of which the slots are known, two bits each.
const SLOT_CYCLES: u8 = 32;

/// Whether an instruction waits for everything before it, and lets nothing pass.
fn is_serial(class: Class) -> bool {
    use Class::{DataMemoryBarrier, DataSyncBarrier, Exception, InstructionBarrier, System, Undefined, Wait};
    matches!(class, DataMemoryBarrier | DataSyncBarrier | Exception | InstructionBarrier | System | Undefined | Wait)
}

/// The units that an instruction keeps, by their place in [`KEPT`].
fn kept(insn: &InsnInfo) -> impl Iterator<Item = usize> + Clone + use<> {
    // That a multiplication does not pair with a store is of the core that issues in order.
    let units = if insn.class == Class::Multiply { unit::MULTIPLY } else { units(insn) };
    (0..KEPT.len()).filter(move |&n| KEPT[n] & units != 0)
}

impl Scoreboard {
    /// Dispatches one instruction and returns by how much later all has begun.
    pub(super) fn dispatch(&mut self, table: &CostTable, insn: &InsnInfo) -> u32 {
        let cost = table.of(insn);
        let single = insn.flags.has(Flags::SINGLE) || !cost.dual;
        self.find_room(table, single);
        let ready = self.operands_ready(insn, cost);
        let waits = if is_predicted(insn) { 0 } else { ready };
        let serial = is_serial(insn.class);
        let free = kept(insn).map(|n| self.free[n]).max().unwrap_or(0);
        let start = self.take_slot(table, single, waits.max(free).max(if serial { self.next } else { 0 }));
        let end = start.saturating_add(short(cost.issue));
        kept(insn).for_each(|n| self.free[n] = end);
        self.results(insn, cost, start);
        self.resolved = ready.max(start.saturating_add(1));
        let added = end.saturating_sub(self.next);
        self.next += added;
        self.open = if single { 0 } else { self.open - 1 };
        let full = self.next.saturating_sub(table.window);
        // The registers of a multiple transfer are dispatched two by two.
        let several = if insn.count > 0 { short(cost.issue) - 1 } else { 0 };
        if serial {
            self.shift(self.next);
            self.open = table.width;
        } else if full > several {
            self.shift(full);
            self.open = table.width;
        } else {
            self.shift(several);
        }
        u32::from(added)
    }

    /// Goes on to the first cycle in which dispatch has room; what is `single` needs all of it.
    fn find_room(&mut self, table: &CostTable, single: bool) {
        let dispatched = table.width.saturating_sub(self.open);
        if self.next == 0 {
            self.open = table.width;
        } else if self.open == 0 || single && dispatched > 0 {
            self.shift(1);
            self.open = table.width;
        }
    }

    /// Takes a slot in the first cycle from `at` on that has one, or all slots of a cycle that has all.
    fn take_slot(&mut self, table: &CostTable, single: bool, at: u8) -> u8 {
        let most = if single { 0 } else { table.width - 1 };
        let mut start = at;
        while start < SLOT_CYCLES && (self.slots >> (2 * start)) as u8 & 3 > most {
            start += 1;
        }
        if start < SLOT_CYCLES {
            self.slots += u64::from(if single { table.width } else { 1 }) << (2 * start);
        }
        start
    }
}
