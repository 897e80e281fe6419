//! What happens before a thread, or a gate's callee, comes to its entry: thread-local variables are made at the upper end of its stack, and constructors
//! have run. Each begins in a function of the run-time then. The code that leads there lies in front of the domain's information block: a few words for
//! each entry.

use manifest::resolved::{Domain, System};

use crate::elf::{Local, Program};
use crate::error::PlaceError;
use crate::isa::THROUGH_WORDS;

/// Function of the run-time in which threads and gates' callees begin that have variables of their own.
const VARIABLES: &str = "__cofferdam_local_begin";
/// The same in a program with constructors, for threads and for gates' callees.
const CONSTRUCTED: [&str; 2] = ["__cofferdam_thread_begin", "__cofferdam_gate_begin"];
/// The linker script's symbols around the addresses of constructors.
const CONSTRUCTORS: [[&str; 2]; 2] =
    [["__preinit_array_start", "__preinit_array_end"], ["__init_array_start", "__init_array_end"]];
/// The linker script's symbol for the bytes that the variables take from a stack.
const BYTES: &str = "__cofferdam_local_bytes";
/// Alignment of a stack: no variable can ask for more.
const ALIGN: u32 = 16;
/// Larger variables are a mistake: each thread would have them.
const MOST_BYTES: u32 = 1 << 20;
/// Bytes of the code for each entry.
const THROUGH_BYTES: u32 = 4 * THROUGH_WORDS as u32;

/// What a program needs; nothing if its threads begin at their entries.
///
/// # Errors
/// [`PlaceError::Elf`] and [`PlaceError::Symbol`] for a program whose threads cannot get them.
pub(crate) fn of(program: &Program) -> Result<Option<Local>, PlaceError> {
    let through = program.isa.through;
    let bytes = variables(program)?;
    let [thread, gate] = match (is_constructed(program), bytes) {
        (true, _) => CONSTRUCTED,
        (false, Some(_)) => [VARIABLES; 2],
        (false, None) => return Ok(None),
    };
    let (thread, gate) = (program.function(thread)?, program.function(gate)?);
    Ok(Some(Local { through, thread, gate, bytes: bytes.unwrap_or(0) }))
}

/// Whether a program has constructors, and a run-time that knows of their order: another one runs them before the first thread's `main`.
fn is_constructed(program: &Program) -> bool {
    let value = |name: &str| program.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.value);
    let any = CONSTRUCTORS.iter().any(|[start, end]| value(start) != value(end));
    any && CONSTRUCTED.iter().all(|name| value(name).is_some())
}

/// Bytes of a stack that a program's thread-local variables take, if it has any.
fn variables(program: &Program) -> Result<Option<u32>, PlaceError> {
    let fail = |reason: String| PlaceError::Elf { domain: program.name.clone(), reason };
    let mut own = program.sections.iter().filter(|section| section.of_threads && section.bytes > 0).peekable();
    if !program.isa.thread_pointer || own.peek().is_none() {
        return Ok(None);
    }
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
    let symbol = program.symbols.iter().find(|symbol| symbol.name == BYTES && symbol.absolute);
    let bytes = symbol.map_or(0, |symbol| symbol.value);
    if bytes > MOST_BYTES || !bytes.is_multiple_of(ALIGN) || u64::from(bytes) < to - from {
        return Err(fail(format!("its thread-local variables have {} bytes, and `{BYTES}` is {bytes}", to - from)));
    }
    Ok(Some(bytes))
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

/// Needs of a program's threads in a domain. A lone thread without variables of its own comes to its constructors by itself.
fn needs(domain: &Domain, program: &Program) -> Option<Local> {
    program.local.filter(|local| local.bytes > 0 || domain.threads.len() + domain.gates.len() > 1)
}

/// Bytes of the code in front of the information block.
pub(crate) fn code_bytes(domain: &Domain, program: &Program) -> u32 {
    needs(domain, program).map_or(0, |_| (domain.threads.len() + domain.gates.len()) as u32 * THROUGH_BYTES)
}

/// That code, in the order of the entries, for a program whose code has been moved so far.
pub(crate) fn code(domain: &Domain, program: &Program, delta: i64) -> Result<Vec<u8>, PlaceError> {
    let Some(local) = needs(domain, program) else { return Ok(Vec::new()) };
    let moved = |address: u32| (i64::from(address) + delta) as u32;
    let functions = domain.threads.iter().map(|_| local.thread).chain(domain.gates.iter().map(|_| local.gate));
    let entries = entries(domain, program)?.into_iter().zip(functions);
    let words = entries.flat_map(|(entry, function)| (local.through)(moved(entry), moved(function)));
    Ok(words.flat_map(u32::to_le_bytes).collect())
}

/// Address at which the thread or gate of that number begins instead of at its entry, in the entry's state, in a domain with its information block there.
pub(crate) fn begin(domain: &Domain, program: &Program, info: u32, (number, entry): (usize, u32)) -> Option<u32> {
    let code = code_bytes(domain, program);
    needs(domain, program).map(|_| (info - code + number as u32 * THROUGH_BYTES) | entry & 1)
}

#[cfg(test)]
mod tests;
