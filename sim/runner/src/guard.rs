//! Keeping a simulator from outliving the run.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_signal: libc::c_int) {
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// From now on Ctrl-C and SIGTERM end the current run instead of this process: the simulator is killed and the run comes back with
/// `EndReason::Killed`. For commands that want to tidy up.
pub fn stop_on_interrupt() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic.
        unsafe { libc::signal(signal, on_signal as *const () as libc::sighandler_t) };
    }
}

/// Whether a signal asked to stop since [`stop_on_interrupt`].
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A process group of its own that is killed when this is dropped, and by the system when the caller's thread ends.
pub(crate) struct Guarded {
    /// Standard input and output, if the command has pipes there.
    pub streams: Option<(ChildStdin, ChildStdout)>,
    group: libc::pid_t,
    ended: Receiver<io::Result<ExitStatus>>,
    waiter: Option<JoinHandle<()>>,
}

impl Guarded {
    /// Starts `command`.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mut command: Command) -> io::Result<Self> {
        command.process_group(0);
        // SAFETY: one system call that is safe between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            });
        }
        let mut child: Child = command.spawn()?;
        let (streams, group) = (child.stdin.take().zip(child.stdout.take()), child.id() as libc::pid_t);
        let (sender, ended) = channel();
        let waiter = std::thread::spawn(move || {
            // The receiver is gone only when nobody wants to know any more.
            let _ = sender.send(child.wait());
        });
        Ok(Self { streams, group, ended, waiter: Some(waiter) })
    }

    /// Waits for the end, at most for `patience`; `None`: it still runs.
    pub fn wait(&mut self, patience: Duration) -> Option<io::Result<ExitStatus>> {
        match self.ended.recv_timeout(patience) {
            Ok(status) => {
                self.join();
                Some(status)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(io::Error::other("its end was not observed"))),
        }
    }

    fn join(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            let _ = waiter.join();
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.waiter.is_some() {
            // SAFETY: the group is that of a child that has not been waited for, so the number is still its own.
            unsafe { libc::kill(-self.group, libc::SIGKILL) };
            self.join();
        }
    }
}
