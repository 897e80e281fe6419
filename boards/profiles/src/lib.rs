//! The timing profiles that come with Cofferdam, as text, so that a tool can carry them.
#![no_std]
#![forbid(unsafe_code)]

/// `stm32f767`: Cortex-M7 at 216 MHz on the board `mps2-an500`.
pub const STM32F767: &str = include_str!("../stm32f767.toml");

/// Every profile by the name that a manifest uses.
pub const ALL: [(&str, &str); 1] = [("stm32f767", STM32F767)];

/// The text of the profile `name`.
pub fn by_name(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
