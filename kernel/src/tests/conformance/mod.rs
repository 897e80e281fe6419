//! The rows of the conformance suite on the kernel core and a simulated processor. The system is that of a target: its image is in
//! `COFFERDAM_CONFORMANCE_IMAGE`; `tests/suites/tests/conformance.rs` builds it and reads what is printed here.

mod image;
mod machine;
mod player;

use std::path::PathBuf;

use conformance::rows;
use image::Image;
use player::Player;
use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use system::Scheme;

use super::sim::{Pager, Registers, Rtmmu};

/// Prints a line for each row: `row`, its number, and 0 or a packed shortfall.
#[test]
#[ignore = "needs the image that tests/suites builds"]
fn every_row_is_performed() {
    let path = std::env::var_os("COFFERDAM_CONFORMANCE_IMAGE").map(PathBuf::from);
    let image = Image::read(&path.expect("COFFERDAM_CONFORMANCE_IMAGE names an image"));
    for (number, row) in rows().enumerate() {
        let outcome = match image.tables.scheme() {
            Scheme::Vmsav7 => Player::<Pager>::new(&image, row).play(),
            Scheme::Pmsav7 => Player::<Registers<Pmsav7>>::new(&image, row).play(),
            Scheme::Pmsav8 => Player::<Registers<Pmsav8>>::new(&image, row).play(),
            Scheme::Rtmmu => Player::<Rtmmu>::new(&image, row).play(),
        };
        if let Err(shortfall) = outcome {
            println!("`{}`: {shortfall:?}", row.name);
        }
        println!("row {number} {}", outcome.err().map_or(0, |shortfall| shortfall.pack()));
    }
}
