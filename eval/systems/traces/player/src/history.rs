//! The history of a program, if a feature names one.

/// Its file.
pub const FILE: Option<&[u8]> = file();

/// Puts the file into the program.
macro_rules! file {
    ($($name:literal)*) => {
        const fn file() -> Option<&'static [u8]> {
            $(if cfg!(feature = $name) {
                return Some(include_bytes!(concat!("../../../../../crates/traces/histories/", $name)));
            })*
            None
        }
    };
}
file!("cryptominisat" "ffmpeg" "fft" "minisat" "network" "streams");
