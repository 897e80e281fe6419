//! The scheme of each core.

use std::sync::Arc;

use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;

use super::described::{Scheme, SchemeOfCore};
use super::name::SchemeName;
use super::regions::Regions;
use super::rtmmu::Spaces;
use super::vmsav7::Tables;
use crate::board_file::{BoardFile, MemoryKind};
use crate::core::{Core, Setup};
use crate::rules::require;

impl SchemeName {
    pub(crate) fn scheme(self) -> &'static dyn SchemeOfCore {
        match self {
            Self::Pmsav7 => &Regions::<Pmsav7>::NEW,
            Self::Pmsav8 => &Regions::<Pmsav8>::NEW,
            Self::Vmsav7 => &Tables,
            Self::Rtmmu => &Spaces,
        }
    }

    /// Whether the kernel's image writes to the chip what `setup` says before anything else runs.
    pub fn sets_up(self, setup: &Setup) -> bool {
        self.scheme().sets_up(setup)
    }
}

/// Reads the table `protection` of a board's file.
///
/// # Errors
/// The parser's message, or the name that names nothing.
pub(crate) fn read(core: &Core, file: &BoardFile) -> Result<Arc<dyn Scheme>, String> {
    let scheme = core.protection.scheme().read(file).map_err(|error| format!("protection: {}", error.message()))?;
    let is_ram = |name: &str| file.memory.get(name).is_some_and(|memory| memory.kind == MemoryKind::Ram);
    require(scheme.tables().is_none_or(is_ram), || {
        format!("protection.tables: `{}` is no memory of kind \"ram\"", scheme.tables().unwrap_or_default())
    })?;
    Ok(scheme)
}
