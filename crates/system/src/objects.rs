//! Memory that the kernel's objects take. The kernel sets it aside at boot, once; the host asks here, too, so that both agree on
//! which systems fit.

use memory::frames::FrameTable;

use crate::areas::FRAMES;
use crate::{Area, Budget, Cap, Domain, Frames, Gate, Interrupt, Known, NotExact, Notification, System, Thread};

/// Most marks between ranges of physical memory of different types or numbers of uses, for which the kernel's paths are bounded.
pub const MAX_MARKS: usize = 512;
/// Interrupt lines are below this: an NVIC has no more (ARM DDI 0403 B3.4).
pub const MAX_LINES: u32 = 240;

/// Kinds of memory that boot sets aside, in the order of [`Sizes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The leaf of region tables that stands for nothing.
    Leaf,
    /// Nodes of domains' region tables, where domains have no memory of their own for them.
    Node,
    /// Domains, and one for the idle loop.
    Domain,
    /// Slots of capability tables.
    Handle,
    /// Budgets.
    Budget,
    /// Activations: one for each thread and gate, and one for the idle loop.
    Activation,
    /// Threads.
    Thread,
    /// Notifications.
    Notification,
    /// Interrupt lines.
    Interrupt,
    /// Times: one for each thread and budget.
    Time,
    /// Ranges that capabilities to frames name.
    Range,
    /// Parts of the table of physical memory.
    Chunk,
    /// Their order.
    Place,
}

/// Number of kinds.
pub const KINDS: usize = 13;

impl Kind {
    /// Every kind, in the order of [`Sizes`].
    pub const ALL: [Kind; KINDS] = [
        Kind::Leaf,
        Kind::Node,
        Kind::Domain,
        Kind::Handle,
        Kind::Budget,
        Kind::Activation,
        Kind::Thread,
        Kind::Notification,
        Kind::Interrupt,
        Kind::Time,
        Kind::Range,
        Kind::Chunk,
        Kind::Place,
    ];

    /// Name of several of them.
    pub const fn plural(self) -> &'static str {
        match self {
            Kind::Leaf => "empty leaves",
            Kind::Node => "table nodes",
            Kind::Domain => "domains",
            Kind::Handle => "handles",
            Kind::Budget => "budgets",
            Kind::Activation => "activations",
            Kind::Thread => "threads",
            Kind::Notification => "notifications",
            Kind::Interrupt => "interrupts",
            Kind::Time => "times",
            Kind::Range => "frame ranges",
            Kind::Chunk => "chunks of the frame table",
            Kind::Place => "places of these chunks",
        }
    }
}

/// Memory of one object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Bytes, a multiple of `align`; 0 for a kind that a kernel does not have.
    pub bytes: u32,
    /// Alignment in bytes, a power of two.
    pub align: u32,
}

impl Size {
    /// Returns true if one object can lie behind the other.
    const fn is_possible(&self) -> bool {
        self.align.is_power_of_two() && self.bytes.is_multiple_of(self.align)
    }
}

/// Memory of one object of each kind, as a kernel was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes([Size; KINDS]);

/// Words of [`Sizes`] in the image of a kernel, at the symbol [`SYMBOL`].
pub type Words = [u32; 2 * KINDS];

/// The symbol under which the image of a kernel holds its [`Sizes`].
pub const SYMBOL: &str = "COFFERDAM_OBJECTS";

impl Sizes {
    /// Sizes in the order of [`Kind::ALL`].
    ///
    /// # Panics
    /// When a size is no multiple of its alignment. Kernels call it in constants, so that such a kernel is not built.
    pub const fn new(sizes: [Size; KINDS]) -> Sizes {
        let mut index = 0;
        while index < KINDS {
            assert!(sizes[index].is_possible(), "one object lies behind the other");
            index += 1;
        }
        Sizes(sizes)
    }

    /// As an image holds them.
    pub const fn words(self) -> Words {
        let (mut words, mut index) = ([0; 2 * KINDS], 0);
        while index < KINDS {
            words[2 * index] = self.0[index].bytes;
            words[2 * index + 1] = self.0[index].align;
            index += 1;
        }
        words
    }

