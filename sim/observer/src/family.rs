//! A family of cores: what observing one needs to know beyond its model, and which families there are.

use record::{Architecture, AreaCounts, ProfileSource, ProtectionWatch, TranslationCounts, Watch};
use timing::profile::ProfileError;
use timing::thumb;
use timing::{Charged, Core, Flat, Profile};

use crate::armv7a::{self, Armv7a};
use crate::armv7m::Armv7m;
use crate::block::{InsnInfo, RawInsn, TbInfo};
use crate::faults::Saved;
use crate::observer::{CoreObserver, Observer};
use crate::{Clock, CoreId, Seen, Target};

/// What a model finds wrong.
pub(crate) type ViolationOf<F> = <<F as Family>::Core as Core<<F as Family>::Context>>::Violation;

/// One core of a family, as it is observed.
pub trait Family: Sized + 'static {
    /// What decides about a fetch beside its address: see [`Core`].
    type Context;
    /// The model.
    type Core: Core<Self::Context>;
    /// What all cores of a chip look at.
    type Memory;
    /// Whose exceptions there are.
    const ARCHITECTURE: Architecture;
    /// [`crate::block::flag`]s of blocks after which something may have to be noticed, at reset.
    const WATCHED_AFTER: u32;

    /// The model.
    fn core(&self) -> &Self::Core;
    /// The model, to let something happen.
    fn core_mut(&mut self) -> &mut Self::Core;
    /// How much the model has of what a kernel divides among domains.
    fn divided(&self) -> ProtectionWatch;
    /// The processor has started: its registers can be found.
    fn started(&mut self, target: &mut dyn Target);
    /// The stack pointer of the code that runs, and the address space in force where there are some.
    fn running(&self, target: &mut dyn Target) -> (u32, Option<u8>);

    /// What the model is to know of an instruction.
    fn classify(insn: &RawInsn) -> thumb::InsnInfo;
    /// [`crate::block::flag`]s of a block, beyond those that follow from its address.
    fn flags(raw: &[RawInsn]) -> u32;
    /// Whether the simulator is to tell of the instruction before it executes, as it may change the core itself.
    fn is_system(_: &RawInsn) -> bool {
        false
    }
    /// Whether the processor executes T32 now.
    fn is_thumb(&self, _: &mut dyn Target) -> bool {
        true
    }
    /// Whether an exception that is taken begins at this address, beyond the handlers that the request names.
    fn is_vector(&self, _: u32) -> bool {
        false
    }

    /// A block is about to run that is in [`CoreObserver::watched`] or crosses into or out of the kernel, or something was noticed.
    fn before_block(on: &mut CoreObserver<Self>, memory: &mut Self::Memory, tb: &TbInfo, noticed: u32);
    /// A block is about to be fetched.
    fn before_fetch(_: &mut CoreObserver<Self>, _: &TbInfo) {}
    /// A block is fetched.
    fn fetch(&mut self, memory: &Self::Memory, tb: &TbInfo) -> Charged<ViolationOf<Self>>;
    /// A block was fetched.
    fn fetched(_: &mut CoreObserver<Self>, _: &TbInfo) {}
    /// An access was made.
    fn data(on: &mut CoreObserver<Self>, memory: &mut Self::Memory, insn: &InsnInfo, seen: &impl Seen, at: (u32, bool));
    /// An instruction that [`Family::is_system`] is about to execute.
    fn system(_: &mut CoreObserver<Self>, _: &Self::Memory, _: &InsnInfo) {}
    /// The model found something wrong with the `len` bytes at `address`, accessed by the instruction at `pc`.
    fn violated(on: &mut CoreObserver<Self>, pc: u32, address: u32, len: u32, found: ViolationOf<Self>);
    /// Kernel text was entered or left.
    fn crossed(_: &mut CoreObserver<Self>) {}
    /// Another domain goes on, says the instruction at `pc`.
    fn switched(_: &mut CoreObserver<Self>, _: u32) {}

    /// The registers of a thread as the kernel has saved them, its context at this address; `whole`: what the processor itself stores is there.
    fn saved(&self, target: &mut dyn Target, context: u32, whole: bool) -> Option<Saved>;

    /// For the summary: region registers, as the machine says.
    fn regions(&self) -> Option<u32> {
        None
    }
    /// For the summary: translation in parts of address spaces.
    fn areas(&self, _: CoreId) -> Vec<AreaCounts> {
        Vec::new()
    }
    /// Translation so far.
    fn translation(&self) -> TranslationCounts {
        TranslationCounts::default()
    }
}

/// Whoever has a simulator: takes the observer of whichever family it is.
pub trait Begins {
    /// The processor of a core.
    fn target(&self, core: CoreId) -> Box<dyn Target>;
    /// Observes from now on.
    fn begin<F: Family>(&self, observer: Observer<F>);
}

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
        ProfileSource::Text(text) => {
            if watch.cores > 1 {
                return Err(
                    "the models of several cores have no cache, bus or memory in common yet: one core at a time".into(),
                );
            }
            let profile: Profile = toml::from_str(text).map_err(|error| format!("profile: {error}"))?;
            let chip = (profile.name.clone(), profile.core_clock.value);
            if profile.application.is_some() {
                let memory = armv7a::Memory::load(&watch.image)?;
                let make = |watch: &Watch| Armv7a::load(&profile, watch);
                simulator.begin(Observer::new(watch, chip, clock, simulator, memory, make)?);
            } else {
                let make = |watch: &Watch| Armv7m::load(&profile, watch);
                simulator.begin(Observer::new(watch, chip, clock, simulator, (), make)?);
            }
            Ok(())
        }
    }
}

/// What is wrong with a profile, in one line.
pub(crate) fn listed(errors: &[ProfileError]) -> String {
    let errors = errors.iter().map(|error| format!("{}: {}", error.path, error.rule));
    format!("profile: {}", errors.collect::<Vec<_>>().join("; "))
}
