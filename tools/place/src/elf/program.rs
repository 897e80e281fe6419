//! A program as the tool sees it.

use object::LittleEndian as LE;
use object::elf;

use crate::error::PlaceError;
use crate::isa::{Isa, Through};
use crate::placed::ImageSizes;

/// The header of a file.
pub(super) type Header = elf::FileHeader32<LE>;

/// A segment of a program: half-open range of addresses, and the bytes that are in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First address at link time.
    pub base: u32,
    /// Bytes in memory.
    pub bytes: u32,
    /// Bytes in the file, at its start.
    pub file_bytes: u32,
    /// Addresses in it move by multiples of this.
    pub align: u32,
}

impl Segment {
    pub(crate) fn contains(&self, address: u32) -> bool {
        address >= self.base && address - self.base < self.bytes.max(1)
    }

    /// Whether there is such an address in it.
    pub(crate) fn holds(&self, address: u32) -> bool {
        self.bytes > 0 && self.contains(address)
    }
}

/// A section as the tool sees it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub name: String,
    /// Its type (`SHT_`).
    pub kind: u32,
    pub address: u32,
    pub bytes: u32,
    pub offset: u32,
    pub allocated: bool,
    pub writable: bool,
    pub executable: bool,
    pub in_file: bool,
    /// Its bytes in the file are not those that relocations are for.
    pub compressed: bool,
    /// It holds thread-local variables: their first bytes, or, not in the file and nowhere in memory, how many begin as zeros.
    pub of_threads: bool,
    /// Its address is a multiple of this, a power of two.
    pub align: u32,
}

impl Section {
    /// First byte in the file, and the one behind the last.
    pub(crate) fn file_range(&self) -> (u64, u64) {
        let bytes = if self.in_file { self.bytes } else { 0 };
        (self.offset.into(), u64::from(self.offset) + u64::from(bytes))
    }

    /// As [`Section::file_range`], in memory.
    pub(crate) fn range(&self) -> (u64, u64) {
        (self.address.into(), u64::from(self.address) + u64::from(self.bytes))
    }

    /// Whether it takes memory of the program.
    pub(crate) fn is_loaded(&self) -> bool {
        self.allocated && self.bytes > 0
    }
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub value: u32,
    pub bytes: u32,
    pub section: Option<usize>,
    /// It has a value that does not depend on where the program lies.
    pub absolute: bool,
    pub named: bool,
}

/// A relocation that the linker left in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    pub kind: u32,
    pub section: usize,
    pub address: u32,
    pub symbol: usize,
}

/// How the threads of a program get thread-local variables, and constructors run before anything else does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local {
    /// The code that leads through a function.
    pub through: Through,
    /// The function of the run-time in which threads begin.
    pub thread: u32,
    /// That in which gates' callees begin.
    pub gate: u32,
    /// Bytes of each stack that the variables take.
    pub bytes: u32,
}

/// A domain's program.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) isa: &'static Isa,
    pub(crate) file: Vec<u8>,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) code: Segment,
    pub(crate) data: Segment,
    pub(crate) entry: u32,
    pub(crate) sizes: ImageSizes,
    /// Nothing where it has none.
    pub(crate) local: Option<Local>,
}

pub(super) fn unreadable(domain: &str) -> impl Fn(object::read::Error) -> PlaceError + '_ {
    move |error| PlaceError::Elf { domain: domain.to_owned(), reason: error.to_string() }
}

impl Program {
    /// The address of a function at link time.
    ///
    /// # Errors
    /// [`PlaceError::Symbol`] if there is none; [`PlaceError::NotCode`] for a symbol that is no code.
    pub(crate) fn function(&self, name: &str) -> Result<u32, PlaceError> {
        let (domain, symbol) = (self.name.clone(), name.to_owned());
        let found = self.symbols.iter().find(|symbol| symbol.name == name && symbol.named && symbol.section.is_some());
        let Some(found) = found else { return Err(PlaceError::Symbol { domain, symbol }) };
        let section = found.section.and_then(|index| self.sections.get(index));
        let code = section.filter(|section| section.is_loaded() && section.executable).map(Section::range);
        match code.filter(|(from, to)| *from <= found.value.into() && u64::from(found.value) < *to) {
            Some(_) => Ok(found.value),
            None => Err(PlaceError::NotCode { domain, symbol, address: found.value }),
        }
    }

    /// The processors for which the file is, of those of its instruction set, where it says.
    pub(crate) fn processors(&self) -> Option<&'static str> {
        let (kind, read) = self.isa.processors;
        let (from, to) = self.sections.iter().find(|section| section.kind == kind)?.file_range();
        read(self.file.get(from as usize..to as usize)?)
    }

    /// The function or object that an address is in, or else the last symbol before it, and the distance.
    pub(crate) fn nearest(&self, address: u32) -> Option<(&Symbol, u32)> {
        let section = self
            .sections
            .iter()
            .position(|s| s.is_loaded() && s.range().0 <= address.into() && u64::from(address) < s.range().1)?;
        let own = self.symbols.iter().filter(|symbol| symbol.section == Some(section) && symbol.named);
        let own = own.filter(|symbol| !symbol.name.is_empty() && !symbol.name.starts_with('$'));
        let before = own.filter_map(|symbol| Some((symbol, address.checked_sub(symbol.value & !1)?)));
        before.min_by_key(|(symbol, from)| (*from, symbol.bytes <= *from))
    }

    /// The bytes of a segment in a (relocated) copy of the file, `file_bytes` long.
    pub(crate) fn bytes_of(&self, file: &[u8], code: bool) -> Vec<u8> {
        let segment = if code { &self.code } else { &self.data };
        let mut bytes = vec![0; segment.file_bytes as usize];
        for section in self.sections.iter().filter(|s| s.allocated && s.in_file && s.bytes > 0 && s.writable != code) {
            // The sections of a program that was read lie within its segment and its file; a damaged copy may differ.
            let start = section.address.wrapping_sub(segment.base) as usize;
            let (from, length) = (section.offset as usize, section.bytes as usize);
            if let (Some(source), Some(target)) = (file.get(from..from + length), bytes.get_mut(start..start + length))
            {
                target.copy_from_slice(source);
            }
        }
        bytes
    }
}
