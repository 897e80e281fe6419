//! Nothing of a domain can change the security state here: `SMC` is undefined in User mode, which fuzzing tries.

use super::Targets;

/// Attacks that end in a fault.
pub const LETHAL: &[(&str, fn(&Targets))] = &[];

/// Attacks that have no effect.
pub const GENTLE: &[(&str, fn(&Targets) -> u32)] = &[];
