//! Prints random operations on a space as the stores that they make, and after each operation what RTMMU has to answer for some pages, so
//! that the hardware can be compared with this crate (`rtl/test/test_tables.py`).
//!
//! ```text
//! vectors PAGES_LOG2 OPERATIONS SEED
//! w TABLE INDEX WORD       a store; TABLE is c, sp, h, s or d
//! q PAGE ACCESS FRAME      a look-up; ACCESS is 0 load, 1 store, 2 fetch; FRAME is - for a fault
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use rtmmu::{Access, Frame, Frames, Owner, Page, Rights, Space, Tables, Words, tree};
use testing::Rng;

/// A table whose stores are printed.
struct Table {
    name: &'static str,
    words: Vec<u32>,
    out: Rc<RefCell<String>>,
}

impl Words for Table {
    fn get(&self, index: usize) -> u32 {
        self.words[index]
    }
    fn set(&mut self, index: usize, word: u32) {
        self.words[index] = word;
        self.out.borrow_mut().push_str(&format!("w {} {index} {word}\n", self.name));
    }
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|argument| argument.parse().expect("a number")).collect();
    let [pages_log2, operations, seed] = arguments[..] else { panic!("usage: vectors PAGES_LOG2 OPERATIONS SEED") };
    let (pages_log2, mut rng) = (pages_log2 as u8, Rng::new(seed));
    let pages = 1_u64 << pages_log2;
    let out = Rc::new(RefCell::new(String::new()));
    let table = |name, rng: &mut Rng| {
        let mut table = Table { name, words: vec![0; pages as usize], out: out.clone() };
        for page in 0..pages as usize {
            // Anything that a power-up or a domain before may have left.
            table.set(page, if rng.chance(2) { rng.next() as u32 } else { rng.below(pages) as u32 });
        }
        table
    };
    let tables = Tables {
        c: table("c", &mut rng),
        sp: table("sp", &mut rng),
        h: table("h", &mut rng),
        s: table("s", &mut rng),
        d: table("d", &mut rng),
    };
    let mut space = Space::new(tables, vec![0_u32; tree::words_for(pages_log2)].leak(), pages_log2);
    let mut frames = Frames::new(vec![0_u32; pages as usize].leak(), Frame(0x4_0000), pages as u32);
    for _ in 0..operations {
        let page = Page(rng.below(pages) as u32);
        // Refusals are part of the history, too.
        let _ = match rng.below(8) {
            0 | 1 => {
                let rights = [Rights::R, Rights::RW, Rights::RX, Rights::NONE][rng.below(4) as usize];
                space.map_vrh(page, 1 + rng.below(pages / 4) as u32, rights)
            }
            2 => space.split(page),
            3 => space.region(page).and_then(|region| space.unmap_region(region.first, &mut frames).map(drop)),
            _ => space.map_page(page, Owner(1), &mut frames).map(drop),
        };
        for _ in 0..6 {
            let page = Page(rng.below(pages + pages / 8) as u32);
            for access in [Access::Load, Access::Store, Access::Fetch] {
                let frame = space.translate(page, access).map_or("-".into(), |frame| frame.0.to_string());
                out.borrow_mut().push_str(&format!("q {} {} {frame}\n", page.0, access as u8));
            }
        }
    }
    print!("{}", out.borrow());
}
