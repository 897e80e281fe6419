//! Histories of real programs, in the format of `crates/traces/record/record.py`.

use crate::action::{Action, Envelope};

/// The first number of a file.
const MAGIC: u32 = 0xc0f;
/// Bytes of a page, by which touches are counted.
const PAGE: u32 = 4096;

/// A history, and the slots of blocks that were released.
#[derive(Debug)]
pub struct Recorded<'a> {
    /// The most that it has allocated at once.
    pub envelope: Envelope,
    /// How many actions it has.
    pub actions: u32,
    rest: &'a [u8],
    left: u32,
    free: &'a mut [u16],
    released: usize,
    used: u16,
}

impl<'a> Recorded<'a> {
    /// No history maps more pages at once.
    pub const PAGES: u32 = 768;

    /// A file. `free` has room for as many slots as it has blocks at once.
    #[must_use]
    pub fn new(file: &'a [u8], free: &'a mut [u16]) -> Option<Self> {
        let mut rest = file;
        let [magic, live, largest, count, actions] = [(); 5].map(|()| number(&mut rest));
        let envelope = Envelope { live: live?, largest: largest?, count: count? };
        if magic != Some(MAGIC) || envelope.count as usize > free.len() {
            return None;
        }
        Some(Recorded { envelope, actions: actions?, rest, left: actions?, free, released: 0, used: 0 })
    }

    fn alloc(&mut self, bytes: u32) -> Option<Action> {
        let slot = match self.released.checked_sub(1) {
            Some(last) => {
                self.released = last;
                *self.free.get(last)?
            }
            None => {
                self.used += 1;
                self.used - 1
            }
        };
        Some(Action::Alloc { slot: slot.into(), bytes })
    }

    fn free(&mut self, slot: u32) -> Option<Action> {
        *self.free.get_mut(self.released)? = u16::try_from(slot).ok()?;
        self.released += 1;
        Some(Action::Free { slot })
    }
}

impl Iterator for Recorded<'_> {
    type Item = Action;

    /// Ends where the file does.
    fn next(&mut self) -> Option<Action> {
        self.left = self.left.checked_sub(1)?;
        let word = number(&mut self.rest)?;
        match word % 4 {
            0 => self.alloc(word / 4),
            1 => self.free(word / 4),
            // A record does not say whether the touch was a load or a store.
            _ => number(&mut self.rest).map(|page| Action::Touch { slot: word / 4, offset: page * PAGE, write: true }),
        }
    }
}

/// The next number.
fn number(from: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..32).step_by(7) {
        let (first, rest) = from.split_first()?;
        *from = rest;
        value |= u32::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::footprint::{Policy, footprint};

    fn files() -> Vec<(std::string::String, Vec<u8>)> {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("histories");
        let entries = std::fs::read_dir(directory).unwrap().flatten();
        entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
    }

    #[test]
    fn a_history_is_what_its_head_says_and_uses_only_what_is_live() {
        assert_eq!(files().len(), 6);
        for (name, file) in files() {
            let mut free = vec![0; 1 << 15];
            let recorded = Recorded::new(&file, &mut free).unwrap();
            let (Envelope { live, largest, count }, actions) = (recorded.envelope, recorded.actions);
            let (mut blocks, mut held, mut most, mut seen) = (BTreeMap::new(), 0, [0; 3], 0);
            for action in recorded {
                seen += 1;
                match action {
                    Action::Alloc { slot, bytes } => {
                        assert!(slot < count, "{name}");
                        assert_eq!(blocks.insert(slot, bytes), None, "{name}");
                        held += bytes;
                        most = [most[0].max(held), most[1].max(bytes), most[2].max(blocks.len() as u32)];
                    }
                    Action::Free { slot } => held -= blocks.remove(&slot).unwrap(),
                    Action::Touch { slot, offset, .. } => assert!(offset < blocks[&slot], "{name}"),
                }
            }
            assert_eq!((seen, most), (actions, [live, largest, count]), "{name}");
        }
    }

    #[test]
    fn no_program_maps_more_pages_when_they_are_given_back() {
        for (name, file) in files() {
            let found = |policy| {
                let mut free = vec![0; 1 << 15];
                let recorded = Recorded::new(&file, &mut free).unwrap();
                let count = recorded.envelope.count;
                footprint(policy, (crate::layout(count).unwrap(), count), recorded).unwrap().peak
            };
            let (released, kept) = (found(Policy::Released), found(Policy::Kept));
            assert!(released <= kept && kept <= Recorded::PAGES as usize, "{name}: {released} {kept}");
        }
    }

    #[test]
    fn files_of_others_and_short_ones_are_refused() {
        let mut free = [0; 1];
        for file in [&[][..], &[0x8f], &[0x8f, 0x18, 1, 1, 2, 0], &[0x8e, 0x18, 1, 1, 1, 0], &[0xff; 20]] {
            assert!(Recorded::new(file, &mut free).is_none(), "{file:x?}");
        }
        let short = Recorded::new(&[0x8f, 0x18, 1, 1, 1, 9], &mut free);
        assert_eq!(short.unwrap().next(), None);
    }
}
