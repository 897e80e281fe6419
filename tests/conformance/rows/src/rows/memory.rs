//! Isolation: what a domain can reach, and what it cannot.

use abi::info::MAGIC;
use abi::trace::Fault;

use crate::step::{Place, Step, intact, load, sleep};
use crate::{Actor, Dom, INITIAL, Row, does, make, stays};

const AREAS: &str = "architecture.md: From manifest to image";
const FAULTS: &str = "architecture.md: Faults";

/// A row in which the client ends in one step, and the others do not notice.
macro_rules! fatal {
    ($name:literal, $checks:literal, $step:expr, $kinds:expr) => {
        make(
            $name,
            $checks,
            FAULTS,
            &[
                stays(Actor::Client, &[intact(Dom::Client), $step]),
                does(Actor::Servant, &[sleep(2_000), intact(Dom::Server)]),
            ],
            &[(Dom::Client, $kinds)],
        )
    };
}

const DATA: &[Fault] = &[Fault::Data];
const EXECUTE: &[Fault] = &[Fault::Execute];

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "own memory",
        "a domain reads its code and data, and writes its data",
        AREAS,
        &[does(
            Actor::Client,
            &[
                load(Place::Info(Dom::Client), MAGIC),
                intact(Dom::Client),
                load(Place::Zeroed(Dom::Client), 0),
                Step::Store(Place::Initial(Dom::Client), 1),
                Step::Store(Place::Zeroed(Dom::Client), 2),
                load(Place::Initial(Dom::Client), 1),
                load(Place::Zeroed(Dom::Client), 2),
            ],
        )],
        &[],
    ),
    make(
        "heap",
        "a heap is there when it is touched, page by page, and keeps what is stored",
        AREAS,
        &[does(
            Actor::Client,
            &[
                Step::Store(Place::Heap(0), 11),
                Step::Store(Place::Heap(4096), 12),
                Step::Store(Place::Heap(8188), 13),
                load(Place::Heap(0), 11),
                load(Place::Heap(4096), 12),
                load(Place::Heap(8188), 13),
            ],
        )],
        &[],
    ),
    make(
        "shared memory",
        "what one domain stores in shared memory, the other reads",
        AREAS,
        &[
            does(Actor::Client, &[Step::Store(Place::Lent(16), 21), sleep(600), load(Place::Lent(16), 21)]),
            does(Actor::Servant, &[load(Place::Lent(16), 21)]),
        ],
        &[],
    ),
    make(
        "write what is lent",
        "shared memory that is lent for reading cannot be written",
        FAULTS,
        &[
            stays(Actor::Servant, &[load(Place::Lent(16), 22), Step::Store(Place::Lent(16), 23)]),
            does(Actor::Client, &[Step::Store(Place::Lent(16), 22), sleep(2_000), load(Place::Lent(16), 22)]),
        ],
        &[(Dom::Server, DATA)],
    ),
    fatal!("read kernel data", "no domain reads data of the kernel", Step::Load(Place::KernelData, None), DATA),
    fatal!("write kernel data", "no domain writes data of the kernel", Step::Store(Place::KernelData, 0xbad), DATA),
    fatal!("read kernel code", "no domain reads code of the kernel", Step::Load(Place::KernelCode, None), DATA),
    fatal!("write kernel code", "no domain writes code of the kernel", Step::Store(Place::KernelCode, 0xbad), DATA),
    fatal!("execute kernel code", "no domain executes code of the kernel", Step::Jump(Place::KernelCode), EXECUTE),
    fatal!(
        "read a kernel device",
        "no domain reads a device of the kernel",
        Step::Load(Place::KernelDevice, None),
        DATA
    ),
    fatal!(
        "write a kernel device",
        "no domain writes a device of the kernel",
        Step::Store(Place::KernelDevice, 0),
        DATA
    ),
    fatal!(
        "read a device",
        "no domain reads a device that it was not given",
        Step::Load(Place::OtherDevice, None),
        DATA
    ),
    fatal!(
        "write another's device",
        "no domain writes a device of another domain",
        Step::Store(Place::Device, 0),
        DATA
    ),
    fatal!(
        "write the processor's registers",
        "no domain writes registers that switch protection, interrupts or timers",
        Step::Store(Place::Core, 0),
        &[Fault::Data, Fault::Bus]
    ),
    fatal!("read nothing", "an address at which nothing is cannot be read", Step::Load(Place::Nowhere, None), DATA),
    fatal!(
        "read another's data",
        "no domain reads data of another",
        Step::Load(Place::Initial(Dom::Server), None),
        DATA
    ),
    fatal!(
        "write another's data",
        "no domain writes data of another",
        Step::Store(Place::Initial(Dom::Server), 0xbad),
        DATA
    ),
    fatal!("read another's code", "no domain reads code of another", Step::Load(Place::Info(Dom::Server), None), DATA),
    fatal!(
        "execute another's code",
        "no domain executes code of another",
        Step::Jump(Place::Info(Dom::Server)),
        EXECUTE
    ),
    fatal!("write the own code", "code cannot be written", Step::Store(Place::Info(Dom::Client), 0xbad), DATA),
    fatal!("execute the own data", "data cannot be executed", Step::Jump(Place::Zeroed(Dom::Client)), EXECUTE),
    fatal!("execute the own heap", "a heap cannot be executed", Step::Jump(Place::Heap(0)), EXECUTE),
    fatal!("execute shared memory", "shared memory cannot be executed", Step::Jump(Place::Lent(0)), EXECUTE),
    fatal!("undefined instruction", "an undefined instruction is a fault", Step::Undefined, &[Fault::Usage]),
    fatal!(
        "stack overflow",
        "a stack that overflows is a fault of its domain, before anything else is overwritten",
        Step::Overflow,
        &[Fault::Stack, Fault::Data]
    ),
    make(
        "what a gate reaches",
        "inside of a gate the callee's memory can be reached, the caller's cannot",
        "architecture.md: Gates",
        &[
            does(
                Actor::Client,
                &[
                    crate::step::c4(
                        abi::Call::GateCall,
                        [crate::step::cap(crate::Hand::Deep1), crate::step::w(0), crate::step::w(0), crate::step::w(0)],
                        crate::step::err(abi::Error::CalleeFault),
                    ),
                    load(Place::Initial(Dom::Client), INITIAL),
                ],
            ),
            stays(Actor::Deep1, &[intact(Dom::Server), Step::Store(Place::Initial(Dom::Client), 0xbad)]),
        ],
        &[(Dom::Server, DATA)],
    ),
];
