//! Reading programs.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use system::objects::{self, Sizes, Words};

use crate::error::PlaceError;
use crate::isa::Isa;
use crate::layout::ImageSizes;

type Header = elf::FileHeader32<LE>;

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
}

impl Segment {
    pub(crate) fn contains(&self, address: u32) -> bool {
        address >= self.base && address - self.base < self.bytes.max(1)
    }
}

/// A section as the tool sees it.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub address: u32,
    pub bytes: u32,
    pub offset: u32,
    pub allocated: bool,
    pub writable: bool,
    pub in_file: bool,
}

/// A symbol.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    pub name: String,
    pub value: u32,
    pub bytes: u32,
    pub section: Option<usize>,
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

fn unreadable(domain: &str) -> impl Fn(object::read::Error) -> PlaceError + '_ {
    move |error| PlaceError::Elf { domain: domain.to_owned(), reason: error.to_string() }
}

fn header<'a>(domain: &str, file: &'a [u8]) -> Result<(&'a Header, &'static Isa), PlaceError> {
    let header = Header::parse(file).map_err(|_| not_elf(domain, file))?;
    let machine = header.e_machine.get(LE);
    Isa::of_machine(machine)
        .map_err(|needed| {
            let found = format!("ELF machine {machine}");
            PlaceError::Architecture { domain: domain.to_owned(), found, needed }
        })
        .map(|isa| (header, isa))
}

/// A domain's program is linked, and passes arguments as the others do.
fn executable(domain: &str, (header, isa): (&Header, &Isa)) -> Result<(), PlaceError> {
    let domain = domain.to_owned();
    if header.e_type.get(LE) != elf::ET_EXEC {
        let reason = "it is not a linked executable for fixed addresses".to_owned();
        return Err(PlaceError::Elf { domain, reason });
    }
    if header.e_flags.get(LE) & isa.foreign_flags != 0 {
        let [found, needed] = isa.conventions;
        return Err(PlaceError::Architecture { domain, found: found.to_owned(), needed });
    }
    Ok(())
}

/// Tells a file for another architecture from one that is no ELF file at all.
fn not_elf(domain: &str, file: &[u8]) -> PlaceError {
    let domain = domain.to_owned();
    let needed = "32-bit Arm (ELF machine 40)";
    match file {
        [0x7f, b'E', b'L', b'F', 2, ..] => {
            PlaceError::Architecture { domain, found: "a 64-bit machine".into(), needed }
        }
        [0x7f, b'E', b'L', b'F', _, 2, ..] => {
            PlaceError::Architecture { domain, found: "a big-endian machine".into(), needed }
        }
        _ => PlaceError::Elf { domain, reason: "it does not start with a 32-bit little-endian ELF header".into() },
    }
}

impl Program {
    /// Reads a domain's ELF file.
    ///
    /// # Errors
    /// [`PlaceError::Elf`] and [`PlaceError::Architecture`].
    pub fn parse(name: &str, file: &[u8]) -> Result<Program, PlaceError> {
        let mut program = Program::read(name, file)?;
        executable(name, header(name, file)?)?;
        program.find_segments()?;
        if program.code.bytes == 0 {
            return Err(PlaceError::Elf { domain: name.to_owned(), reason: "it holds no code".into() });
        }
        Ok(program)
    }

    /// Sections, symbols and relocations.
    fn read(name: &str, file: &[u8]) -> Result<Program, PlaceError> {
        let (header, isa) = header(name, file)?;
        let fail = unreadable(name);
        let table = header.sections(LE, file).map_err(&fail)?;
        let sections: Vec<Section> = table.iter().map(read_section).collect();
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
            sections,
        };
        let symbols = table.symbols(LE, file, elf::SHT_SYMTAB).map_err(&fail)?;
        for symbol in symbols.iter() {
            let text = symbols.symbol_name(LE, symbol).unwrap_or_default();
            let section = usize::from(symbol.st_shndx.get(LE));
            let real = section != 0 && section < program.sections.len();
            program.symbols.push(Symbol {
                name: String::from_utf8_lossy(text).into_owned(),
                value: symbol.st_value.get(LE),
                bytes: symbol.st_size.get(LE),
                section: real.then_some(section),
                named: matches!(Sym::st_type(symbol), elf::STT_FUNC | elf::STT_OBJECT | elf::STT_NOTYPE),
            });
        }
        for section in table.iter() {
            if let Some((relocations, _)) = section.rel(LE, file).map_err(&fail)? {
                let target = section.sh_info.get(LE) as usize;
                program.relocations.extend(relocations.iter().map(|relocation| Relocation {
                    kind: relocation.r_type(LE),
                    section: target,
                    address: relocation.r_offset.get(LE),
                    symbol: relocation.r_sym(LE) as usize,
                }));
            }
        }
        program.measure();
        Ok(program)
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

    fn find_segments(&mut self) -> Result<(), PlaceError> {
        self.code = self.segment(false)?;
        self.data = self.segment(true)?;
        Ok(())
    }

    /// The range of all sections of a kind. They lie close together, and what the file should hold is in it.
    fn segment(&self, writable: bool) -> Result<Segment, PlaceError> {
        let fail = |reason: &str| PlaceError::Elf { domain: self.name.clone(), reason: reason.to_owned() };
        let (mut base, mut end, mut file_end, mut sum) = (u64::from(u32::MAX), 0, 0, 0);
        for section in self.sections.iter().filter(|s| s.allocated && s.writable == writable && s.bytes > 0) {
            let (first, bytes) = (u64::from(section.address), u64::from(section.bytes));
            base = base.min(first);
            end = end.max(first + bytes);
            sum += bytes;
            if section.in_file {
                file_end = file_end.max(first + bytes);
                if u64::from(section.offset) + bytes > self.file.len() as u64 {
                    return Err(fail("it is cut short: a section ends behind the end of the file"));
                }
            }
        }
        if sum == 0 {
            return Ok(Segment::default());
        }
        if end > 1 << 32 || end - base > sum + MAX_GAPS_BYTES {
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
        Ok(Segment { base: base as u32, bytes: (end - base) as u32, file_bytes })
    }

    /// The value of a defined symbol at link time.
    pub(crate) fn symbol(&self, name: &str) -> Result<u32, PlaceError> {
        self.symbols
            .iter()
            .find(|symbol| symbol.name == name && symbol.section.is_some())
            .map(|symbol| symbol.value)
            .ok_or_else(|| PlaceError::Symbol { domain: self.name.clone(), symbol: name.to_owned() })
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

fn read_section(section: &elf::SectionHeader32<LE>) -> Section {
    let flags = section.sh_flags.get(LE);
    Section {
        address: section.sh_addr.get(LE),
        bytes: section.sh_size.get(LE),
        offset: section.sh_offset.get(LE),
        allocated: flags & elf::SHF_ALLOC != 0,
        writable: flags & elf::SHF_WRITE != 0,
        in_file: section.sh_type(LE) != elf::SHT_NOBITS,
    }
}

/// A part of an image.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Where programs use it.
    pub used: u32,
    /// Where a loader writes it.
    pub at: u32,
    pub bytes: Vec<u8>,
}

impl Loaded {
    /// What is used where it is loaded.
    pub fn here(at: u32, bytes: Vec<u8>) -> Loaded {
        Loaded { used: at, at, bytes }
    }
}

/// What a loader has to write for the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub isa: &'static Isa,
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
        Ok(Kernel { isa, segments, entry: program.entry, symbols: program.symbols, sizes: program.sizes })
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
