//! Reading programs: what is wrong with a file is found here, and nothing behind it asks again.

mod header;
mod kernel;
mod sound;
mod version;

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use crate::error::PlaceError;
use crate::isa::{Isa, Moves};
use crate::layout::ImageSizes;

pub(crate) use kernel::{Kernel, Loaded};

type Header = elf::FileHeader32<LE>;
type Sections<'a> = SectionTable<'a, Header>;

/// Alignment may leave gaps between the sections of a segment; more than this is another segment.
const MAX_GAPS_BYTES: u64 = 64 * 1024;
/// Sums of a few segments stay within 32 bits.
const MAX_SEGMENT_BYTES: u64 = 1 << 28;

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
}

pub(super) fn unreadable(domain: &str) -> impl Fn(object::read::Error) -> PlaceError + '_ {
    move |error| PlaceError::Elf { domain: domain.to_owned(), reason: error.to_string() }
}

impl Program {
    /// Reads a domain's ELF file.
    ///
    /// # Errors
    /// [`PlaceError::Elf`], [`PlaceError::Architecture`] and [`PlaceError::Version`].
    pub fn parse(name: &str, file: &[u8]) -> Result<Program, PlaceError> {
        let (head, isa) = header::header(name, file)?;
        header::executable(name, (head, isa))?;
        let mut program = Program::read(name, file)?;
        let fail = |reason: String| PlaceError::Elf { domain: name.to_owned(), reason };
        if !program.sections.iter().any(Section::is_loaded) {
            return Err(fail("it holds no code".into()));
        }
        sound::check(&program, head).map_err(fail)?;
        version::check(&program)?;
        program.code = program.segment(false)?;
        program.data = program.segment(true)?;
        if program.code.bytes == 0 {
            return Err(fail("it holds no code".into()));
        }
        Ok(program)
    }

    /// Sections, symbols and relocations.
    fn read(name: &str, file: &[u8]) -> Result<Program, PlaceError> {
        let (header, isa) = header::header(name, file)?;
        let fail = unreadable(name);
        let table = header.sections(LE, file).map_err(&fail)?;
        let sections = table.iter().map(|section| read_section(&table, section)).collect::<Result<_, _>>();
        let mut program = Program {
            name: name.to_owned(),
            isa,
            file: file.to_vec(),
            symbols: Vec::new(),
            relocations: Vec::new(),
            code: Segment::default(),
            data: Segment::default(),
            entry: header.e_entry.get(LE),
            sizes: ImageSizes::default(),
            sections: sections.map_err(&fail)?,
        };
        let symbols = table.symbols(LE, file, elf::SHT_SYMTAB).map_err(&fail)?;
        program.read_symbols(&symbols).map_err(&fail)?;
        for section in table.iter() {
            if let Some((relocations, _)) = section.rel(LE, file).map_err(&fail)? {
                let target = section.sh_info.get(LE) as usize;
                let read = relocations.iter().map(|relocation| Relocation {
                    kind: relocation.r_type(LE),
                    section: target,
                    address: relocation.r_offset.get(LE),
                    symbol: relocation.r_sym(LE) as usize,
                });
                let merged = program.sections.get(target).is_some_and(|found| Some(found.kind) == isa.merged);
                let counts = |found: &Relocation| !merged || !matches!((isa.moves)(found.kind), Some(Moves::Together));
                program.relocations.extend(read.filter(counts));
            }
        }
        program.measure();
        Ok(program)
    }

    fn read_symbols(&mut self, symbols: &SymbolTable<'_, Header>) -> object::read::Result<()> {
        for symbol in symbols.iter() {
            let text = symbols.symbol_name(LE, symbol)?;
            let index = symbol.st_shndx.get(LE);
            let section = usize::from(index);
            let real = index != elf::SHN_UNDEF && index < elf::SHN_LORESERVE;
            self.symbols.push(Symbol {
                name: String::from_utf8_lossy(text).into_owned(),
                value: symbol.st_value.get(LE),
                bytes: symbol.st_size.get(LE),
                section: real.then_some(section),
                absolute: index == elf::SHN_ABS,
                named: matches!(Sym::st_type(symbol), elf::STT_FUNC | elf::STT_OBJECT | elf::STT_NOTYPE),
            });
        }
        Ok(())
    }

