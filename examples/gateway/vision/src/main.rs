//! A neural network beside the control loop: MicroFlow runs `person_detect` (int8) on photographs. Every result is a line
//! `RESULT vision.person.NAME SCORE`, the score from 0 (nobody) to 1 (a person).
#![no_std]
#![no_main]

use cofferdam::{Start, println};
use microflow::buffer::Buffer4D;
use nalgebra::SMatrix;

include!(concat!(env!("OUT_DIR"), "/model.rs"));

/// Width and height of what the network takes.
const SIDE: usize = 96;
/// Index, among the network's two outputs, of the score for a person.
const PERSON: usize = 1;

type Photograph = [u8; SIDE * SIDE];

static PHOTOGRAPHS: [(&str, &Photograph); 2] = [
    ("astronaut", include_bytes!(concat!(env!("OUT_DIR"), "/astronaut.grey"))),
    ("coffee", include_bytes!(concat!(env!("OUT_DIR"), "/coffee.grey"))),
];

cofferdam::entry!(main);

fn main(_start: Start) -> u32 {
    for (name, photograph) in PHOTOGRAPHS {
        println!("RESULT vision.person.{name} {}", score(photograph));
    }
    0
}

fn score(photograph: &Photograph) -> f32 {
    // The model takes grey values from -128 (black) to 127 (white).
    let input: Buffer4D<i8, 1, SIDE, SIDE, 1> =
        [SMatrix::from_fn(|row, column| [photograph[row * SIDE + column].wrapping_sub(128) as i8])];
    PersonDetect::predict_quantized(input)[PERSON]
}
