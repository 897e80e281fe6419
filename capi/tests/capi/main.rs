//! The library as a program in C sees it.

mod chip;
mod header;
mod host;
mod support;
