//! The prefetcher of the level-1 data cache: follows streams of missed lines and asks for the next line of each.
//!
//! It works on confirmation (DDI 0388I 7.6.2): after misses at one stride it asks for one line, and for the next when that
//! one is used. Constant time per access: streams and lines under way are few.

use alloc::vec;
use alloc::vec::Vec;

use crate::profile::PrefetchParams;

/// Lines that can be under way or brought in and not yet used.
const UNDER_WAY: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Line missed or used last.
    last: u32,
    /// Lines from each to the next.
    stride: i32,
    /// Misses at this stride in a row.
    seen: u32,
}

/// A line brought in ahead of its use.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    line: u32,
    ready: u64,
    stream: usize,
}

/// State of the prefetcher.
#[derive(Clone, Debug)]
pub struct Prefetcher {
    streams: Vec<Option<Stream>>,
    ahead: [Option<Ahead>; UNDER_WAY],
    /// The stream and the place to replace next.
    next_stream: usize,
    next_place: usize,
    confirm: u32,
    stride: i32,
    block_lines_log2: u32,
    /// Whether it is on.
    pub on: bool,
}

impl Prefetcher {
    /// One that follows nothing, for lines of this size.
    pub fn new(p: &PrefetchParams, line_log2: u32) -> Self {
        Self {
            streams: vec![None; p.streams.value as usize],
            ahead: [None; UNDER_WAY],
            next_stream: 0,
            next_place: 0,
            confirm: p.confirm.value,
            stride: p.stride.value as i32,
            block_lines_log2: p.block.value.trailing_zeros().saturating_sub(line_log2),
            on: p.enabled.value,
        }
    }

    /// Forgets all streams, as a barrier or a change of the address space does. Lines already asked for still come.
    pub fn stop(&mut self) {
        self.streams.fill(None);
    }

    /// A line was missed: the line to ask for, if a stream goes on there.
    pub fn missed(&mut self, line: u32) -> Option<(u32, usize)> {
        if !self.on {
            return None;
        }
        let reach = self.stride.unsigned_abs();
        let near = |s: &Stream| self.together(s.last, line) && (1..=reach).contains(&s.last.abs_diff(line));
        let Some(at) = self.streams.iter().position(|s| s.as_ref().is_some_and(near)) else {
            self.streams[self.next_stream] = Some(Stream { last: line, stride: 0, seen: 0 });
            self.next_stream = (self.next_stream + 1) % self.streams.len();
            return None;
        };
        let stream = self.streams[at].as_mut()?;
        let stride = line.wrapping_sub(stream.last) as i32;
        stream.seen = if stride == stream.stride { stream.seen + 1 } else { 0 };
        stream.stride = stride;
        stream.last = line;
        if stream.seen < self.confirm { None } else { self.next(at) }
    }

    /// A line was found in the cache. When it had been brought in ahead: the time at which it is there, and the line to ask
    /// for next.
    pub fn found(&mut self, line: u32) -> Option<(u64, Option<(u32, usize)>)> {
        let place = self.ahead.iter_mut().find(|a| a.is_some_and(|a| a.line == line))?;
        let Ahead { ready, stream, .. } = place.take()?;
        if let Some(stream) = self.streams[stream].as_mut() {
            stream.last = line;
        }
        Some((ready, self.next(stream)))
    }

    /// The next line of a stream, unless it leaves the block of the last.
    fn next(&self, at: usize) -> Option<(u32, usize)> {
        let stream = self.streams[at]?;
        let line = stream.last.checked_add_signed(stream.stride)?;
        (self.on && stream.stride != 0 && self.together(line, stream.last)).then_some((line, at))
    }

    /// Whether two lines lie in one block, which no stream leaves.
    fn together(&self, one: u32, other: u32) -> bool {
        one >> self.block_lines_log2 == other >> self.block_lines_log2
    }

    /// Whether no line is under way or waits for its use.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.ahead.iter().all(Option::is_none)
    }

    /// A line that it named was asked for, and will be there at time `ready`.
    pub fn asked(&mut self, (line, stream): (u32, usize), ready: u64) {
        self.ahead[self.next_place] = Some(Ahead { line, ready, stream });
        self.next_place = (self.next_place + 1) % UNDER_WAY;
    }
}
