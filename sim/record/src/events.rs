//! The events file: a header of 16 bytes (`CFDEVT` and the version as a little-endian u16, then eight zero bytes), then
//! records of 16 bytes, little-endian: cycle u56, core u8, event u8, domain u8, detail u16, payload u32.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use units::CoreId;

/// Size of one record in the file, in bytes.
pub const EVENT_BYTES: usize = 16;
/// Size of the header in front of the records, in bytes.
pub const HEADER_BYTES: usize = 16;

const MAGIC: &[u8; 6] = b"CFDEVT";
const VERSION: u16 = 2;
const BUFFER_BYTES: usize = 1 << 16;

/// Numbers of events that the observer adds itself; the kernel's own (`abi::trace::Event`) are below 0x80.
pub mod observed {
    /// An exception was entered: `detail` is its number (3 HardFault ... 16 + n for interrupt n), the payload the return address.
    pub const EXCEPTION_ENTRY: u8 = 0x80;
    /// The processor returned to thread mode; `detail` is the exception that was left last.
    pub const EXCEPTION_RETURN: u8 = 0x81;
    /// A violation: `detail` is its index in the summary's list (capped at 65535), the payload the address.
    pub const VIOLATION: u8 = 0x82;
    /// The processor slept; stamped at waking, the payload is the length in cycles (held at 2^32 - 1).
    pub const SLEPT: u8 = 0x83;
    /// A probe's end was reached: `detail` is the probe's index, the payload the cycles since its start.
    pub const PROBE: u8 = 0x84;
    /// A domain's own code ran for as many cycles as the payload says, until now: `domain` is the one whose code it was, as the processor's
    /// state says (255: it says nothing), `detail` the place in [`crate::MeterWatch::stacks`] of the stack in use at the start (65535: none of them).
    pub const RAN: u8 = 0x85;
    /// The kernel ran for as many cycles as the payload says, until now: `detail` is a [`crate::Handled`].
    pub const HANDLED: u8 = 0x86;
    /// In front of a [`HANDLED`]: in that stretch the kernel read its clock, first so many cycles behind its begin as `detail` says (held at
    /// 65535), and last so many before its end as the payload says.
    pub const CLOCK: u8 = 0x87;
    /// A handler of `domain` that interrupts reach without the kernel ran for as many cycles as the payload says, until now: `detail` is the exception. The
    /// stretch that it interrupted goes on, without these cycles and those of what ran above the handler.
    pub const SERVED: u8 = 0x88;
    /// An exception of the kernel ran above a handler of `domain` for as many cycles as the payload says, until now: `detail` is that exception. They are neither
    /// the handler's nor of the stretch that it interrupted.
    pub const LOOKED: u8 = 0x8b;
    /// A register that the request names was stored to: `detail` is its place in [`crate::Watch::outputs`], the payload the value.
    pub const STORED: u8 = 0x89;
    /// A handler that interrupts reach without the kernel begins, in which `domain` is the one that handlers have interrupted: a [`crate::Entered`].
    pub const ENTERED: u8 = 0x8a;

    /// Name in reports, if the number is one of these.
    pub const fn name(event: u8) -> Option<&'static str> {
        Some(match event {
            EXCEPTION_ENTRY => "exception_entry",
            EXCEPTION_RETURN => "exception_return",
            VIOLATION => "violation",
            SLEPT => "slept",
            PROBE => "probe",
            RAN => "ran",
            HANDLED => "handled",
            CLOCK => "clock",
            SERVED => "served",
            LOOKED => "looked",
            STORED => "stored",
            ENTERED => "entered",
            _ => return None,
        })
    }
}

/// One stamped record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RunEvent {
    /// Modelled cycles since reset, below 2^56.
    pub cycle: u64,
    /// The core on which it happened.
    pub core: CoreId,
    /// `abi::trace::Event` below 0x80, [`observed`] from there on.
    pub event: u8,
    /// The domain concerned; 255: none.
    pub domain: u8,
    /// Depends on the event.
    pub detail: u16,
    /// Depends on the event.
    pub payload: u32,
}

