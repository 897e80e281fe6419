//! Options.

use std::path::PathBuf;

use clap::Parser;

/// Runs random admitted systems, some threads of which are hostile, and says whether anybody else was harmed.
#[derive(Debug, Parser)]
#[command(name = "hunt")]
pub struct Options {
    /// The board to run on.
    #[arg(long)]
    pub board: String,
    /// How many systems.
    #[arg(long, default_value_t = 20)]
    pub systems: u64,
    /// Number of the first system.
    #[arg(long, default_value_t = 0)]
    pub first: u64,
    /// Determines the systems, with their numbers.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Do not run again what was run with the same programs.
    #[arg(long)]
    pub resume: bool,
    /// End with the first system in which somebody else is harmed, and do not take it apart.
    #[arg(long)]
    pub until_harmed: bool,
    /// How many failing systems are taken apart.
    #[arg(long, default_value_t = 1)]
    pub minimise: u64,
    /// Hunts with different lanes can run at the same time.
    #[arg(long, default_value_t = 0)]
    pub lane: u32,
    /// Make caches, TLBs, predictor and flash buffers as bad as others can leave them at each entry to the kernel.
    #[arg(long)]
    pub adverse: bool,
    /// Directory of the results.
    #[arg(long, default_value = "target/hunt")]
    pub out: PathBuf,
}
