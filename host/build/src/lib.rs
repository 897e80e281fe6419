//! Builds programs for the chip: finds the compilers, builds domains from cargo packages and C sources, and the kernel.
#![forbid(unsafe_code)]

mod c;
mod command;
mod install;
mod rust;
mod toolchain;

pub use c::{build_c, cmake_toolchain, compiler_flags, linker_flags};
pub use install::Install;
pub use rust::{build_crate, build_kernel};
pub use toolchain::{Toolchain, find_in_path};

#[cfg(test)]
mod tests;
