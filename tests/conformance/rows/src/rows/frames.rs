//! Memory that is mapped while the system runs.

use abi::trace::Fault;
use abi::{Call, Error};

use crate::step::{Place, Step, Told, c1, c3, c4, cap, err, load, map, sleep, steps_of, w};
use crate::{Actor, Dom, Hand, Row, does, make, stays};

const RETYPE: &str = "cofferdam_abi.h: FRAMES_RETYPE";
const MAP: &str = "cofferdam_abi.h: FRAMES_MAP";
const UNMAP: &str = "cofferdam_abi.h: FRAMES_UNMAP";
const CLEAN: &str = "cofferdam_abi.h: FRAMES_CLEAN";
const NODES: &str = "cofferdam_abi.h: NODES_GIVE";
/// Bytes that every processor takes for a domain's table at a time.
const TABLE: u32 = 1024;

/// Bytes of a page, and of the smallest mapping that rows use.
const PAGE: u32 = 4096;
/// Bytes of the pool.
const POOL: u32 = 0x1_0000;
/// The part of the pool that becomes kernel memory for good.
const LAST: u32 = POOL - PAGE;

const DATA: &[Fault] = &[Fault::Data];

/// Makes the pool's page memory that can be mapped.
const fn retype(page: u32, told: Told) -> Step {
    c3(Call::FramesRetype, cap(Hand::Pool), w(page * PAGE), w(PAGE), told)
}

/// Maps a page of the pool.
const fn give(hand: Hand, access: u32, page: u32, told: Told) -> Step {
    map(Call::FramesMap, hand, access, page * PAGE, PAGE, told)
}

/// Takes it back.
const fn take(hand: Hand, access: u32, page: u32, told: Told) -> Step {
    map(Call::FramesUnmap, hand, access, page * PAGE, PAGE, told)
}

/// A step of clearing it.
const fn clean(page: u32, told: Told) -> Step {
    c3(Call::FramesClean, cap(Hand::Pool), w(page * PAGE), w(PAGE), told)
}

/// Bytes of a step of clearing, and steps for a page.
const PIECE: u32 = 256;
const PIECES: usize = (PAGE / PIECE) as usize;

/// Steps from one on clear the page, and tell each time what is left.
const fn cleared<const N: usize>(mut steps: [Step; N], from: usize) -> [Step; N] {
    let mut piece = 0;
    while piece < PIECES {
        steps[from + piece] = clean(0, Told::Is(PAGE - (piece as u32 + 1) * PIECE));
        piece += 1;
    }
    steps
}

/// Retypes, is cleared step by step, and is untyped then.
const CLEAR: &[Step] = &{
    let mut steps = [clean(0, Told::Is(0)); PIECES + 3];
    (steps[0], steps[PIECES + 2]) = (retype(0, Told::Ok), retype(0, Told::Ok));
    cleared(steps, 1)
};

/// Memory goes from the client to the server, and is cleared on the way.
const SCRUB: &[Step] = &{
    let mut steps = [retype(0, Told::Ok); PIECES + 6];
    steps[1] = give(Hand::Client, RW, 0, Told::Ok);
    steps[2] = sleep(2_000);
    steps[3] = take(Hand::Client, RW, 0, Told::Ok);
    steps[PIECES + 5] = give(Hand::Server, R, 0, Told::Ok);
    cleared(steps, 4)
};

