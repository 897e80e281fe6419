//! Stores to registers that are part of the run's record, and the text of a serial line among their bits.

use record::RunEvent;

use crate::describe::Output;
use crate::schema::{Cases, OutputReport};

/// Start bit, eight bits and stop bit.
const FRAME_BITS: u64 = 10;

/// Stores to one register.
#[derive(Debug)]
pub struct OutputMeter {
    report: OutputReport,
    /// The bits, and when they changed last.
    value: Option<u32>,
    changed_at: Option<u64>,
    line: Option<Line>,
    /// Place in the sequence of the value that was there last.
    place: Option<usize>,
}

/// A serial line that is decoded: each bit is looked at in its middle, counted from the begin of its frame.
#[derive(Debug)]
struct Line {
    cpu_hz: u64,
    baud: u64,
    frame: Option<Frame>,
    bytes: Vec<u8>,
    broken: Cases,
}

#[derive(Debug)]
struct Frame {
    start: u64,
    /// Bits that were looked at.
    bits: u64,
    byte: u8,
    /// A start bit that is not, or no stop bit.
    broken: bool,
}

impl OutputMeter {
    /// Nothing seen, on a processor with this clock.
    pub fn new(output: &Output, cpu_hz: u64) -> Self {
        let line = output.baud.map(|baud| Line {
            cpu_hz,
            baud: u64::from(baud).max(1),
            frame: None,
            bytes: Vec::new(),
            broken: Cases::default(),
        });
        let report = OutputReport { output: output.clone(), ..OutputReport::default() };
        Self { report, value: None, changed_at: None, line, place: None }
    }

    /// The register was stored to.
    pub fn stored(&mut self, event: &RunEvent) {
        self.report.stores += 1;
        let value = event.payload & self.report.output.bits;
        let Some(before) = self.value.replace(value) else { return };
        if let Some(line) = &mut self.line {
            line.becomes(event.cycle, before != 0, value != 0);
        }
        if value == before {
            return;
        }
        self.report.changes += 1;
        if let Some(last) = self.changed_at.replace(event.cycle) {
            let cycles = event.cycle - last;
            let shortest = &mut self.report.shortest_cycles;
            *shortest = Some(shortest.map_or(cycles, |known| known.min(cycles)));
            let longest = &mut self.report.longest_cycles;
            *longest = Some(longest.map_or(cycles, |known| known.max(cycles)));
        }
        self.follows(event.cycle, before, value);
    }

    /// A value of a sequence is the next one, or the first. Zero means that nothing is on, unless it is one of them; behind it the last one may come again.
    fn follows(&mut self, at: u64, before: u32, value: u32) {
        let sequence = &self.report.output.sequence;
        let is_off = |value: u32| value == 0 && !sequence.contains(&0);
        let is_again = is_off(before) && self.place.is_some_and(|place| sequence[place] == value);
        if sequence.is_empty() || is_off(value) || is_again {
            return;
        }
        let next = self.place.map(|place| (place + 1) % sequence.len());
        let is_next = next.is_none_or(|next| sequence[next] == value);
        self.place = next.filter(|_| is_next).or_else(|| sequence.iter().position(|known| *known == value));
        if !is_next || self.place.is_none() {
            self.report.out_of_sequence.add(at);
        }
    }

    /// The report; the run ended at a cycle.
    pub fn report(mut self, end: u64) -> OutputReport {
        if let Some(mut line) = self.line {
            line.until(end, self.value.is_none_or(|value| value != 0));
            if line.frame.is_some() {
                line.broken.add(end);
            }
            self.report.sent = Some(String::from_utf8_lossy(&line.bytes).into_owned());
            self.report.broken_frames = line.broken;
        }
        self.report
    }
}

impl Line {
    /// At a cycle, the level becomes another one, or stays.
    fn becomes(&mut self, at: u64, before: bool, level: bool) {
        self.until(at, before);
        if self.frame.is_none() && before && !level {
            self.frame = Some(Frame { start: at, bits: 0, byte: 0, broken: false });
        }
    }

    /// The level was this until a cycle.
    fn until(&mut self, cycle: u64, level: bool) {
        while let Some(frame) = &mut self.frame {
            let middle = frame.start + (2 * frame.bits + 1) * self.cpu_hz / (2 * self.baud);
            if middle >= cycle {
                return;
            }
            match frame.bits {
                0 => frame.broken = level,
                bit @ 1..9 => frame.byte |= u8::from(level) << (bit - 1),
                _ => frame.broken |= !level,
            }
            frame.bits += 1;
            if frame.bits < FRAME_BITS {
                continue;
            }
            match frame.broken {
                true => self.broken.add(frame.start),
                false => self.bytes.push(frame.byte),
            }
            self.frame = None;
        }
    }
}
