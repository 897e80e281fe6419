//! Arguments that every call refuses alike.

use abi::{Call, Error};

use crate::step::{Arg, Slot, Step, Told, c1, c2, c3, c4, cap, err, w};
use crate::{Actor, Hand, Row, does, make};

const ERRORS: &str = "cofferdam_abi.h: errors";

/// A call of a number that names none.
const fn unknown(number: u32) -> Step {
    Step::Call { number, args: [w(0); 4], told: Told::Err(Error::BadCall), again: false }
}

/// Calls that take a handle first, with this handle.
const fn handles(handle: Arg, error: Error) -> [Step; 15] {
    [
        c2(Call::Wait, handle, w(1), err(error)),
        c2(Call::Poll, handle, w(1), err(error)),
        c2(Call::Signal, handle, w(1), err(error)),
        c1(Call::GateCall, handle, err(error)),
        c1(Call::InterruptAck, handle, err(error)),
        c1(Call::BudgetQuery, handle, err(error)),
        c1(Call::DomainStop, handle, err(error)),
        c1(Call::DomainRestart, handle, err(error)),
        c1(Call::FaultNext, handle, err(error)),
        c1(Call::Occupy, handle, err(error)),
        c4(Call::CapGrant, [handle, cap(Hand::Ring), w(20), w(1)], err(error)),
        c3(Call::FramesRetype, handle, w(0), w(4096), err(error)),
        c3(Call::FramesClean, handle, w(0), w(4096), err(error)),
        c4(Call::NodesGive, [handle, cap(Hand::Pool), w(0xf000), w(4096)], err(error)),
        c4(Call::NodesGive, [cap(Hand::Client), handle, w(0xf000), w(4096)], err(error)),
    ]
}

/// Calls that map, with this handle as domain or frames.
const fn mappings(call: Call, target: Slot, frames: Slot, access: u32, error: Error) -> Step {
    c4(call, [Arg::Handles(target, frames), Arg::Usable(0, access), w(0), w(4096)], err(error))
}

const CLIENT: Slot = Slot::Of(Hand::Client);
const POOL: Slot = Slot::Of(Hand::Pool);

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "unknown calls",
        "a number that names no call is refused",
        ERRORS,
        &[does(
            Actor::Client,
            &[unknown(abi::CALLS.len() as u32), unknown(0xff), unknown(0x100), unknown(0x8000_0000), unknown(u32::MAX)],
        )],
        &[],
    ),
    make(
        "handles of nothing",
        "a handle that names an empty slot is refused in every call",
        ERRORS,
        &[does(Actor::Chief, &handles(w(25), Error::BadHandle))],
        &[],
    ),
    make(
        "handles behind the table",
        "a handle that names no slot is refused in every call",
        ERRORS,
        &[does(Actor::Chief, &handles(w(u32::MAX), Error::BadHandle))],
        &[],
    ),
    make(
        "handles of another kind",
        "a handle that names an object of another kind is refused in every call",
        ERRORS,
        &[does(Actor::Chief, &handles(cap(Hand::Me), Error::WrongKind))],
        &[],
    ),
    make(
        "handles of mappings",
        "calls that map and unmap refuse such handles too",
        ERRORS,
        &[does(
            Actor::Chief,
            &[
                mappings(Call::FramesMap, Slot::Number(25), POOL, 1, Error::BadHandle),
                mappings(Call::FramesMap, CLIENT, Slot::Number(25), 1, Error::BadHandle),
                mappings(Call::FramesMap, Slot::Of(Hand::Ring), POOL, 1, Error::WrongKind),
                mappings(Call::FramesMap, CLIENT, Slot::Of(Hand::Ring), 1, Error::WrongKind),
                mappings(Call::FramesUnmap, Slot::Number(25), POOL, 1, Error::BadHandle),
                mappings(Call::FramesUnmap, CLIENT, Slot::Number(25), 1, Error::BadHandle),
                mappings(Call::FramesUnmap, Slot::Of(Hand::Ring), POOL, 1, Error::WrongKind),
                mappings(Call::FramesUnmap, CLIENT, Slot::Of(Hand::Ring), 1, Error::WrongKind),
            ],
        )],
        &[],
    ),
    make(
        "rights of domains and frames",
        "WRITE is needed to change a domain or frames, READ to look at a domain",
        "abi::rights",
        &[
            does(
                Actor::Client,
                &[
                    c1(Call::DomainStop, cap(Hand::Server), err(Error::NoRight)),
                    c1(Call::DomainRestart, cap(Hand::Server), err(Error::NoRight)),
                    c1(Call::Occupy, cap(Hand::Server), err(Error::NoRight)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(0)),
                    c3(Call::FramesRetype, cap(Hand::Pool), w(0), w(4096), err(Error::NoRight)),
                    c3(Call::FramesClean, cap(Hand::Pool), w(0), w(4096), err(Error::NoRight)),
                    c4(Call::NodesGive, [cap(Hand::Server), cap(Hand::Pool), w(0xf000), w(4096)], err(Error::NoRight)),
                    c4(Call::NodesGive, [cap(Hand::Myself), cap(Hand::Pool), w(0xf000), w(4096)], err(Error::NoRight)),
                    mappings(Call::FramesMap, Slot::Of(Hand::Server), POOL, 1, Error::NoRight),
                    mappings(Call::FramesMap, Slot::Of(Hand::Myself), POOL, 3, Error::NoRight),
                    mappings(Call::FramesUnmap, Slot::Of(Hand::Server), POOL, 1, Error::NoRight),
                ],
            ),
            does(
                Actor::Chief,
                &[
                    c3(Call::CapCopy, cap(Hand::Client), w(20), w(2), Told::Ok),
                    c1(Call::FaultNext, w(20), err(Error::NoRight)),
                    c3(Call::CapCopy, cap(Hand::Pool), w(21), w(4), Told::Ok),
                    mappings(Call::FramesMap, CLIENT, Slot::Number(21), 1, Error::NoRight),
                    mappings(Call::FramesUnmap, CLIENT, Slot::Number(21), 1, Error::NoRight),
                ],
            ),
        ],
        &[],
    ),
    make(
        "marks",
        "whoever runs can write a marker into the trace",
        "cofferdam_abi.h: MARK",
        &[does(Actor::Client, &[c2(Call::Mark, w(1), w(2), Told::Ok)])],
        &[],
    ),
];
