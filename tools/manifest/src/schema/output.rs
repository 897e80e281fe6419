//! Stores to registers of devices, by which a run shows something outside, and what is expected of them.

use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// A device of the board.
    pub device: String,
    /// Bytes from its first register to this one.
    #[serde(default)]
    pub offset: u32,
    /// Those of the register's bits that are looked at; all when absent.
    #[serde(default = "all")]
    pub bits: u32,
    /// The bit is an asynchronous serial line of so many baud, with eight bits, no parity, one stop bit.
    pub baud: Option<u32>,
    /// The text that the line sends; the run fails when it is another.
    pub text: Option<String>,
    /// Values of the bits that follow each other, again and again; the run fails when another one comes. Zero may come between, if it is none of them, and behind it the last one again.
    #[serde(default)]
    pub sequence: Vec<u32>,
}

const fn all() -> u32 {
    u32::MAX
}