    fn measure(&mut self) {
        for section in self.sections.iter().filter(|section| section.allocated) {
            let size = match (section.writable, section.in_file) {
                (true, true) => &mut self.sizes.data,
                (true, false) => &mut self.sizes.bss,
                (false, _) => &mut self.sizes.text,
            };
            *size += u64::from(section.bytes);
        }
    }

    /// The range of all sections of a kind. They lie close together, and what the file should hold is in it.
    fn segment(&self, writable: bool) -> Result<Segment, PlaceError> {
        let fail = |reason: &str| PlaceError::Elf { domain: self.name.clone(), reason: reason.to_owned() };
        let (mut base, mut end, mut file_end, mut sum, mut align) = (u64::from(u32::MAX), 0, 0, 0, 1);
        for section in self.sections.iter().filter(|s| s.is_loaded() && s.writable == writable) {
            let (first, behind) = section.range();
            base = base.min(first);
            end = end.max(behind);
            sum += u64::from(section.bytes);
            align = align.max(section.align);
            if section.in_file {
                file_end = file_end.max(behind);
            }
        }
        if sum == 0 {
            return Ok(Segment::default());
        }
        if end - base > sum + MAX_GAPS_BYTES {
            return Err(fail(if writable {
                "its data is not in one piece: the sections lie far apart"
            } else {
                "its code and constants are not in one piece: the sections lie far apart"
            }));
        }
        if end - base > MAX_SEGMENT_BYTES {
            return Err(fail("it is larger than any memory"));
        }
        // Below 2^32: checked above.
        let file_bytes = if file_end == 0 { 0 } else { (file_end - base) as u32 };
        Ok(Segment { base: base as u32, bytes: (end - base) as u32, file_bytes, align })
    }

    /// The address of a function at link time.
    ///
    /// # Errors
    /// [`PlaceError::Symbol`] if there is none; [`PlaceError::NotCode`] for a symbol that is no code.
    pub(crate) fn function(&self, name: &str) -> Result<u32, PlaceError> {
        let (domain, symbol) = (self.name.clone(), name.to_owned());
        let found = self.symbols.iter().find(|symbol| symbol.name == name && symbol.section.is_some());
        let Some(found) = found else { return Err(PlaceError::Symbol { domain, symbol }) };
        let section = found.section.and_then(|index| self.sections.get(index));
        let code = section.filter(|section| section.is_loaded() && section.executable).map(Section::range);
        match code.filter(|(from, to)| *from <= found.value.into() && u64::from(found.value) < *to) {
            Some(_) => Ok(found.value),
            None => Err(PlaceError::NotCode { domain, symbol, address: found.value }),
        }
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

fn read_section(table: &Sections, section: &elf::SectionHeader32<LE>) -> object::read::Result<Section> {
    let flags = section.sh_flags.get(LE);
    let name = table.section_name(LE, section)?;
    Ok(Section {
        name: String::from_utf8_lossy(name).into_owned(),
        kind: section.sh_type(LE),
        address: section.sh_addr.get(LE),
        bytes: section.sh_size.get(LE),
        offset: section.sh_offset.get(LE),
        allocated: flags & elf::SHF_ALLOC != 0,
        writable: flags & elf::SHF_WRITE != 0,
        executable: flags & elf::SHF_EXECINSTR != 0,
        in_file: !matches!(section.sh_type(LE), elf::SHT_NOBITS | elf::SHT_NULL),
        compressed: flags & elf::SHF_COMPRESSED != 0,
        align: section.sh_addralign.get(LE).max(1),
    })
}
