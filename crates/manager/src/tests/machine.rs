//! A kernel that checks what the manager asks of it, over memory that can be looked into.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::vec;
use std::vec::Vec;

use abi::{CLEAN_BYTES, Error};

use crate::calls::Calls;
use crate::note::{GrantNote, Note, Reader};
use crate::region::Mapping;

pub const POOL: u32 = 0x6000_0000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Untyped,
    Shared,
    Kernel,
}

const TABLE: u32 = 1024;
const FRAME: u32 = 256;

fn meet(first: (u32, u32), second: (u32, u32)) -> bool {
    first.0 < second.0 + second.1 && second.0 < first.0 + first.1
}

pub struct Machine {
    frames: Vec<Type>,
    /// A byte for each frame: its contents.
    pub contents: Vec<u8>,
    mapped: BTreeMap<(u8, u32), Mapping>,
    /// Every call fails from this one on.
    pub fail_at: Option<u32>,
    /// State of the generator that says which calls, clearing apart, find another manager's edit under way; 0: none does.
    pub busy: u32,
    calls: u32,
    /// Most calls that one request took.
    pub most: u32,
    /// Descriptors that this request has written, and the most that one wrote, on a chip with page tables.
    written: u32,
    pub most_written: u32,
    reader: Reader,
    /// Memory that clients have in an observer's view, by number and first address.
    pub told: BTreeMap<(u8, u32), GrantNote>,
}

impl Machine {
    pub fn new(bytes: u32) -> Machine {
        let frames = (bytes / FRAME) as usize;
        Machine {
            frames: vec![Type::Untyped; frames],
            contents: vec![0; frames],
            mapped: BTreeMap::new(),
            fail_at: None,
            busy: 0,
            calls: 0,
            most: 0,
            written: 0,
            most_written: 0,
            reader: Reader::default(),
            told: BTreeMap::new(),
        }
    }

    pub fn begin(&mut self) {
        (self.calls, self.written) = (0, 0);
    }

    fn call(&mut self) -> Result<(), Error> {
        self.calls += 1;
        self.most = self.most.max(self.calls);
        if self.fail_at.is_some_and(|at| self.calls >= at) { Err(Error::Full) } else { Ok(()) }
    }

    /// A call that an edit of another manager's can be in the way of.
    fn edit(&mut self) -> Result<(), Error> {
        self.call()?;
        if self.busy == 0 {
            return Ok(());
        }
        self.busy ^= self.busy << 13;
        self.busy ^= self.busy >> 17;
        self.busy ^= self.busy << 5;
        if self.busy.is_multiple_of(3) { Err(Error::Busy) } else { Ok(()) }
    }

    /// A section has one descriptor, a large page as many as the pages it is as large as.
    fn write(&mut self, mapping: &Mapping) {
        self.written += if mapping.bytes == 1 << 20 { 1 } else { mapping.bytes >> 12 };
        self.most_written = self.most_written.max(self.written);
    }

    fn range(&self, base: u32, bytes: u32) -> Result<Range<usize>, Error> {
        let first = base.checked_sub(POOL).ok_or(Error::BadAddress)?;
        if !first.is_multiple_of(FRAME) || !bytes.is_multiple_of(FRAME) || bytes == 0 {
            return Err(Error::BadArgument);
        }
        let range = (first / FRAME) as usize..((first + bytes) / FRAME) as usize;
        if range.end > self.frames.len() { Err(Error::BadAddress) } else { Ok(range) }
    }

    pub fn mapping(&self, client: u8, base: u32) -> Option<&Mapping> {
        self.mapped.get(&(client, base))
    }

    pub fn mappings(&self, client: u8) -> impl Iterator<Item = &Mapping> {
        self.mapped.iter().filter(move |((who, _), _)| *who == client).map(|(_, mapping)| mapping)
    }

    pub fn is_clear(&self, client: u8, base: u32, bytes: u32) -> bool {
        let parts: Vec<&Mapping> = self.mappings(client).filter(|m| meet((m.at, m.bytes), (base, bytes))).collect();
        let all: u32 = parts.iter().map(|mapping| mapping.bytes).sum();
        all == bytes && parts.iter().all(|mapping| self.clear(mapping.from, mapping.bytes))
    }

    pub fn mapped(&self) -> usize {
        self.mapped.len()
    }

    pub fn frames_of(&self, kind: Type) -> usize {
        self.frames.iter().filter(|frame| **frame == kind).count()
    }

