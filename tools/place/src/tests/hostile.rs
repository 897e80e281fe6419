//! Files whose parts disagree are refused with the reason, and none is moved in part.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::FileHeader;

use super::{A9, SOURCE, Scratch};
use crate::isa::Moves;
use crate::relocate::relocate;
use crate::{PlaceError, Program, veneers};

/// Offsets of fields in a section header, and in a program header.
const TYPE: usize = 4;
const ADDRESS: usize = 12;
const OFFSET: usize = 16;
const SIZE: usize = 20;
const LINK: usize = 24;
const INFO: usize = 28;
const P_OFFSET: usize = 4;
const P_ADDRESS: usize = 8;
const P_FILE: usize = 16;
const P_MEMORY: usize = 20;

const CODE: u32 = 0x1000_0000;
const DATA: u32 = 0x3000_0000;

fn word(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

fn put(file: &mut [u8], at: usize, value: u32) {
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

/// Offset and number of the header of a section.
fn section(file: &[u8], name: &str) -> (usize, u32) {
    let header = elf::FileHeader32::<LE>::parse(file).unwrap();
    let table = header.sections(LE, file).unwrap();
    let (index, _) = table.section_by_name(LE, name.as_bytes()).unwrap();
    (word(file, 32) as usize + 40 * index.0, index.0 as u32)
}

fn refused(file: &[u8]) -> String {
    Program::parse("a", file).map(|_| ()).expect_err("it was accepted").to_string()
}

#[test]
fn every_disagreement_is_refused_with_its_reason() {
    let scratch = Scratch::new("hostile");
    let good = scratch.link(SOURCE, CODE, DATA, &[]);
    Program::parse("a", &good).unwrap();
    let of = |name: &str| section(&good, name);
    let headers = word(&good, 28) as usize;
    let (relocations, (text, _)) = (of(".rel.text").0, of(".text"));
    let first = word(&good, relocations + OFFSET) as usize;
    let bytes = word(&good, relocations + SIZE);
    let cases: &[(usize, u32, &str)] = &[
        (relocations + LINK, of(".text").1, "takes its symbols from section `.text`"),
        (relocations + LINK, 4000, "number 4000, which is not there"),
        (relocations + INFO, of(".rodata").1, "lies outside of that section"),
        (relocations + INFO, of(".bss").1, "has nothing to relocate"),
        (relocations + INFO, 0, "has nothing to relocate"),
        (relocations + SIZE, bytes - 8, "belong to no section"),
        (relocations + SIZE, bytes - 4, "part way|middle|Invalid"),
        (relocations + SIZE, u32::MAX, "Invalid"),
        (relocations + TYPE, elf::SHT_PROGBITS, "the relocations of `.text` are missing"),
        (relocations + TYPE, elf::SHT_RELA, "Invalid|do not write"),
        (first, CODE - 4, "lies outside of that section"),
        (first, u32::MAX, "lies outside of that section"),
        (first, word(&good, first + 8), "two relocations|lies outside"),
        (first + 4, 0xff_ff02, "which is not there"),
        (text + ADDRESS, CODE + 0x10_0000, "lies outside|no program header loads"),
        (text + OFFSET, good.len() as u32, "cut short"),
        (text + OFFSET, 0, "overlap in the file"),
        (text + SIZE, u32::MAX, "cut short"),
        (of(".data").0 + ADDRESS, CODE, "overlap in memory"),
        (of(".bss").0 + SIZE, u32::MAX, "beyond the last address"),
        (of(".bss").0 + SIZE, 0, "belong to no section"),
        (headers + P_OFFSET, u32::MAX, "behind the end of the file"),
        (headers + P_FILE, u32::MAX, "more bytes than it takes"),
        (headers + P_MEMORY, 0, "more bytes than it takes"),
        (headers + P_ADDRESS, u32::MAX - 4, "beyond the last address"),
        (headers + P_ADDRESS, DATA, "overlap in memory"),
        (headers, elf::PT_NOTE, "no program header loads"),
        (headers, elf::PT_DYNAMIC, "links programs when they start"),
        (24, DATA, "is not in its code"),
        (32, u32::MAX, "Invalid"),
        (16, u32::from(elf::ET_REL) | 40 << 16, "object file"),
        (16, u32::from(elf::ET_DYN) | 40 << 16, "position-independent"),
        (36, 0x0400_0400, "another generation"),
        (36, 0x0580_0400, "big-endian"),
        (4, 0x0001_0201, "big-endian"),
        (4, 0x0001_0102, "64-bit"),
    ];
    for (at, value, expected) in cases {
        let mut file = good.clone();
        put(&mut file, *at, *value);
        let said = refused(&file);
        assert!(expected.split('|').any(|part| said.contains(part)), "{value:#x} at {at:#x}: {said}, not {expected}");
    }
    assert!(refused(&[]).contains("ELF header"));
}

/// Names whose letters are in the file once, and in memory once for each of them.
#[test]
fn names_that_share_their_letters_do_not_fill_the_memory() {
    const LETTERS: usize = 1 << 20;
    let scratch = Scratch::new("names");
    let good = scratch.link(SOURCE, CODE, DATA, &[]);
    let named = |table: &str, letters: usize, entries: Vec<u8>| {
        let mut file = good.clone();
        let (strings, at) = (section(&good, table).0, file.len() as u32);
        file.push(0);
        file.resize(file.len() + letters, b'a');
        file.extend([0; 4]);
        let aligned = file.len().next_multiple_of(4);
        file.resize(aligned, 0);
        put(&mut file, strings + OFFSET, at);
        put(&mut file, strings + SIZE, letters as u32 + 5);
        (file.len() as u32, [file, entries].concat())
    };
    // 100 symbols, the name of each of which begins with the first letter.
    let (at, mut file) = named(".strtab", LETTERS, [[1, 0, 0, 0], [0; 4], [0; 4], [0; 4]].as_flattened().repeat(100));
    let symbols = section(&good, ".symtab").0;
    put(&mut file, symbols + OFFSET, at);
    put(&mut file, symbols + SIZE, 1600);
    let expected = "names of more than 64 MiB together";
    assert!(refused(&file).contains(expected), "{}", refused(&file));
    let (_, mut file) = named(".shstrtab", 10 * LETTERS, Vec::new());
    let headers = word(&good, 32) as usize;
    (0..usize::from(good[48])).for_each(|number| put(&mut file, headers + 40 * number, 1));
    assert!(refused(&file).contains(expected), "{}", refused(&file));
}

#[test]
fn a_program_of_another_version_or_of_none_is_refused() {
    let scratch = Scratch::new("version");
    let good = scratch.link(SOURCE, CODE, DATA, &[]);
    let (note, _) = section(&good, ".note.cofferdam");
    let at = word(&good, note + OFFSET) as usize;
    let with = |offset: usize, value: u32| {
        let mut file = good.clone();
        put(&mut file, offset, value);
        Program::parse("a", &file).map(|_| ()).unwrap_err()
    };
    let version = |found| PlaceError::Version { domain: "a".into(), found };
    assert_eq!(with(at + 24, abi::info::VERSION + 1), version(Some(abi::info::VERSION + 1)));
    assert_eq!(with(at + 12, 0), version(None));
    assert!(with(note + 4, elf::SHT_NOBITS).to_string().contains("belong to no section"));
}

/// Places that moving changes: offsets in the file, of relocations in what is loaded and of veneers.
fn changed(program: &Program) -> Vec<usize> {
    let moves = |kind| !matches!((program.isa.moves)(kind), None | Some(Moves::Stays | Moves::Together));
    let relocations = program.relocations.iter().filter(|found| moves(found.kind)).filter_map(|found| {
        let section = &program.sections[found.section];
        section.allocated.then(|| (found.address - section.address + section.offset) as usize)
    });
    relocations.chain(veneers::addresses(program).iter().map(|found| found.offset)).collect()
}

/// Every field of every header with values that lie, one at a time and then in pairs: a file that is accepted is moved as the right one is.
#[test]
fn no_lie_of_a_header_leaves_a_relocation_out() {
    const AWAY: (i64, i64) = (0x2345_1000, -0x0123_4000);
    let scratch = Scratch::new("lies");
    let good = scratch.link_for(A9, SOURCE, CODE, DATA, &[]);
    let program = Program::parse("a", &good).unwrap();
    let moved = relocate(&program, AWAY.0, AWAY.1).unwrap();
    let places = changed(&program);
    assert!(places.len() > 20, "{}", places.len());
    let sections = program.sections.len();
    let table = |at: u32, count: usize, bytes: usize| (0..count * bytes / 4).map(move |field| at as usize + 4 * field);
    let mut fields: Vec<usize> = table(0, 1, 52).collect();
    fields.extend(table(word(&good, 28), usize::from(good[44]), 32));
    fields.extend(table(word(&good, 32), sections, 40));
    let attempt = |lies: &[(usize, u32)]| {
        let mut file = good.clone();
        lies.iter().for_each(|(at, value)| put(&mut file, *at, *value));
        let Ok(read) = Program::parse("a", &file) else { return 0 };
        let Ok(there) = relocate(&read, AWAY.0, AWAY.1) else { return 0 };
        for at in &places {
            assert_eq!(there.get(*at..at + 4), moved.get(*at..at + 4), "{lies:x?}: the word at {at:#x} of the file");
        }
        1
    };
    let mut accepted = 0;
    for &at in &fields {
        let now = word(&good, at);
        let near = [8, 40].into_iter().flat_map(|step| [now.wrapping_add(step), now.wrapping_sub(step)]);
        // Types, flags, and numbers of sections.
        let small = 0..if now < 64 { sections as u32 + 1 } else { 0 };
        for value in near.chain(small).chain([now ^ 1, now ^ 2, now ^ 4, u32::MAX, CODE, DATA]) {
            accepted += attempt(&[(at, value)]);
        }
    }
    let mut random = random();
    for _ in 0..1500 {
        let lies = [(); 2].map(|()| {
            let at = fields[random(fields.len())];
            let (now, other) = (word(&good, at), word(&good, fields[random(fields.len())]));
            (at, [other, now.wrapping_add(8), now.wrapping_sub(8), random(20) as u32][random(4)])
        });
        accepted += attempt(&lies);
    }
    // Fields that nobody reads, such as the alignment of a segment, may lie.
    assert!(accepted > 50, "{accepted}");
}

/// The same numbers in every run (xorshift).
fn random() -> impl FnMut(usize) -> usize {
    let mut seed = 0x2545_f491u32;
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed as usize % below
    }
}
