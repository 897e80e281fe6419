//! System registers (DDI 0403 B3) by address.

/// A 32-bit memory-mapped system register.
#[derive(Clone, Copy, Debug)]
pub struct Reg(u32);

impl Reg {
    /// A register of the private peripheral bus or of a device.
    ///
    /// # Safety
    /// The address is that of a register, and reading it is harmless. A writer answers for the
    /// effect.
    pub const unsafe fn new(address: u32) -> Reg {
        Reg(address)
    }

    /// Reads the register.
    #[inline]
    pub fn read(self) -> u32 {
        // SAFETY: promised at construction.
        unsafe { (self.0 as *const u32).read_volatile() }
    }

    /// Writes the register.
    #[inline]
    pub fn write(self, value: u32) {
        // SAFETY: promised at construction.
        unsafe { (self.0 as *mut u32).write_volatile(value) }
    }
}

/// Defines registers of the system control space by name and address.
#[macro_export]
macro_rules! registers {
    ($($name:ident = $address:literal, $doc:literal;)*) => {
        $(#[doc = $doc]
        // SAFETY: an architected register.
        pub const $name: $crate::regs::Reg = unsafe { $crate::regs::Reg::new($address) };)*
    };
}

/// MPU_CTRL: the unit is on, and privileged code has the default map behind it.
pub const ENABLE_WITH_DEFAULT_MAP: u32 = 0b101;

/// Bit of ICSR that makes PendSV pending.
pub const PENDSVSET: u32 = 1 << 28;

registers! {
    ICSR = 0xe000_ed04, "Interrupt control and state (B3.2.4).";
    SYST_CSR = 0xe000_e010, "SysTick control and status (B3.3.3).";
    SYST_RVR = 0xe000_e014, "SysTick reload value (B3.3.4).";
    SYST_CVR = 0xe000_e018, "SysTick current value (B3.3.5).";
    CCR = 0xe000_ed14, "Configuration and control (B3.2.8).";
    SHPR1 = 0xe000_ed18, "Priorities of MemManage, BusFault, UsageFault (B3.2.10), and SecureFault (DDI 0553 D1.2).";
    SHPR2 = 0xe000_ed1c, "Priority of SVCall (B3.2.11).";
    SHPR3 = 0xe000_ed20, "Priorities of PendSV and SysTick (B3.2.12).";
    SHCSR = 0xe000_ed24, "System handler control and state (B3.2.13).";
    CFSR = 0xe000_ed28, "Configurable fault status (B3.2.15).";
    HFSR = 0xe000_ed2c, "HardFault status (B3.2.16).";
    DFSR = 0xe000_ed30, "Debug fault status (C1.6.1).";
    MMFAR = 0xe000_ed34, "MemManage fault address (B3.2.17).";
    BFAR = 0xe000_ed38, "BusFault address (B3.2.18).";
    CPACR = 0xe000_ed88, "Coprocessor access control (B3.2.20).";
    MPU_TYPE = 0xe000_ed90, "MPU type: how many regions there are (B3.5.3).";
    MPU_CTRL = 0xe000_ed94, "MPU control (B3.5.4).";
    MPU_RNR = 0xe000_ed98, "Number of the MPU region that the next two are of (B3.5.7).";
    MPU_RBAR = 0xe000_ed9c, "MPU region base address (B3.5.8).";
    MPU_RASR_RLAR = 0xe000_eda0, "Second word of an MPU region: attribute and size (B3.5.9), or limit (DDI 0553 D1.2).";
    DEMCR = 0xe000_edfc, "Debug exception and monitor control (C1.6.5).";
    ITM_TPR = 0xe000_0e40, "Trace privilege: which stimulus ports unprivileged code may not write (C1.7.5).";
    ITM_LAR = 0xe000_0fb0, "Lock access of the ITM (D1.1.1).";
    FPCCR = 0xe000_ef34, "Floating-point context control (B3.2.21).";
}

/// NVIC set-enable registers (B3.4.4), one bit a line.
pub fn nvic_iser(line: u32) -> (Reg, u32) {
    nvic(0xe000_e100, line)
}

/// NVIC clear-enable registers (B3.4.5).
pub fn nvic_icer(line: u32) -> (Reg, u32) {
    nvic(0xe000_e180, line)
}

/// NVIC set-pending registers (B3.4.6).
pub fn nvic_ispr(line: u32) -> (Reg, u32) {
    nvic(0xe000_e200, line)
}

/// NVIC active bits (B3.4.8).
pub fn nvic_iabr(line: u32) -> (Reg, u32) {
    nvic(0xe000_e300, line)
}

/// NVIC target state: whose vectors a line leads to (DDI 0553 D1.2), where there are two states.
pub fn nvic_itns(line: u32) -> (Reg, u32) {
    nvic(0xe000_e380, line)
}

/// NVIC clear-pending registers (B3.4.7), one bit a line.
pub fn nvic_icpr(line: u32) -> (Reg, u32) {
    nvic(0xe000_e280, line)
}

fn nvic(base: u32, line: u32) -> (Reg, u32) {
    // SAFETY: lines are below `system::objects::MAX_LINES`, so that the address stays within the architected array.
    (unsafe { Reg::new(base + 4 * (line / 32 & 7)) }, 1 << (line & 31))
}

/// NVIC priority registers (B3.4.9), one byte a line; `word` selects four lines.
pub fn nvic_ipr(word: u32) -> Reg {
    // SAFETY: within the architected array of 60 words.
    unsafe { Reg::new(0xe000_e400 + 4 * word.min(59)) }
}
