//! The families of cores, by the model that a profile names.

use record::{Architecture, ProfileSource, Watch};
use timing::profile::{Model, ProfileError};
use timing::{Flat, Profile};

use crate::Clock;
use crate::armv7a::{self, Armv7a};
use crate::armv7m::Armv7m;
use crate::armv8m::Armv8m;
use crate::microcontroller::{Microcontroller, Protects};
use crate::observer::{Begins, Observer};

/// Makes the observer that `watch` asks for, and hands it to the simulator.
///
/// # Errors
/// A text that says what is wrong with the profile, the image or a file.
pub fn begin(watch: Watch, clock: &'static Clock, simulator: &impl Begins) -> Result<(), String> {
    match &watch.profile {
        ProfileSource::Constant { cpu_hz: 0, .. } | ProfileSource::Constant { cycles_per_instruction: 0, .. } => {
            Err("a constant profile needs a clock and at least one cycle per instruction".into())
        }
        &ProfileSource::Constant { architecture, cpu_hz, cycles_per_instruction, cycles_per_access } => {
            let flat = Flat { instruction: cycles_per_instruction, access: cycles_per_access };
            match architecture {
                Architecture::Armv7M => flat_begin::<Armv7m>(flat, cpu_hz, watch, clock, simulator),
                Architecture::Armv8M => flat_begin::<Armv8m>(flat, cpu_hz, watch, clock, simulator),
                Architecture::Armv7A | Architecture::Rv32 => {
                    Err("a constant profile is for cores of the M profile".into())
                }
            }
        }
        ProfileSource::Text(_) if watch.cores > 1 => {
            Err("the models of several cores have no cache, bus or memory in common yet: one core at a time".into())
        }
        ProfileSource::Text(text) => {
            let profile: Profile = toml::from_str(text).map_err(|error| format!("profile: {error}"))?;
            match profile.model {
                Model::Armv7M => machine_begin::<Armv7m>(&profile, watch, clock, simulator),
                Model::Armv8M => machine_begin::<Armv8m>(&profile, watch, clock, simulator),
                Model::Armv7A => {
                    let memory = armv7a::Memory::load(&watch.image)?;
                    let make = |watch: &Watch| Armv7a::load(&profile, watch).map_err(|errors| listed(&errors));
                    simulator.begin(Observer::new(watch, chip(&profile), clock, simulator, memory, make)?);
                    Ok(())
                }
            }
        }
    }
}

/// A core of the M profile whose costs are constant.
fn flat_begin<P: Protects>(
    flat: Flat,
    cpu_hz: u64,
    watch: Watch,
    clock: &'static Clock,
    simulator: &impl Begins,
) -> Result<(), String> {
    let make = |watch: &Watch| Ok(Microcontroller::<Flat, P>::new(flat, watch));
    simulator.begin(Observer::new(watch, ("constant".to_owned(), cpu_hz), clock, simulator, (), make)?);
    Ok(())
}

/// A core of the M profile with its chip's model.
fn machine_begin<P: Protects>(
    profile: &Profile,
    watch: Watch,
    clock: &'static Clock,
    simulator: &impl Begins,
) -> Result<(), String> {
    let make = |watch: &Watch| Microcontroller::<_, P>::load(profile, watch).map_err(|errors| listed(&errors));
    simulator.begin(Observer::new(watch, chip(profile), clock, simulator, (), make)?);
    Ok(())
}

/// A chip's name, and the clock of its cores.
fn chip(profile: &Profile) -> (String, u64) {
    (profile.name.clone(), profile.core_clock.value)
}

/// The errors of a profile, in one line.
fn listed(errors: &[ProfileError]) -> String {
    let errors = errors.iter().map(ToString::to_string);
    format!("profile: {}", errors.collect::<Vec<_>>().join("; "))
}
