//! Addresses that no domain gets, from the tables `[foreign]` of the board files. A program of the conformance or the attack suite finds
//! those of the board that it runs on by the word `BOARD` of its information block ([`abi::info::word::BOARD`]).
#![no_std]
#![forbid(unsafe_code)]

include!(concat!(env!("OUT_DIR"), "/places.rs"));

/// The places of a board, by the word for its name; `None` when its file has no table `[foreign]`.
pub fn places(board: u32) -> Option<&'static Places> {
    BOARDS.iter().find(|(word, _)| *word == board).map(|(_, places)| places)
}

#[cfg(test)]
mod tests;
