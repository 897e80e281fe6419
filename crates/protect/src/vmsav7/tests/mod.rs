//! Descriptors against the manual's tables, tables against a shadow map and a TLB.

mod descriptors;
mod lockdown;
mod tables;
mod world;
