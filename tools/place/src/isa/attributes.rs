//! Build attributes of Arm's ELF files: for which processors a program is. Source: Addenda to the ABI for the Arm Architecture (IHI 0045), 2 and
//! 3.3.5.

use object::LittleEndian;
use object::elf;
use object::read::elf::{AttributeReader, AttributesSection};

type Header = elf::FileHeader32<LittleEndian>;

const CPU_RAW_NAME: u64 = 4;
const CPU_NAME: u64 = 5;
const CPU_ARCH_PROFILE: u64 = 7;
/// An integer, and a string.
const COMPATIBILITY: u64 = 32;

/// The profile of the processors for which a program was compiled; `None` where its section `.ARM.attributes` does not say, or for all.
pub(super) fn profile(section: &[u8]) -> Option<&'static str> {
    let section = AttributesSection::<Header>::new(LittleEndian, section).ok()?;
    let of_arm = section.subsections().ok()?.flatten().find(|part| part.vendor() == b"aeabi")?;
    let whole = of_arm.subsubsections().flatten().find(|part| part.tag() == elf::Tag_File)?;
    match u8::try_from(value(whole.attributes(), CPU_ARCH_PROFILE)?).ok()? {
        b'A' => Some("the application profile (Cortex-A)"),
        b'R' => Some("the real-time profile (Cortex-R)"),
        b'M' => Some("the microcontroller profile (Cortex-M)"),
        _ => None,
    }
}

/// The value of an integer attribute.
fn value(mut attributes: AttributeReader<'_>, wanted: u64) -> Option<u64> {
    while let Some(tag) = attributes.read_tag().ok()? {
        match tag {
            _ if tag == wanted => return attributes.read_integer().ok(),
            COMPATIBILITY => {
                attributes.read_integer().ok()?;
                attributes.read_string().ok()?;
            }
            CPU_RAW_NAME | CPU_NAME => drop(attributes.read_string().ok()?),
            // Odd ones from here on are strings.
            _ if tag > COMPATIBILITY && tag % 2 == 1 => drop(attributes.read_string().ok()?),
            _ => drop(attributes.read_integer().ok()?),
        }
    }
    None
}
