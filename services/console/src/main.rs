//! The console service: the only domain that can reach the UART.
//!
//! Clients write through the gate `console_write(badge, address, bytes)`. The gate copies at most
//! 256 bytes into a ring that belongs to the client's badge, in pieces that the kernel checks
//! against the client's own memory, and returns.
//!
//! The service's thread takes whole lines from the rings in turn and prints them with the client's
//! name in front. So a line holds the text of one client, and no client can pretend to be another.
//! If there is no whole line, it prints part of one, so that nothing is lost when a program ends or
//! faults amid a line. The rest follows on the same line unless another client has printed
//! meanwhile.
//!
//! Every other byte goes out as the client has written it. A program that shows the lines on a
//! terminal which obeys control characters has to make them visible first, as `cofferdam run` does.
//! A client that writes faster than the UART sends is refused with `FULL`, and no other client
//! notices.
//!
//! A write of no bytes returns how much of the client's text is not sent yet: a program that ends
//! waits for that.
//!
//! Names: notification `events` (bit 0: something was written; bit 1: transmit interrupt), interrupt `tx`, device `uart0` of any kind that
//! `devices::Uart` drives. Exit code 1: one of them is missing; 2: there is no driver for the device.
#![no_std]
#![no_main]

mod ring;
mod uart;

use core::sync::atomic::{AtomicU32, Ordering};

use cofferdam::abi::SERVICE_CLIENTS;
use cofferdam::abi::console::{PRINTED, Printed};
use cofferdam::{Error, Info, Notification, Start, sys};
use ring::Ring;
use uart::Uart;

/// Most bytes that one call may carry: bounds the time that the gate takes.
const WRITE_MAX_BYTES: u32 = 256;
/// Bytes that the kernel copies at once.
const PIECE: usize = abi_piece();
/// In one of so many turns unfinished lines are printed although there are whole ones. Otherwise a
/// client that always has a whole line would keep others from theirs.
const LINES_FIRST: u32 = 8;
/// Bit of `events`: a client has written.
const WRITTEN: u32 = 1;

const fn abi_piece() -> usize {
    cofferdam::abi::COPY_MAX_BYTES as usize
}

/// The slot of `events`, plus one, once the service has started. Looking it up by its name in each
/// call would take too long for the gate's bound.
static EVENTS: AtomicU32 = AtomicU32::new(0);

static RINGS: [Ring; SERVICE_CLIENTS] = [const { Ring::new() }; SERVICE_CLIENTS];

cofferdam::entry!(main);
cofferdam::gate!(console_write, write);

/// Takes `bytes` bytes at `address` of the client's memory, all or nothing, and returns their
/// number. If `bytes` is 0, returns the number of bytes that the client has written and the
/// transmitter has not taken.
///
/// Errors: `BAD_ARGUMENT` (more than 256 bytes, or an unknown badge), `FULL` (the client's ring), `BAD_ADDRESS`,
/// `BAD_STATE` (the service has not started).
fn write(badge: u32, address: u32, bytes: u32, _unused: u32) -> Result<u32, Error> {
    let ring = RINGS.get(badge as usize).ok_or(Error::BadArgument)?;
    if bytes > WRITE_MAX_BYTES {
        return Err(Error::BadArgument);
    }
    if bytes == 0 {
        return Ok(ring.used());
    }
    let events = EVENTS.load(Ordering::Relaxed).checked_sub(1).map(Notification::in_slot).ok_or(Error::BadState)?;
    let mut text = [0; WRITE_MAX_BYTES as usize];
    let text = &mut text[..bytes as usize];
    for (index, piece) in text.chunks_mut(PIECE).enumerate() {
        let from = address.checked_add((index * PIECE) as u32).ok_or(Error::BadAddress)?;
        sys::gate_copy_in(piece, from)?;
    }
    ring.push(text).ok_or(Error::Full)?;
    events.signal(WRITTEN)?;
    Ok(bytes)
}

fn main(start: Start) -> u32 {
    let info = start.info;
    let mut uart = match Uart::open(info) {
        Ok(uart) => uart,
        Err(code) => return code,
    };
    let Some(events) = Notification::named(info, "events") else { return uart::MISSING };
    EVENTS.store(events.slot() + 1, Ordering::Relaxed);
    if start.restarts > 0 {
        // A line may have been unfinished.
        uart.text("\nconsole: restarted\n");
    }
    let mut terminal = Terminal { uart, info, open: None, told: [0; SERVICE_CLIENTS] };
    let mut turn = 0u32;
    loop {
        turn = turn.wrapping_add(1);
        // A client that always has a whole line does not keep others from their unfinished ones.
        let lines_first = !turn.is_multiple_of(LINES_FIRST);
        let printed = lines_first && terminal.print(Ring::line) || terminal.print(Ring::rest);
        if !printed && events.wait(WRITTEN).is_err() {
            return uart::MISSING;
        }
    }
}

/// The terminal, on which a line may be unfinished.
struct Terminal {
    uart: Uart,
    info: Info,
    /// The client whose line is unfinished.
    open: Option<u32>,
    /// Writes of each client that an observer knows to be sent.
    told: [u32; SERVICE_CLIENTS],
}

impl Terminal {
    /// Prints as many bytes of each client as `length` says. Returns false if no client has any.
    fn print(&mut self, length: fn(&Ring) -> Option<u32>) -> bool {
        let mut printed = false;
        for (badge, ring) in (0u32..).zip(&RINGS) {
            if let Some(length) = length(ring) {
                self.print_part(badge, ring, length);
                printed = true;
            }
            self.tell(badge, ring);
        }
        printed
    }

    /// Tells an observer that all of a client's text is sent, once. Others may write without end, so that the console never waits.
    fn tell(&mut self, badge: u32, ring: &Ring) {
        let Some(told) = self.told.get_mut(badge as usize) else { return };
        if let Some(writes) = ring.sent().filter(|writes| writes != told) {
            *told = writes;
            // A marker is never refused.
            let _ = sys::mark(u32::from(PRINTED), Printed { badge, writes }.value());
        }
    }

    fn print_part(&mut self, badge: u32, ring: &Ring, length: u32) {
        if self.open != Some(badge) {
            if self.open.is_some() {
                self.uart.byte(b'\n');
            }
            self.prefix(badge);
        }
        self.open = Some(badge);
        for _ in 0..length {
            let Some(byte) = ring.first() else { break };
            self.uart.byte(byte);
            ring.pop();
            // The next line begins with a name, so this one ends here, even if the client has
            // written more meanwhile.
            if byte == b'\n' {
                self.open = None;
                break;
            }
        }
    }

    fn prefix(&mut self, badge: u32) {
        let uart = &mut self.uart;
        match self.info.client(badge) {
            Some(name) => uart.text(name),
            None => {
                uart.text("domain ");
                if badge >= 10 {
                    uart.byte(b'0' + (badge / 10) as u8);
                }
                uart.byte(b'0' + (badge % 10) as u8);
            }
        }
        uart.text(": ");
    }
}
