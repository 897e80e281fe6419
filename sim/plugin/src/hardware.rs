//! How much the processor has of what the kernel divides: what the observer models, what the kernel was built for, and what the machine says.

use protect::pmsav7::REGIONS;
use record::ProtectionWatch;

use crate::model::Model;

/// `MPU_TYPE` (ARM DDI 0403 B3.5.4).
pub const MPU_TYPE: u32 = 0xe000_ed90;

/// Refuses to observe with a model that has another number of region registers or lock entries.
///
/// # Errors
/// A text with both numbers.
pub fn agrees(watch: Option<ProtectionWatch>, model: &Model) -> Result<(), String> {
    let modelled = match model {
        Model::Application(application) => ProtectionWatch::LockEntries(application.lock_entries),
        Model::Chip(_) | Model::Constant(_) => ProtectionWatch::Regions(REGIONS as u32),
    };
    match watch.filter(|watch| *watch != modelled) {
        Some(watch) => Err(format!("the kernel has {watch}, the observer's model {modelled}")),
        None => Ok(()),
    }
}

/// Region registers, as the machine says where the kernel reads it (field DREGION).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions(Option<u32>);

impl Regions {
    /// A register of the core was loaded.
    pub fn loaded(&mut self, at: u32, value: u32) {
        if at == MPU_TYPE {
            self.0 = Some(value >> 8 & 0xff);
        }
    }

    /// The number that was read last.
    pub const fn seen(self) -> Option<u32> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use record::{ProfileSource, Watch};

    use super::*;

    #[test]
    fn another_number_than_the_models_is_refused() {
        let model = Model::load(&Watch { profile: ProfileSource::default(), ..Watch::default() }).unwrap();
        assert_eq!(agrees(None, &model), Ok(()));
        assert_eq!(agrees(Some(ProtectionWatch::Regions(8)), &model), Ok(()));
        let refused = agrees(Some(ProtectionWatch::Regions(16)), &model).unwrap_err();
        assert_eq!(refused, "the kernel has 16 region registers, the observer's model 8 region registers");
        let refused = agrees(Some(ProtectionWatch::LockEntries(4)), &model).unwrap_err();
        assert_eq!(refused, "the kernel has 4 lock entries, the observer's model 8 region registers");
    }

    #[test]
    fn the_machine_is_asked_when_the_kernel_asks_it() {
        let mut regions = Regions::default();
        regions.loaded(MPU_TYPE + 4, 0x700);
        assert_eq!(regions.seen(), None);
        regions.loaded(MPU_TYPE, 0x0100_0800);
        assert_eq!(regions.seen(), Some(8));
    }
}
