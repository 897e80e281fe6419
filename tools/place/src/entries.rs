//! Whether an instruction can begin where the system says that code of a program begins. The kernel asks the same of its tables, but it can say neither
//! which symbol was meant nor what is wrong with it.

use manifest::resolved::{Domain, System};
use system::Scheme;

use crate::elf::Program;
use crate::error::PlaceError;
use crate::schemes::scheme;

/// Function of the run-time to which gates' callees return.
pub(crate) const GATE_RETURN: &str = "__cofferdam_gate_return";

/// Checks the entries of all threads and gates.
///
/// # Errors
/// [`PlaceError::Symbol`], [`PlaceError::NotCode`], [`PlaceError::Begins`].
pub(crate) fn check(system: &System, programs: &[Program]) -> Result<(), PlaceError> {
    let scheme = scheme(system.protection);
    system.domains.iter().zip(programs).try_for_each(|(domain, program)| of_domain(scheme, domain, program))
}

fn of_domain(scheme: Scheme, domain: &Domain, program: &Program) -> Result<(), PlaceError> {
    if domain.threads.iter().any(|thread| thread.entry.is_none()) {
        begins(scheme, program, None, program.entry)?;
    }
    let threads = domain.threads.iter().filter_map(|thread| thread.entry.as_deref());
    let gates = domain.gates.iter().map(|gate| gate.entry.as_str());
    let returned = domain.gates.first().map(|_| GATE_RETURN);
    let mut named = threads.chain(gates).chain(returned);
    named.try_for_each(|name| begins(scheme, program, Some(name), program.function(name)?))
}

/// An instruction begins at `address`, in what is placed as code.
fn begins(scheme: Scheme, program: &Program, symbol: Option<&str>, address: u32) -> Result<(), PlaceError> {
    let (domain, symbol) = (program.name.clone(), symbol.map(str::to_owned));
    let Some(first) = scheme.begins(address) else {
        return Err(PlaceError::Begins { domain, symbol, address, rule: scheme.entry_rule() });
    };
    // Code that can be written, too, is placed with the data.
    if program.code.holds(first) {
        return Ok(());
    }
    Err(PlaceError::NotCode { domain, symbol: symbol.unwrap_or_default(), address })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elf::program::Segment;
    use crate::isa::Isa;
    use crate::placed::ImageSizes;

    fn program() -> Program {
        Program {
            name: "own".into(),
            isa: Isa::of_target("thumbv7em-none-eabihf").expect("there is a table"),
            file: Vec::new(),
            sections: Vec::new(),
            symbols: Vec::new(),
            relocations: Vec::new(),
            code: Segment { base: 0x1000, bytes: 0x100, file_bytes: 0x100, align: 4 },
            data: Segment { base: 0x2000, bytes: 16, file_bytes: 16, align: 4 },
            entry: 0x1000,
            sizes: ImageSizes::default(),
            local: None,
        }
    }

    #[test]
    fn an_entry_is_where_an_instruction_of_code_can_begin() {
        use manifest::SchemeName::{Pmsav7, Pmsav8, Rtmmu, Vmsav7};
        let accepted: [(_, &[u32]); 4] = [
            (Pmsav7, &[0x1001, 0x1003, 0x10ff]),
            (Pmsav8, &[0x1001, 0x1003, 0x10ff]),
            (Vmsav7, &[0x1000, 0x1001, 0x1003, 0x1004, 0x10ff]),
            (Rtmmu, &[0x1000, 0x1002, 0x1004, 0x10fe]),
        ];
        let tried = [0, 1, 0xffe, 0xfff, 0x1000, 0x1001, 0x1002, 0x1003, 0x1004, 0x10fe, 0x10ff, 0x1100, 0x1101];
        for (name, right) in accepted {
            for address in tried.into_iter().chain([0x2000, 0x2001, u32::MAX - 1, u32::MAX]) {
                let found = begins(scheme(name), &program(), Some("f"), address);
                assert_eq!(found.is_ok(), right.contains(&address), "{name:?} {address:#x}: {found:?}");
                let said = found.err().map(|error| error.to_string()).unwrap_or_default();
                assert!(said.is_empty() || said.contains("`f` of the program of `own`"), "{said}");
            }
        }
    }
}
