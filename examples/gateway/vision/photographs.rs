// Shrinks the photographs to what the network takes, 96 x 96 grey values of eight bits, and names the model's file.
// tests/gateway_reference.py shrinks them the same way.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

const SIDE: usize = 96;
/// Rec. 601 luma in 1/1000.
const LUMA: [u32; 3] = [299, 587, 114];
const PHOTOGRAPHS: [&str; 2] = ["astronaut", "coffee"];

fn main() {
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for name in PHOTOGRAPHS {
        let path = compile::data().join(name).with_extension("png");
        println!("cargo::rerun-if-changed={}", path.display());
        let grey = shrink(&path);
        fs::write(Path::new(&out).join(name).with_extension("grey"), grey).expect("the build directory is writable");
    }
    // The attribute takes a path as a literal only.
    let model = compile::package("microflow").join("models/person_detect.tflite");
    let source = format!("#[microflow::model({:?})]\nstruct PersonDetect;\n", model.display().to_string());
    fs::write(Path::new(&out).join("model.rs"), source).expect("the build directory is writable");
}

/// The largest square in the middle of the photograph; each grey value is the mean of the pixels that it stands for.
fn shrink(path: &Path) -> Vec<u8> {
    let file = File::open(path).unwrap_or_else(|why| panic!("{}: {why}; run scripts/fetch-data.sh", path.display()));
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).expect("a PNG image");
    let (width, height, samples) = (info.width as usize, info.height as usize, info.color_type.samples());
    let luma = |x: usize, y: usize| -> u32 {
        let pixel = &pixels[(y * width + x) * samples..];
        if samples < 3 { u32::from(pixel[0]) * 1000 } else { (0..3).map(|i| LUMA[i] * u32::from(pixel[i])).sum() }
    };
    let side = width.min(height);
    let (left, top) = ((width - side) / 2, (height - side) / 2);
    let mut grey = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (ys, xs) =
                (row * side / SIDE..(row + 1) * side / SIDE, column * side / SIDE..(column + 1) * side / SIDE);
            let count = (ys.len() * xs.len()) as u64 * 1000;
            let sum: u64 =
                ys.flat_map(|y| xs.clone().map(move |x| (x, y))).map(|(x, y)| u64::from(luma(left + x, top + y))).sum();
            grey.push((sum / count) as u8);
        }
    }
    grey
}
