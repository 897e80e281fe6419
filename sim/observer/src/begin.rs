//! The families of cores, by the model that a profile names.

use record::{ProfileSource, Watch};
use timing::profile::{Model, ProfileError};
use timing::{Flat, Profile};

use crate::Clock;
use crate::armv7a::{self, Armv7a};
use crate::armv7m::Armv7m;
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
        &ProfileSource::Constant { cpu_hz, cycles_per_instruction, cycles_per_access } => {
            let flat = Flat { instruction: cycles_per_instruction, access: cycles_per_access };
            let make = |watch: &Watch| Ok(Armv7m::new(flat, watch));
            simulator.begin(Observer::new(watch, ("constant".to_owned(), cpu_hz), clock, simulator, (), make)?);
            Ok(())
        }
        ProfileSource::Text(_) if watch.cores > 1 => {
            Err("the models of several cores have no cache, bus or memory in common yet: one core at a time".into())
        }
        ProfileSource::Text(text) => {
            let profile: Profile = toml::from_str(text).map_err(|error| format!("profile: {error}"))?;
            let chip = (profile.name.clone(), profile.core_clock.value);
            match profile.model {
                Model::Armv7M => {
                    let make = |watch: &Watch| Armv7m::load(&profile, watch).map_err(|errors| listed(&errors));
                    simulator.begin(Observer::new(watch, chip, clock, simulator, (), make)?);
                }
                Model::Armv8M => return Err("profile: no observer knows cores of the model `armv8-m` yet".into()),
                Model::Armv7A => {
                    let memory = armv7a::Memory::load(&watch.image)?;
                    let make = |watch: &Watch| Armv7a::load(&profile, watch).map_err(|errors| listed(&errors));
                    simulator.begin(Observer::new(watch, chip, clock, simulator, memory, make)?);
                }
            }
            Ok(())
        }
    }
}

/// The errors of a profile, in one line.
fn listed(errors: &[ProfileError]) -> String {
    let errors = errors.iter().map(ToString::to_string);
    format!("profile: {}", errors.collect::<Vec<_>>().join("; "))
}
