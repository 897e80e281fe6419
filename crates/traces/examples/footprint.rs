//! Prints which pages each history maps with each heap: `footprint [ACTIONS]`, of the synthetic one.

use traces::footprint::{Policy, footprint};
use traces::synthetic::ENVELOPE;
use traces::{Recorded, Synthetic};

fn main() {
    let actions = std::env::args().nth(1).map_or(1_000_000, |count| count.parse().expect("a number of actions"));
    for policy in [Policy::Released, Policy::Kept] {
        let found = footprint(policy, ENVELOPE.count, Synthetic::new(actions, 1)).expect("within the envelope");
        println!("synthetic: {policy:?}: {found:?}");
    }
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("histories");
    let mut files: Vec<_> = std::fs::read_dir(directory).expect("the histories").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let bytes = std::fs::read(file.path()).expect("a history");
        for policy in [Policy::Released, Policy::Kept] {
            let mut free = vec![0; 1 << 15];
            let recorded = Recorded::new(&bytes, &mut free).expect("a history");
            let found = footprint(policy, recorded.envelope.count, recorded).expect("memory for the history");
            println!("{}: {policy:?}: {found:?}", file.file_name().display());
        }
    }
}
