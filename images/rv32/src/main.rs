//! The kernel's image for every board with an Ibex core behind an MMU of `rtl/mmu`. Build it with `COFFERDAM_BOARD` set to the board's file, as the `cofferdam` command
//! does.
#![no_std]
#![no_main]

mod startup;

use kernel::Kernel;
use kernel::entry::{Args, Next};
use rv32::{Board, Registers, Rv32, TableMemory};
use units::{PhysAddr, VirtAddr};

/// The MMUs, by their names in the files of boards.
#[allow(unused_imports)] // a board has one
mod mmus {
    pub use rv32::{Direct as direct, Rtmmu as rtmmu, Sv32 as sv32};
}

/// Constants of the board's file.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

/// The board, as its file describes it.
#[derive(Debug)]
struct Described;

impl Board for Described {
    const TIMER: u32 = board::CLOCK_DEVICE.start;
    type Mmu = board::Mmu;
    const MMU: u32 = board::device::MMU.start;
    const TABLES: TableMemory = TableMemory {
        windows: [board::device::TABLE_A.start, board::device::TABLE_B.start, board::device::TABLE_D.start],
        entries_log2: board::ENTRIES_LOG2,
    };
    const SHORTEST_TICKS: u32 = board::SHORTEST_TICKS;

    fn is_memory(PhysAddr(physical): PhysAddr<u32>) -> bool {
        board::DOMAINS.iter().any(|memory| memory.contains(&physical))
    }

    fn end(&mut self, status: u32) {
        end(status);
    }
}

/// Ends the run: a store to the device that a test bench watches (`rtl/periph/console.sv`, STOP). Silicon goes on and stops in the kernel.
fn end(status: u32) {
    const STOP: u32 = 0x8;
    // SAFETY: the board has it there.
    unsafe { Registers::new(board::device::BENCH.start) }.write(STOP, status);
}

/// The registers of the MMU, for the entry code.
#[unsafe(no_mangle)]
#[used]
#[allow(non_upper_case_globals)] // it is a label
static cofferdam_mmu: u32 = board::device::MMU.start;

/// The state of the only core.
type Machine = Kernel<Rv32<Described>>;

// The linker script states this offset of the trace port.
const _: () = assert!(kernel::arch_offset::<Rv32<Described>>() + Rv32::<Described>::PORT_OFFSET == 16);
const _: () = rv32::check::<Described>();

kernel::entry_points!(Rv32<Described>);
kernel::entry_points! { Rv32<Described>;
    rv32::simple as kernel_simple(args: &Args, number: u32) -> (), "Performs a system call after which the caller goes on.";
    rv32::interrupt as kernel_interrupt() -> Next<Rv32<Described>>, "The timer's interrupt, or a line's.";
    rv32::fault as kernel_fault(reason: u32, address: VirtAddr<u32>) -> Next<Rv32<Described>>, "Stops the domain of a thread that went wrong.";
}
