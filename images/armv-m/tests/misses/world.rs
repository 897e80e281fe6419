//! A kernel without threads, and two domains' regions, one of which is in force at a time.

use core::mem::MaybeUninit;
use core::ptr;

use kernel::arch::Start;
use kernel::boot::{Boot, BootError};
use kernel::objects::{Activation, Domain as Record};
use kernel::regions::{NodeMemory, Regions, layout};
use port::regs;
use protect::Span;
use protect::regions::Registers;
use protect::regions::pctrie::{NODE_BYTES, Node, Trie};
use protect::regions::slots::{Replacement, Slots};
use protect::{Access, MemType};
use system::{HEADER_WORDS, MAGIC, Section, System, TABLES, VERSION, Words, checksum};
use units::{Bytes, PhysAddr, VirtAddr};

use crate::random::Random;
use crate::regions::{Regs, Tried};
use crate::{Arch, COFFERDAM_CPU, Described, Shared, assembly};

/// Nodes of a domain's table.
const NODES: usize = 12;
/// Most regions of a domain's table.
pub const MOST: usize = 16;
/// Words of a domain's regions.
const REGION_WORDS: usize = size_of::<Regions<Arch>>() / 4;

#[repr(align(32))]
struct Nodes([Node; NODES]);

/// The memory of a second domain and of the activation in it.
struct Second {
    level: MaybeUninit<Activation<Arch>>,
    domain: MaybeUninit<Record<Arch>>,
}

static BLOCK: Shared<[u32; BLOCK_WORDS]> = Shared::new([0; BLOCK_WORDS]);

/// Words of the scheme's section: its number, and its record of the system.
const SECTION_WORDS: usize = 1 + <<<port::Core as port::Port>::Unit as Section>::System as Words>::WORDS;
const BLOCK_WORDS: usize = HEADER_WORDS + SECTION_WORDS;
static TABLES_OF: [Shared<Nodes>; 2] = [const { Shared::new(Nodes([[0; NODE_BYTES as usize / 4]; NODES])) }; 2];
static SECOND: Shared<Second> = Shared::new(Second { level: MaybeUninit::uninit(), domain: MaybeUninit::uninit() });

unsafe extern "C" {
    static __kernel_objects_start: u8;
    static __kernel_objects_end: u8;
}

/// A block of tables in which there is nothing.
fn tables() -> Result<System<'static>, BootError> {
    let mut words = [0; BLOCK_WORDS];
    for table in 0..=TABLES {
        words[6 + 2 * table] = HEADER_WORDS as u32;
    }
    words[7 + 2 * TABLES] = SECTION_WORDS as u32;
    words[HEADER_WORDS] = <port::Core as port::Port>::Unit::SCHEME as u32;
    let sum = checksum(&words[HEADER_WORDS..]);
    words[..6].copy_from_slice(&[MAGIC, VERSION, BLOCK_WORDS as u32, sum, 1 << 20, 1 << 20]);
    // SAFETY: written once, here.
    let block: &'static [u32] = unsafe {
        *BLOCK.get() = words;
        &*BLOCK.get()
    };
    System::parse_of::<<port::Core as port::Port>::Unit>(block).map_err(|_| BootError::BadTables)
}

/// Bytes of the stack that both contexts have, the first one's copy too: it lies before the kernel's objects, and nothing runs on it.
const STACK_BYTES: u32 = 256;

/// Place of a frame in that stack. A frame that is elsewhere is not read.
pub fn frame() -> *mut [u32; 8] {
    let middle = STACK_BYTES as usize / 2;
    (&raw const __kernel_objects_start).cast_mut().wrapping_add(middle).cast()
}

/// Makes the kernel and the two domains.
///
/// # Errors
/// As [`Boot::kernel`].
pub fn boot() -> Result<[Domain; 2], BootError> {
    let start = (&raw const __kernel_objects_start) as u32;
    let idle_start = Start {
        entry: VirtAddr(0),
        link: VirtAddr(0),
        stack_base: VirtAddr(start),
        stack_bytes: Bytes(STACK_BYTES),
        args: [0; 4],
    };
    let objects =
        (PhysAddr(start + STACK_BYTES), Bytes((&raw const __kernel_objects_end) as u32 - start - STACK_BYTES));
    let idle = [
        (Span::new(0, 32), Access::RX, MemType::WriteThrough),
        (Span::new(0x2000_0000, 256), Access::RW, MemType::WriteBack),
    ];
    let kernel = Boot { tables: tables()?, objects, idle }.kernel(Arch::new(Described, idle_start))?;
    // Its regions are loaded to be compared, not to be in force.
    regs::MPU_CTRL.write(0);
    // SAFETY: nothing uses it yet. The first activation and domain are the idle ones; the second are copies, to which only this program leads.
    unsafe {
        (*COFFERDAM_CPU.get()).write(kernel);
        let level = COFFERDAM_CPU.get().cast::<*mut Activation<Arch>>().read();
        let second = SECOND.get();
        let copy = (*second).level.as_mut_ptr();
        let first_domain = domain_of(level).read();
        ptr::copy_nonoverlapping(level, copy, 1);
        ptr::copy_nonoverlapping(first_domain.cast::<Record<Arch>>(), (*second).domain.as_mut_ptr(), 1);
        domain_of(copy).write((*second).domain.as_mut_ptr().cast());
        let domains = [Domain::new(0, level), Domain::new(1, copy)];
        assembly::prepare().map_err(|_| BootError::BadTables)?;
        Ok(domains)
    }
}

