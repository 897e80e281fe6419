//! A domain's ELF file at its final addresses: functions, lines, frames and instructions by address.

use gimli::{DebugFrame, EndianSlice, LittleEndian};
use object::elf::FileHeader32;
use object::read::elf::ElfFile;
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use super::unwind::{Code, Place};
use crate::names::{path, readable};
use crate::schema::CallSite;

type ElfOrder = object::LittleEndian;
type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Functions that were inlined at one place; deeper ones are not told.
const INLINED: usize = 16;

/// The program of a domain.
pub struct Program<'a> {
    file: ElfFile<'a, FileHeader32<ElfOrder>>,
    lines: Option<addr2line::Context<Slice<'a>>>,
    frames: DebugFrame<Slice<'a>>,
}

impl<'a> Program<'a> {
    /// Reads the file; `None` when it is no ELF file.
    pub fn parse(bytes: &'a [u8]) -> Option<Program<'a>> {
        let file = ElfFile::parse(bytes).ok()?;
        let section =
            |name: &str| file.section_by_name(name).and_then(|section| section.data().ok()).unwrap_or_default();
        let load = |id: gimli::SectionId| Ok::<_, gimli::Error>(EndianSlice::new(section(id.name()), LittleEndian));
        let lines = gimli::Dwarf::load(load).and_then(addr2line::Context::from_dwarf).ok();
        let mut frames = DebugFrame::new(section(".debug_frame"), LittleEndian);
        frames.set_address_size(4);
        Some(Program { file, lines, frames })
    }

    /// The functions at a place, the innermost first: those that were inlined there, and the one that holds them all.
    pub fn functions(&self, place: Place) -> Vec<CallSite> {
        let mut found = self.by_lines(place);
        if found.is_empty() {
            let function = self.by_symbol(place.look_up).unwrap_or_else(|| format!("{:#x}", place.address));
            found.push(CallSite { function, pc: place.address.into(), exact: place.exact, ..CallSite::default() });
        }
        found
    }

    fn by_lines(&self, place: Place) -> Vec<CallSite> {
        let lookup = |lines: &addr2line::Context<Slice<'a>>| {
            let mut frames = lines.find_frames(place.look_up.into()).skip_all_loads().ok()?;
            let mut found = Vec::new();
            while let (Ok(Some(frame)), true) = (frames.next(), found.len() < INLINED) {
                let name = frame.function.and_then(|function| function.raw_name().ok().map(|name| readable(&name)));
                let location = frame.location.as_ref();
                found.push(CallSite {
                    function: name.or_else(|| self.by_symbol(place.look_up))?,
                    file: location.and_then(|location| location.file).map(path),
                    line: location.and_then(|location| location.line).filter(|line| *line != 0),
                    pc: place.address.into(),
                    inlined: true,
                    exact: place.exact,
                });
            }
            // All but the last were inlined into it.
            found.last_mut()?.inlined = false;
            Some(found)
        };
        self.lines.as_ref().and_then(lookup).unwrap_or_default()
    }

    fn by_symbol(&self, address: u32) -> Option<String> {
        let covers = |symbol: &object::read::elf::ElfSymbol<'_, '_, FileHeader32<ElfOrder>>| {
            let start = symbol.address() & !1;
            symbol.kind() == SymbolKind::Text && (start..start + symbol.size().max(1)).contains(&u64::from(address))
        };
        let symbol = self.file.symbols().find(covers)?;
        symbol.name().ok().map(readable)
    }
}

impl Code for Program<'_> {
    fn frames(&self) -> &DebugFrame<Slice<'_>> {
        &self.frames
    }

    fn bytes(&self, address: u32, len: usize) -> Option<&[u8]> {
        let holds = |section: &object::read::elf::ElfSection<'_, '_, FileHeader32<ElfOrder>>| {
            section.kind() == SectionKind::Text
                && address.checked_sub(section.address() as u32).is_some_and(|at| u64::from(at) < section.size())
        };
        let section = self.file.sections().find(holds)?;
        let at = u64::from(address) - section.address();
        section.data().ok()?.get(at as usize..)?.get(..len)
    }
}
