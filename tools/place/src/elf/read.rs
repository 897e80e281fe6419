//! Reading programs: what is wrong with a file is found here, and nothing behind it asks again.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use super::program::{Header, Program, Relocation, Section, Segment, Symbol, unreadable};
use super::{header, sound, version};
use crate::error::PlaceError;
use crate::isa::Moves;
use crate::local;
use crate::placed::ImageSizes;

type Sections<'a> = SectionTable<'a, Header>;

/// Alignment may leave gaps between the sections of a segment; more than this is another segment.
const MAX_GAPS_BYTES: u64 = 64 * 1024;
/// In a file names may share their letters; read, each has its own.
const MAX_NAMES_BYTES: usize = 64 << 20;
/// Sums of a few segments stay within 32 bits.
const MAX_SEGMENT_BYTES: u64 = 1 << 28;

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
        program.local = local::of(&program)?;
        Ok(program)
    }

    /// Sections, symbols and relocations.
    pub(super) fn read(name: &str, file: &[u8]) -> Result<Program, PlaceError> {
        let (header, isa) = header::header(name, file)?;
        let fail = unreadable(name);
        let table = header.sections(LE, file).map_err(&fail)?;
        let refused = |reason: String| PlaceError::Elf { domain: name.to_owned(), reason };
        let mut names = Names(MAX_NAMES_BYTES);
        let sections = table.iter().map(|section| read_section(&table, section, &mut names)).collect::<Result<_, _>>();
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
            local: None,
            sections: sections.map_err(refused)?,
        };
        let symbols = table.symbols(LE, file, elf::SHT_SYMTAB).map_err(&fail)?;
        program.read_symbols(&symbols).map_err(refused)?;
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

    fn read_symbols(&mut self, symbols: &SymbolTable<'_, Header>) -> Result<(), String> {
        let mut names = Names(MAX_NAMES_BYTES);
        for symbol in symbols.iter() {
            let name = names.read(symbols.symbol_name(LE, symbol))?;
            let index = symbol.st_shndx.get(LE);
            let section = usize::from(index);
            let real = index != elf::SHN_UNDEF && index < elf::SHN_LORESERVE;
            self.symbols.push(Symbol {
                name,
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
}

/// How many bytes names may still have.
struct Names(usize);

impl Names {
    fn read(&mut self, name: object::read::Result<&[u8]>) -> Result<String, String> {
        let name = name.map_err(|error| error.to_string())?;
        let left = self.0.checked_sub(name.len());
        self.0 = left.ok_or_else(|| {
            format!("its symbols, or its sections, have names of more than {} MiB together", MAX_NAMES_BYTES >> 20)
        })?;
        // Refusals and reports print it in lines of their own.
        Ok(record::visible_name(&String::from_utf8_lossy(name)))
    }
}

fn read_section(table: &Sections, section: &elf::SectionHeader32<LE>, names: &mut Names) -> Result<Section, String> {
    let flags = section.sh_flags.get(LE);
    let name = names.read(table.section_name(LE, section))?;
    let in_file = !matches!(section.sh_type(LE), elf::SHT_NOBITS | elf::SHT_NULL);
    let of_threads = flags & elf::SHF_TLS != 0;
    Ok(Section {
        name,
        kind: section.sh_type(LE),
        address: section.sh_addr.get(LE),
        bytes: section.sh_size.get(LE),
        offset: section.sh_offset.get(LE),
        // Zeros of thread-local variables are in no segment: their addresses are those of what lies behind them.
        allocated: flags & elf::SHF_ALLOC != 0 && (in_file || !of_threads),
        writable: flags & elf::SHF_WRITE != 0,
        executable: flags & elf::SHF_EXECINSTR != 0,
        in_file,
        compressed: flags & elf::SHF_COMPRESSED != 0,
        of_threads,
        align: section.sh_addralign.get(LE).max(1),
    })
}
