//! A neural network: MicroFlow runs `person_detect` (int8) on one photograph, whatever the thread's argument says. The results are the bits of the
//! two scores.
#![no_std]
#![no_main]

use cofferdam::Start;
use common::results;
use microflow::buffer::Buffer4D;
use nalgebra::SMatrix;

include!(concat!(env!("OUT_DIR"), "/model.rs"));

/// Width and height of what the network takes.
const SIDE: usize = 96;

static PHOTOGRAPH: [u8; SIDE * SIDE] = *include_bytes!(concat!(env!("OUT_DIR"), "/astronaut.grey"));

cofferdam::entry!(main);
common::probes!(probe_1_start probe_1_end);

fn main(_start: Start) -> u32 {
    results::stretch(1);
    let scores = work();
    results::stretch(0);
    scores.iter().for_each(|score| results::report(u64::from(score.to_bits())));
    0
}

#[inline(never)]
fn work() -> [f32; 2] {
    probe_1_start();
    // The model takes grey values from -128 (black) to 127 (white).
    let input: Buffer4D<i8, 1, SIDE, SIDE, 1> =
        [SMatrix::from_fn(|row, column| [PHOTOGRAPH[row * SIDE + column].wrapping_sub(128) as i8])];
    let scores = PersonDetect::predict_quantized(input);
    probe_1_end();
    [scores[0], scores[1]]
}
