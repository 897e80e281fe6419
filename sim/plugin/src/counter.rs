//! Registers of a counter of cycles that QEMU does not have, in memory that QEMU and this object both map, and the way to a UART's receiver by which
//! the counter's interrupt comes. The byte is written before a deadline is met ([`crate::clock::Shim::meet_main_loop`]): the main loop takes it then.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::AtomicU32;

use observer::{CounterWatch, DEBUG_BYTES};

/// The registers, and the receiver.
pub struct Counter {
    words: &'static [AtomicU32],
    receiver: File,
}

impl Counter {
    /// Maps the registers.
    ///
    /// # Errors
    /// A text: a file that cannot be used.
    pub fn open(watch: &CounterWatch) -> Result<Self, String> {
        let open = |path: &Path| {
            let file = OpenOptions::new().read(true).write(true).open(path);
            file.map_err(|error| format!("{}: {error}", path.display()))
        };
        let (share, receiver) = (open(&watch.share)?, open(&watch.receiver)?);
        let offset = i64::from(watch.registers.wrapping_sub(watch.memory));
        let bytes = DEBUG_BYTES as usize;
        // SAFETY: a new mapping, whose place the system chooses.
        let at = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, share.as_raw_fd(), offset)
        };
        if at == libc::MAP_FAILED {
            return Err(format!("{}: it cannot be mapped", watch.share.display()));
        }
        // SAFETY: the mapping is of this size and lives as long as the process; others change its words as a whole.
        let words = unsafe { std::slice::from_raw_parts(at.cast::<AtomicU32>(), bytes / 4) };
        Ok(Self { words, receiver })
    }

    /// A word of them.
    pub fn word(&self, offset: u32) -> Option<&AtomicU32> {
        self.words.get(offset as usize / 4)
    }

    /// Has the UART receive a byte.
    pub fn matches(&mut self) {
        if let Err(error) = self.receiver.write_all(&[0]) {
            eprintln!("cofferdam: the counter's receiver: {error}");
        }
    }
}
