//! Names of schemes.

use serde::Deserialize;

/// How a core checks accesses, by the name of the architecture's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchemeName {
    /// Region registers.
    Pmsav7,
    /// Page tables with short descriptors.
    Vmsav7,
}
