//! Whether the parts of a file agree with each other: a program that passes has a relocation, or none, for exactly what its linker said.
//! Files come from anywhere. One whose sections lie about each other would be moved in part, and would fault somewhere else.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::program::{Header, Program, Section};
use crate::isa::Moves;

/// The reason why a file is refused.
type Sound = Result<(), String>;

/// Bytes of an ELF header, of a program header, of a section header, of a symbol and of a relocation.
const HEADER: u64 = 52;
const PROGRAM_HEADER: u64 = 32;
const SECTION_HEADER: u64 = 40;
const SYMBOL: u32 = 16;
const RELOCATION: u32 = 8;
/// The end of the address space.
const TOP: u64 = 1 << 32;
/// The largest alignment: nothing is placed by more than a section of the page tables.
const MOST_ALIGN: u32 = 1 << 20;
/// Most bytes of padding behind the last section of a segment.
const PADDING: u64 = 16;

/// Checks a program, section by section first.
pub(super) fn check(program: &Program, header: &Header) -> Sound {
    if usize::from(header.e_shnum.get(LE)) != program.sections.len() || header.e_phnum.get(LE) == elf::PN_XNUM {
        return Err("it has more sections or segments than a program has".into());
    }
    for (index, section) in program.sections.iter().enumerate().skip(1) {
        within(program, section).map_err(|reason| format!("section {index} (`{}`) {reason}", section.name))?;
    }
    apart(program, header)?;
    symbols(program)?;
    let table = header.sections(LE, &*program.file).map_err(|error| error.to_string())?;
    for (index, section) in table.iter().enumerate().skip(1) {
        let name = &program.sections[index].name;
        relocations(program, section).map_err(|reason| format!("section {index} (`{name}`) {reason}"))?;
    }
    places(program)?;
    segments(program, header)?;
    entry(program)
}

/// A section lies in the file, and in the address space.
fn within(program: &Program, section: &Section) -> Sound {
    if section.file_range().1 > program.file.len() as u64 {
        return Err("ends behind the end of the file: it is cut short".into());
    }
    if !section.align.is_power_of_two() || section.is_loaded() && !section.address.is_multiple_of(section.align) {
        return Err(format!("is not at a multiple of its alignment, {}", section.align));
    }
    if section.is_loaded() && section.align > MOST_ALIGN {
        return Err(format!("asks for a multiple of {} bytes, and {MOST_ALIGN} is the most", section.align));
    }
    if section.is_loaded() && section.range().1 > TOP {
        return Err("reaches beyond the last address".into());
    }
    Ok(())
}

/// No byte of the file belongs to two parts of it, none to nothing, and no address to two sections.
fn apart(program: &Program, header: &Header) -> Sound {
    let table = |what: &str, at: u32, count: u16, bytes: u64| {
        (u64::from(at), u64::from(at) + u64::from(count) * bytes, what.to_owned())
    };
    let tables = [
        (0, HEADER, "the ELF header".to_owned()),
        table("the program headers", header.e_phoff.get(LE), header.e_phnum.get(LE), PROGRAM_HEADER),
        table("the section headers", header.e_shoff.get(LE), header.e_shnum.get(LE), SECTION_HEADER),
    ];
    let named = |(from, to): (u64, u64), section: &Section| (from, to, format!("`{}`", section.name));
    let sections = program.sections.iter().map(|section| named(section.file_range(), section));
    let in_file = ordered(sections.chain(tables), "in the file")?;
    let mut from = 0;
    for (start, end, name) in in_file.iter().cloned().chain([(program.file.len() as u64, u64::MAX, "its end".into())]) {
        let between = program.file.get(from as usize..start as usize).unwrap_or_default();
        if between.iter().any(|byte| *byte != 0) {
            return Err(format!("{} bytes in front of {name} belong to no section", between.len()));
        }
        from = end;
    }
    let loaded = program.sections.iter().filter(|section| section.allocated);
    ordered(loaded.map(|section| named(section.range(), section)), "in memory").map(|_| ())
}

