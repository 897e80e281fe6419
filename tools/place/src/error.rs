//! Why a system cannot be placed. The caller adds where in the manifest it was asked.

use manifest::Refused;
use manifest::resolved::Item;
use system::{Table, TableError};
use thiserror::Error;

use crate::placed::Objects;

/// Why a system cannot be placed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlaceError {
    /// An ELF file cannot be read.
    #[error("the program of `{domain}` is not a readable ELF file: {reason}")]
    Elf {
        /// The domain, or `kernel`.
        domain: String,
        /// Error of the reader.
        reason: String,
    },
    /// An ELF file is for another machine.
    #[error("the program of `{domain}` is for {found}, but the board needs {needed}")]
    Architecture {
        /// The domain.
        domain: String,
        /// Machine that the file names.
        found: String,
        /// Machine that is needed.
        needed: &'static str,
    },
    /// A symbol that the system names as a function is none.
    #[error("`{symbol}` of the program of `{domain}` is no function in its code")]
    NotCode {
        /// The domain.
        domain: String,
        /// The symbol.
        symbol: String,
        /// Its value.
        address: u32,
    },
    /// No instruction can begin where a thread or a gate would.
    #[error("{} of the program of `{domain}` is at {address:#010x}, where no instruction can begin", begun(.symbol))]
    Begins {
        /// The domain.
        domain: String,
        /// The symbol; nothing for the entry of the ELF file.
        symbol: Option<String>,
        /// Its value.
        address: u32,
        /// Where instructions begin.
        rule: &'static str,
    },
    /// An ELF file was built for another version of the interface.
    #[error("the program of `{domain}` is built for {}", built_for(*.found))]
    Version {
        /// The domain.
        domain: String,
        /// The version that it says.
        found: Option<u32>,
    },
    /// A program would have to lie where its alignment does not allow it.
    #[error("the program of `{domain}` needs a multiple of {align} bytes for what is linked at {address:#010x}")]
    Alignment {
        /// The domain.
        domain: String,
        /// First address of the code or the data, before moving.
        address: u32,
        /// Bytes.
        align: u32,
    },
    /// A symbol that the system names is not in the program.
    #[error("the program of `{domain}` has no symbol `{symbol}`")]
    Symbol {
        /// The domain.
        domain: String,
        /// The symbol.
        symbol: String,
    },
    /// A program would have to be moved, but has no relocations.
    #[error(
        "the program of `{domain}` is linked for {address:#010x} without relocations, and that address is not free: {reason}"
    )]
    Fixed {
        /// The domain.
        domain: String,
        /// Address at which it wants to be.
        address: u32,
        /// Why it cannot be there.
        reason: String,
    },
    /// A relocation that cannot be moved.
    #[error(
        "the program of `{domain}` has a relocation of type {kind} at {address:#010x} that cannot be moved: {reason}"
    )]
    Relocation {
        /// The domain.
        domain: String,
        /// Number of the type (ELF for the Arm Architecture, IHI 0044).
        kind: u32,
        /// Its address, before moving.
        address: u32,
        /// Why not.
        reason: &'static str,
    },
    /// Something that handlers reach cannot be placed for them.
    #[error("{} of the program of `{domain}`, which its handler reaches, {reason}: {}", way.last().map_or("", String::as_str), way.join(" -> "))]
    Reaches {
        /// The domain.
        domain: String,
        /// From the handler to what it reaches.
        way: Vec<String>,
        /// Why it cannot be placed.
        reason: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// What handlers of a domain need of their stack is more than it has, or nobody can say how much it is.
    #[error("handlers of `{domain}` {}", stacked(.way, .needed))]
    HandlerStack {
        /// The domain.
        domain: String,
        /// Functions from a handler to where its stack is the fullest, each with the bytes that it takes; the last one calls one in front of it, where
        /// no bytes are told.
        way: Vec<String>,
        /// Bytes that all of them need; nothing is known where functions call each other in a circle.
        needed: Option<u32>,
        /// Bytes that there are.
        there: u32,
        /// Bytes that the manifest gives.
        given: u32,
    },
    /// A word depends on where the program lies, and nothing says so.
    #[error("the program of `{domain}` holds an address at {address:#010x} that no relocation names")]
    Unnamed {
        /// The domain.
        domain: String,
        /// Its address, before moving.
        address: u32,
    },
    /// A memory is full.
    #[error("`{what}` needs {asked} bytes of `{memory}`, where the largest gap that fits has {left} bytes")]
    Full {
        /// The area.
        what: Item,
        /// The memory.
        memory: String,
        /// Bytes asked, after rounding.
        asked: u64,
        /// To what they were rounded.
        rounded: &'static str,
        /// Largest gap.
        left: u64,
    },
    /// Areas that are to be kept in one entry of the TLB are larger than what an entry holds.
    #[error("`{what}` is larger than what one entry of the TLB holds")]
    Unit {
        /// The area, the last of those with the same rights.
        what: Item,
        /// Bytes of all of them.
        asked: u64,
        /// Bytes of the largest unit.
        most: u64,
    },
    /// A fixed address is not possible.
    #[error("`{what}` cannot lie at {address:#010x}: {reason}")]
    At {
        /// The area.
        what: Item,
        /// The address.
        address: u32,
        /// Why not.
        reason: String,
    },
    /// The ledger refuses an area.
    #[error("`{}` is refused: {}", .0.item, .0.refusal.rule.text())]
    Refused(Box<Refused>),
    /// The kernel's own objects take more memory than it has for them.
    #[error("the kernel's objects take {} bytes, and it has {} bytes for them", .0.used, .0.bytes)]
    Objects(Objects),
    /// The kernel's frame table has no marks left for a range of frames that somebody holds.
    #[error("frames `{range}` need {asked} marks of the kernel's frame table, and {left} are left")]
    Marks {
        /// Name of the range.
        range: String,
        /// Marks that it needs.
        asked: u32,
        /// Marks that it can have.
        left: u32,
        /// The manifest says how many it has.
        given: bool,
    },
    /// The tables that the kernel boots from are larger than they may be.
    #[error("the kernel's tables have {asked} {what}, and {most} at most")]
    TooMany {
        /// Entries of one of them, or bytes of all.
        what: &'static str,
        /// So many there are.
        asked: usize,
        /// So many there may be.
        most: usize,
    },
    /// The tables are wrong: a defect of this tool.
    #[error("the kernel would not accept the tables: {}", rejected(.0))]
    Tables(TableError),
}

