//! The formats that the gateway's domains share: the stream of rows from `sensor` to `store`, and
//! the series from `store` to `script`.
//!
//! Neither side trusts the other: whoever reads checks every number that it reads, each word once.
#![no_std]
#![forbid(unsafe_code)]

mod series;
mod stream;

pub use series::{SERIES, SERIES_BYTES, Series};
pub use stream::{Push, Reader, Record, Writer};

/// Words of shared memory, as both sides see them. Implementations read and store single words, each access for itself.
pub trait Words {
    /// Number of words.
    fn words(&self) -> usize;
    /// The word at `index`; 0 beyond the end.
    fn read(&self, index: usize) -> u32;
    /// Stores the word at `index`; nothing happens beyond the end.
    fn write(&self, index: usize, value: u32);
}

/// Longest row in bytes.
pub const ROW_MAX_BYTES: usize = 128;

/// The files that are streamed, by the number that rows carry.
pub mod file {
    /// Daily weather of Seattle: date, precipitation, greatest and least temperature, wind, kind of weather.
    pub const WEATHER: u32 = 0;
    /// Hourly temperatures of Seattle: hour, temperature.
    pub const SEATTLE: u32 = 1;
    /// Hourly temperatures of San Francisco: temperature, hour.
    pub const SAN_FRANCISCO: u32 = 2;
    /// Follows the last row of the last file.
    pub const END: u32 = 3;
}

#[cfg(test)]
mod tests;