    /// Marks that a kernel's frame table has inside a range: wherever the type changes, or a mapping begins or ends.
    pub fn marks(&self, base: u32, bytes: u32) -> u32 {
        let range = self.range(base, bytes).unwrap();
        let types = range.clone().skip(1).filter(|at| self.frames[*at] != self.frames[at - 1]);
        let at = |address: u32| ((address - POOL) / FRAME) as usize;
        let ends = self.mapped.values().flat_map(|m| [at(m.from), at(m.from + m.bytes)]);
        let inside = ends.filter(|at| range.start < *at && *at < range.end);
        types.chain(inside).collect::<BTreeSet<_>>().len() as u32
    }

    /// The kernel restarts a client: it takes away what the client has mapped, and tells no
    /// manager.
    pub fn restart(&mut self, client: u8) {
        self.mapped.retain(|(who, _), _| *who != client);
    }

    pub fn scribble(&mut self, client: u8) {
        let written: Vec<Mapping> = self.mappings(client).filter(|mapping| mapping.write).copied().collect();
        for Mapping { from, bytes, .. } in written {
            let range = self.range(from, bytes).unwrap();
            self.contents[range].fill(client + 1);
        }
    }

    pub fn clear(&self, base: u32, bytes: u32) -> bool {
        self.contents[self.range(base, bytes).unwrap()].iter().all(|byte| *byte == 0)
    }
}

impl Calls for Machine {
    fn retype(&mut self, base: u32, bytes: u32) -> Result<(), Error> {
        self.edit()?;
        let range = self.range(base, bytes)?;
        if self.frames[range.clone()].iter().any(|kind| *kind != Type::Untyped) {
            return Err(Error::BadState);
        }
        self.frames[range].fill(Type::Shared);
        Ok(())
    }

    fn map(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        self.edit()?;
        let range = self.range(mapping.from, mapping.bytes)?;
        let there = |m: &Mapping| meet((m.at, m.bytes), (mapping.at, mapping.bytes));
        if self.frames[range].iter().any(|kind| *kind != Type::Shared) || self.mappings(client).any(there) {
            return Err(Error::BadState);
        }
        self.write(mapping);
        self.mapped.insert((client, mapping.at), *mapping);
        Ok(())
    }

    fn unmap(&mut self, client: u8, mapping: &Mapping) -> Result<(), Error> {
        self.edit()?;
        self.write(mapping);
        let known = self.mapped.remove(&(client, mapping.at)).ok_or(Error::BadState)?;
        assert_eq!(known, *mapping, "unmapped as it was mapped");
        Ok(())
    }

    fn nodes(&mut self, _client: u8, base: u32, bytes: u32) -> Result<u32, Error> {
        self.edit()?;
        // As with page tables: one at a time.
        let given = bytes.min(TABLE);
        let range = self.range(base, given)?;
        if self.frames[range.clone()].iter().any(|kind| *kind != Type::Untyped) {
            return Err(Error::BadState);
        }
        self.frames[range].fill(Type::Kernel);
        Ok(given)
    }

    fn clean(&mut self, base: u32, bytes: u32) -> Result<u32, Error> {
        self.call()?;
        let range = self.range(base, bytes)?;
        let in_use = |m: &Mapping| meet((m.from, m.bytes), (base, bytes));
        if self.mapped.values().any(in_use) || self.frames[range.clone()].contains(&Type::Kernel) {
            return Err(Error::BadState);
        }
        let dirty = range.clone().find(|frame| self.frames[*frame] != Type::Untyped);
        let Some(first) = dirty else { return Ok(0) };
        let last = range.end.min(first + (CLEAN_BYTES / FRAME) as usize);
        self.frames[first..last].fill(Type::Untyped);
        self.contents[first..last].fill(0);
        let left = range.clone().rev().find(|frame| self.frames[*frame] != Type::Untyped);
        Ok(left.map_or(0, |_| (range.end - last) as u32 * FRAME))
    }

    fn tell(&mut self, note: &Note) {
        let mut heard = None;
        for (id, value) in note.marks() {
            assert_eq!(heard, None, "a note is complete with its last marker");
            heard = self.reader.take(id, value).unwrap();
        }
        assert_eq!(heard, Some(*note));
        match *note {
            Note::Granted(told) => assert_eq!(self.told.insert((told.client, told.base), told), None),
            Note::Ended { client, base } => {
                assert!(self.told.remove(&(client, base)).is_some(), "told of its beginning")
            }
        }
    }
}
