//! Capabilities.

use abi::{Call, Error};

use crate::step::{Told, c1, c2, c3, c4, cap, err, sleep, w};
use crate::{Actor, Hand, Row, does, make};

const COPY: &str = "cofferdam_abi.h: CAP_COPY";
const GRANT: &str = "cofferdam_abi.h: CAP_GRANT";
const REVOKE: &str = "cofferdam_abi.h: REVOKE";

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "copy",
        "a copy names the same object with the same rights",
        COPY,
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(3), Told::Ok),
                c2(Call::Signal, w(20), w(4), Told::Ok),
                c2(Call::Poll, cap(Hand::Bell), w(4), Told::Is(4)),
                c2(Call::Signal, cap(Hand::Bell), w(8), Told::Ok),
                c2(Call::Poll, w(20), w(8), Told::Is(8)),
            ],
        )],
        &[],
    ),
    make(
        "copy of fewer rights",
        "a copy can have fewer rights, and then lacks the others",
        COPY,
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(1), Told::Ok),
                c2(Call::Signal, w(20), w(4), err(Error::NoRight)),
                c2(Call::Poll, w(20), w(4), Told::Is(0)),
                c3(Call::CapCopy, w(20), w(21), w(3), err(Error::NoRight)),
            ],
        )],
        &[],
    ),
    make(
        "copy of more rights",
        "no copy has a right that its original lacks, no rights at all, or rights that do not exist",
        COPY,
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Ear), w(20), w(3), err(Error::NoRight)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(7), err(Error::NoRight)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(0), err(Error::NoRight)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(8), err(Error::NoRight)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(0x83), err(Error::NoRight)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(0x103), err(Error::NoRight)),
                c2(Call::Poll, w(20), w(1), err(Error::BadHandle)),
            ],
        )],
        &[],
    ),
    make(
        "slot of a copy",
        "a copy goes into an empty slot of the table",
        COPY,
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Bell), w(200), w(3), err(Error::BadSlot)),
                c3(Call::CapCopy, cap(Hand::Bell), w(u32::MAX), w(3), err(Error::BadSlot)),
                c3(Call::CapCopy, cap(Hand::Bell), cap(Hand::Ear), w(3), err(Error::BadSlot)),
                c3(Call::CapCopy, cap(Hand::Bell), cap(Hand::Bell), w(3), err(Error::BadSlot)),
                c3(Call::CapCopy, w(21), w(20), w(3), err(Error::BadHandle)),
            ],
        )],
        &[],
    ),
    make(
        "delete",
        "a slot that was emptied names nothing, and can be used again",
        "cofferdam_abi.h: CAP_DELETE",
        &[does(
            Actor::Client,
            &[
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(3), Told::Ok),
                c1(Call::CapDelete, w(20), Told::Ok),
                c2(Call::Signal, w(20), w(4), err(Error::BadHandle)),
                c1(Call::CapDelete, w(20), err(Error::BadHandle)),
                c1(Call::CapDelete, w(u32::MAX), err(Error::BadHandle)),
                c3(Call::CapCopy, cap(Hand::Bell), w(20), w(3), Told::Ok),
                c2(Call::Signal, w(20), w(0), Told::Ok),
            ],
        )],
        &[],
    ),
    make(
        "grant",
        "a capability that was granted works for the domain that it was granted to",
        GRANT,
        &[
            does(
                Actor::Chief,
                &[
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Ring), w(20), w(2)], Told::Ok),
                    sleep(1_000),
                    c2(Call::Poll, cap(Hand::Ring), w(u32::MAX), Told::Is(8)),
                ],
            ),
            does(
                Actor::Client,
                &[
                    sleep(500),
                    c2(Call::Signal, w(20), w(8), Told::Ok),
                    c2(Call::Poll, w(20), w(8), err(Error::NoRight)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "grant without right",
        "a grant needs GRANT on the capability, WRITE on the domain, and gives no more rights than there are",
        GRANT,
        &[
            does(
                Actor::Chief,
                &[
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Faults), w(20), w(1)], err(Error::NoRight)),
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Wide), w(20), w(3)], err(Error::NoRight)),
                ],
            ),
            does(
                Actor::Client,
                &[
                    c4(Call::CapGrant, [cap(Hand::Server), cap(Hand::Echo), w(20), w(2)], err(Error::NoRight)),
                    c2(Call::Poll, w(20), w(1), err(Error::BadHandle)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "slot of a grant",
        "a grant goes into an empty slot of the other domain's table",
        GRANT,
        &[does(
            Actor::Chief,
            &[
                c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Ring), w(200), w(2)], err(Error::BadSlot)),
                c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Ring), w(0), w(2)], err(Error::BadSlot)),
                c4(Call::CapGrant, [cap(Hand::Client), w(25), w(20), w(2)], err(Error::BadHandle)),
            ],
        )],
        &[],
    ),
    make(
        "revoke",
        "every other capability to the object is invalid from then on, copies too; the own one is not",
        REVOKE,
        &[
            does(
                Actor::Chief,
                &[
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Doomed1), w(20), w(3)], Told::Ok),
                    sleep(1_000),
                    c1(Call::Revoke, cap(Hand::Doomed1), Told::Ok),
                    c2(Call::Poll, cap(Hand::Doomed1), w(u32::MAX), Told::Is(1)),
                ],
            ),
            does(
                Actor::Client,
                &[
                    sleep(500),
                    c3(Call::CapCopy, w(20), w(21), w(3), Told::Ok),
                    c2(Call::Signal, w(21), w(1), Told::Ok),
                    sleep(1_500),
                    c2(Call::Signal, w(20), w(2), err(Error::BadHandle)),
                    c2(Call::Signal, w(21), w(2), err(Error::BadHandle)),
                    c3(Call::CapCopy, w(20), w(22), w(3), err(Error::BadHandle)),
                ],
            ),
        ],
        &[],
    ),
    make(
        "a stale capability stays stale",
        "a capability to the object that is granted later does not revive one that was revoked",
        REVOKE,
        &[
            does(
                Actor::Chief,
                &[
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Doomed2), w(20), w(3)], Told::Ok),
                    c1(Call::Revoke, cap(Hand::Doomed2), Told::Ok),
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Doomed2), w(20), w(3)], err(Error::BadSlot)),
                    c4(Call::CapGrant, [cap(Hand::Client), cap(Hand::Doomed2), w(21), w(3)], Told::Ok),
                ],
            ),
            does(
                Actor::Client,
                &[
                    sleep(500),
                    c2(Call::Signal, w(20), w(2), err(Error::BadHandle)),
                    c2(Call::Signal, w(21), w(2), Told::Ok),
                    c1(Call::CapDelete, w(20), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
    make(
        "revoke without right",
        "GRANT is needed to revoke",
        REVOKE,
        &[does(
            Actor::Client,
            &[
                c1(Call::Revoke, cap(Hand::Bell), err(Error::NoRight)),
                c1(Call::Revoke, w(25), err(Error::BadHandle)),
                c2(Call::Poll, cap(Hand::Bell), w(1), Told::Is(0)),
            ],
        )],
        &[],
    ),
];
