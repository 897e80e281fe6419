use super::Reading;
use std::cell::Cell;

/// Two words that are always equal, as the writer has them, and what it has kept of them.
struct Words<'a> {
    note: &'a Reading,
    pair: [Cell<u32>; 2],
    kept: Cell<Option<[u32; 2]>>,
}

impl Words<'_> {
    fn values(&self) -> [u32; 2] {
        [self.pair[0].get(), self.pair[1].get()]
    }

    fn write(&self) {
        self.pair.iter().for_each(|word| word.set(word.get() + 1));
        self.note.keep(|what| {
            assert_eq!(what, 7);
            self.kept.set(Some(self.values()));
        });
    }

    /// Reads them. The writer comes so often before the first word, between the two, and behind the second.
    fn read(&self, comes: [u32; 3]) -> [u32; 2] {
        let write = |times: u32| (0..times).for_each(|_| self.write());
        let look = || {
            write(comes[0]);
            let first = self.pair[0].get();
            write(comes[1]);
            let second = self.pair[1].get();
            write(comes[2]);
            [first, second]
        };
        self.note.read(7, look).unwrap_or_else(|| self.kept.take().expect("the writer has kept it"))
    }
}

#[test]
fn whenever_the_writer_comes_what_is_read_is_whole_and_no_older_than_the_note() {
    for [a, b, c] in (0..27).map(|case| [case / 9, case / 3 % 3, case % 3]) {
        let note = Reading::new();
        let words = Words { note: &note, pair: [Cell::new(40), Cell::new(40)], kept: Cell::new(None) };
        for _ in 0..3 {
            words.write();
            let before = words.values()[0];
            let [first, second] = words.read([a, b, c]);
            assert_eq!(first, second, "{a} {b} {c}");
            assert!((before..=before + a + b + c).contains(&first), "{a} {b} {c}");
            assert_eq!(words.kept.get(), None, "kept for nobody");
        }
    }
}
