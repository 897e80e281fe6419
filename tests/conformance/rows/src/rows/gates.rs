//! Gates.

use abi::trace::Fault;
use abi::{Call, Error};

use crate::step::{Arg, Place, Step, Told, c0, c1, c2, c3, c4, cap, err, intact, load, sleep, w};
use crate::{Actor, Dom, Hand, INITIAL, Row, does, make, stays};

const GATES: &str = "architecture.md: Gates";
const ABI: &str = "cofferdam_abi.h: GATE_CALL";
const COPY: &str = "cofferdam_abi.h: GATE_COPY_IN, GATE_COPY_OUT";

/// Calls a gate.
const fn gate(hand: Hand, told: Told) -> Step {
    c4(Call::GateCall, [cap(hand), w(7), w(8), w(9)], told)
}

/// Copies so many bytes between two places.
const fn copy(call: Call, dst: Place, src: Place, bytes: u32, told: Told) -> Step {
    match call {
        Call::GateCopyOut => c3(call, callers(dst), Arg::At(src), w(bytes), told),
        _ => c3(call, Arg::At(dst), callers(src), w(bytes), told),
    }
}

/// The caller's side of a copy. The caller is the client; others' memory is meant by what would reach it.
const fn callers(place: Place) -> Arg {
    match place {
        Place::Initial(Dom::Client) | Place::Zeroed(Dom::Client) | Place::Info(Dom::Client) => Arg::Callers(place),
        _ => Arg::At(place),
    }
}

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "gate call",
        "the callee gets badge and arguments, the caller status and value",
        GATES,
        &[
            does(Actor::Client, &[gate(Hand::Echo, Told::Is(55)), gate(Hand::Echo, Told::Is(55)), intact(Dom::Client)]),
            crate::Part {
                actor: Actor::Echo,
                lives: 2,
                steps: &[
                    Step::Given(0, Dom::Client as u32),
                    Step::Given(1, 7),
                    Step::Given(2, 8),
                    Step::Given(3, 9),
                    intact(Dom::Server),
                    Step::Return(0, 55),
                ],
                end: crate::End::Done,
            },
        ],
        &[],
    ),
    make(
        "status of a callee",
        "the status that a callee returns is what its caller gets",
        GATES,
        &[
            does(Actor::Client, &[gate(Hand::Echo, Told::Status(7)), gate(Hand::Echo, Told::Err(Error::Busy))]),
            does(Actor::Echo, &[Step::Return(7, 0)]),
            does(Actor::Echo, &[Step::Return(Error::Busy.status(), 0)]),
        ],
        &[],
    ),
    make(
        "ceiling",
        "a caller that is more important than the gate's ceiling is refused",
        ABI,
        &[
            does(Actor::Chief, &[c4(Call::CapGrant, [cap(Hand::Guest), cap(Hand::Echo), w(20), w(2)], Told::Ok)]),
            does(Actor::Guest, &[sleep(500), c4(Call::GateCall, [w(20), w(0), w(0), w(0)], err(Error::Ceiling))]),
        ],
        &[],
    ),
    make(
        "nesting",
        "gates nest four deep; a fifth is refused",
        ABI,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Is(1))]),
            does(Actor::Deep1, &[gate(Hand::Deep2, Told::Is(2)), Step::Return(0, 1)]),
            does(Actor::Deep2, &[gate(Hand::Deep3, Told::Is(3)), Step::Return(0, 2)]),
            does(Actor::Deep3, &[gate(Hand::Deep4, Told::Is(4)), Step::Return(0, 3)]),
            does(Actor::Deep4, &[gate(Hand::Deep5, err(Error::Nesting)), Step::Return(0, 4)]),
        ],
        &[],
    ),
    make(
        "a nested gate must fit",
        "a gate is entered from a gate only with its whole bound left of the outer one",
        ABI,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok)]),
            does(Actor::Deep1, &[Step::Spin(300), gate(Hand::Deep2, err(Error::NoBudget)), Step::Return(0, 0)]),
        ],
        &[],
    ),
    make(
        "a gate is busy",
        "one thread is inside a gate at a time",
        ABI,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok)]),
            does(Actor::Deep1, &[gate(Hand::Deep2, Told::Ok), Step::Return(0, 0)]),
            does(Actor::Deep2, &[gate(Hand::Deep2, err(Error::Busy)), Step::Return(0, 0)]),
        ],
        &[],
    ),
    make(
        "gate of a stopped domain",
        "a gate of a domain that is stopped is refused",
        ABI,
        &[
            does(Actor::Chief, &[c1(Call::DomainStop, cap(Hand::Server), Told::Ok)]),
            does(Actor::Client, &[sleep(500), gate(Hand::Echo, err(Error::Stopped))]),
        ],
        &[],
    ),
    make(
        "a callee faults",
        "the caller of a gate whose domain faults gets an error and goes on",
        "architecture.md: Faults",
        &[
            does(
                Actor::Client,
                &[
                    gate(Hand::Echo, err(Error::CalleeFault)),
                    gate(Hand::Echo, err(Error::Stopped)),
                    intact(Dom::Client),
                ],
            ),
            stays(Actor::Echo, &[Step::Load(Place::KernelData, None)]),
        ],
        &[(Dom::Server, &[Fault::Data])],
    ),
    make(
        "a callee overruns",
        "a gate that exceeds its bound has failed: its domain is stopped, its caller goes on in time",
        GATES,
        &[
            does(Actor::Client, &[gate(Hand::Echo, err(Error::GateOverrun)), Step::Clock(100, 600)]),
            stays(Actor::Echo, &[Step::Spin(5_000)]),
        ],
        &[(Dom::Server, &[Fault::GateOverrun])],
    ),
    make(
        "a caller is stopped",
        "a callee whose caller is stopped meanwhile comes to its end, unharmed",
        GATES,
        &[
            does(Actor::Chief, &[c4(Call::CapGrant, [cap(Hand::Guest), cap(Hand::Client), w(20), w(2)], Told::Ok)]),
            does(Actor::Guest, &[sleep(1_060), c1(Call::DomainStop, w(20), Told::Ok)]),
            stays(Actor::Client, &[sleep(1_000), gate(Hand::Echo, Told::Ok)]),
            does(Actor::Echo, &[Step::Spin(70), intact(Dom::Server), Step::Return(0, 0)]),
        ],
        &[],
    ),
    make(
        "nothing blocks in a gate",
        "calls that block are refused inside of a gate",
        "cofferdam_abi.h: IN_GATE",
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok)]),
            does(
                Actor::Deep1,
                &[
                    c2(Call::Wait, cap(Hand::Bell), w(1), err(Error::InGate)),
                    c2(Call::SleepUntil, w(u32::MAX), w(u32::MAX), err(Error::InGate)),
                    c0(Call::WaitPeriod, err(Error::InGate)),
                    c0(Call::Exit, err(Error::InGate)),
                    c0(Call::Yield, Told::Ok),
                    Step::Return(0, 0),
                ],
            ),
        ],
        &[],
    ),
    make(
        "not in a gate",
        "calls of a callee are refused outside of gates",
        "cofferdam_abi.h: NOT_IN_GATE",
        &[does(
            Actor::Client,
            &[
                c2(Call::GateReturn, w(0), w(0), err(Error::NotInGate)),
                copy(
                    Call::GateCopyIn,
                    Place::Zeroed(Dom::Client),
                    Place::Initial(Dom::Client),
                    4,
                    err(Error::NotInGate),
                ),
                copy(
                    Call::GateCopyOut,
                    Place::Zeroed(Dom::Client),
                    Place::Initial(Dom::Client),
                    4,
                    err(Error::NotInGate),
                ),
            ],
        )],
        &[],
    ),
    make(
        "copies",
        "a callee copies from and to what its caller may read and write",
        COPY,
        &[
            does(
                Actor::Client,
                &[
                    load(Place::Zeroed(Dom::Client), 0),
                    gate(Hand::Deep1, Told::Ok),
                    load(Place::Zeroed(Dom::Client), INITIAL),
                ],
            ),
            does(
                Actor::Deep1,
                &[
                    load(Place::Zeroed(Dom::Server), 0),
                    copy(Call::GateCopyIn, Place::Zeroed(Dom::Server), Place::Initial(Dom::Client), 4, Told::Ok),
                    load(Place::Zeroed(Dom::Server), INITIAL),
                    copy(Call::GateCopyOut, Place::Zeroed(Dom::Client), Place::Initial(Dom::Server), 4, Told::Ok),
                    Step::Return(0, 0),
                ],
            ),
        ],
        &[],
    ),
    make(
        "copies of others' memory",
        "a callee cannot copy what its caller may not access, nor to where it may not itself",
        COPY,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok)]),
            does(
                Actor::Deep1,
                &[
                    copy(Call::GateCopyIn, Place::Zeroed(Dom::Server), Place::KernelData, 4, err(Error::BadAddress)),
                    copy(
                        Call::GateCopyIn,
                        Place::Zeroed(Dom::Server),
                        Place::Initial(Dom::Chief),
                        4,
                        err(Error::BadAddress),
                    ),
                    copy(
                        Call::GateCopyIn,
                        Place::Info(Dom::Server),
                        Place::Initial(Dom::Client),
                        4,
                        err(Error::BadAddress),
                    ),
                    copy(
                        Call::GateCopyOut,
                        Place::Info(Dom::Client),
                        Place::Initial(Dom::Server),
                        4,
                        err(Error::BadAddress),
                    ),
                    copy(
                        Call::GateCopyOut,
                        Place::Initial(Dom::Chief),
                        Place::Initial(Dom::Server),
                        4,
                        err(Error::BadAddress),
                    ),
                    copy(Call::GateCopyOut, Place::KernelData, Place::Initial(Dom::Server), 4, err(Error::BadAddress)),
                    Step::Return(0, 0),
                ],
            ),
            does(Actor::Servant, &[sleep(2_000), intact(Dom::Server)]),
        ],
        &[],
    ),
    make(
        "length of a copy",
        "a copy has at most 64 bytes, and does not wrap",
        COPY,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok)]),
            does(
                Actor::Deep1,
                &[
                    copy(
                        Call::GateCopyIn,
                        Place::Zeroed(Dom::Server),
                        Place::Initial(Dom::Client),
                        65,
                        err(Error::BadArgument),
                    ),
                    copy(
                        Call::GateCopyOut,
                        Place::Zeroed(Dom::Client),
                        Place::Initial(Dom::Server),
                        u32::MAX,
                        err(Error::BadArgument),
                    ),
                    c3(
                        Call::GateCopyIn,
                        Arg::At(Place::Zeroed(Dom::Server)),
                        w(u32::MAX - 1),
                        w(4),
                        err(Error::BadAddress),
                    ),
                    Step::Return(0, 0),
                ],
            ),
        ],
        &[],
    ),
    make(
        "rights of a gate",
        "WRITE is needed to call a gate",
        "abi::rights",
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Echo), w(20), w(4), Told::Ok),
                c1(Call::GateCall, w(20), err(Error::NoRight)),
            ],
        )],
        &[],
    ),
    make(
        "undefined instruction in a gate",
        "an undefined instruction inside of a gate is the fault of the domain that the gate leads into",
        GATES,
        &[
            does(Actor::Client, &[gate(Hand::Deep1, Told::Ok), gate(Hand::Echo, err(Error::CalleeFault))]),
            does(Actor::Deep1, &[Step::Return(0, 0)]),
            stays(Actor::Echo, &[Step::Undefined]),
        ],
        &[(Dom::Server, &[Fault::Usage])],
    ),
];
