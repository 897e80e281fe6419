//! Writes `cofferdam.h` from the tables of this crate, so that the header cannot differ from the kernel.

use core::fmt::{self, Write};

use crate::{CALLS, CallDoc, ERRORS, access, info};

/// Writes the generated part of `cofferdam.h`: error codes, call numbers with their documentation, and constants.
///
/// # Errors
/// The writer's error.
pub fn write(out: &mut impl Write) -> fmt::Result {
    writeln!(out, "/* Generated from crates/abi by `cofferdam sdk --header`; do not edit. */")?;
    writeln!(out, "#ifndef COFFERDAM_ABI_H\n#define COFFERDAM_ABI_H\n")?;
    for error in ERRORS {
        writeln!(out, "/* {} {} */", error.means, error.remedy)?;
        writeln!(out, "#define COF_E_{} ({})", error.name, error.error as i32)?;
    }
    writeln!(out)?;
    for call in CALLS {
        write_call(out, call)?;
    }
    for (name, bit) in [
        ("READ", access::READ),
        ("WRITE", access::WRITE),
        ("EXECUTE", access::EXECUTE),
        ("PINNED", access::PINNED),
        ("NEAR", access::NEAR),
    ] {
        writeln!(out, "#define COF_MAP_{name} {bit}u")?;
    }
    writeln!(out, "#define COF_COPY_MAX_BYTES {}u", crate::COPY_MAX_BYTES)?;
    writeln!(out, "#define COF_MAX_NESTING {}u", crate::MAX_NESTING)?;
    writeln!(out, "#define COF_INFO_MAGIC 0x{:08x}u", info::MAGIC)?;
    writeln!(out, "#define COF_INFO_VERSION {}u", info::VERSION)?;
    writeln!(out, "#define COF_INFO_HEADER_WORDS {}u", info::HEADER_WORDS)?;
    writeln!(out, "#define COF_INFO_NAME_BYTES {}u", info::NAME_BYTES)?;
    writeln!(out, "#define COF_INFO_CAP_BYTES {}u", info::CAP_BYTES)?;
    writeln!(out, "#define COF_INFO_AREA_BYTES {}u", info::AREA_BYTES)?;
    writeln!(out, "#define COF_INFO_ENVELOPE_BYTES {}u", info::ENVELOPE_BYTES)?;
    writeln!(out, "#define COF_NOTE_SECTION \"{}\"", info::NOTE_SECTION)?;
    let [name, bytes, kind, first, second, third, version] = info::NOTE;
    writeln!(out, "#define COF_NOTE {{ {name}u, {bytes}u, {kind}u, {first}u, {second}u, {third}u, {version}u }}")?;
    writeln!(out, "#define COF_INFO_UNBOUNDED 0x{:08x}u", info::UNBOUNDED)?;
    writeln!(out, "\n#endif")
}

fn write_call(out: &mut impl Write, call: &CallDoc) -> fmt::Result {
    writeln!(out, "/* {}", call.does)?;
    for arg in call.args {
        writeln!(out, " *   in   {}: {}", arg.name, arg.unit)?;
    }
    for value in call.returns {
        writeln!(out, " *   out  {}: {}", value.name, value.unit)?;
    }
    for error in call.errors {
        writeln!(out, " *   error COF_E_{error}")?;
    }
    writeln!(out, " *   bound {} */", call.bound)?;
    write!(out, "#define COF_CALL_")?;
    for letter in call.name.chars() {
        write!(out, "{}", letter.to_ascii_uppercase())?;
    }
    writeln!(out, " {}u\n", call.call as u32)
}
