//! The end of a run without an observer. The kernel's last record stays in its trace port, which nobody else can write, and is looked for there: through
//! QEMU's monitor (QMP) on the standard streams of the process, which the guest does not know of. Nothing is asked of the guest, and it can ask
//! for nothing.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use abi::trace::status_at_end;
use serde_json::{Value, json};

/// How long an answer may take. It needs the lock of QEMU's main loop only.
const PATIENCE: Duration = Duration::from_secs(2);

/// The monitor of a QEMU that runs.
pub(crate) struct Monitor {
    input: ChildStdin,
    answers: Receiver<Value>,
    asked: u64,
}

impl Monitor {
    /// The arguments with which QEMU has it.
    pub const ARGUMENTS: [&str; 4] =
        ["-chardev", "stdio,id=monitor,signal=off", "-mon", "chardev=monitor,mode=control"];

    /// On these streams.
    ///
    /// # Errors
    /// When QEMU does not take what it is told.
    pub fn new(input: ChildStdin, output: ChildStdout) -> io::Result<Self> {
        let (sender, answers) = channel();
        thread::spawn(move || {
            let values = BufReader::new(output).lines().map_while(Result::ok);
            // The receiver is gone when the run is over.
            values.filter_map(|line| serde_json::from_str(&line).ok()).try_for_each(|value| sender.send(value))
        });
        let mut monitor = Self { input, answers, asked: 0 };
        monitor.say(&json!({"execute": "qmp_capabilities"}))?;
        Ok(monitor)
    }

    /// The status with which the kernel has ended the run, if it has. `port`: the address of its trace port, as the processor has it mapped in kernel
    /// code; what a domain sees there is never the domain's own.
    pub fn ended(&mut self, port: u32) -> Option<u32> {
        // The payload is stored before the header: after one that says the end it is the end's.
        self.last(port).and_then(|_| self.last(port))
    }

    fn last(&mut self, port: u32) -> Option<u32> {
        let [payload, header] = self.words(port)?;
        status_at_end(header, payload)
    }

    /// Two words, if the processor can read them now.
    fn words(&mut self, address: u32) -> Option<[u32; 2]> {
        self.asked += 1;
        let (line, id) = (format!("x /2xw {address:#x}"), self.asked);
        let command = json!({"execute": "human-monitor-command", "arguments": {"command-line": line}, "id": id});
        self.say(&command).ok()?;
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).ok()?;
            if answer["id"] == id {
                return parsed(answer["return"].as_str()?);
            }
        }
    }

    /// Ends QEMU.
    pub fn quit(&mut self) {
        // One that does not listen is killed.
        let _ = self.say(&json!({"execute": "quit"}));
    }

    fn say(&mut self, command: &Value) -> io::Result<()> {
        writeln!(self.input, "{command}")?;
        self.input.flush()
    }
}

/// `ADDRESS: WORD WORD`, all hexadecimal.
fn parsed(text: &str) -> Option<[u32; 2]> {
    let (_, words) = text.trim().split_once(':')?;
    let mut words = words.split_whitespace().map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16));
    Some([words.next()?.ok()?, words.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::parsed;

    #[test]
    fn two_words_are_read_and_nothing_else_is() {
        assert_eq!(parsed("20000010: 0x00000007 0x0000ff10\r\n"), Some([7, 0xff10]));
        for other in ["", "20000010: 0x00000007", "20000010: Cannot access memory", "Cannot access memory\r\n"] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }
}
