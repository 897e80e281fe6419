//! One ELF file with everything, for a loader.

use std::collections::BTreeMap;

use manager::HandOver;
use manifest::resolved::System;
use object::elf;
use system::area;

use crate::elf::{Kernel, Loaded, Program};
use crate::error::PlaceError;
use crate::local;
use crate::plan::Plan;
use crate::start::with_facts;
use crate::tables::information;

/// Writes the image: the kernel with the address of the tables patched in, the tables, and every domain's code, information
/// block and initial data, and the constant files.
pub(crate) fn write(
    system: &System,
    plan: &Plan,
    kernel: &Kernel,
    (programs, files): (&[Program], &[Vec<u8>]),
    relocated: &[Vec<u8>],
    (tables, handlers): (&[u32], Vec<Loaded>),
) -> Result<Vec<u8>, PlaceError> {
    let mut segments = kernel.segments.clone();
    patch(&mut segments, kernel.symbol("COFFERDAM_SYSTEM")?, plan.tables)?;
    segments.push(Loaded::here(plan.tables, tables.iter().flat_map(|word| word.to_le_bytes()).collect()));
    for (index, program) in programs.iter().enumerate() {
        let spot = &plan.domains[index];
        let own = |used: u32, bytes: Vec<u8>| Loaded { used, at: spot.physical(used), bytes };
        segments.push(own(spot.code_base, program.bytes_of(&relocated[index], true)));
        let begin = spot.info - local::code_bytes(&system.domains[index], program);
        segments.push(own(begin, local::code(&system.domains[index], program, spot.code_delta)?));
        segments.push(own(spot.info, information(system, index, spot, wake(kernel))));
        let data = program.bytes_of(&relocated[index], false);
        segments.push(Loaded::here(
            spot.source,
            with_facts(&system.domains[index], program, data, (spot.info, spot.stacks)),
        ));
    }
    for (contents, &(base, _)) in files.iter().zip(&plan.files) {
        segments.push(Loaded::here(base, contents.clone()));
    }
    segments.extend(hand_over(system, plan).map(|(base, block)| Loaded::here(base, block)));
    segments.extend(handlers);
    segments.retain(|segment| !segment.bytes.is_empty());
    segments.sort_by_key(|segment| segment.at);
    fill(&mut segments, &read_only(plan));
    Ok(elf_file(kernel, &segments))
}

/// The ledger as the memory manager is given it, and where it lies.
pub(crate) fn hand_over(system: &System, plan: &Plan) -> Option<(u32, Vec<u8>)> {
    let (base, bytes) = plan.handed_over?;
    let mut block = vec![0; bytes as usize];
    // The area was made for so many domains, pools and shares.
    let shares = crate::ledger::shares(system);
    let length = HandOver::encode(&plan.ledger, &plan.pools, &shares, &mut block).unwrap_or(0);
    block.truncate(length);
    Some((base, block))
}

/// The areas of domains that nobody writes: their ends, by their first physical addresses.
fn read_only(plan: &Plan) -> BTreeMap<u32, u32> {
    let areas = plan.domains.iter().flat_map(|domain| domain.entries(0));
    let constant = areas.filter(|area| area.flags & (area::WRITE | area::WOVEN) == 0 && area.memory != area::DEVICE);
    constant.map(|area| (area.physical, area.physical + area.bytes)).collect()
}

/// Makes each segment that begins in such an area reach to the next one, or to the area's end: what memory held before is nobody's to read.
fn fill(segments: &mut [Loaded], areas: &BTreeMap<u32, u32>) {
    let mut next = u32::MAX;
    for Loaded { at, bytes, .. } in segments.iter_mut().rev() {
        if let Some((_, end)) = areas.range(..=*at).next_back().filter(|(_, end)| **end > *at) {
            let length = (next.min(*end) - *at) as usize;
            bytes.resize(length.max(bytes.len()), 0);
        }
        next = *at;
    }
}

/// The way from handlers into the kernel: an address of its code, Thumb bit set; 0 of a kernel without one.
fn wake(kernel: &Kernel) -> u32 {
    kernel.symbol("cofferdam_wake").map_or(0, |address| address | 1)
}

fn patch(segments: &mut [Loaded], address: u32, value: u32) -> Result<(), PlaceError> {
    for Loaded { at, bytes, .. } in segments {
        let Some(offset) = address.checked_sub(*at).map(|offset| offset as usize) else { continue };
        if let Some(word) = bytes.get_mut(offset..offset + 4) {
            word.copy_from_slice(&value.to_le_bytes());
            return Ok(());
        }
    }
    Err(PlaceError::Elf { domain: "kernel".into(), reason: "COFFERDAM_SYSTEM is not in a loaded segment".into() })
}

/// A 32-bit little-endian executable with one program header for each segment (System V ABI, object files).
fn elf_file(kernel: &Kernel, segments: &[Loaded]) -> Vec<u8> {
    const HEADER: u32 = 52;
    const PROGRAM_HEADER: u32 = 32;
    let half = |value: u16| value.to_le_bytes();
    let word = |value: u32| value.to_le_bytes();
    let mut file = vec![0x7f, b'E', b'L', b'F', elf::ELFCLASS32, elf::ELFDATA2LSB, elf::EV_CURRENT];
    file.resize(16, 0);
    file.extend(half(elf::ET_EXEC));
    file.extend(half(kernel.isa.machine));
    file.extend(word(1));
    file.extend(word(kernel.entry));
    file.extend(word(HEADER));
    file.extend(word(0));
    file.extend(word(kernel.isa.image_flags));
    for value in [HEADER as u16, PROGRAM_HEADER as u16, segments.len() as u16, 40, 0, 0] {
        file.extend(half(value));
    }
    let mut offset = (HEADER + PROGRAM_HEADER * segments.len() as u32).next_multiple_of(16);
    for Loaded { used, at, bytes } in segments {
        let length = bytes.len() as u32;
        for value in [elf::PT_LOAD, offset, *used, *at, length, length, elf::PF_R | elf::PF_X, 4] {
            file.extend(word(value));
        }
        offset = (offset + length).next_multiple_of(16);
    }
    for Loaded { bytes, .. } in segments {
        file.resize(file.len().next_multiple_of(16), 0);
        file.extend(bytes);
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_area_that_nobody_writes_is_loaded_to_its_end() {
        let mut segments = [(0x0800, 4), (0x1000, 8), (0x1010, 4), (0x2000, 4), (0x3000, 4)]
            .map(|(at, bytes)| Loaded::here(at, vec![0x5a; bytes]));
        fill(&mut segments, &BTreeMap::from([(0x1000, 0x2000), (0x3000, 0x3004)]));
        assert_eq!(segments.each_ref().map(|segment| segment.bytes.len()), [4, 0x10, 0xff0, 4, 4]);
        assert!(segments[1].bytes.starts_with(&[0x5a; 8]) && segments[1].bytes.ends_with(&[0; 8]));
    }
}
