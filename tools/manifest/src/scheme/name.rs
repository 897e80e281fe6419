//! Names of schemes.

use serde::Deserialize;

/// How a core checks accesses, by the name of the architecture's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SchemeName {
    /// Region registers of powers of two.
    Pmsav7,
    /// Region registers with base and limit.
    Pmsav8,
    /// Page tables with short descriptors.
    Vmsav7,
    /// Tables of regions, behind which everything takes a constant time.
    Rtmmu,
}