const R: u32 = 1;
const RW: u32 = 3;
const RX: u32 = 5;
const PINNED: u32 = 11;

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "map",
        "frames that were retyped and mapped can be read and written, and begin as zeros",
        MAP,
        &[
            does(Actor::Chief, &[retype(0, Told::Ok), give(Hand::Client, RW, 0, Told::Ok)]),
            does(
                Actor::Client,
                &[
                    sleep(1_000),
                    load(Place::Pool(0), 0),
                    Step::Store(Place::Pool(0), 77),
                    Step::Store(Place::Pool(4092), 78),
                    load(Place::Pool(0), 77),
                    load(Place::Pool(4092), 78),
                ],
            ),
        ],
        &[],
    ),
    make(
        "unmap",
        "an access right after the unmapping faults, though the memory was used just before",
        UNMAP,
        &[
            does(
                Actor::Chief,
                &[
                    retype(0, Told::Ok),
                    give(Hand::Client, RW, 0, Told::Ok),
                    sleep(2_000),
                    take(Hand::Client, RW, 0, Told::Ok),
                    take(Hand::Client, RW, 0, err(Error::BadState)),
                ],
            ),
            stays(
                Actor::Client,
                &[
                    sleep(1_000),
                    Step::Store(Place::Pool(0), 79),
                    sleep(1_990),
                    load(Place::Pool(0), 79),
                    sleep(3_000),
                    Step::Load(Place::Pool(0), None),
                ],
            ),
        ],
        &[(Dom::Client, DATA)],
    ),
    make(
        "unmap one's own",
        "the next instruction after an unmapping of one's own memory cannot use it",
        UNMAP,
        &[stays(
            Actor::Chief,
            &[
                retype(0, Told::Ok),
                give(Hand::Myself, RW, 0, Told::Ok),
                Step::Store(Place::Pool(0), 80),
                load(Place::Pool(0), 80),
                take(Hand::Myself, RW, 0, Told::Ok),
                Step::Store(Place::Pool(0), 81),
            ],
        )],
        &[(Dom::Chief, DATA)],
    ),
    make(
        "map for reading",
        "what is mapped for reading cannot be written",
        MAP,
        &[
            does(Actor::Chief, &[retype(0, Told::Ok), give(Hand::Client, R, 0, Told::Ok)]),
            stays(Actor::Client, &[sleep(1_000), load(Place::Pool(0), 0), Step::Store(Place::Pool(0), 82)]),
        ],
        &[(Dom::Client, DATA)],
    ),
    make(
        "map is not execute",
        "what is mapped for writing cannot be executed",
        MAP,
        &[
            does(Actor::Chief, &[retype(0, Told::Ok), give(Hand::Client, RW, 0, Told::Ok)]),
            stays(Actor::Client, &[sleep(1_000), load(Place::Pool(0), 0), Step::Jump(Place::Pool(0))]),
        ],
        &[(Dom::Client, &[Fault::Execute])],
    ),
    make(
        "write or execute",
        "nothing is mapped for both writing and executing, or not for reading",
        MAP,
        &[does(
            Actor::Chief,
            &[
                retype(0, Told::Ok),
                give(Hand::Client, RW | RX, 0, err(Error::BadArgument)),
                give(Hand::Client, 0, 0, err(Error::BadArgument)),
                give(Hand::Client, 2, 0, err(Error::BadArgument)),
            ],
        )],
        &[],
    ),
    make(
        "map pinned",
        "pinned mappings work like others; there are four, and a fifth is refused",
        MAP,
        &[
            does(
                Actor::Chief,
                &[
                    c3(Call::FramesRetype, cap(Hand::Pool), w(0), w(5 * PAGE), Told::Ok),
                    give(Hand::Client, PINNED, 0, Told::Ok),
                    give(Hand::Client, PINNED, 1, Told::Ok),
                    give(Hand::Client, PINNED, 2, Told::Ok),
                    give(Hand::Client, PINNED, 3, Told::Ok),
                    give(Hand::Client, PINNED, 4, err(Error::Full)),
                    sleep(3_000),
                    take(Hand::Client, PINNED, 0, Told::Ok),
                ],
            ),
            stays(
                Actor::Client,
                &[
                    sleep(2_000),
                    Step::Store(Place::Pool(0), 83),
                    Step::Store(Place::Pool(3 * PAGE), 84),
                    load(Place::Pool(0), 83),
                    sleep(4_000),
                    load(Place::Pool(3 * PAGE), 84),
                    Step::Load(Place::Pool(0), None),
                ],
            ),
        ],
        &[(Dom::Client, DATA)],
    ),
    make(
        "map for two",
        "memory that is mapped to two domains is the same for both",
        MAP,
        &[
            does(
                Actor::Chief,
                &[retype(1, Told::Ok), give(Hand::Client, RW, 1, Told::Ok), give(Hand::Server, R, 1, Told::Ok)],
            ),
            does(Actor::Client, &[sleep(2_000), Step::Store(Place::Pool(PAGE), 85)]),
            does(Actor::Servant, &[sleep(2_500), load(Place::Pool(PAGE), 85)]),
        ],
        &[],
    ),
    make(
        "unmapped for one",
        "an unmapping for one domain leaves the other's",
        UNMAP,
        &[
            does(
                Actor::Chief,
                &[
                    retype(1, Told::Ok),
                    give(Hand::Client, RW, 1, Told::Ok),
                    give(Hand::Server, R, 1, Told::Ok),
                    sleep(3_000),
                    take(Hand::Server, R, 1, Told::Ok),
                ],
            ),
            does(
                Actor::Client,
                &[sleep(2_000), Step::Store(Place::Pool(PAGE), 86), sleep(4_000), load(Place::Pool(PAGE), 86)],
            ),
            stays(
                Actor::Servant,
                &[sleep(2_500), load(Place::Pool(PAGE), 86), sleep(4_500), Step::Load(Place::Pool(PAGE), None)],
            ),
        ],
        &[(Dom::Server, DATA)],
    ),
    make(
        "map what is untyped",
        "memory that was not retyped cannot be mapped",
        MAP,
        &[does(Actor::Chief, &[give(Hand::Client, RW, 0, err(Error::BadState))])],
        &[],
    ),
    make(
        "map twice",
        "what is mapped already cannot be mapped once more in the same place",
        MAP,
        &[does(
            Actor::Chief,
            &[
                retype(0, Told::Ok),
                give(Hand::Client, RW, 0, Told::Ok),
                give(Hand::Client, RW, 0, err(Error::BadState)),
                give(Hand::Client, R, 0, err(Error::BadState)),
                take(Hand::Client, RW, 0, Told::Ok),
            ],
        )],
        &[],
    ),
    make(
        "map beyond",
        "what lies behind the frames of the capability cannot be mapped or unmapped",
        MAP,
        &[does(
            Actor::Chief,
            &[
                give(Hand::Client, R, POOL / PAGE, err(Error::BadAddress)),
                take(Hand::Client, R, POOL / PAGE, err(Error::BadAddress)),
            ],
        )],
        &[],
    ),
    make(
        "unmap what is not mapped",
        "an unmapping ends exactly what a mapping began",
        UNMAP,
        &[does(
            Actor::Chief,
            &[
                retype(0, Told::Ok),
                take(Hand::Client, RW, 0, err(Error::BadState)),
                take(Hand::Client, 0, 0, err(Error::BadArgument)),
                give(Hand::Client, RW, 0, Told::Ok),
                take(Hand::Server, RW, 0, err(Error::BadState)),
                take(Hand::Client, RW, 1, err(Error::BadState)),
                take(Hand::Client, RW, 0, Told::Ok),
            ],
        )],
        &[],
    ),
    make(
        "retype",
        "a part that is not there, not whole, or typed already cannot be retyped",
        RETYPE,
        &[does(
            Actor::Chief,
            &[
                c3(Call::FramesRetype, cap(Hand::Pool), w(16), w(PAGE), err(Error::BadArgument)),
                c3(Call::FramesRetype, cap(Hand::Pool), w(0), w(PAGE + 1), err(Error::BadArgument)),
                c3(Call::FramesRetype, cap(Hand::Pool), w(0), w(0), err(Error::BadArgument)),
                c3(Call::FramesRetype, cap(Hand::Pool), w(POOL), w(32), err(Error::BadArgument)),
                c3(Call::FramesRetype, cap(Hand::Pool), w(u32::MAX - 31), w(64), err(Error::BadArgument)),
                retype(0, Told::Ok),
                retype(0, err(Error::BadState)),
            ],
        )],
        &[],
    ),
    make(
        "clean",
        "clearing goes in steps of 256 bytes, after which the memory is untyped",
        CLEAN,
        &[does(Actor::Chief, CLEAR)],
        &[],
    ),
    make(
        "clean what is mapped",
        "memory that somebody maps cannot be cleared, nor a part that is not there",
        CLEAN,
        &[does(
            Actor::Chief,
            &[
                retype(0, Told::Ok),
                give(Hand::Client, RW, 0, Told::Ok),
                clean(0, err(Error::BadState)),
                take(Hand::Client, RW, 0, Told::Ok),
                c3(Call::FramesClean, cap(Hand::Pool), w(0), w(0), err(Error::BadArgument)),
                c3(Call::FramesClean, cap(Hand::Pool), w(POOL), w(32), err(Error::BadArgument)),
            ],
        )],
        &[],
    ),
    make(
        "scrubbed",
        "what one domain left in memory, the next does not find",
        CLEAN,
        &[
            does(Actor::Chief, SCRUB),
            does(Actor::Client, &[sleep(1_000), Step::Store(Place::Pool(0), 87), load(Place::Pool(0), 87)]),
            does(Actor::Servant, &[sleep(7_000), load(Place::Pool(0), 0)]),
        ],
        &[],
    ),
    make(
        "a restart unmaps",
        "what was mapped to a domain while it ran is taken away when it is restarted",
        "cofferdam_abi.h: DOMAIN_RESTART",
        &[
            does(
                Actor::Chief,
                &[
                    retype(0, Told::Ok),
                    give(Hand::Client, RW, 0, Told::Ok),
                    sleep(2_000),
                    c1(Call::DomainStop, cap(Hand::Client), Told::Ok),
                    steps_of(Call::DomainRestart, cap(Hand::Client), Told::Ok),
                    take(Hand::Client, RW, 0, err(Error::BadState)),
                ],
            ),
            does(Actor::Client, &[sleep(1_000), Step::Store(Place::Pool(0), 88), load(Place::Pool(0), 88)]),
            stays(Actor::Client, &[Step::Load(Place::Pool(0), None)]),
        ],
        &[(Dom::Client, DATA)],
    ),
    make(
        "nodes",
        "memory that is given for a domain's table is the kernel's for good",
        NODES,
        &[does(
            Actor::Chief,
            &[
                c4(Call::NodesGive, [cap(Hand::Client), cap(Hand::Pool), w(LAST), w(32)], err(Error::BadArgument)),
                c4(
                    Call::NodesGive,
                    [cap(Hand::Client), cap(Hand::Pool), w(LAST + 16), w(TABLE)],
                    err(Error::BadArgument),
                ),
                c4(Call::NodesGive, [cap(Hand::Client), cap(Hand::Pool), w(LAST), w(TABLE)], Told::Is(TABLE)),
                c4(Call::NodesGive, [cap(Hand::Client), cap(Hand::Pool), w(LAST), w(TABLE)], err(Error::BadState)),
                c3(Call::FramesRetype, cap(Hand::Pool), w(LAST), w(PAGE), err(Error::BadState)),
                c3(Call::FramesClean, cap(Hand::Pool), w(LAST), w(PAGE), err(Error::BadState)),
                give(Hand::Client, R, LAST / PAGE, err(Error::BadState)),
            ],
        )],
        &[],
    ),
];
