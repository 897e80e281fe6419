//! Faults: who is stopped, who is told, what goes on; and how threads end.

use abi::trace::Fault;
use abi::{Call, Error};

use crate::step::{Place, Step, Told, c0, c1, c2, cap, err, intact, sleep, w};
use crate::{Actor, Dom, Hand, Row, does, make, stays};

const FAULTS: &str = "architecture.md: Faults";
const NEXT: &str = "cofferdam_abi.h: FAULT_NEXT";
const STOP: &str = "cofferdam_abi.h: DOMAIN_STOP";

/// Reads data of the kernel, which ends the domain.
const DIE: Step = Step::Load(Place::KernelData, None);

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "fault: report",
        "a supervisor learns who faulted and how, once; the domain stays stopped",
        NEXT,
        &[
            stays(Actor::Servant, &[intact(Dom::Server), DIE]),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Server as u32)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(Fault::Data as u32)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(0)),
                ],
            ),
            does(
                Actor::Client,
                &[
                    sleep(2_000),
                    crate::step::c4(Call::GateCall, [cap(Hand::Echo), w(0), w(0), w(0)], err(Error::Stopped)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "fault: stop",
        "a domain without a supervisor stays stopped when it faults, and nobody is signalled",
        FAULTS,
        &[
            stays(Actor::Guest, &[sleep(300), DIE]),
            does(
                Actor::Chief,
                &[
                    sleep(800),
                    c2(Call::Poll, cap(Hand::Faults), w(u32::MAX), Told::Is(0)),
                    c1(Call::FaultNext, cap(Hand::Guest), Told::Is(Fault::Data as u32)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a fault ends the whole domain",
        "all threads of a domain that faults are stopped",
        FAULTS,
        &[
            stays(Actor::Client, &[sleep(500), DIE]),
            stays(Actor::Second, &[Step::Spin(50), sleep(1_000)]),
            does(Actor::Servant, &[sleep(2_000), intact(Dom::Server)]),
        ],
        &[(Dom::Client, &[Fault::Data])],
    ),
    make(
        "the first fault is kept",
        "a report is kept until it is read, also when the domain faults again in its next life",
        NEXT,
        &[
            stays(Actor::Servant, &[DIE]),
            stays(Actor::Servant, &[Step::Undefined]),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Server as u32)),
                    crate::step::steps_of(Call::DomainRestart, cap(Hand::Server), Told::Ok),
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Server as u32)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(Fault::Data as u32)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(0)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "stop",
        "a domain that is stopped does not run, and has no fault for it",
        STOP,
        &[
            stays(Actor::Client, &[sleep(500), sleep(1_500)]),
            does(
                Actor::Chief,
                &[
                    sleep(1_000),
                    c1(Call::DomainStop, cap(Hand::Client), Told::Ok),
                    c1(Call::DomainStop, cap(Hand::Client), Told::Ok),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Is(0)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "stop itself",
        "a domain can stop itself, and cannot restart itself",
        STOP,
        &[
            stays(
                Actor::Client,
                &[
                    sleep(300),
                    c1(Call::DomainRestart, cap(Hand::Myself), err(Error::BadState)),
                    c1(Call::DomainStop, cap(Hand::Myself), Told::Ok),
                ],
            ),
            stays(Actor::Second, &[sleep(500)]),
        ],
        &[],
    ),
    make(
        "exit",
        "a thread ends; the other threads of its domain do not",
        "cofferdam_abi.h: EXIT",
        &[stays(Actor::Client, &[c0(Call::Exit, Told::Ok)]), does(Actor::Second, &[sleep(500), intact(Dom::Client)])],
        &[],
    ),
    make(
        "exit with a code",
        "a thread that ends with a code ends its domain",
        "cofferdam_abi.h: EXIT",
        &[stays(Actor::Client, &[sleep(300), c1(Call::Exit, w(5), Told::Ok)]), stays(Actor::Second, &[sleep(500)])],
        &[],
    ),
];