/// The ranges that are not empty, in their order.
fn ordered(ranges: impl Iterator<Item = (u64, u64, String)>, place: &str) -> Result<Vec<(u64, u64, String)>, String> {
    let mut ranges: Vec<_> = ranges.filter(|(from, to, _)| from < to).collect();
    ranges.sort();
    match ranges.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        Some(pair) => Err(format!("{} and {} overlap {place}", pair[0].2, pair[1].2)),
        None => Ok(ranges),
    }
}

/// There is one table of symbols, and each symbol's section is there.
fn symbols(program: &Program) -> Sound {
    let tables: Vec<&Section> = program.sections.iter().filter(|section| section.kind == elf::SHT_SYMTAB).collect();
    if tables.len() > 1 || tables.iter().any(|table| !table.bytes.is_multiple_of(SYMBOL)) {
        return Err("it has two tables of symbols, or part of one".into());
    }
    if program.symbols.first().is_some_and(|first| first.value != 0 || first.section.is_some()) {
        return Err("its table of symbols does not begin with the symbol that is none".into());
    }
    match program.symbols.iter().find(|symbol| symbol.section.is_some_and(|index| index >= program.sections.len())) {
        Some(symbol) => Err(format!("the symbol `{}` is of a section that is not there", symbol.name)),
        None => Ok(()),
    }
}

/// A section of relocations belongs to the table of symbols, and to one section that has bytes in the file.
fn relocations(program: &Program, section: &elf::SectionHeader32<LE>) -> Sound {
    let own = |index: u32| program.sections.get(index as usize);
    let name =
        |at: u32| own(at).map_or(format!("number {at}, which is not there"), |found| format!("`{}`", found.name));
    let kind = section.sh_type(LE);
    let target = section.sh_info.get(LE);
    match kind {
        elf::SHT_REL => {}
        elf::SHT_RELA | elf::SHT_RELR | elf::SHT_CREL => {
            return Err("holds relocations of a kind that linkers for this processor do not write".into());
        }
        elf::SHT_DYNAMIC | elf::SHT_DYNSYM => return Err("is for a loader that links programs when they start".into()),
        _ => return Ok(()),
    }
    if !section.sh_size.get(LE).is_multiple_of(RELOCATION) {
        return Err("ends in the middle of a relocation".into());
    }
    let linked = section.sh_link.get(LE);
    if own(linked).is_none_or(|table| table.kind != elf::SHT_SYMTAB) {
        return Err(format!("takes its symbols from section {}, which is no table of symbols", name(linked)));
    }
    let holds =
        |found: &&Section| !matches!(found.kind, elf::SHT_REL | elf::SHT_SYMTAB | elf::SHT_STRTAB) && found.in_file;
    if own(target).filter(holds).is_none() {
        return Err(format!("holds relocations for section {}, which has nothing to relocate", name(target)));
    }
    if own(target).is_some_and(|found| found.compressed) {
        return Err(format!("holds relocations for section {}, which is compressed: build without -gz", name(target)));
    }
    Ok(())
}

/// Every relocation changes bytes of its section, is the only one there, and names a symbol that is there. No section that had relocations
/// has lost them.
fn places(program: &Program) -> Sound {
    let mut covered = Vec::with_capacity(program.relocations.len());
    for relocation in &program.relocations {
        let section = &program.sections[relocation.section];
        let at = |reason: String| {
            Err(format!("the relocation of `{}` at {:#010x} {reason}", section.name, relocation.address))
        };
        let symbol = program.symbols.get(relocation.symbol);
        let bytes = u64::from((program.isa.bytes_of)(relocation.kind));
        let (from, to) = section.range();
        let (first, behind) = (u64::from(relocation.address), u64::from(relocation.address) + bytes);
        if bytes > 0 && (first < from || behind > to) {
            return at("lies outside of that section".into());
        }
        let Some(symbol) = symbol else {
            return at(format!("is for symbol {}, which is not there", relocation.symbol));
        };
        let lost = |index: usize| !program.sections[index].allocated;
        if section.allocated && symbol.section.is_some_and(lost) {
            return at(format!("is for `{}`, which takes no memory", symbol.name));
        }
        if !matches!((program.isa.moves)(relocation.kind), None | Some(Moves::Stays)) {
            covered.push((relocation.section, first, behind));
        }
    }
    covered.sort_unstable();
    if let Some(pair) = covered.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2) {
        return Err(format!("two relocations change the word at {:#010x}", pair[1].1));
    }
    program.relocations.first().map_or(Ok(()), |_| none_lost(program))
}

