//! Subject of a refusal, for messages and by its keys in the manifest.

use std::fmt;

/// Part of a domain that takes memory. An area has a name, by which the domain's program finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Code and constants.
    Code,
    /// Data, with the stacks where they are together.
    Data,
    /// Stacks.
    Stack,
    /// The heap.
    Heap,
    /// The arena of an envelope, by its number.
    Envelope(usize),
    /// A device: its number in the domain, and its name.
    Device(usize, String),
    /// Shared memory: number of the use in the domain, and its name.
    Shared(usize, String),
    /// A constant file: number of the use in the domain, and its name.
    File(usize, String),
    /// The ledger that is handed over.
    Ledger,
    /// No area: code and constants of its handlers, in Non-secure memory.
    Handlers,
    /// No area: the initial data, from which the domain starts.
    InitialData,
    /// No area: its table, or tables.
    Table,
}

impl Part {
    /// Name of the area.
    pub fn name(&self) -> String {
        match self {
            Part::Envelope(index) => format!("arena{index}"),
            other => other.to_string(),
        }
    }

    /// Whether it lies apart from everything else, because other domains have it, too.
    pub(crate) fn is_apart(&self) -> bool {
        matches!(self, Part::Shared(..) | Part::File(..))
    }

    /// Its key in the domain's table of the manifest; none where the domain is all that is written.
    fn key(&self) -> Option<String> {
        match self {
            Part::Device(index, _) => Some(format!("devices[{index}]")),
            Part::Shared(index, _) => Some(format!("shared[{index}]")),
            Part::File(index, _) => Some(format!("files[{index}]")),
            Part::InitialData => Some("data".into()),
            Part::Table => None,
            own => Some(own.to_string()),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Code => f.write_str("code"),
            Part::Data => f.write_str("data"),
            Part::Stack => f.write_str("stack"),
            Part::Heap => f.write_str("heap"),
            Part::Envelope(index) => write!(f, "envelope[{index}]"),
            Part::Device(_, name) | Part::Shared(_, name) | Part::File(_, name) => f.write_str(name),
            Part::Ledger => f.write_str("ledger"),
            Part::Handlers => f.write_str("handlers"),
            Part::InitialData => f.write_str("initial data"),
            Part::Table => f.write_str("table"),
        }
    }
}

/// Something that takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// Part of a domain, which is given by its name.
    Of(Part, String),
    /// A constant file.
    File(String),
    /// Shared memory.
    Shared(String),
    /// Untyped memory.
    Frames(String),
    /// Memory that no manifest declares.
    Own(&'static str),
}

impl Item {
    /// Its place in the manifest: keys with dots between them; empty for what it does not declare.
    pub fn place(&self) -> String {
        match self {
            Item::Of(part, domain) => match part.key() {
                Some(key) => format!("domain.{domain}.{key}"),
                None => format!("domain.{domain}"),
            },
            Item::File(name) => format!("file.{name}"),
            Item::Shared(name) => format!("shared.{name}"),
            Item::Frames(name) => format!("frames.{name}"),
            Item::Own(_) => String::new(),
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Of(part, domain) => write!(f, "{part} of domain {domain}"),
            Item::File(name) => write!(f, "file {name}"),
            Item::Shared(name) => write!(f, "shared memory {name}"),
            Item::Frames(name) => write!(f, "frames {name}"),
            Item::Own(name) => f.write_str(name),
        }
    }
}