fn built_for(found: Option<u32>) -> String {
    found.map_or("no version of the interface".to_owned(), |version| format!("version {version} of the interface"))
}

fn begun(symbol: &Option<String>) -> String {
    symbol.as_ref().map_or("the entry".to_owned(), |name| format!("`{name}`"))
}

fn stacked(way: &[String], needed: &Option<u32>) -> String {
    match needed {
        Some(bytes) => format!("need {bytes} bytes of stack: {}", way.join(" -> ")),
        None => format!("call themselves, so that no stack is large enough for sure: {}", way.join(" -> ")),
    }
}

fn rejected(error: &TableError) -> String {
    match error {
        TableError::Header => "their header".to_owned(),
        TableError::Checksum => "their checksum".to_owned(),
        TableError::Scheme => "the section of the scheme of protection".to_owned(),
        TableError::Switching => "a path of the kernel that is too long".to_owned(),
        TableError::Bounds(table) => format!("the table of {} is too long", named(*table)),
        TableError::Entry { table, index, field } => {
            format!("`{field}` of entry {index} of the table of {}", named(*table))
        }
    }
}

fn named(table: Table) -> &'static str {
    match table {
        Table::Frames => "frames",
        Table::Domains => "domains",
        Table::Areas => "areas",
        Table::Budgets => "budgets",
        Table::Threads => "threads",
        Table::Gates => "gates",
        Table::Notifications => "notifications",
        Table::Interrupts => "interrupts",
        Table::Caps => "capabilities",
    }
}
