//! The isolation kernel.
#![no_std]
