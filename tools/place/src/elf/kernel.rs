//! The kernel's program: what a loader writes, and the sizes of its objects.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use system::objects::{self, Sizes, Words};

use super::header::header;
use super::program::{Program, Symbol, unreadable};
use crate::error::PlaceError;
use crate::isa::Isa;
use crate::placed::ImageSizes;

/// A part of an image.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Address at which programs use it.
    pub used: u32,
    /// Address at which a loader writes it.
    pub at: u32,
    pub bytes: Vec<u8>,
}

impl Loaded {
    /// Bytes that are used where they are loaded.
    pub fn here(at: u32, bytes: Vec<u8>) -> Loaded {
        Loaded { used: at, at, bytes }
    }
}

/// The kernel as a loader has to write it.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub isa: &'static Isa,
    /// The processors for which it is.
    pub processors: Option<&'static str>,
    pub segments: Vec<Loaded>,
    pub entry: u32,
    pub symbols: Vec<Symbol>,
    pub sizes: ImageSizes,
}

impl Kernel {
    pub(crate) fn parse(file: &[u8]) -> Result<Kernel, PlaceError> {
        let (header, isa) = header("kernel", file)?;
        let program = Program::read("kernel", file)?;
        let fail = unreadable("kernel");
        let segments = header
            .program_headers(LE, file)
            .map_err(&fail)?
            .iter()
            .filter(|segment| segment.p_type(LE) == elf::PT_LOAD && segment.p_filesz.get(LE) > 0)
            .map(|segment| {
                let data = segment.data(LE, file).unwrap_or_default();
                Loaded { used: segment.p_vaddr.get(LE), at: segment.p_paddr.get(LE), bytes: data.to_vec() }
            })
            .collect();
        let processors = program.processors();
        Ok(Kernel { isa, processors, segments, entry: program.entry, symbols: program.symbols, sizes: program.sizes })
    }

    /// A program is for the same processors, as far as both say.
    pub(crate) fn runs(&self, program: &Program) -> Result<(), PlaceError> {
        if program.isa.machine != self.isa.machine {
            let (domain, found) = (program.name.clone(), program.isa.described.to_owned());
            return Err(PlaceError::Architecture { domain, found, needed: self.isa.described });
        }
        match (program.processors(), self.processors) {
            (Some(found), Some(needed)) if found != needed => {
                Err(PlaceError::Architecture { domain: program.name.clone(), found: found.to_owned(), needed })
            }
            _ => Ok(()),
        }
    }

    /// Memory of each of its objects, as it was built.
    pub(crate) fn object_sizes(&self) -> Result<Sizes, PlaceError> {
        let at = self.symbol(objects::SYMBOL)?;
        let words = self.segments.iter().find_map(|segment| {
            let start = at.checked_sub(segment.used)? as usize;
            segment.bytes.get(start..start + size_of::<Words>())
        });
        let fail = |reason: &str| PlaceError::Elf { domain: "kernel".into(), reason: reason.to_owned() };
        let words = words.ok_or_else(|| fail("the sizes of its objects are not in a loaded segment"))?;
        let word = |index: usize| words[4 * index..4 * index + 4].try_into().map_or(0, u32::from_le_bytes);
        Sizes::from_words(&std::array::from_fn(word)).ok_or_else(|| fail("the sizes of its objects cannot be"))
    }

    /// The value of a symbol of the kernel.
    pub(crate) fn symbol(&self, name: &str) -> Result<u32, PlaceError> {
        let found = self.symbols.iter().find(|symbol| symbol.name == name);
        found
            .map(|symbol| symbol.value)
            .ok_or_else(|| PlaceError::Symbol { domain: "kernel".into(), symbol: name.to_owned() })
    }
}
