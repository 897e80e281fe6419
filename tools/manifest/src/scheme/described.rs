//! A scheme of protection as cores and boards describe it.

use std::fmt::Debug;
use std::sync::Arc;

use record::{AttributionWatch, ProtectionWatch};
use spec::{Hardware, TemporalSpec};

use crate::board_file::{BoardFile, Device};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::{Diagnostic, Refusal};
use crate::rules::Kept;

/// A range with a fixed address and a declared size.
pub struct Fixed {
    /// Its place in the manifest.
    pub place: String,
    /// Its name in messages.
    pub name: String,
    /// Name of its memory.
    pub memory: String,
    /// First address.
    pub base: u64,
    /// Size.
    pub bytes: u64,
}

/// A scheme, as far as a core tells.
pub(crate) trait SchemeOfCore {
    /// Whether a core states what the scheme has, and nothing else.
    fn core(&self, core: &Core) -> Kept;

    /// Whether cores with it are simulated with a model of time; otherwise their simulator is made of the hardware's description, which has its own.
    fn is_modelled(&self) -> bool {
        true
    }

    /// Refuses a core that the kernel cannot divide among domains.
    fn divides(&self, _core: &Core) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// Whether the kernel's image writes to the chip what `setup` says before anything else runs.
    fn sets_up(&self, setup: &Setup) -> bool;

    /// Reads the table `protection` of a board's file.
    fn read(&self, file: &BoardFile) -> Result<Arc<dyn Scheme>, toml::de::Error>;
}

/// Consequences of a scheme, for code that prepares and observes a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Addresses of domains are translated; otherwise they are physical.
    pub translated: bool,
    /// Hardware walks tables, so that an area can be found in time without a slot of its own.
    pub walked: bool,
    /// Several areas with the same rights share a slot when they are pinned.
    pub shared_slots: bool,
    /// Slots that check a domain's accesses and that software loads, if it does: a domain can be told how many of them serve paged memory.
    pub loaded_slots: Option<u32>,
    /// Regions have eighths that can be left out, in which heaps of domains alternate.
    pub eighths: bool,
}

/// A scheme, with what the board's file says of it.
pub trait Scheme: Debug + Send + Sync {
    /// Consequences of the scheme.
    fn facts(&self) -> Facts;

    /// Whether a board's file keeps the rules of the scheme; otherwise the key, the value and the limit.
    ///
    /// # Errors
    /// The first rule that is broken.
    fn check(&self, file: &BoardFile, chip: &Chip) -> Result<(), String>;

    /// Whether the window of a device is exactly what a domain can be given.
    fn covers(&self, device: &Device) -> bool;

    /// Refuses a chip that the kernel cannot divide among domains.
    ///
    /// # Errors
    /// CF0202 with the fact that differs.
    fn divides(&self, _chip: &Chip) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// The hardware as the ledger knows it.
    fn hardware(&self, chip: &Chip) -> Hardware;

    /// How much of what checks accesses the kernel divides: of a core's region registers, and of lock entries as many as it was compiled for.
    fn divided(&self, core: &Core) -> Option<ProtectionWatch>;

    /// Refuses a range that the scheme cannot express exactly.
    fn expresses(&self, fixed: &Fixed) -> Option<Refusal>;

    /// Bytes of the smallest area that holds so many; `None` if there is none.
    fn area_bytes(&self, bytes: u64) -> Option<u64>;

    /// The chip's opinion of which addresses are Secure, where there are security states.
    fn attribution(&self) -> Option<AttributionWatch> {
        None
    }

    /// Whether pages of memory with this specification get a frame at their first touch, so that mapping and releasing take the same time whatever
    /// their size.
    fn is_on_demand(&self, _spec: TemporalSpec, _asked: bool) -> bool {
        false
    }

    /// Most cycles of a miss that software answers, with the nodes of the domain's table in TCM and in on-chip RAM.
    fn miss_cycles(&self) -> Option<[u32; 2]> {
        None
    }

    /// Name of the memory on the chip of which tables of domains take what areas leave, if they lie there.
    fn tables(&self) -> Option<&str> {
        None
    }

    /// Tables that the hardware has for all domains together, if it has such.
    fn table_memory(&self) -> Option<system::TableMemory> {
        None
    }

    /// The address at which the kernel has physical memory.
    fn seen(&self, physical: u32) -> u32 {
        physical
    }

    /// Domains have memory that begins at this physical address lower by so much.
    fn lower(&self, _physical: u32) -> u32 {
        0
    }

    /// Domains have devices lower by so much.
    fn device_offset(&self) -> u32 {
        0
    }
}
