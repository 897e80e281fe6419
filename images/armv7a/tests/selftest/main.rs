//! Self-test of the processor's port, without the kernel: caches and MMU on; two domains at the same addresses in spaces of their own,
//! which the timer switches; calls in both instruction sets; floating-point registers kept and not passed on; a mapping
//! changed under a program; an identifier that becomes another's; misdeeds told apart and attributed. Prints one line for each on UART 0, and ends with the number of those
//! that failed.
#![no_std]
#![no_main]

mod domain;
mod programs;
mod uart;

use core::cell::UnsafeCell;
use core::fmt::Write;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering::SeqCst};

use abi::trace::{Event, IDLE, header};
use armv7a::fault::{self, Vector};
use armv7a::pl310::Pl310;
use armv7a::{Armv7a, Cause, Context};
use domain::{CONSTANTS, Domain, Failed};
use image::Described;
use kernel::arch::Arch;
use uart::{UART, Uart};
use units::{Bytes, PhysAddr, VirtAddr};

/// Ticks of a turn: 1 ms.
const TURN: u32 = 25_000;
/// Turns in which both only count.
const TURNS: u32 = 40;

/// The test's next step, from turn to turn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Both run the program that behaves, for so many turns.
    Counting(u32),
    /// Domain 1 has committed this misdeed, or will at its next turn.
    Misdeed(usize),
    /// Domain 1 behaves again: it must not find its own registers of before.
    Anew,
    /// Domain 0 calls, this often so far: twice by the same instruction, because the kernel repeats the first.
    Call { thumb: bool, seen: u32 },
    /// Domain 0 reads a page that is locked and then changes.
    Remap(u32),
    /// Domain 1 behaves under domain 0's identifier.
    TakenOver,
}

/// All state. The entry code knows that the first word is the running Context.
#[repr(C)]
struct Test {
    resume: *mut Context,
    arch: Armv7a<Described>,
    domains: [Domain; 2],
    running: usize,
    stage: Stage,
    uart: Uart,
    cache: Pl310,
    reported: [bool; 2],
    counted: u32,
    failed: u32,
}

struct Cpu(UnsafeCell<MaybeUninit<Test>>);

// SAFETY: one CPU, and nothing interrupts the kernel.
unsafe impl Sync for Cpu {}

#[unsafe(no_mangle)]
static COFFERDAM_CPU: Cpu = Cpu(UnsafeCell::new(MaybeUninit::uninit()));

#[unsafe(no_mangle)]
extern "C" fn kernel_power_on() -> u64 {
    // SAFETY: the first thing that runs.
    let started = unsafe { image::start(Some(image::device(PhysAddr(UART), Bytes(0x1000)))) };
    let nobody = started.unwrap_or_else(|error| {
        let _ = writeln!(Uart::new(), "start: {error:?}");
        ended(0x100)
    });
    nobody.into()
}

#[unsafe(no_mangle)]
extern "C" fn kernel_start(nobody: u64) -> *mut Context {
    let mut uart = Uart::new();
    // SAFETY: it was started.
    let cache = unsafe { image::cache() };
    let mut arch = Armv7a::new(nobody.into());
    let domains = domain::load(&mut arch).and_then(|()| Ok([Domain::new(0)?, Domain::new(1)?]));
    let domains = domains.unwrap_or_else(|Failed(what)| {
        let _ = writeln!(uart, "start: {what} failed");
        ended(0x101)
    });
    let test = Test {
        resume: core::ptr::null_mut(),
        arch,
        domains,
        running: 1,
        stage: Stage::Counting(0),
        uart,
        cache,
        reported: [false; 2],
        counted: 0,
        failed: 0,
    };
    // SAFETY: nobody uses it yet.
    let test = unsafe { (*COFFERDAM_CPU.0.get()).write(test) };
    test.line(true, format_args!("caches and MMU are on"));
    test.domains.iter_mut().for_each(|domain| domain.restart(programs::main()));
    test.turn()
}

impl Test {
    fn line(&mut self, right: bool, text: core::fmt::Arguments) {
        self.failed += u32::from(!right);
        let _ = writeln!(self.uart, "{} {text}", if right { "ok  " } else { "FAIL" });
    }

