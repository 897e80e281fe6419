//! What a step has to know of the machine that it runs on.

/// How memory is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Region registers: addresses are physical.
    Regions,
    /// Page tables: memory that is mapped at run time may lie at any virtual page.
    Pages,
}

/// A target, as far as rows differ from it to another.
#[derive(Clone, Copy, Debug)]
pub struct Platform {
    /// Name of the board.
    pub board: &'static str,
    /// Clock of its processor: how a domain finds out where it runs.
    pub cpu_hz: u32,
    /// How memory is protected.
    pub scheme: Scheme,
    /// Data of the kernel.
    pub kernel_data: u32,
    /// Code of the kernel.
    pub kernel_code: u32,
    /// Registers of the processor itself.
    pub core: u32,
    /// A device that the kernel keeps.
    pub kernel_device: u32,
    /// A device that nobody was given.
    pub other_device: u32,
    /// Nothing.
    pub nowhere: u32,
    /// What to store to the first device of the board, as offset and value, so that its line `tx` becomes active.
    pub raise: &'static [(u32, u32)],
    /// And so that it becomes inactive.
    pub quiet: &'static [(u32, u32)],
}

/// The targets.
pub const PLATFORMS: &[Platform] = &[
    Platform {
        board: "mps2-an500",
        cpu_hz: 216_000_000,
        scheme: Scheme::Regions,
        kernel_data: 0x2000_0000,
        kernel_code: 0x0000_0000,
        core: 0xe000_ed94,
        kernel_device: 0x4000_0000,
        other_device: 0x4000_5000,
        nowhere: 0x8000_0000,
        // CMSDK UART (DDI 0479, section 4.3): bit rate, transmitter with its interrupt, a character.
        raise: &[(0x10, 16), (0x08, 5), (0x00, 0x0a)],
        quiet: &[(0x08, 0), (0x0c, 1)],
    },
    Platform {
        board: "xilinx-zynq-a9",
        cpu_hz: 767_000_000,
        scheme: Scheme::Pages,
        kernel_data: 0xfffd_0000,
        kernel_code: 0xfffc_0000,
        core: 0xf8f0_0100,
        kernel_device: 0xf8f0_0200,
        other_device: 0x6000_1000,
        nowhere: 0x7fff_0000,
        // Cadence UART (UG585, appendix B.33): transmitter on, interrupt when its queue is empty.
        raise: &[(0x00, 0x10), (0x08, 0x08)],
        quiet: &[(0x0c, 0x08), (0x14, 0x08)],
    },
];

impl Platform {
    /// The platform whose processor has this clock.
    pub fn of(cpu_hz: u32) -> Option<&'static Platform> {
        PLATFORMS.iter().find(|platform| platform.cpu_hz == cpu_hz)
    }
}
