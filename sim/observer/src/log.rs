//! The events file, the list of violations and the progress file.

use std::fs::File;
use std::io;
use std::path::Path;

use record::{EventsWriter, Progress, RunEvent, Violation, Watch};

const VIOLATIONS_LISTED: usize = 1000;

/// The files that are written while the run goes on.
pub struct Log {
    events: EventsWriter<File>,
    violations: Vec<Violation>,
    total: u64,
    progress: Option<&'static mut [u64; Progress::BYTES / 8]>,
    failed: bool,
    /// Header of the last trace record.
    pub last_header: u32,
}

impl Log {
    /// Creates the files that `watch` names.
    ///
    /// # Errors
    /// A text with the path and the reason.
    pub fn create(watch: &Watch) -> Result<Self, String> {
        let told = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        let file = File::create(&watch.events).map_err(|error| told(&watch.events, error))?;
        let events = EventsWriter::new(file).map_err(|error| told(&watch.events, error))?;
        let progress = match &watch.progress {
            Some(path) => Some(map(path).map_err(|error| told(path, error))?),
            None => None,
        };
        Ok(Self { events, violations: Vec::new(), total: 0, progress, failed: false, last_header: 0 })
    }

    /// Appends an event, unless the file could not take one before.
    pub fn event(&mut self, event: RunEvent) {
        if !self.failed
            && let Err(error) = self.events.push(event)
        {
            self.failed = true;
            eprintln!("cofferdam: writing events: {error}");
        }
    }

    /// Whether the file could not take an event: the run cannot go on.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Counts a violation and lists it while there is room; its index, held at 65535.
    pub fn violation(&mut self, violation: Violation) -> u16 {
        let index = u16::try_from(self.total).unwrap_or(u16::MAX);
        self.total += 1;
        if self.violations.len() < VIOLATIONS_LISTED {
            self.violations.push(violation);
        }
        index
    }

    /// The violations listed, and how many there were.
    pub fn violations(&self) -> (Vec<Violation>, u64) {
        (self.violations.clone(), self.total)
    }

    /// Shows how far the run is.
    #[inline]
    pub fn progress(&mut self, cycles: u64, instructions: u64) {
        let events = self.events.count();
        if let Some(words) = &mut self.progress {
            words[..4].copy_from_slice(&[cycles, instructions, events, u64::from(self.last_header)]);
        }
    }

    /// Shows that the run is over.
    pub fn over(&mut self) {
        if let Some(words) = &mut self.progress {
            words[4] = 1;
        }
    }

    /// Hands all events on; how many there were.
    ///
    /// # Errors
    /// What the file answers.
    pub fn close(&mut self) -> io::Result<u64> {
        self.events.flush()?;
        Ok(self.events.count())
    }
}

/// Maps the progress file into memory for as long as the process lives.
fn map(path: &Path) -> io::Result<&'static mut [u64; Progress::BYTES / 8]> {
    use std::os::fd::AsRawFd;
    let file = File::options().read(true).write(true).create(true).truncate(true).open(path)?;
    file.set_len(Progress::BYTES as u64)?;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh shared mapping of a file that is as long as the mapping; nobody else in this process has it.
    unsafe {
        let address =
            libc::mmap(std::ptr::null_mut(), Progress::BYTES, protection, libc::MAP_SHARED, file.as_raw_fd(), 0);
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(&mut *address.cast())
    }
}