    /// The other domain's turn, in its space.
    fn turn(&mut self) -> *mut Context {
        self.running ^= 1;
        self.arch.arm_timer_in(TURN);
        self.resume = self.domains[self.running].turn();
        self.resume
    }

    fn timer(&mut self) -> *mut Context {
        if let Stage::Counting(turns) = self.stage {
            self.stage = Stage::Counting(turns + 1);
            if turns + 1 == TURNS {
                let both = self.reported == [true; 2] && self.domains.iter().all(|domain| domain.count() > 0);
                self.line(both, format_args!("{TURNS} turns by the timer; both have reported and counted"));
                self.counted = self.domains[0].count();
                self.begin_misdeed(0);
            }
        }
        self.turn()
    }

    /// Domain 1 starts anew, with a misdeed, at its next turn.
    fn begin_misdeed(&mut self, number: usize) {
        self.stage = Stage::Misdeed(number);
        let entry = programs::misdeeds()[number].entry;
        self.domains[1].restart(entry);
    }

    fn fault(&mut self, vector: Vector) -> *mut Context {
        let report = fault::report(vector, &self.domains[self.running].context);
        let Stage::Misdeed(number) = self.stage else {
            let running = self.running;
            self.line(false, format_args!("domain {running}: {vector:?}, {report:x?}"));
            return self.end();
        };
        let all = programs::misdeeds();
        let wanted = &all[number];
        let right = self.running == 1
            && (report.kind, report.address, report.pc) == (wanted.kind, VirtAddr(wanted.address), VirtAddr(wanted.pc));
        let text = (self.running, wanted.name, report.kind.name(), report.address);
        self.line(right, format_args!("domain {}: {}: {} fault at {:#010x}", text.0, text.1, text.2, text.3.0));
        if !right {
            self.line(
                false,
                format_args!("wanted {:?}, {:#x}, pc {:#x}; is {report:x?}", wanted.kind, wanted.address, wanted.pc),
            );
        }
        if number + 1 < all.len() {
            self.begin_misdeed(number + 1);
            return self.turn();
        }
        let locked = self.domains[1].lock_and_unlock();
        self.line(locked.is_ok(), format_args!("a TLB entry of domain 1 locked and unlocked"));
        let locked = domain::lock_a_way(&self.cache);
        self.line(locked.is_ok(), format_args!("a way filled and locked"));
        let further = self.domains[0].count() > self.counted;
        self.line(further, format_args!("domain 0 has counted on in between"));
        self.stage = Stage::Anew;
        self.reported[1] = false;
        self.domains[1].restart(programs::main());
        core::ptr::null_mut()
    }

    fn begin_call(&mut self, thumb: bool) -> *mut Context {
        self.stage = Stage::Call { thumb, seen: 0 };
        let (entry, _) = if thumb { programs::thumb_call() } else { programs::arm_call() };
        self.domains[0].restart(entry);
        self.running = 1;
        self.turn()
    }

    fn call(&mut self) -> *mut Context {
        let request = self.arch.request(&self.domains[self.running].context);
        let [first, second, ..] = request.args;
        match request.number {
            programs::REPORT => self.first_report(first, second),
            programs::STAGE => self.staged_call(first),
            _ => {
                let running = self.running;
                self.line(false, format_args!("domain {running}: its check {first} failed"));
                self.end()
            }
        }
    }

    /// Handles a program's first report: its word, and whether its registers were clear.
    fn first_report(&mut self, word: u32, registers: u32) -> *mut Context {
        let running = self.running;
        let domain = &mut self.domains[running];
        let right = word == domain.word && registers == 0;
        self.arch.respond(&mut domain.context, 0, []);
        let at = programs::DATA;
        self.line(right, format_args!("domain {running}: {word:#010x} at {at:#010x}, registers {registers:#x}"));
        self.reported[running] = true;
        match self.stage {
            Stage::Anew => self.begin_call(false),
            Stage::TakenOver => self.end(),
            _ => core::ptr::null_mut(),
        }
    }

    fn staged_call(&mut self, value: u32) -> *mut Context {
        match self.stage {
            Stage::Call { thumb, seen } => self.repeated_call(thumb, seen, value),
            Stage::Remap(seen) => self.remapped(seen, value),
            _ => self.end(),
        }
    }

