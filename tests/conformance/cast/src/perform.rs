//! Performs the part of an actor.

use core::hint::black_box;

use cofferdam::{Error, Info, sys};
use conformance::{Action, Actor, NOTICE_US, Seen, row};
use devices::Uart;

use crate::board::Board;
use crate::scene::{DEVICE, Here};

/// An instruction that no processor knows: in Thumb state (twice), and in Arm state, where RV32 has one in the second half-word.
static UNDEFINED: [u32; 2] = [0xdeff_deff, 0xe7f0_00f0];

/// Performs what an actor does in the row in one of its lives: status and value for the caller, if it is a gate.
pub fn perform(actor: Actor, info: Info, board: Board, given: [u32; 4]) -> (u32, u32) {
    let mut record = board.record(actor);
    let life = record.begin();
    board.note(actor, record);
    let scene = Here::new(info, board, given);
    let part = board.row().and_then(row).and_then(|row| row.part(actor, life));
    let (Some(scene), Some(part)) = (scene, part) else { return (0, 0) };
    for step in part.steps {
        let action = step.action(&scene);
        if let Action::Return(status, value) = action {
            record.note(Ok(()));
            board.note(actor, record);
            return (status, value);
        }
        let seen = act(action, info);
        record.note(step.judge(&scene, seen));
        board.note(actor, record);
    }
    (0, 0)
}

/// Performs an action. Some of them do not come back, by intention.
fn act(action: Action, info: Info) -> Seen {
    match action {
        Action::Call(number, args, again) => call(number, args, again),
        // SAFETY of the accesses: there is none, on purpose. The kernel has to stop an access that
        // the domain may not make.
        Action::Load(address) => Seen::Word(unsafe { (address as *const u32).read_volatile() }),
        // SAFETY: see above.
        Action::Store(address, word) => unsafe {
            (address as *mut u32).write_volatile(word);
            Seen::Nothing
        },
        Action::Jump(address) => jump(address),
        Action::Spin(ticks) => {
            let end = sys::time_now() + u64::from(ticks);
            while sys::time_now() < end {
                core::hint::spin_loop();
            }
            Seen::Nothing
        }
        Action::Clock => Seen::Time(sys::time_now()),
        Action::Word(word) => Seen::Word(word),
        Action::Device(_, active) => device(info, active),
        Action::Undefined => {
            let word = if act as *const () as usize & 1 == 1 { &UNDEFINED[0] } else { &UNDEFINED[1] };
            jump(core::ptr::from_ref(word) as u32)
        }
        Action::Overflow => Seen::Word(deeper(0)),
        Action::Return(..) => Seen::Nothing,
    }
}

/// Makes the line of the own transmitter active: one that has sent a character has room. Or makes it inactive.
fn device(info: Info, active: bool) -> Seen {
    // SAFETY: the area is the information block's, and one step at a time drives the device.
    let uart = info.area(DEVICE).and_then(|area| unsafe { Uart::open(area) });
    match uart {
        Some(uart) if active => {
            uart.announce();
            uart.send(b'\n');
        }
        Some(uart) => uart.silence(),
        None => {}
    }
    Seen::Nothing
}

fn call(number: u32, args: [u32; 4], again: bool) -> Seen {
    loop {
        // SAFETY: scripts pass addresses of memory that is there to be written.
        let (status, first, second) = unsafe { sys::any(number, args) };
        if !(again && status == Error::Again.status()) {
            return Seen::Told(status, [first, second]);
        }
    }
}

/// Jumps there, in the state in which this runs.
fn jump(address: u32) -> Seen {
    let address = address as usize | (jump as *const () as usize & 1);
    // SAFETY: there is none: what is there must not be executed.
    let code: extern "C" fn() = unsafe { core::mem::transmute(address) };
    code();
    Seen::Nothing
}

#[expect(unconditional_recursion, reason = "this is what is to be stopped")]
fn deeper(depth: u32) -> u32 {
    let frame = black_box([depth; 16]);
    deeper(depth + 1) + frame[depth as usize % 16]
}

/// Waits for the start of a row, performs it, and waits until it is over.
pub fn thread(info: Info, argument: u32) -> u32 {
    let (Some(board), Some(actor)) = (Board::find(info), Actor::of_thread(argument)) else { return 1 };
    crate::scene::set_stretch(argument);
    crate::scene::prepare(info, board);
    if board.row().is_some() {
        while board.start() == 0 {
            let _ = sys::sleep_until(sys::time_now() + u64::from(NOTICE_US * crate::scene::ticks_per_us(info)));
        }
        let _ = sys::sleep_until(board.start());
        perform(actor, info, board, [0; 4]);
    }
    // The lead stops the domain when the row is over.
    loop {
        let _ = sys::sleep_until(sys::time_now() + u64::from(info.ticks_per_second()));
    }
}

/// A gate's call.
///
/// # Errors
/// The status that the row wants.
pub fn gate(actor: Actor, given: [u32; 4]) -> u64 {
    let found = cofferdam::info().and_then(|info| Some((info, Board::find(info)?)));
    let Some((info, board)) = found else { return u64::from(Error::Stopped.status()) };
    let (status, value) = perform(actor, info, board, given);
    u64::from(value) << 32 | u64::from(status)
}
