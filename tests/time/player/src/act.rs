//! Rows: acts separated by `;`, performed in a loop. Acts before a `|` are performed once. An act is a word and its numbers, which are ticks
//! of the kernel's clock or times with a unit (`350us`, `2ms`).

use cofferdam::Info;

/// Most acts in a row.
const MOST: usize = 12;
/// Most numbers of an act.
const NUMBERS: usize = 3;

macro_rules! words {
    ($($variant:ident = $word:literal, $does:literal;)*) => {
        /// The kinds of act.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word { $(#[doc = $does] $variant,)* }

        impl Word {
            fn from_text(text: &str) -> Option<Word> {
                Some(match text { $($word => Word::$variant,)* _ => return None })
            }
        }
    };
}

words! {
    Work = "work", "`work TIME`: computes for so long, in registers.";
    Spin = "spin", "`spin`: computes for ever.";
    Period = "period", "`period`: ends the job and waits for the next release.";
    Sleep = "sleep", "`sleep TIME`: sleeps until so much later than now.";
    Grid = "grid", "`grid`: counts the times of `until` from a boundary of the budget `b0`, not from the start of the clock.";
    Until = "until", "`until PERIOD OFFSET STEP`: sleeps until the next time that is OFFSET modulo PERIOD; each time OFFSET grows by STEP.";
    Yield = "yield", "`yield`: lets its equals run.";
    Call = "call", "`call GATE TIME`: calls `gGATE`, which computes for so long.";
    Stay = "stay", "`stay GATE`: calls `gGATE`, which does not return by itself.";
    Trap = "trap", "`trap GATE TIME`: calls `gGATE`, which computes for so long and then faults.";
    Signal = "signal", "`signal N`: signals `nN`.";
    Wait = "wait", "`wait N`: waits for `nN`.";
    Revive = "revive", "`revive N`: waits for `nN`, then restarts whichever of the domains `d0` to `d3` has stopped.";
    Timer = "timer", "`timer TIME`: starts the own timer, which interrupts so often.";
    Tick = "tick", "`tick`: waits for the own timer's interrupt and acknowledges it.";
    Ack = "ack", "`ack`: acknowledges the own timer's line without clearing it, so that it interrupts again at once.";
    Dirty = "dirty", "`dirty BYTES`: writes a word of each line of so much of the heap.";
    Many = "many", "`many BYTES`: reads so much of `slow` with loads of several registers.";
    Float = "float", "`float`: touches the floating-point unit.";
    Fault = "fault", "`fault`: executes an undefined instruction.";
    Exit = "exit", "`exit`: ends the thread.";
    Times = "times", "`times N`: goes back to the beginning of the loop N times before it goes on.";
}

/// An act with its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Act {
    /// The kind of act.
    pub word: Word,
    /// Its numbers; those that are not written are 0.
    pub numbers: [i64; NUMBERS],
}

/// A thread's strategy.
pub struct Row {
    acts: [Act; MOST],
    len: usize,
    again: usize,
}

impl Row {
    /// The acts.
    pub fn acts(&self) -> &[Act] {
        &self.acts[..self.len]
    }

    /// Position of the first act of the loop.
    pub fn again(&self) -> usize {
        self.again
    }
}

/// The row with this number.
pub fn row(info: Info, number: u32) -> Option<Row> {
    let area = info.area("acts")?;
    // SAFETY: the area is constant memory of this domain.
    let bytes = unsafe { core::slice::from_raw_parts(area.base as *const u8, area.bytes as usize) };
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = core::str::from_utf8(lines.nth(number as usize)?).ok()?;
    parse(line, ticks_per_us(info))
}

/// Ticks of the kernel's clock in a microsecond.
pub fn ticks_per_us(info: Info) -> i64 {
    i64::from((info.ticks_per_second() / 1_000_000).max(1))
}

fn parse(line: &str, ticks_per_us: i64) -> Option<Row> {
    let mut row = Row { acts: [Act { word: Word::Exit, numbers: [0; NUMBERS] }; MOST], len: 0, again: 0 };
    // The comment of a row.
    let line = line.split('#').next()?;
    for (part, text) in line.split('|').enumerate() {
        if part == 1 {
            row.again = row.len;
        }
        for text in text.split(';').filter(|text| !text.trim().is_empty()) {
            *row.acts.get_mut(row.len)? = act(text, ticks_per_us)?;
            row.len += 1;
        }
    }
    (row.again < row.len).then_some(row)
}

fn act(text: &str, ticks_per_us: i64) -> Option<Act> {
    let mut words = text.split_ascii_whitespace();
    let word = Word::from_text(words.next()?)?;
    let mut numbers = [0; NUMBERS];
    for (at, text) in words.enumerate() {
        *numbers.get_mut(at)? = number(text, ticks_per_us)?;
    }
    Some(Act { word, numbers })
}

fn number(text: &str, ticks_per_us: i64) -> Option<i64> {
    let units = [("us", ticks_per_us), ("ms", ticks_per_us * 1000), ("s", ticks_per_us * 1_000_000)];
    let unit = units.iter().find_map(|(name, ticks)| Some((text.strip_suffix(name)?, *ticks)));
    let (digits, ticks) = unit.unwrap_or((text, 1));
    digits.parse::<i64>().ok()?.checked_mul(ticks)
}
