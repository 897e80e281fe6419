//! Observers of cores that no emulator runs: they are told what a test has written down.

mod cores;
mod pages;
mod states;
mod support;
