//! The steps of an edit.

use units::{PhysAddr, VirtAddr};

use super::descriptor::{Base, First, Second};
use super::memory::TableMemory;
use super::shape::Unit;
use super::tables::Tables;
use super::work::Refused;
use super::work::{Edit, Goal, Job, Then};
use super::{Attributes, PAGE_LOG2, TABLE_ENTRIES};

/// A mapping's descriptor, at this frame, in this unit.
fn section(frame: u32, attributes: Attributes) -> u32 {
    First::Section(Base::of(frame << PAGE_LOG2), attributes).encode()
}

fn page(unit: Unit, frame: u32, attributes: Attributes) -> u32 {
    match unit {
        Unit::Small => Second::Small(Base::of(frame << PAGE_LOG2), attributes).encode(),
        Unit::Large | Unit::Section => Second::Large(Base::of(frame << PAGE_LOG2), attributes).encode(),
    }
}

impl<M: TableMemory> Tables<M> {
    /// One step: `budget` descriptors, or a few more so that a page is whole.
    pub(super) fn step(&mut self, budget: u32) {
        self.job = match self.job {
            Job::Idle => Job::Idle,
            Job::Refused(refused) => Job::Refused(refused),
            Job::Clear(from) => self.clear(from, budget),
            Job::Check(edit) => match edit.goal {
                Goal::Map { frame, .. } => self.check_map(edit, frame, budget),
                Goal::Unmap => self.check_unmap(edit, budget),
            }
            .unwrap_or_else(Job::Refused),
            Job::Wipe(edit, next) => self.wipe(edit, next, budget),
            Job::Write(edit) => match edit.goal {
                Goal::Map { frame, attributes } => self.write_map(edit, frame, attributes, budget),
                Goal::Unmap => self.write_unmap(edit, budget),
            },
            Job::Build(edit, table, next) => self.build(edit, table, next, budget),
            Job::Sweep(edit, table, next) => self.sweep(edit, table, next, budget),
        };
    }

    fn clear(&mut self, from: u32, budget: u32) -> Job {
        let end = (from + budget).min(self.split().entries());
        (from..end).for_each(|index| self.set_word(self.root + 4 * index, 0));
        self.debt.wrote = true;
        if end == self.split().entries() { Job::Idle } else { Job::Clear(end) }
    }

    /// Nothing of the range is mapped, and where there is a table it lies as asked.
    fn check_map(&mut self, mut edit: Edit, frame: u32, mut budget: u32) -> Result<Job, Refused> {
        while edit.at < edit.end && budget > 0 {
            let address = VirtAddr(edit.at << PAGE_LOG2);
            budget -= 1;
            match self.first(edit.at) {
                First::Fault => {
                    let unit = Unit::largest(edit.at, frame + (edit.at - edit.first), edit.end - edit.at);
                    edit.tables += u32::from(unit != Unit::Section);
                    edit.at = edit.slot_end();
                }
                First::Table(table) => {
                    let lies = self.memory.placement(PhysAddr(table.address()));
                    if lies != edit.placement {
                        return Err(Refused::Placement { at: address, lies });
                    }
                    let end = edit.slot_end().min(edit.at + budget);
                    let free = |page: &u32| self.word(table.address() + 4 * (page & 255)) & 0b11 == 0;
                    if let Some(at) = (edit.at..end).find(|page| !free(page)) {
                        return Err(Refused::Mapped { at: VirtAddr(at << PAGE_LOG2) });
                    }
                    budget -= end - edit.at;
                    edit.at = end;
                }
                First::Section(..) | First::Supersection(..) => return Err(Refused::Mapped { at: address }),
            }
        }
        self.checked(edit)
    }

