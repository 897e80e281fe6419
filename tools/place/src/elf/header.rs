//! The header of a file: whether it is a program at all, and for which processor.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::FileHeader;

use super::program::Header;
use crate::error::PlaceError;
use crate::isa::Isa;

/// The header of a file for an instruction set that is known.
pub(super) fn header<'a>(domain: &str, file: &'a [u8]) -> Result<(&'a Header, &'static Isa), PlaceError> {
    let foreign = |found: String, needed: &'static str| {
        Err(PlaceError::Architecture { domain: domain.to_owned(), found, needed })
    };
    match file {
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS64, ..] => return foreign("a 64-bit machine".into(), Isa::all()),
        [0x7f, b'E', b'L', b'F', elf::ELFCLASS32, elf::ELFDATA2MSB, ..] => {
            return foreign("a big-endian machine".into(), Isa::all());
        }
        _ => {}
    }
    let header = Header::parse(file).map_err(|_| PlaceError::Elf {
        domain: domain.to_owned(),
        reason: "it does not start with a 32-bit little-endian ELF header".into(),
    })?;
    let machine = header.e_machine.get(LE);
    match Isa::of_machine(machine) {
        Some(isa) => Ok((header, isa)),
        None => foreign(format!("ELF machine {machine}"), Isa::all()),
    }
}

/// Whether a file is for an instruction set.
///
/// # Errors
/// [`PlaceError::Architecture`] if it is for another one; [`PlaceError::Elf`] if it is no ELF file.
pub fn suits(domain: &str, file: &[u8], isa: &'static Isa) -> Result<(), PlaceError> {
    let other =
        |found: String| Err(PlaceError::Architecture { domain: domain.to_owned(), found, needed: isa.described });
    match header(domain, file) {
        Ok((_, found)) if found.machine == isa.machine => Ok(()),
        Ok((_, found)) => other(found.described.to_owned()),
        Err(PlaceError::Architecture { found, .. }) => other(found),
        Err(error) => Err(error),
    }
}

/// A domain's program is linked, and passes arguments as the others do.
pub(super) fn executable(domain: &str, (header, isa): (&Header, &Isa)) -> Result<(), PlaceError> {
    let domain = domain.to_owned();
    let reason = match header.e_type.get(LE) {
        elf::ET_EXEC => None,
        elf::ET_REL => Some("it is an object file that no linker has made a program of".to_owned()),
        elf::ET_DYN => Some("it is a shared library or a position-independent executable".to_owned()),
        elf::ET_CORE => Some("it is a memory dump".to_owned()),
        other => Some(format!("it is not a linked executable for fixed addresses, but a file of type {other}")),
    };
    if let Some(reason) = reason {
        return Err(PlaceError::Elf { domain, reason });
    }
    let flags = header.e_flags.get(LE);
    let foreign = isa.foreign_flags.iter().find(|(mask, value, _)| flags & mask == *value);
    let foreign = foreign.map(|(.., found)| (*found).to_owned());
    let generation = isa.image_flags & isa.generation_mask;
    let found = foreign.or((flags & isa.generation_mask != generation)
        .then(|| format!("another generation of the calling convention (e_flags {flags:#010x})")));
    found.map_or(Ok(()), |found| Err(PlaceError::Architecture { domain, found, needed: isa.convention }))
}