/// A linker that keeps relocations keeps those of every section: code without one has lost them, and so has a section beside one that is
/// named as if it held them.
fn none_lost(program: &Program) -> Sound {
    for (index, section) in program.sections.iter().enumerate().filter(|(_, section)| section.is_loaded()) {
        let has = program.relocations.iter().any(|relocation| relocation.section == index);
        let named = |other: &&Section| other.name.strip_prefix(".rel") == Some(&section.name);
        let other = program.sections.iter().find(named).is_some_and(|found| found.kind != elf::SHT_REL);
        if other || section.executable && section.in_file && !has {
            return Err(format!("the relocations of `{}` are missing, while others are there", section.name));
        }
    }
    Ok(())
}

/// Program headers load what the sections say, at the same addresses.
fn segments(program: &Program, header: &Header) -> Sound {
    let headers = header.program_headers(LE, &*program.file).map_err(|error| error.to_string())?;
    let mut loads = Vec::new();
    for (index, segment) in headers.iter().enumerate() {
        let fail = |reason: &str| Err(format!("program header {index} {reason}"));
        let [file_bytes, bytes, offset, address] =
            [segment.p_filesz(LE), segment.p_memsz(LE), segment.p_offset(LE), segment.p_vaddr(LE)].map(u64::from);
        match segment.p_type(LE) {
            elf::PT_DYNAMIC | elf::PT_INTERP => return fail("is for a loader that links programs when they start"),
            elf::PT_LOAD => {}
            _ => continue,
        }
        if file_bytes > bytes {
            return fail("loads more bytes than it takes in memory");
        }
        if offset + file_bytes > program.file.len() as u64 {
            return fail("loads bytes behind the end of the file");
        }
        if address + bytes > TOP {
            return fail("reaches beyond the last address");
        }
        loads.push((address, address + bytes, offset, file_bytes, format!("program header {index}")));
    }
    let ranges = loads.iter().map(|(from, to, .., name)| (*from, *to, name.clone()));
    ordered(ranges, "in memory")?;
    for section in program.sections.iter().filter(|section| section.is_loaded()) {
        let ((from, to), (start, end)) = (section.range(), section.file_range());
        let holds = |(first, behind, offset, file_bytes, _): &&(u64, u64, u64, u64, String)| {
            let same = start + first == offset + from && end <= offset + file_bytes;
            *first <= from && to <= *behind && (same || !section.in_file)
        };
        if loads.iter().find(holds).is_none() {
            return Err(format!("no program header loads `{}` at the address that the section has", section.name));
        }
    }
    for (first, behind, .., name) in &loads {
        let last = program.sections.iter().filter(|s| s.is_loaded() && s.range().0 >= *first).map(|s| s.range().1);
        let last = last.filter(|end| end <= behind).max().unwrap_or(*first);
        if behind - last > PADDING {
            return Err(format!("{name} takes {} bytes of memory that belong to no section", behind - last));
        }
    }
    Ok(())
}

/// The program starts in its code.
fn entry(program: &Program) -> Sound {
    let at = u64::from(program.entry);
    let code = program.sections.iter().filter(|section| section.is_loaded() && section.executable);
    match code.map(Section::range).find(|(from, to)| *from <= at && at < *to) {
        Some(_) => Ok(()),
        None => Err(format!("its entry, {:#010x}, is not in its code", program.entry)),
    }
}