    /// Every page of the range is mapped.
    fn check_unmap(&mut self, mut edit: Edit, mut budget: u32) -> Result<Job, Refused> {
        while edit.at < edit.end && budget > 0 {
            budget -= 1;
            match self.first(edit.at) {
                First::Section(..) => {
                    let whole = edit.at & 255 == 0 && edit.end - edit.at >= 256;
                    edit.tables += u32::from(!whole);
                    edit.at = edit.slot_end();
                }
                First::Table(table) => {
                    let end = edit.slot_end();
                    while edit.at < end && budget > 0 {
                        budget -= 1;
                        edit.at = match self.second(table.address() + 4 * (edit.at & 255)) {
                            Second::Fault => return Err(Refused::NotMapped { at: VirtAddr(edit.at << PAGE_LOG2) }),
                            Second::Small(..) => edit.at + 1,
                            Second::Large(..) => ((edit.at | 15) + 1).min(end),
                        };
                    }
                }
                First::Fault | First::Supersection(..) => {
                    return Err(Refused::NotMapped { at: VirtAddr(edit.at << PAGE_LOG2) });
                }
            }
        }
        self.checked(edit)
    }

    /// Goes on to look, or to change when all has been looked at and there are tables enough.
    fn checked(&self, edit: Edit) -> Result<Job, Refused> {
        if edit.at < edit.end {
            return Ok(Job::Check(edit));
        }
        let (needed, free) = (edit.tables, self.free(edit.placement));
        if needed > free {
            return Err(Refused::NoTables { placement: edit.placement, needed, free });
        }
        Ok(self.ready(Edit { at: edit.first, ..edit }))
    }

    /// Goes on to change as soon as enough tables are clear.
    fn ready(&self, edit: Edit) -> Job {
        if self.are_clear(edit.tables, edit.placement) { Job::Write(edit) } else { Job::Wipe(edit, 1) }
    }

    /// Clears a table that no walk sees yet. It clears two descriptors for each of the budget,
    /// because nothing else is done with them. The table's first word leads to the next one.
    fn wipe(&mut self, edit: Edit, next: u32, budget: u32) -> Job {
        let (table, end) = (self.first_lent(edit.placement), (next + 2 * budget).min(TABLE_ENTRIES));
        self.fill(table, next, end - next, Second::Fault.encode());
        if end < TABLE_ENTRIES {
            return Job::Wipe(edit, end);
        }
        self.make_free(edit.placement);
        self.ready(edit)
    }

    /// Writes translations where there were none: walks have to see them, and no TLB has to forget anything (a fault is never held in one, ARM
    /// DDI 0406C B3.10.1).
    fn write_map(&mut self, mut edit: Edit, frame: u32, attributes: Attributes, budget: u32) -> Job {
        self.debt.wrote = true;
        let mut written = 0;
        while edit.at < edit.end && written < budget {
            let to = frame + (edit.at - edit.first);
            let unit = Unit::largest(edit.at, to, edit.end - edit.at);
            written += unit.descriptors();
            if unit == Unit::Section {
                self.set_word(self.first_at(edit.at), section(to, attributes));
            } else {
                let table = self.table_for(&edit);
                self.fill(table, edit.at & 255, unit.descriptors(), page(unit, to, attributes));
            }
            edit.at += unit.pages();
        }
        if edit.at == edit.end { Job::Idle } else { Job::Write(edit) }
    }

    fn fill(&mut self, table: u32, index: u32, count: u32, word: u32) {
        (index..index + count).for_each(|index| self.set_word(table + 4 * index, word));
    }

    /// The table of the edit's page; a free one, which was counted, if there is none yet.
    fn table_for(&mut self, edit: &Edit) -> u32 {
        if let First::Table(table) = self.first(edit.at) {
            return table.address();
        }
        let table = self.take_free(edit.placement);
        self.set_word(self.first_at(edit.at), First::Table(Base::of(table)).encode());
        table
    }

