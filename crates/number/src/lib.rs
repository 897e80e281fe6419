//! Floating-point numbers as text, and text as floating-point numbers, as C's `printf` and `strtod` have them. Nothing here has state or allocates.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod binary;
pub mod scan;
pub mod text;
