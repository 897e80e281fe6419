//! Restarts: a domain begins again as it first began.

use abi::trace::Fault;
use abi::{Call, Error};

use crate::step::{Place, Step, Told, c1, c2, c3, c4, cap, err, intact, load, sleep, steps_of, w};
use crate::{Actor, Dom, Hand, Row, does, make, stays};

const RESTART: &str = "cofferdam_abi.h: DOMAIN_RESTART";

/// Reads data of the kernel, which ends the domain.
const DIE: Step = Step::Load(Place::KernelData, None);

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "fault: restart",
        "a supervisor that is told of a fault restarts the domain, which begins again",
        "architecture.md: Faults",
        &[
            stays(Actor::Client, &[DIE]),
            does(Actor::Client, &[intact(Dom::Client), c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok)]),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Client as u32)),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Is(Fault::Data as u32)),
                    steps_of(Call::DomainRestart, cap(Hand::Client), Told::Ok),
                    c2(Call::Wait, cap(Hand::Bell), w(1), Told::Is(1)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a restart goes in steps",
        "a restart returns AGAIN until it is complete, and is refused while the domain runs",
        RESTART,
        &[does(
            Actor::Chief,
            &[
                c1(Call::DomainRestart, cap(Hand::Guest), err(Error::BadState)),
                c1(Call::DomainStop, cap(Hand::Guest), Told::Ok),
                c1(Call::DomainRestart, cap(Hand::Guest), err(Error::Again)),
                steps_of(Call::DomainRestart, cap(Hand::Guest), Told::Ok),
                c1(Call::DomainRestart, cap(Hand::Guest), err(Error::BadState)),
            ],
        )],
        &[],
    ),
    make(
        "no domain without handlers occupies their state",
        "OCCUPY is refused for a domain without handlers that interrupts reach without the kernel",
        "cofferdam_abi.h: OCCUPY",
        &[does(Actor::Chief, &[c1(Call::Occupy, cap(Hand::Guest), err(Error::BadState))])],
        &[],
    ),
    make(
        "a restart restores data",
        "initialised data is as it was linked, the rest is zero",
        RESTART,
        &[
            stays(
                Actor::Client,
                &[
                    Step::Store(Place::Initial(Dom::Client), 5),
                    Step::Store(Place::Zeroed(Dom::Client), 6),
                    load(Place::Initial(Dom::Client), 5),
                    DIE,
                ],
            ),
            does(Actor::Client, &[intact(Dom::Client), load(Place::Zeroed(Dom::Client), 0)]),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Client as u32)),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Ok),
                    steps_of(Call::DomainRestart, cap(Hand::Client), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a restart restores capabilities",
        "what the domain deleted is back, what it got is gone",
        RESTART,
        &[
            stays(
                Actor::Client,
                &[
                    c3(Call::CapCopy, cap(Hand::Bell), w(20), w(3), Told::Ok),
                    c1(Call::CapDelete, cap(Hand::Ear), Told::Ok),
                    c2(Call::Poll, cap(Hand::Ear), w(1), err(Error::BadHandle)),
                    DIE,
                ],
            ),
            does(
                Actor::Client,
                &[
                    c2(Call::Poll, w(20), w(1), err(Error::BadHandle)),
                    c2(Call::Poll, cap(Hand::Ear), w(1), Told::Is(0)),
                ],
            ),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Client as u32)),
                    c1(Call::FaultNext, cap(Hand::Client), Told::Ok),
                    steps_of(Call::DomainRestart, cap(Hand::Client), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a revocation outlives a restart",
        "of the capabilities that a domain began with, those that were revoked stay away",
        RESTART,
        &[
            does(Actor::Client, &[c2(Call::Signal, cap(Hand::Doomed3), w(1), Told::Ok)]),
            does(Actor::Client, &[c2(Call::Signal, cap(Hand::Doomed3), w(1), err(Error::BadHandle))]),
            does(
                Actor::Chief,
                &[
                    sleep(500),
                    c1(Call::Revoke, cap(Hand::Doomed3), Told::Ok),
                    c1(Call::DomainStop, cap(Hand::Client), Told::Ok),
                    steps_of(Call::DomainRestart, cap(Hand::Client), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a waiter that was stopped",
        "who waited when it was stopped does not swallow bits, nor keep others from waiting",
        "cofferdam_abi.h: WAIT",
        &[
            stays(Actor::Client, &[c2(Call::Wait, cap(Hand::Bell), w(1), Told::Ok)]),
            does(
                Actor::Chief,
                &[
                    sleep(500),
                    c1(Call::DomainStop, cap(Hand::Client), Told::Ok),
                    c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok),
                    c2(Call::Poll, cap(Hand::Bell), w(1), Told::Is(1)),
                    c2(Call::Wait, cap(Hand::Bell), w(2), Told::Is(2)),
                ],
            ),
            does(Actor::Servant, &[sleep(1_000), c2(Call::Signal, cap(Hand::Bell), w(2), Told::Ok)]),
        ],
        &[],
    ),
    make(
        "a server is restarted",
        "a gate works again after its domain was restarted",
        RESTART,
        &[
            does(
                Actor::Client,
                &[
                    c4(Call::GateCall, [cap(Hand::Echo), w(0), w(0), w(0)], err(Error::CalleeFault)),
                    sleep(3_000),
                    c4(Call::GateCall, [cap(Hand::Echo), w(0), w(0), w(0)], Told::Is(2)),
                ],
            ),
            stays(Actor::Echo, &[Step::Store(Place::Initial(Dom::Server), 1), DIE]),
            does(Actor::Echo, &[intact(Dom::Server), Step::Return(0, 2)]),
            does(
                Actor::Chief,
                &[
                    c2(Call::Wait, cap(Hand::Faults), w(u32::MAX), Told::Is(1 << Dom::Server as u32)),
                    c1(Call::FaultNext, cap(Hand::Server), Told::Is(Fault::Data as u32)),
                    steps_of(Call::DomainRestart, cap(Hand::Server), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
];
