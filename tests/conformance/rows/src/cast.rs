//! The domains, threads, gates and capabilities of `tests/conformance/system.toml`.

use abi::Kind;

/// Domains in the order of the manifest. `Lead` starts the rows and is in none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Dom {
    /// Restarts the others, looks at what came of a row, and reports.
    Lead = 0,
    /// Two threads that ask for things.
    Client = 1,
    /// Gates.
    Server = 2,
    /// Supervises client, server and driver, and holds untyped frames.
    Chief = 3,
    /// Has a device and a periodic thread.
    Driver = 4,
    /// One important thread with little budget, which is granted what its manifest could not give it.
    Guest = 5,
}

/// Domains.
pub const DOMAINS: usize = 6;

impl Dom {
    /// All of them.
    pub const ALL: [Dom; DOMAINS] = [Dom::Lead, Dom::Client, Dom::Server, Dom::Chief, Dom::Driver, Dom::Guest];

    /// Its name in the manifest.
    pub const fn name(self) -> &'static str {
        match self {
            Dom::Lead => "lead",
            Dom::Client => "client",
            Dom::Server => "server",
            Dom::Chief => "chief",
            Dom::Driver => "driver",
            Dom::Guest => "guest",
        }
    }
}

macro_rules! actors {
    ($($name:ident = $number:literal in $home:ident, $does:literal;)*) => {
        /// Threads and gates.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Actor { $(#[doc = $does] $name = $number,)* }

        impl Actor {
            /// All of them.
            pub const ALL: &[Actor] = &[$(Actor::$name),*];

            /// The domain that it belongs to.
            pub const fn home(self) -> Dom {
                match self { $(Actor::$name => Dom::$home,)* }
            }
        }
    };
}

actors! {
    Client = 0 in Client, "Thread, priority 10, budget of 900 us.";
    Second = 1 in Client, "Thread, priority 12, shares the budget of 900 us.";
    Servant = 2 in Server, "Thread, priority 14, budget of 500 us.";
    Chief = 3 in Chief, "Thread, priority 8, budget of 1 ms.";
    Driver = 4 in Driver, "Thread, priority 6, shares a budget of 300 us.";
    Ticker = 5 in Driver, "Thread, priority 7, 60 us in each 1 ms; period 4 ms.";
    Guest = 6 in Guest, "Thread, priority 4, budget of 100 us.";
    Echo = 8 in Server, "Gate, ceiling 5, bound 100 us.";
    Deep1 = 9 in Server, "Gate, ceiling 3, bound 600 us.";
    Deep2 = 10 in Server, "Gate, ceiling 3, bound 400 us.";
    Deep3 = 11 in Server, "Gate, ceiling 3, bound 250 us.";
    Deep4 = 12 in Server, "Gate, ceiling 3, bound 150 us.";
    Deep5 = 13 in Server, "Gate, ceiling 3, bound 80 us.";
    Wide = 14 in Server, "Gate, ceiling 3, bound 300 us.";
}

/// Numbers of actors are below this.
pub const ACTORS: usize = 16;

impl Actor {
    /// The first of the gates.
    const FIRST_GATE: u8 = Actor::Echo as u8;

    /// The actor that a thread's argument names.
    pub fn of_thread(argument: u32) -> Option<Actor> {
        Actor::from_number(argument & 0xff)
    }

    /// The actor with a number.
    pub fn from_number(number: u32) -> Option<Actor> {
        Actor::ALL.iter().copied().find(|actor| *actor as u32 == number)
    }

    /// The actor that serves the gate with an index among the system's gates.
    pub fn of_gate(index: u32) -> Option<Actor> {
        Actor::from_number(u32::from(Actor::FIRST_GATE) + index)
    }
}

macro_rules! hands {
    ($($name:ident = $text:literal, $kind:ident;)*) => {
        /// Capabilities by the names in the manifest's `uses`. A domain has [`Hand::NONE`] for a
        /// capability that it does not hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Hand { $(#[doc = $text] $name,)* }

        impl Hand {
            /// All of them, in the order of their numbers.
            pub const ALL: &[Hand] = &[$(Hand::$name),*];

            /// Its name in the information block, and its kind.
            pub const fn entry(self) -> (&'static str, Kind) {
                match self { $(Hand::$name => ($text, Kind::$kind),)* }
            }
        }
    };
}

hands! {
    Echo = "echo", Gate;
    Deep1 = "deep1", Gate;
    Deep2 = "deep2", Gate;
    Deep3 = "deep3", Gate;
    Deep4 = "deep4", Gate;
    Deep5 = "deep5", Gate;
    Wide = "wide", Gate;
    Bell = "bell", Notification;
    Ear = "ear", Notification;
    Push = "push", Notification;
    Ring = "ring", Notification;
    Faults = "faults", Notification;
    Line = "line", Notification;
    Doomed1 = "doomed1", Notification;
    Doomed2 = "doomed2", Notification;
    Doomed3 = "doomed3", Notification;
    Me = "me", Thread;
    Purse = "purse", Budget;
    Sealed = "sealed", Budget;
    Myself = "myself", Domain;
    Client = "client", Domain;
    Server = "server", Domain;
    Chief = "chief", Domain;
    Driver = "driver", Domain;
    Guest = "guest", Domain;
    Tx = "tx", Interrupt;
    Pool = "pool", Frames;
}

/// Capabilities.
pub const HANDS: usize = Hand::ALL.len();

impl Hand {
    /// A handle that names no slot.
    pub const NONE: u32 = u32::MAX;
}
