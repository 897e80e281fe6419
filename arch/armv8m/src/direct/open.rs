//! Memory, devices and lines of handlers, set up once, before anything runs.

use core::arch::asm;
use core::sync::atomic::Ordering::Relaxed;

use armv_m::barrier;
use armv_m::regs::{self, Reg};
use kernel::boot::BootError;
use protect::pmsav8::Pmsav8;
use system::{System, direct};

use super::displaced::DISPLACED;
use super::meter;
use super::owner::{COFFERDAM_OWNER, MAX_LINE};
use crate::registers::{MPU_CTRL_NS, MPU_RLAR_NS, MPU_RNR_NS, MPU_TYPE_NS, SAU_CTRL, SAU_RBAR, SAU_RLAR, SAU_RNR};

/// Facts of a board for handlers.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Ranges of memory, each with the controller that says which of its blocks are Non-secure: base, bytes, its address.
    pub gates: &'static [[u32; 3]],
    /// Devices that can be Non-secure: base, the registers that make it so and that then let unprivileged code access it, and the bit.
    pub open: &'static [[u32; 4]],
    /// Register and bit by which Secure code may be callable.
    pub callable: Option<[u32; 2]>,
    /// The timer that looks whether handlers run, and its line.
    pub sampler: (u32, u32),
    /// The counter of their cycles: its registers, the device by which it interrupts, the line.
    pub counter: Option<[u32; 3]>,
}

unsafe extern "C" {
    static cofferdam_wake: u8;
    static __cofferdam_wake_callable_end: u8;
}

/// Opens what the tables say is open to handlers.
///
/// # Errors
/// [`BootError::BadTables`]: the board cannot open it.
///
/// # Time complexity
/// Linear in the blocks; runs once.
pub fn open(system: &System<'_>, facts: &Facts) -> Result<(), BootError> {
    let own = system.own::<Pmsav8>();
    DISPLACED.start(None);
    if own.domain == 0 {
        return Ok(());
    }
    if let Some([register, bit]) = facts.callable {
        set(register, 1 << bit);
    }
    let mut attribute = Attribute { number: 0 };
    let way_in = (&raw const cofferdam_wake) as u32 & !31;
    attribute.add(way_in, (&raw const __cofferdam_wake_callable_end) as u32 & !31, CALLABLE)?;
    for (base, bytes, is_device) in direct::open(system) {
        if is_device {
            let device = facts.open.iter().find(|device| device[0] == base | own.alias).ok_or(BootError::BadTables)?;
            set(device[1], 1 << device[3]);
            set(device[2], 1 << device[3]);
        } else {
            blocks(facts, base | own.alias, bytes)?;
        }
        attribute.add(base, base + bytes, 0)?;
    }
    barrier();
    close_non_secure_thread_mode();
    lines(system, &own, facts)
}

/// Of SAU_RLAR: the region is Secure and callable, instead of Non-secure.
const CALLABLE: u32 = 1 << 1;

/// Regions of attribution, one after the other.
struct Attribute {
    number: u32,
}

impl Attribute {
    fn add(&mut self, base: u32, end: u32, kind: u32) -> Result<(), BootError> {
        const REGIONS: u32 = 8;
        const ON: u32 = 1;
        if self.number >= REGIONS || (base | end) & 31 != 0 {
            return Err(BootError::BadTables);
        }
        SAU_RNR.write(self.number);
        SAU_RBAR.write(base);
        SAU_RLAR.write((end - 32) | kind | ON);
        SAU_CTRL.write(ON);
        self.number += 1;
        Ok(())
    }
}

fn set(register: u32, bits: u32) {
    // SAFETY: a register of the board's file; its other bits stay.
    let register = unsafe { Reg::new(register) };
    register.write(register.read() | bits);
}

/// Whole blocks of a memory protection controller become Non-secure (Arm 101104, 3.4.4).
fn blocks(facts: &Facts, base: u32, bytes: u32) -> Result<(), BootError> {
    const CONTROL: u32 = 0x00;
    const BLOCK_SIZE: u32 = 0x14;
    const INDEX: u32 = 0x18;
    const TABLE: u32 = 0x1c;
    // An access that is stopped ends in an error.
    const ERROR: u32 = 1 << 4;
    let holds = |gate: &&[u32; 3]| base >= gate[0] && base - gate[0] < gate[1] && bytes <= gate[1] - (base - gate[0]);
    let [first, _, controller] = *facts.gates.iter().find(holds).ok_or(BootError::BadTables)?;
    // SAFETY: registers of a controller of the board's file.
    let register = |offset: u32| unsafe { Reg::new(controller + offset) };
    set(controller + CONTROL, ERROR);
    let block = 32 << (register(BLOCK_SIZE).read() & 15);
    if (base | bytes) & (block - 1) != 0 {
        return Err(BootError::BadTables);
    }
    for number in (base - first) / block..(base - first + bytes) / block {
        // Reading or writing a word selects the next.
        register(INDEX).write(number / 32);
        let word = register(TABLE).read();
        register(INDEX).write(number / 32);
        register(TABLE).write(word | 1 << (number % 32));
    }
    Ok(())
}

/// Non-secure Thread mode may execute nothing: it is unprivileged, and the region registers of that state are on and empty.
fn close_non_secure_thread_mode() {
    MPU_CTRL_NS.write(0);
    for number in 0..MPU_TYPE_NS.read() >> 8 & 0xff {
        MPU_RNR_NS.write(number);
        MPU_RLAR_NS.write(0);
    }
    MPU_CTRL_NS.write(regs::ENABLE_WITH_DEFAULT_MAP);
    // SAFETY: no code of that state has run yet.
    unsafe { asm!("msr control_ns, {0}", in(reg) 1, options(nomem, nostack, preserves_flags)) };
}

fn lines(system: &System<'_>, own: &direct::Direct, facts: &Facts) -> Result<(), BootError> {
    let owner = &COFFERDAM_OWNER;
    owner.vectors.store(own.vectors, Relaxed);
    owner.quiet.store(own.quiet, Relaxed);
    owner.stack_top.store(own.stack_top, Relaxed);
    owner.text_base.store(own.text_base, Relaxed);
    owner.text_bytes.store(own.text_bytes, Relaxed);
    let mut count = 0;
    for (line, level) in direct::lines(system) {
        let places = owner.lines.get(count).zip(owner.levels.get(count));
        let (place, its_level) = places.filter(|_| line < MAX_LINE).ok_or(BootError::BadTables)?;
        place.store(line as u8, Relaxed);
        its_level.store((level as u8 - 1) << 6, Relaxed);
        let (register, bit) = regs::nvic_itns(line);
        register.write(register.read() | bit);
        count += 1;
    }
    owner.count.store(count as u32, Relaxed);
    owner.stopped.store(1, Relaxed);
    owner.close();
    let (timer, line) = facts.sampler;
    if timer == 0 {
        return Err(BootError::BadTables);
    }
    owner.looks.timer.store(timer, Relaxed);
    owner.looks.line.store(line, Relaxed);
    owner.counter.line.store(line, Relaxed);
    if let Some(rate) = own.rate() {
        owner.counter.start(facts.counter.ok_or(BootError::BadTables)?, rate);
        DISPLACED.start(owner.counter.count());
    }
    owner.domain.store(own.domain, Relaxed);
    meter::start(own.period, own.capacity, system.cpu_hz() ^ own.text_base).ok_or(BootError::BadTables)
}
