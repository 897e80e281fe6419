//! From a manifest to an image: [`Loaded::load`] reads, [`Loaded::admit`] checks, [`build`] compiles domains and kernel, places them
//! and writes the image with what debuggers and reports need, and [`prepare`] makes a run of it.
#![forbid(unsafe_code)]

mod c;
mod c_library;
mod cargo;
mod checkout_link;
mod chip_rules;
mod claim;
mod command;
mod core_rules;
mod describe;
mod files;
mod install;
mod linked;
mod load;
mod locate;
mod objects;
mod options;
mod origin;
mod parameters;
mod pipeline;
mod profile;
mod rust;
mod services;
mod silent;
mod sources;
mod toolchain;
mod watch;

pub use c::{cmake_toolchain, compiler_flags, linker_flags};
pub use claim::Claim;
pub use describe::describe;
pub use files::{hash, write_file};
pub use install::Install;
pub use linked::Linked;
pub use load::{Admitted, Instead, Loaded, results_of};
pub use options::Options;
pub use origin::Origin;
pub use pipeline::{Built, Compiled, WAITING, assemble, build, place_programs, programs};
pub use place::Programs;
pub use profile::Profile;
pub use rust::{build_crate, build_example, build_kernel, build_kernel_without_handlers};
pub use silent::silent;
pub use sources::is_source;
pub use toolchain::{Toolchain, find_in_path};
pub use watch::{clock, cluster, machine, prepare};

#[cfg(test)]
mod tests;