    fn repeated_call(&mut self, thumb: bool, seen: u32, value: u32) -> *mut Context {
        if seen == 0 {
            self.stage = Stage::Call { thumb, seen: 1 };
            self.arch.repeat(&mut self.domains[self.running].context);
            return core::ptr::null_mut();
        }
        let (_, wanted) = if thumb { programs::thumb_call() } else { programs::arm_call() };
        let state = if thumb { "Thumb" } else { "Arm" };
        let right = value == wanted && self.running == 0;
        self.line(right, format_args!("domain 0: a call in {state} state, performed again"));
        if !thumb {
            return self.begin_call(true);
        }
        self.stage = Stage::Remap(0);
        self.domains[0].restart(programs::remap());
        core::ptr::null_mut()
    }

    fn remapped(&mut self, seen: u32, value: u32) -> *mut Context {
        let right = value == CONSTANTS[usize::from(matches!(seen, 1 | 2))];
        self.line(right, format_args!("domain 0: {value:#010x} at {:#010x}", programs::CONST));
        self.stage = Stage::Remap(seen + 1);
        match seen {
            0 | 2 => {
                let changed = self.domains[0].change_constants();
                self.line(changed.is_ok(), format_args!("another frame there, in the same turn"));
            }
            1 => {
                let locked = self.domains[0].lock_constants(1);
                self.line(locked.is_ok(), format_args!("its entry locked"));
            }
            _ => return self.take_over(),
        }
        // No other space is loaded: only the invalidation, at last of a locked entry, makes the program see it.
        core::ptr::null_mut()
    }

    /// Domain 1 goes on as the identifier that was domain 0's.
    fn take_over(&mut self) -> *mut Context {
        let asid = self.domains[0].asid();
        self.stage = Stage::TakenOver;
        self.domains[1].take_over(asid);
        self.domains[1].restart(programs::main());
        self.running = 0;
        self.turn()
    }

    fn end(&mut self) -> *mut Context {
        let failed = self.failed;
        self.line(failed == 0, format_args!("end"));
        ended(self.failed)
    }
}

#[unsafe(no_mangle)]
extern "C" fn kernel_call(test: &mut Test) -> *mut Context {
    test.call()
}

#[unsafe(no_mangle)]
extern "C" fn kernel_interrupt(test: &mut Test) -> *mut Context {
    let (cause, taken) = test.arch.cause();
    if let Cause::Line(line) = cause {
        test.arch.mask(line);
        test.line(false, format_args!("line {line} interrupts"));
    }
    test.arch.finish(taken);
    if cause == Cause::Timer { test.timer() } else { core::ptr::null_mut() }
}

#[unsafe(no_mangle)]
extern "C" fn kernel_fault(test: &mut Test, vector: Vector) -> *mut Context {
    test.fault(vector)
}

/// Calls that the programs do not make: the entry code knows them by their numbers.
macro_rules! not_called {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $name(_: &mut Test) -> *mut Context {
            kernel_panic(0, 0)
        }
    )*};
}

not_called! {
    kernel_gate_call kernel_gate_return kernel_yield kernel_signal kernel_wait kernel_sleep kernel_period kernel_exit kernel_simple
}

/// The kernel itself went wrong, at about `pc`, by the exception of this mode.
#[unsafe(no_mangle)]
extern "C" fn kernel_panic(pc: u32, mode: u32) -> ! {
    let _ = writeln!(Uart::new(), "FAIL the kernel, near {pc:#010x}, in mode {:#x}", mode & 0x1f);
    ended(0xdead)
}

/// Where the last record is looked for: payload, header (`abi::trace`).
#[unsafe(no_mangle)]
static SELFTEST_PORT: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

/// Ends the run with a status.
fn ended(status: u32) -> ! {
    for (word, value) in SELFTEST_PORT.iter().zip([status, header(Event::End, IDLE, 0)]) {
        word.store(value, SeqCst);
    }
    armv7a::park()
}

#[panic_handler]
fn panicked(info: &core::panic::PanicInfo) -> ! {
    let _ = writeln!(Uart::new(), "FAIL {info}");
    ended(0xdead)
}
