//! Constants of the board's file.

include!(concat!(env!("OUT_DIR"), "/board.rs"));
