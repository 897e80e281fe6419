//! The addresses and handles that steps need here: looked up once, when a domain starts.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cofferdam::Info;
use cofferdam::hostile::core_registers;
use conformance::{Dom, HANDS, Hand, INITIAL, Place, Places, Scene, places, stretch};

use crate::board::{Board, Told};

/// The initialised word that others may not reach.
static OWN_INITIAL: AtomicU32 = AtomicU32::new(INITIAL);
/// The zeroed one.
static OWN_ZEROED: AtomicU32 = AtomicU32::new(0);

/// The device of the driver.
pub const DEVICE: &str = "uart0";

/// How much longer times are here than in the rows.
static STRETCH: AtomicU32 = AtomicU32::new(1);

static HELD: [AtomicU32; HANDS] = [const { AtomicU32::new(Hand::NONE) }; HANDS];

/// Finds this domain's capabilities and tells the others where its memory is.
pub fn prepare(info: Info, board: Board) {
    for hand in Hand::ALL {
        let (name, kind) = hand.entry();
        HELD[*hand as usize].store(info.cap(name, kind).map_or(Hand::NONE, |cap| cap.slot), Relaxed);
    }
    board.tell(
        info.domain(),
        Told { initial: OWN_INITIAL.as_ptr() as u32, zeroed: OWN_ZEROED.as_ptr() as u32, info: info.address() as u32 },
    );
}

/// A row on this machine, for one actor.
pub struct Here {
    info: Info,
    board: Board,
    places: &'static Places,
    given: [u32; 4],
}

impl Here {
    /// `given`: badge and arguments of a gate's call.
    pub fn new(info: Info, board: Board, given: [u32; 4]) -> Option<Here> {
        Some(Here { info, board, places: places(info.board())?, given })
    }

    /// An address that a domain told. Each domain may have a space of its own in which all of them have the same addresses: then what another has there
    /// is meant by an address of memory of domains as the hardware has it.
    fn told(&self, dom: Dom, address: fn(Told) -> u32) -> u32 {
        let (own, told) = (self.info.address() as u32, self.board.told(dom));
        if dom as u32 != self.info.domain() && told.info == own { self.places.heaps } else { address(told) }
    }

    fn area(&self, name: &str) -> u32 {
        self.info.area(name).map_or(0, |area| area.base)
    }
}

/// Notes what the argument of the domain's first thread says of times.
pub fn set_stretch(argument: u32) {
    STRETCH.store(stretch(argument), Relaxed);
}

/// Ticks of the kernel's clock in a microsecond of a row.
pub fn ticks_per_us(info: Info) -> u32 {
    (info.ticks_per_second() / 1_000_000).max(1) * STRETCH.load(Relaxed)
}

impl Scene for Here {
    fn ticks_per_us(&self) -> u32 {
        ticks_per_us(self.info)
    }

    fn places(&self) -> &'static Places {
        self.places
    }

    fn hand(&self, hand: Hand) -> u32 {
        HELD[hand as usize].load(Relaxed)
    }

    fn place(&self, place: Place) -> u32 {
        match place {
            Place::Initial(dom) => self.told(dom, |told| told.initial),
            Place::Zeroed(dom) => self.told(dom, |told| told.zeroed),
            Place::Info(dom) => self.told(dom, |told| told.info),
            Place::Lent(_) => self.area("lent"),
            Place::Heap(_) => self.area("heap"),
            Place::Device => self.area(DEVICE),
            Place::Core => core_registers(self.places.core, self.places.outer_cache).switch,
            Place::Pool(_) => self.places.window.unwrap_or_else(|| self.board.pool()),
            _ => 0,
        }
    }

    fn own_place(&self, place: Place) -> u32 {
        match place {
            Place::Initial(dom) => self.board.told(dom).initial,
            Place::Zeroed(dom) => self.board.told(dom).zeroed,
            Place::Info(dom) => self.board.told(dom).info,
            _ => self.place(place),
        }
    }

    fn start(&self) -> u64 {
        self.board.start()
    }

    fn given(&self) -> [u32; 4] {
        self.given
    }
}
