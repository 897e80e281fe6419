//! The attacks that only some architectures have: `hostile::states` performs them.

use cofferdam::hostile::{Targets, states};

use crate::marks::{LEAK, mark};
use crate::refused::end;
use crate::world::{World, victim_data};

fn targets(world: &World) -> Targets {
    let foreign = world.own.chip.foreign;
    Targets {
        code: world.own.code.base,
        data: world.heap.base,
        behind: end(world.heap),
        stack: world.own.stack.base,
        kernel_code: foreign.kernel_code + 0x400,
        kernel_data: foreign.kernel_objects + 0x400,
        victim: victim_data(world.own.chip),
        core: foreign.core,
    }
}

/// Whether an attack of that name ends in a fault.
pub fn is_lethal(name: &str) -> bool {
    states::LETHAL.iter().any(|attack| attack.0 == name)
}

/// Whether there is an attack of that name that has no effect.
pub fn is_gentle(name: &str) -> bool {
    states::GENTLE.iter().any(|attack| attack.0 == name)
}

/// Performs the attack of that name, if it is one of these, which ends in a fault.
pub fn perform(world: &World, name: &str) {
    if let Some((_, attack)) = states::LETHAL.iter().find(|attack| attack.0 == name) {
        attack(&targets(world));
    }
}

/// Performs the attack of that name, if it is one of these, and says what it has found.
pub fn try_gentle(world: &World, name: &str) {
    if let Some((_, attack)) = states::GENTLE.iter().find(|attack| attack.0 == name) {
        mark(LEAK, attack(&targets(world)));
    }
}