impl RunEvent {
    /// The record as it stands in the file.
    pub fn to_bytes(self) -> [u8; EVENT_BYTES] {
        let mut bytes = [0; EVENT_BYTES];
        bytes[..8].copy_from_slice(&self.cycle.to_le_bytes());
        bytes[7] = self.core.0;
        bytes[8] = self.event;
        bytes[9] = self.domain;
        bytes[10..12].copy_from_slice(&self.detail.to_le_bytes());
        bytes[12..].copy_from_slice(&self.payload.to_le_bytes());
        bytes
    }

    /// Reads a record; every bit pattern is one.
    pub fn from_bytes(bytes: [u8; EVENT_BYTES]) -> Self {
        let [c0, c1, c2, c3, c4, c5, c6, core, event, domain, d0, d1, p0, p1, p2, p3] = bytes;
        Self {
            cycle: u64::from_le_bytes([c0, c1, c2, c3, c4, c5, c6, 0]),
            core: CoreId(core),
            event,
            domain,
            detail: u16::from_le_bytes([d0, d1]),
            payload: u32::from_le_bytes([p0, p1, p2, p3]),
        }
    }
}

/// The exception or call that the kernel handled, as `detail` of [`observed::HANDLED`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Handled {
    /// The exception; 0: none, the kernel started or idled. A number that has no room is held at 511.
    pub exception: u16,
    /// Number of the system call, if it was one.
    pub call: Option<u8>,
}

impl Handled {
    const EXCEPTION_BITS: u32 = 9;
    const LARGEST_EXCEPTION: u16 = (1 << Self::EXCEPTION_BITS) - 1;
    /// Calls from here on are not told apart.
    const LARGEST_CALL: u8 = 126;

    /// Packs both.
    pub fn to_detail(self) -> u16 {
        let call = self.call.map_or(0, |call| u16::from(call.min(Self::LARGEST_CALL)) + 1);
        self.exception.min(Self::LARGEST_EXCEPTION) | call << Self::EXCEPTION_BITS
    }

    /// Reads both.
    pub fn from_detail(detail: u16) -> Self {
        let call = (detail >> Self::EXCEPTION_BITS).checked_sub(1).map(|call| call as u8);
        Self { exception: detail & Self::LARGEST_EXCEPTION, call }
    }
}

/// The begin of a handler, as `detail` and payload of [`observed::ENTERED`] have it. Numbers that have no room are held at the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Entered {
    /// The exception.
    pub exception: u16,
    /// Handlers have interrupted the kernel.
    pub kernel: bool,
    /// Cycles from when the interrupt was pending, the entry included; at most 2^20 - 1.
    pub cycles: u64,
    /// Instructions that were executed meanwhile; at most 4095.
    pub instructions: u64,
}

impl Entered {
    const CYCLES_BITS: u32 = 20;
    const MOST_CYCLES: u64 = (1 << Self::CYCLES_BITS) - 1;
    const MOST_INSTRUCTIONS: u64 = (1 << (32 - Self::CYCLES_BITS)) - 1;
    const KERNEL_BIT: u32 = 15;

    /// Packs it: detail and payload.
    pub fn pack(self) -> (u16, u32) {
        let detail = self.exception.min(Handled::LARGEST_EXCEPTION) | u16::from(self.kernel) << Self::KERNEL_BIT;
        let (cycles, instructions) =
            (self.cycles.min(Self::MOST_CYCLES), self.instructions.min(Self::MOST_INSTRUCTIONS));
        (detail, (cycles | instructions << Self::CYCLES_BITS) as u32)
    }

    /// Reads it.
    pub fn of(event: &RunEvent) -> Self {
        Self {
            exception: event.detail & Handled::LARGEST_EXCEPTION,
            kernel: event.detail >> Self::KERNEL_BIT != 0,
            cycles: u64::from(event.payload) & Self::MOST_CYCLES,
            instructions: u64::from(event.payload >> Self::CYCLES_BITS),
        }
    }
}

