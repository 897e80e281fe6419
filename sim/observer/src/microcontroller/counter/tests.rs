use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use record::CounterWatch;

use super::{COMP0, CTRL, CYCCNT, CYCCNTENA, CYCDISS, CYCLES_MATCH, Counter, DEMCR, FUNCTION0, KEPT, MON_EN, TRCENA};
use crate::{Register, Target};

/// A simulator with the registers of [`KEPT`], in their order.
struct Words([AtomicU32; KEPT.len()]);

impl Words {
    /// It counts from 0, and is compared with this.
    fn compared_with(count: u32) -> Words {
        let words = Words(Default::default());
        let set_up = [(DEMCR, TRCENA | MON_EN), (FUNCTION0, CYCLES_MATCH), (CTRL, CYCDISS | CYCCNTENA), (COMP0, count)];
        for (offset, value) in set_up {
            words.counter_word(offset).unwrap().store(value, Relaxed);
        }
        words
    }

    fn count(&self) -> u32 {
        self.counter_word(CYCCNT).unwrap().load(Relaxed)
    }
}

impl Target for Words {
    fn find(&mut self, _: &str) -> Register {
        Register::default()
    }

    fn register(&mut self, _: Register) -> u32 {
        0
    }

    fn memory(&mut self, _: u32, _: usize) -> Option<&[u8]> {
        None
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        None
    }

    fn advance(&mut self) -> bool {
        true
    }

    fn counter_word(&self, offset: u32) -> Option<&AtomicU32> {
        self.0.get(KEPT.iter().position(|kept| *kept == offset)?)
    }
}

fn counter() -> Counter {
    Counter::new(Some(&CounterWatch::default()))
}

#[test]
fn a_match_asks_for_its_interrupt_once() {
    let (words, mut counter) = (Words::compared_with(100), counter());
    assert_eq!(counter.begin(&words, 1_000), Some(1_100));
    assert_eq!(counter.look(&words, 1_099), (false, Some(1_100)));
    assert!(counter.look(&words, 1_103).0);
    assert!(!counter.look(&words, 1_104).0);
    assert!(!counter.end(&words, 1_110));
    let counted = counter.counted().unwrap();
    assert_eq!((words.count(), counted.cycles, counted.matches, counted.beyond_cycles), (110, 110, 1, 10));
}

/// The last cycles of Non-secure code are those of its way out, behind which no look comes before Secure code runs.
#[test]
fn a_match_on_the_way_out_asks_for_its_interrupt_too() {
    let (words, mut counter) = (Words::compared_with(100), counter());
    let _ = counter.begin(&words, 1_000);
    assert!(!counter.look(&words, 1_095).0);
    assert!(counter.end(&words, 1_107), "the interrupt is yet to be asked for");
    assert_eq!(counter.look(&words, 1_150), (true, None), "Secure code is not counted");
    assert!(!counter.look(&words, 1_160).0);
    assert!(!counter.end(&words, 1_170));
    assert_eq!((words.count(), counter.counted().unwrap().matches), (107, 1));
}