    fn write_unmap(&mut self, mut edit: Edit, budget: u32) -> Job {
        let mut written = 0;
        while edit.at < edit.end && written < budget && !self.debt.is_full() {
            match self.first(edit.at) {
                First::Section(..) if edit.at & 255 == 0 && edit.end - edit.at >= 256 => {
                    self.set_word(self.first_at(edit.at), First::Fault.encode());
                    self.debt.add(edit.at);
                    (edit.at, written) = (edit.at + 256, written + 1);
                }
                // The entries taken out so far are settled first.
                First::Section(..) if self.debt.wrote => return Job::Write(edit),
                First::Section(..) => return Job::Build(edit, self.take_free(edit.placement), 0),
                First::Table(table) => {
                    let table = table.address();
                    match self.take_out(&edit, table) {
                        Some(pages) => {
                            self.debt.add(edit.at);
                            written += if pages == 16 { 16 } else { 1 };
                            edit.at += pages;
                            if edit.at & 255 == 0 || edit.at == edit.end {
                                return Job::Sweep(edit, table, 0);
                            }
                        }
                        None => return Job::Write(edit),
                    }
                }
                // Cannot be: every page was looked at, and there is one edit at a time.
                First::Fault | First::Supersection(..) => edit.at = edit.slot_end(),
            }
        }
        if edit.at == edit.end { Job::Idle } else { Job::Write(edit) }
    }

    /// Takes the page at the edit's place out of a table. Returns the number of small pages that it
    /// had.
    ///
    /// `None` if it is a large page and a part of it stays. It is broken now, unless something else
    /// is owed first, and made again as small pages once that is settled.
    fn take_out(&mut self, edit: &Edit, table: u32) -> Option<u32> {
        let index = edit.at & 255;
        let Second::Large(base, attributes) = self.second(table + 4 * index) else {
            self.fill(table, index, 1, Second::Fault.encode());
            return Some(1);
        };
        if index & 15 == 0 && edit.end - edit.at >= 16 {
            self.fill(table, index, 16, Second::Fault.encode());
            return Some(16);
        }
        if !self.debt.wrote {
            self.fill(table, index & !15, 16, Second::Fault.encode());
            self.debt.add(edit.at & !15);
            let frame = base.address() >> PAGE_LOG2;
            self.debt.then = Then::Shatter { at: table + 4 * (index & !15), frame, attributes };
        }
        None
    }

    /// Fills a table that no walk sees yet with the section's memory as large pages; then breaks the section.
    fn build(&mut self, edit: Edit, table: u32, next: u32, budget: u32) -> Job {
        let First::Section(base, attributes) = self.first(edit.at) else { return Job::Write(edit) };
        let end = (next + budget / 16 * 16).min(TABLE_ENTRIES);
        for index in (next..end).step_by(16) {
            let frame = (base.address() >> PAGE_LOG2) + index;
            self.fill(table, index, 16, page(Unit::Large, frame, attributes));
        }
        if end < TABLE_ENTRIES {
            return Job::Build(edit, table, end);
        }
        let at = self.first_at(edit.at);
        self.set_word(at, First::Fault.encode());
        self.debt.add(edit.at & !255);
        self.debt.then = Then::Link { at, word: First::Table(Base::of(table)).encode() };
        Job::Write(edit)
    }

    /// A table in which nothing is left is unlinked, and free once no walk can be in it.
    fn sweep(&mut self, edit: Edit, table: u32, next: u32, budget: u32) -> Job {
        let end = (next + budget).min(TABLE_ENTRIES);
        let after = if edit.at == edit.end { Job::Idle } else { Job::Write(edit) };
        if (next..end).any(|index| self.word(table + 4 * index) & 0b11 != 0) {
            return after;
        }
        if end < TABLE_ENTRIES {
            return Job::Sweep(edit, table, end);
        }
        let last = edit.at - 1;
        self.set_word(self.first_at(last), First::Fault.encode());
        self.debt.add(last & !255);
        self.debt.then = Then::Return(table);
        after
    }
}
