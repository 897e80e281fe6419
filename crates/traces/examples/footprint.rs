//! Prints which pages each history maps with each heap: `footprint [ACTIONS]`, of the synthetic ones.

use traces::footprint::{Policy, footprint};
use traces::synthetic::{ENVELOPE, LARGE};
use traces::{Recorded, Synthetic};

fn main() {
    let actions =
        std::env::args().nth(1).map_or(Synthetic::ACTIONS, |count| count.parse().expect("a number of actions"));
    let sizes = [
        ("synthetic", ENVELOPE, traces::layout(ENVELOPE.count).expect("memory for the history")),
        ("synthetic, large blocks", LARGE, traces::widest()),
    ];
    for (name, envelope, layout) in sizes {
        for policy in [Policy::Released, Policy::Kept] {
            let history = Synthetic::within(envelope, actions, 1);
            let found = footprint(policy, (layout, envelope.count), history).expect("within the envelope");
            println!("{name}: {policy:?}: {found:?}");
        }
    }
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("histories");
    let mut files: Vec<_> = std::fs::read_dir(directory).expect("the histories").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::file_name);
    for file in files {
        let bytes = std::fs::read(file.path()).expect("a history");
        for policy in [Policy::Released, Policy::Kept] {
            let mut free = vec![0; 1 << 15];
            let recorded = Recorded::new(&bytes, &mut free).expect("a history");
            let count = recorded.envelope.count;
            let layout = traces::layout(count).expect("memory for the history");
            let found = footprint(policy, (layout, count), recorded).expect("within the envelope");
            println!("{}: {policy:?}: {found:?}", file.file_name().display());
        }
    }
}
