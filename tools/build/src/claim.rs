//! One at a time in a system's directory.

use std::fs::{File, TryLockError};
use std::sync::Arc;
use std::time::Duration;

use manifest::Diagnostic;

use crate::files::{create_dir, unwritable};
use crate::install::Install;

const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// The right to write in the directory of a system's results, until the last copy is dropped. It ends with the process at the
/// latest, however that ends.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its lock is the claim.
    _file: Arc<File>,
}

impl Install {
    /// Claims the directory of a system. While somebody else builds or runs a system of that name, it waits, and calls `wait` from time to
    /// time.
    ///
    /// # Errors
    /// CF0604 when the directory cannot be written.
    pub fn claim(&self, system: &str, wait: &mut dyn FnMut()) -> Result<Claim, Diagnostic> {
        let dir = self.system_dir(system);
        create_dir(&dir)?;
        let path = dir.join("lock");
        let file = File::options().create(true).append(true).open(&path).map_err(|error| unwritable(&path, &error))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Claim { _file: Arc::new(file) }),
                Err(TryLockError::WouldBlock) => wait(),
                Err(TryLockError::Error(error)) => return Err(unwritable(&path, &error)),
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
    }
}
