//! One of each kind.

use abi::trace::Fault;
use abi::{Call, Error};

use crate::End::{Done, Stays};
use crate::step::{Arg, Place, Step, Told, c0, c1, c2, c4, cap, intact, sleep, w};
use crate::{Actor, Dom, Hand, Part, Row};

const fn part(actor: Actor, steps: &'static [Step]) -> Part {
    Part { actor, lives: 1, steps, end: Done }
}

pub const ROWS: &[Row] = &[
    Row {
        name: "time goes on",
        checks: "TIME_NOW tells ticks since boot, of which a microsecond has 25",
        doc: "architecture.md: On the chip",
        parts: &[part(
            Actor::Client,
            &[Step::Clock(0, 1_000), Step::Spin(100), Step::Clock(100, 1_200), c0(Call::TimeNow, Told::Ok)],
        )],
        faults: &[],
    },
    Row {
        name: "signal and wait",
        checks: "a signal wakes the thread that waits for one of its bits, and is cleared by that",
        doc: "cofferdam_abi.h: WAIT, SIGNAL",
        parts: &[
            part(
                Actor::Client,
                &[
                    c2(Call::Wait, cap(Hand::Bell), w(6), Told::Is(2)),
                    c2(Call::Poll, cap(Hand::Bell), w(u32::MAX), Told::Is(1)),
                ],
            ),
            part(
                Actor::Servant,
                &[c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok), c2(Call::Signal, cap(Hand::Bell), w(2), Told::Ok)],
            ),
        ],
        faults: &[],
    },
    Row {
        name: "gate call",
        checks: "the callee gets badge and arguments, the caller status and value",
        doc: "architecture.md: Gates",
        parts: &[
            part(Actor::Client, &[c4(Call::GateCall, [cap(Hand::Echo), w(7), w(8), w(9)], Told::Is(55))]),
            part(
                Actor::Echo,
                &[
                    Step::Given(0, Dom::Client as u32),
                    Step::Given(1, 7),
                    Step::Given(2, 8),
                    Step::Given(3, 9),
                    intact(Dom::Server),
                    Step::Return(0, 55),
                ],
            ),
        ],
        faults: &[],
    },
    Row {
        name: "handle of nothing",
        checks: "a handle that names no capability is refused",
        doc: "cofferdam_abi.h: BAD_HANDLE",
        parts: &[part(
            Actor::Client,
            &[
                c2(Call::Signal, w(u32::MAX), w(1), Told::Err(Error::BadHandle)),
                c2(Call::Wait, w(30), w(1), Told::Err(Error::BadHandle)),
            ],
        )],
        faults: &[],
    },
    Row {
        name: "read kernel data",
        checks: "no domain reads memory of the kernel; the fault stops it and is reported",
        doc: "architecture.md: Faults",
        parts: &[
            Part { actor: Actor::Client, lives: 1, steps: &[Step::Load(Place::KernelData, None)], end: Stays },
            part(Actor::Servant, &[sleep(2_000), intact(Dom::Server)]),
            part(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Client as u32)),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Is(Fault::Data as u32)),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Is(0)),
                    c1(Call::DomainStop, Arg::Cap(Hand::Client), Told::Ok),
                ],
            ),
        ],
        faults: &[],
    },
];