/// Location of the word in a level that names its domain.
fn domain_of(level: *mut Activation<Arch>) -> *mut *mut u32 {
    level.cast::<u8>().wrapping_add(kernel::domain_offset::<Arch>()).cast()
}

/// One of the two domains.
pub struct Domain {
    index: usize,
    level: *mut Activation<Arch>,
    regions: *mut u32,
}

/// All that a miss may change of a domain.
#[derive(Clone, PartialEq, Eq)]
pub struct State {
    regions: [u32; REGION_WORDS],
    nodes: [Node; NODES],
}

impl Domain {
    /// # Safety
    /// The level and its domain are this program's, and the table has no memory yet.
    unsafe fn new(index: usize, level: *mut Activation<Arch>) -> Domain {
        // SAFETY: the caller's duty.
        let regions = unsafe { domain_of(level).read() };
        let domain = Domain { index, level, regions };
        for node in 0..NODES as u32 {
            domain.trie().give_node(TABLES_OF[index].get() as u32 + node * NODE_BYTES);
        }
        domain
    }

    /// Puts it in force.
    pub fn enter(&self) {
        // SAFETY: the kernel's first word, which its assembly and its functions read.
        unsafe { COFFERDAM_CPU.get().cast::<*mut Activation<Arch>>().write(self.level) };
    }

    #[allow(clippy::mut_from_ref)]
    fn trie(&self) -> &mut Trie<NodeMemory<Arch>> {
        // SAFETY: the table is there (`layout`), and used through the result only.
        unsafe { &mut *self.regions.byte_add(layout::ROOT).cast() }
    }

    fn slots(&self) -> *mut Slots<Regs> {
        self.regions.cast()
    }

    /// Misses until one is counted.
    pub fn countdown(&self) -> *mut u32 {
        self.regions.wrapping_byte_add(layout::COUNTDOWN)
    }

    /// Its present state.
    pub fn state(&self) -> State {
        // SAFETY: both are initialised, and nothing refers to them now.
        unsafe {
            State {
                regions: self.regions.cast::<[u32; REGION_WORDS]>().read(),
                nodes: (*TABLES_OF[self.index].get()).0,
            }
        }
    }

    /// Makes it what it was.
    pub fn restore(&self, state: &State) {
        // SAFETY: as in `state`.
        unsafe {
            self.regions.cast::<[u32; REGION_WORDS]>().write(state.regions);
            (*TABLES_OF[self.index].get()).0 = state.nodes;
        }
    }

    /// Gives it other regions, some pinned and some paged, and another policy; the paged ones.
    pub fn change(&self, random: &mut Random) -> ([Regs; MOST], usize) {
        const POLICIES: [Replacement; 3] = [Replacement::BitPlru, Replacement::RoundRobin, Replacement::Random];
        let trie = self.trie();
        while let Some((_, regs)) = trie.next(0) {
            let _ = trie.remove(regs);
        }
        let (mut paged, mut count) = ([<Regs as Registers>::DISABLED; MOST], 0);
        for _ in 0..random.one(&[0, 4, MOST as u32]) {
            let regs = Regs::any(random);
            if trie.insert(regs).is_ok() {
                paged[count] = regs;
                count += 1;
            }
        }
        let pinned: [Regs; 4] = core::array::from_fn(|_| Regs::any(random));
        let pinned = &pinned[..random.below(5) as usize];
        let needed = if count == 0 { 0 } else { random.one(&[1, 2, 4]) };
        let most = needed + random.below(5) as usize;
        let slots = Slots::new(pinned, needed, random.one(&POLICIES)).and_then(|slots| slots.limited(most, needed));
        if let Ok(slots) = slots {
            // SAFETY: the slots are there, and nothing refers to them.
            unsafe { self.slots().write(slots.seeded(random.word())) };
        }
        (paged, count)
    }
}