/// Why a file is not an events file of this version.
#[derive(Debug)]
pub enum FormatError {
    /// Reading failed.
    Io(io::Error),
    /// The file does not begin with the magic, or is shorter than the header.
    NotEvents,
    /// The file is of another version.
    Version(u16),
    /// The file ends inside a record (the writer was stopped); the records before it are good.
    Truncated,
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => write!(f, "reading events: {error}"),
            Self::NotEvents => write!(f, "not an events file"),
            Self::Version(found) => write!(f, "events file of version {found}; this tool reads version {VERSION}"),
            Self::Truncated => write!(f, "the events file ends inside a record"),
        }
    }
}

impl std::error::Error for FormatError {}

/// Writes an events file through a buffer of 64 KiB.
pub struct EventsWriter<W: Write> {
    out: BufWriter<W>,
    count: u64,
}

impl<W: Write> EventsWriter<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// What the sink answers.
    pub fn new(sink: W) -> io::Result<Self> {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, sink);
        out.write_all(MAGIC)?;
        out.write_all(&VERSION.to_le_bytes())?;
        out.write_all(&[0; HEADER_BYTES - 8])?;
        Ok(Self { out, count: 0 })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// What the sink answers when the buffer is handed on.
    #[inline]
    pub fn push(&mut self, event: RunEvent) -> io::Result<()> {
        self.count += 1;
        self.out.write_all(&event.to_bytes())
    }

    /// Records so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Hands the buffer on.
    ///
    /// # Errors
    /// What the sink answers.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads an events file record by record, through a buffer of 64 KiB.
pub struct EventsReader<R: Read> {
    source: BufReader<R>,
    ended: bool,
}

impl<R: Read> EventsReader<R> {
    /// Checks the header.
    ///
    /// # Errors
    /// [`FormatError`] when this is no events file of this version.
    pub fn new(source: R) -> Result<Self, FormatError> {
        let mut source = BufReader::with_capacity(BUFFER_BYTES, source);
        let mut header = [0; HEADER_BYTES];
        match source.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(FormatError::NotEvents),
            Err(error) => return Err(FormatError::Io(error)),
            Ok(()) => {}
        }
        if &header[..6] != MAGIC {
            return Err(FormatError::NotEvents);
        }
        match u16::from_le_bytes([header[6], header[7]]) {
            VERSION => Ok(Self { source, ended: false }),
            other => Err(FormatError::Version(other)),
        }
    }

    fn read_record(&mut self) -> Result<Option<RunEvent>, FormatError> {
        let mut bytes = [0; EVENT_BYTES];
        let mut filled = 0;
        while filled < EVENT_BYTES {
            match self.source.read(&mut bytes[filled..]) {
                Ok(0) if filled == 0 => return Ok(None),
                Ok(0) => return Err(FormatError::Truncated),
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(FormatError::Io(error)),
            }
        }
        Ok(Some(RunEvent::from_bytes(bytes)))
    }
}

impl<R: Read> Iterator for EventsReader<R> {
    type Item = Result<RunEvent, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let item = self.read_record().transpose();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// A position in a file; clones go on by themselves, as none moves the file's own position.
#[derive(Clone, Debug)]
pub struct FileCursor {
    file: Arc<File>,
    at: u64,
}

impl FileCursor {
    /// At the beginning of a file.
    pub const fn new(file: Arc<File>) -> Self {
        Self { file, at: 0 }
    }
}

impl Read for FileCursor {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// The events of a run on disk, which can be read as often as needed; nothing of them is kept in memory.
#[derive(Clone, Debug)]
pub struct EventsFile(FileCursor);

impl EventsFile {
    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// [`FormatError`] when it cannot be opened or is no events file of this version.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let start = FileCursor::new(Arc::new(File::open(path).map_err(FormatError::Io)?));
        EventsReader::new(start.clone())?;
        Ok(Self(start))
    }
}

/// The records in order; one that is damaged ends the list.
impl IntoIterator for EventsFile {
    type Item = RunEvent;
    type IntoIter = Records;

    fn into_iter(self) -> Records {
        Records(EventsReader::new(self.0).ok())
    }
}

/// The records of an [`EventsFile`].
pub struct Records(Option<EventsReader<FileCursor>>);

impl Iterator for Records {
    type Item = RunEvent;

    fn next(&mut self) -> Option<RunEvent> {
        self.0.as_mut()?.next()?.ok()
    }
}
