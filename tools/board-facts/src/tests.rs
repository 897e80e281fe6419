use super::*;

const BOARD: &str = "name = 'a board'\nchip = 'x'\nticks_per_second = 1000\n[clock]\ndevice = 'uart'\n\
    shortest_ticks = 2\nstart_ticks = 3\n[protection]\ntables = 'near'\nkernel_offset = 0x8000_0000\n\
    [memory.near]\nbase = 0x100\nbytes = 0x80\nreserved = 0x20\nkind = 'ram'\n[memory.code]\nbase = 0\nbytes = 0x40\nkind = 'kernel'\n\
    [device.uart]\nbase = 0x4000_0000\nbytes = 0x1000\n";
const CHIP: &str = "core = 'c'\n[setup]\nl2_auxiliary = 16\nwrites = [[1, 2]]\n\
    [application.l2.cache]\nsize = { value = 0x20_0000 }\nways = { value = 16 }\n";

fn files(board: &str) -> Files {
    let (board, chip) = (basic_toml::from_str(board).unwrap(), basic_toml::from_str(CHIP).unwrap());
    Files {
        board,
        chip,
        clock: files::ImageClock { offset: 8 },
        timer: 45,
        directory: PathBuf::new(),
        read: Vec::new(),
    }
}

#[test]
fn what_the_kernel_gets_is_what_the_files_say() {
    let files = files(BOARD);
    let constants = files.constants().unwrap();
    for line in [
        "pub const TICKS_PER_SECOND: u32 = 0x3e8;",
        "pub const CLOCK_REGISTER: u32 = 0x40000008;",
        "pub const CLOCK_DIVIDER: u32 = 0x1;",
        "pub const SHORTEST_TICKS: u32 = 0x2;",
        "pub const START_TICKS: u32 = 0x3;",
        "pub const TIMER_LINE: u32 = 0x1d;",
        "pub const KERNEL_OFFSET: u32 = 0x80000000;",
        "pub const TABLES: core::ops::Range<u32> = memory::NEAR;",
        "pub const DOMAINS: [core::ops::Range<u32>; 1] = [memory::NEAR];",
        "pub const L2_WAY_BYTES: u32 = 0x20000;",
        "pub const WRITES: [[u32; 2]; 1] = [[1, 2]];",
        "    pub const NEAR: core::ops::Range<u32> = 0x100..0x180;",
        "    pub const UART: core::ops::Range<u32> = 0x40000000..0x40001000;",
    ] {
        assert!(constants.lines().any(|own| own == line), "{line} in\n{constants}");
    }
    let memories = files.board.memories();
    for line in [
        "CODE : ORIGIN = 0x80000000, LENGTH = 0x40",
        "CODE_PHYSICAL : ORIGIN = 0x0, LENGTH = 0x40",
        "NEAR : ORIGIN = 0x80000100, LENGTH = 0x20",
    ] {
        assert!(memories.lines().any(|own| own == line), "the linker gets the kernel's part: {line} in\n{memories}");
    }
}

#[test]
fn a_timer_without_a_line_is_refused_where_the_kernel_needs_one() {
    let files = Files { timer: 15, ..files(BOARD) };
    assert_eq!(files.constants().unwrap_err(), "exceptions.timer = 15: no interrupt line");
}

#[test]
fn a_clock_without_a_device_is_refused() {
    let nowhere = files(&BOARD.replace("device = 'uart'", "device = 'timer'"));
    assert_eq!(nowhere.constants().unwrap_err(), "clock.device: no device `timer`");
}
