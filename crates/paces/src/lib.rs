//! How long some instructions take, from the files of the boards' cores. A program that is to compute for a given time finds the pace of the board
//! that it runs on by the word `BOARD` of its information block ([`abi::info::word::BOARD`]).
#![no_std]
#![forbid(unsafe_code)]

use abi::info::name_hash;

include!(concat!(env!("OUT_DIR"), "/paces.rs"));

/// The pace of a board, by the word for its name; none of a board that is simulated as its own hardware description.
pub fn pace(board: u32) -> Option<Pace> {
    BOARDS.iter().find(|(word, _)| *word == board).map(|(_, pace)| *pace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_has_a_pace_and_nothing_else_has() {
        assert!(!BOARDS.is_empty());
        for (word, pace) in BOARDS {
            assert!(pace.quotient > 0 && pace.product > 0 && pace.turn > 0, "{word:#x}: {pace:?}");
        }
        assert!(pace(name_hash("")).is_none());
    }
}
