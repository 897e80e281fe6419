//! What a program finds in its data from the start, so that it need not be its first thread that runs first.

use manifest::resolved::Domain;

use crate::elf::Program;

/// Word of the run-time for the address of the domain's information block (`user/info`).
const INFO: &str = "__cofferdam_info";
/// Word of the run-time of C for the number of the domain's threads and gates (`user/c/newlib`).
const ACTIVATIONS: &str = "__cofferdam_activations";

/// Words of the run-time of C for the ends of the stacks of the domain's threads and gates, in ascending order (`user/c/newlib/src/own_state.c`).
const STACKS: &str = "__cofferdam_stacks";

/// The initial data of a program, with the address of its information block, the number of its threads and gates, and the ends of their stacks where the
/// program looks for them. A program without these words, which has another run-time, gets the address with its first thread alone.
pub(crate) fn with_facts(domain: &Domain, program: &Program, mut data: Vec<u8>, (info, stacks): (u32, u32)) -> Vec<u8> {
    write(program, &mut data, INFO, &[info]);
    write(program, &mut data, ACTIVATIONS, &[(domain.threads.len() + domain.gates.len()) as u32]);
    let ends = crate::layout::stacks(domain, stacks).into_iter().map(|(base, bytes)| base + bytes);
    write(program, &mut data, STACKS, &ends.collect::<Vec<u32>>());
    data
}

/// Writes as many words as there is room for in the variable of that name.
fn write(program: &Program, data: &mut [u8], name: &str, words: &[u32]) {
    let Some(symbol) = program.symbols.iter().find(|symbol| symbol.name == name && symbol.section.is_some()) else {
        return;
    };
    let Some(offset) = symbol.value.checked_sub(program.data.base).map(|offset| offset as usize) else { return };
    let room = (symbol.bytes.max(4) / 4) as usize;
    for (number, value) in words.iter().take(room).enumerate() {
        let from = offset.saturating_add(4 * number);
        if let Some(word) = data.get_mut(from..from.saturating_add(4)) {
            word.copy_from_slice(&value.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::{Section, Symbol};
    use crate::isa::Isa;
    use crate::placed::ImageSizes;

    fn program(value: u32) -> Program {
        let section = Section {
            name: ".data".into(),
            kind: object::elf::SHT_PROGBITS,
            address: 0x2000,
            bytes: 16,
            offset: 0,
            allocated: true,
            writable: true,
            executable: false,
            in_file: true,
            compressed: false,
            of_threads: false,
            align: 4,
        };
        let symbol = Symbol { name: INFO.into(), value, bytes: 4, section: Some(0), absolute: false, named: true };
        Program {
            name: "own".into(),
            isa: Isa::of_target("thumbv7em-none-eabihf").expect("there is a table"),
            file: Vec::new(),
            sections: vec![section],
            symbols: vec![symbol],
            relocations: Vec::new(),
            code: Default::default(),
            data: crate::elf::program::Segment { base: 0x2000, bytes: 16, file_bytes: 12, align: 4 },
            entry: 0x1000,
            sizes: ImageSizes::default(),
            local: None,
        }
    }

    #[test]
    fn the_word_of_the_run_time_has_the_address_and_nothing_else_changes() {
        let written = |value: u32, name: &str| {
            let mut data = vec![0x5a; 12];
            // The variable has room for one word alone.
            write(&program(value), &mut data, name, &[0x1234_5678, 0x5a5a_0000]);
            data
        };
        assert_eq!(written(0x2004, INFO)[4..8], [0x78, 0x56, 0x34, 0x12]);
        assert_eq!(written(0x2004, ACTIVATIONS), [0x5a; 12]);
        for elsewhere in [0x1ffc, 0x2009, 0x200c, 0x3000, u32::MAX] {
            assert_eq!(written(elsewhere, INFO), [0x5a; 12], "{elsewhere:#x}");
        }
    }
}