    /// The sizes in an image; `None` if no kernel can have written it.
    pub fn from_words(words: &Words) -> Option<Sizes> {
        let sizes = core::array::from_fn(|kind| Size { bytes: words[2 * kind], align: words[2 * kind + 1] });
        sizes.iter().all(Size::is_possible).then_some(Sizes(sizes))
    }

    /// The size of one kind.
    pub const fn of(&self, kind: Kind) -> Size {
        self.0[kind as usize]
    }
}

/// Memory that the objects of a system take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Address behind the last object.
    pub end: u64,
    /// Objects of each kind.
    pub counts: [u32; KINDS],
    /// Bytes of each kind, without gaps.
    pub bytes: [u64; KINDS],
}

/// Counts objects as boot makes them, one array behind the other.
struct Count<'a> {
    sizes: &'a Sizes,
    needs: Needs,
}

impl Count<'_> {
    fn take(&mut self, kind: Kind, count: usize) {
        let Size { bytes, align } = self.sizes.of(kind);
        if bytes == 0 || count == 0 {
            return;
        }
        let all = u64::from(bytes) * count as u64;
        self.needs.end = self.needs.end.next_multiple_of(u64::from(align)) + all;
        self.needs.counts[kind as usize] += count as u32;
        self.needs.bytes[kind as usize] += all;
    }
}

/// Memory that a kernel whose objects have these sizes takes for the objects of a system, from `base` on. Boot makes them in this
/// order, and refuses to start if it took anything else.
///
/// # Errors
/// [`NotExact`]: an area of a domain cannot be expressed by region registers.
///
/// # Time complexity
/// O(areas + capabilities * domains).
pub fn needs<K: Known>(tables: &System<'_>, sizes: &Sizes, base: u32) -> Result<Needs, NotExact> {
    let mut count = Count { sizes, needs: Needs { end: u64::from(base), ..Needs::default() } };
    count.take(Kind::Leaf, 1);
    count.take(Kind::Domain, tables.count::<Domain>());
    for (index, domain) in tables.all::<Domain>().enumerate() {
        let nodes = if sizes.of(Kind::Node).bytes == 0 { 0 } else { K::scheme(tables).own_nodes(tables, index)? };
        count.take(Kind::Node, nodes);
        count.take(Kind::Handle, domain.cap_slots as usize);
    }
    count.take(Kind::Domain, 1);
    count.take(Kind::Budget, tables.count::<Budget>());
    count.take(Kind::Activation, tables.count::<Thread>() + tables.count::<Gate>() + 1);
    count.take(Kind::Thread, tables.count::<Thread>());
    count.take(Kind::Notification, tables.count::<Notification>());
    count.take(Kind::Interrupt, tables.count::<Interrupt>());
    count.take(Kind::Time, tables.count::<Thread>() + tables.count::<Budget>());
    count.take(Kind::Range, if holds_frames(tables) { tables.count::<Frames>() } else { 0 });
    let chunks = FrameTable::chunks_for(marks(tables));
    count.take(Kind::Chunk, chunks);
    count.take(Kind::Place, chunks);
    Ok(count.needs)
}

/// Returns the number of marks that the table of physical memory has room for: two for each range
/// and area, and those that holders of frames may use. None if no domain holds frames, because then
/// the table is never asked.
#[inline(never)]
pub fn marks(tables: &System<'_>) -> usize {
    if !holds_frames(tables) {
        return 0;
    }
    let shares = tables.all::<Frames>().map(|range| range.marks as usize);
    2 * (tables.count::<Frames>() + tables.count::<Area>()) + 1 + shares.sum::<usize>()
}

/// Returns true if any domain can map memory at run time.
#[inline(never)]
pub fn holds_frames(tables: &System<'_>) -> bool {
    tables.all::<Cap>().any(|cap| cap.kind == FRAMES)
}

/// The ranges that domains can map memory of at run time.
pub fn held_ranges<'a>(tables: &'a System<'_>) -> impl Iterator<Item = Frames> + 'a {
    let held = |index: usize| tables.all::<Cap>().any(|cap| cap.kind == FRAMES && cap.object as usize == index);
    (0..tables.count::<Frames>()).filter(move |index| held(*index)).map(|index| tables.get(index))
}
