//! Thread-local variables. In a program that has any, each thread, and each gate's callee, begins in a function of the run-time that makes its own at
//! the upper end of its stack. The code that leads there lies in front of the domain's information block: a few words for each entry.

use manifest::resolved::{Domain, System};

use crate::elf::{Local, Program};
use crate::error::PlaceError;
use crate::isa::THROUGH_WORDS;

/// Function of the run-time in which threads begin.
const FUNCTION: &str = "__cofferdam_local_begin";
/// The linker script's symbol for the bytes that it takes from a stack.
const BYTES: &str = "__cofferdam_local_bytes";
/// Alignment of a stack: no variable can ask for more.
const ALIGN: u32 = 16;
/// Larger variables are a mistake: each thread would have them.
const MOST_BYTES: u32 = 1 << 20;
/// Bytes of the code for each entry.
const THROUGH_BYTES: u32 = 4 * THROUGH_WORDS as u32;

/// Those of a program; nothing if it has none.
///
/// # Errors
/// [`PlaceError::Elf`] and [`PlaceError::Symbol`] for a program whose threads cannot get them.
pub(crate) fn of(program: &Program) -> Result<Option<Local>, PlaceError> {
    let fail = |reason: String| PlaceError::Elf { domain: program.name.clone(), reason };
    let mut own = program.sections.iter().filter(|section| section.of_threads && section.bytes > 0).peekable();
    let (Some(through), Some(_)) = (program.isa.through, own.peek()) else { return Ok(None) };
    let (mut from, mut to) = (u64::MAX, 0);
    for section in own {
        if section.align > ALIGN {
            return Err(fail(format!(
                "a thread-local variable asks for a multiple of {} bytes, and {ALIGN} is the most",
                section.align
            )));
        }
        (from, to) = (from.min(section.range().0), to.max(section.range().1));
    }
    let function = program.function(FUNCTION)?;
    let symbol = program.symbols.iter().find(|symbol| symbol.name == BYTES && symbol.absolute);
    let bytes = symbol.map_or(0, |symbol| symbol.value);
    if bytes > MOST_BYTES || !bytes.is_multiple_of(ALIGN) || u64::from(bytes) < to - from {
        return Err(fail(format!("its thread-local variables have {} bytes, and `{BYTES}` is {bytes}", to - from)));
    }
    Ok(Some(Local { through, function, bytes }))
}

/// The system with stacks that are larger by the thread-local variables.
pub(crate) fn with_room(system: &System, programs: &[Program]) -> System {
    let mut system = system.clone();
    for (domain, program) in system.domains.iter_mut().zip(programs) {
        let bytes = program.local.map_or(0, |local| local.bytes);
        domain.threads.iter_mut().for_each(|thread| thread.stack_bytes += bytes);
        domain.gates.iter_mut().for_each(|gate| gate.stack_bytes += bytes);
    }
    system
}

/// Link-time addresses of the entries of a domain's threads, then of its gates.
pub(crate) fn entries(domain: &Domain, program: &Program) -> Result<Vec<u32>, PlaceError> {
    let threads = domain.threads.iter().map(|thread| thread.entry.as_ref());
    let gates = domain.gates.iter().map(|gate| Some(&gate.entry));
    threads.chain(gates).map(|name| name.map_or(Ok(program.entry), |name| program.function(name))).collect()
}

/// Bytes of the code in front of the information block.
pub(crate) fn code_bytes(domain: &Domain, program: &Program) -> u32 {
    program.local.map_or(0, |_| (domain.threads.len() + domain.gates.len()) as u32 * THROUGH_BYTES)
}

/// That code, in the order of the entries.
pub(crate) fn code(domain: &Domain, program: &Program) -> Result<Vec<u8>, PlaceError> {
    let Some(local) = program.local else { return Ok(Vec::new()) };
    let entries = entries(domain, program)?;
    let words = entries.into_iter().flat_map(|entry| (local.through)(entry, local.function));
    Ok(words.flat_map(u32::to_le_bytes).collect())
}

/// Address at which the thread or gate of that number begins instead of at its entry, in a domain with its information block there.
pub(crate) fn begin(domain: &Domain, program: &Program, info: u32, number: usize) -> Option<u32> {
    program.local.map(|_| info - code_bytes(domain, program) + number as u32 * THROUGH_BYTES)
}

#[cfg(test)]
mod tests;
