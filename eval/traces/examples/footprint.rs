//! Prints which pages the synthetic history maps with each heap: `footprint [ACTIONS]`.

use traces::Synthetic;
use traces::footprint::{Policy, footprint};
use traces::synthetic::ENVELOPE;

fn main() {
    let actions = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a number of actions"));
    for policy in [Policy::Released, Policy::Kept] {
        println!("{policy:?}: {:?}", footprint(policy, ENVELOPE, Synthetic::new(actions, 1)).expect("within the envelope"));
    }
}
