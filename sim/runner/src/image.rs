//! Facts about an image that the observer needs.

use std::fs;
use std::path::Path;

use object::{Architecture, Object, ObjectSection, ObjectSegment, ObjectSymbol, SegmentFlags};

use crate::RunError;

/// The section that an image's linker script puts the table of vectors into.
const TABLE: &str = ".vectors";
/// The kernel's labels of its first instructions, on RISC-V.
const ENTRIES: [&str; 2] = ["cofferdam_exception_entry", "cofferdam_interrupt_entry"];
/// An image without that section has the table at address 0: system exceptions, and as many interrupts as boards have at least.
const VECTORS: usize = 16 + 32;
/// The initial stack pointer and the reset handler are no exception handlers.
const NO_HANDLERS: usize = 2;

/// Facts found in an ELF file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageFacts {
    /// The trace port, if the image has one.
    pub trace_port: Option<u32>,
    /// First instructions of exception handlers, ascending.
    pub vectors: Vec<u32>,
    symbols: Vec<(String, u32)>,
}

impl ImageFacts {
    /// Reads an image.
    ///
    /// # Errors
    /// [`RunError::Image`]: not readable, no ELF file, not for a processor of a known architecture.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let told = |why: String| RunError::Image(path.to_path_buf(), why);
        let bytes = fs::read(path).map_err(|error| told(error.to_string()))?;
        let file = object::File::parse(bytes.as_slice()).map_err(|error| told(error.to_string()))?;
        if !matches!(file.architecture(), Architecture::Arm | Architecture::Riscv32) {
            return Err(told("it is for another processor".to_owned()));
        }
        let symbols =
            file.symbols().filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address() as u32)));
        let symbols: Vec<_> = symbols.filter(|(name, _)| !name.is_empty() && !name.starts_with('$')).collect();
        let mut facts = Self { symbols, ..Self::default() };
        facts.vectors = match file.architecture() {
            Architecture::Arm => vectors(&file),
            // The entries of its table are branches.
            _ => ENTRIES.iter().filter_map(|name| facts.symbol(name)).collect(),
        };
        facts.vectors.sort_unstable();
        facts.trace_port = facts.symbol(abi::trace::SYMBOL);
        Ok(facts)
    }

    /// The address of a symbol; functions have bit 0 clear here.
    pub fn symbol(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find(|(known, _)| known == name).map(|(_, address)| address & !1)
    }
}

fn vectors(file: &object::File<'_>) -> Vec<u32> {
    let named = file.section_by_name(TABLE).and_then(|section| section.data().ok());
    let at_zero = || file.segments().find(|segment| segment.address() == 0).and_then(|segment| segment.data().ok());
    let table = named.or_else(|| at_zero().map(|data| &data[..data.len().min(4 * VECTORS)]));
    let words = table.unwrap_or_default().chunks_exact(4).skip(NO_HANDLERS);
    let words = words.map(|word| u32::from_le_bytes(word.try_into().expect("chunks of four")));
    let mut handlers: Vec<u32> =
        words.filter(|word| word & 1 == 1).map(|word| word & !1).filter(|address| is_code(file, *address)).collect();
    handlers.sort_unstable();
    handlers.dedup();
    handlers
}

fn is_code(file: &object::File<'_>, address: u32) -> bool {
    let holds = |base: u64, size: u64| (base..base + size).contains(&u64::from(address));
    file.segments().any(|segment| {
        let SegmentFlags::Elf { p_flags } = segment.flags() else { return false };
        p_flags & object::elf::PF_X != 0 && holds(segment.address(), segment.size())
    })
}
