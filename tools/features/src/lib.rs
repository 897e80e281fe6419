//! Nothing: the package's manifest says which features libraries have in every build, so that none is built twice.
#![no_std]
