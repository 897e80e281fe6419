//! Notifications, time, and interrupts.

use abi::{Call, Error};

use crate::step::{Place, Step, Told, c0, c1, c2, cap, err, load, sleep, w};
use crate::{Actor, Hand, Row, does, make};

const ABI: &str = "cofferdam_abi.h: WAIT, POLL, SIGNAL";
const TIME: &str = "cofferdam_abi.h: SLEEP_UNTIL, WAIT_PERIOD, TIME_NOW";
const LINES: &str = "cofferdam_abi.h: INTERRUPT_ACK";

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "signal and wait",
        "a signal wakes the thread that waits for one of its bits; other bits stay",
        ABI,
        &[
            does(
                Actor::Client,
                &[
                    c2(Call::Wait, cap(Hand::Bell), w(6), Told::Is(2)),
                    c2(Call::Poll, cap(Hand::Bell), w(u32::MAX), Told::Is(1)),
                ],
            ),
            does(
                Actor::Servant,
                &[c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok), c2(Call::Signal, cap(Hand::Bell), w(2), Told::Ok)],
            ),
        ],
        &[],
    ),
    make(
        "poll",
        "a poll takes the bits of its mask, and does not wait",
        ABI,
        &[does(
            Actor::Client,
            &[
                c2(Call::Poll, cap(Hand::Bell), w(u32::MAX), Told::Is(0)),
                c2(Call::Signal, cap(Hand::Bell), w(5), Told::Ok),
                c2(Call::Poll, cap(Hand::Bell), w(4), Told::Is(4)),
                c2(Call::Poll, cap(Hand::Bell), w(u32::MAX), Told::Is(1)),
            ],
        )],
        &[],
    ),
    make(
        "wait for what is there",
        "a wait for bits that are set returns at once with those of its mask",
        ABI,
        &[does(
            Actor::Client,
            &[
                c2(Call::Signal, cap(Hand::Bell), w(3), Told::Ok),
                c2(Call::Wait, cap(Hand::Bell), w(9), Told::Is(1)),
                c2(Call::Poll, cap(Hand::Bell), w(u32::MAX), Told::Is(2)),
                Step::Clock(0, 1_000),
            ],
        )],
        &[],
    ),
    make(
        "wait for nothing",
        "a wait with an empty mask would never end, and is refused",
        ABI,
        &[does(Actor::Client, &[c2(Call::Wait, cap(Hand::Bell), w(0), err(Error::BadArgument))])],
        &[],
    ),
    make(
        "two cannot wait",
        "a notification has one waiter; the second is refused, the first still woken",
        ABI,
        &[
            does(Actor::Client, &[c2(Call::Wait, cap(Hand::Bell), w(1), Told::Is(1))]),
            does(
                Actor::Second,
                &[
                    c2(Call::Wait, cap(Hand::Bell), w(2), err(Error::Busy)),
                    c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok),
                ],
            ),
        ],
        &[],
    ),
    make(
        "rights of a notification",
        "READ is needed to wait and poll, WRITE to signal",
        "abi::rights",
        &[does(
            Actor::Client,
            &[
                c2(Call::Wait, cap(Hand::Push), w(1), err(Error::NoRight)),
                c2(Call::Poll, cap(Hand::Push), w(1), err(Error::NoRight)),
                c2(Call::Signal, cap(Hand::Ear), w(1), err(Error::NoRight)),
                c2(Call::Signal, cap(Hand::Push), w(8), Told::Ok),
                c2(Call::Poll, cap(Hand::Ear), w(8), Told::Is(8)),
            ],
        )],
        &[],
    ),
    make(
        "preemption",
        "a thread that is woken and more important than the running one runs at once",
        ABI,
        &[
            does(
                Actor::Client,
                &[
                    Step::Store(Place::Lent(0), 1),
                    c2(Call::Wait, cap(Hand::Bell), w(1), Told::Is(1)),
                    Step::Store(Place::Lent(0), 2),
                ],
            ),
            does(
                Actor::Servant,
                &[load(Place::Lent(0), 1), c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok), load(Place::Lent(0), 2)],
            ),
        ],
        &[],
    ),
    make(
        "no preemption from below",
        "a thread that is woken and less important waits until the running one does",
        ABI,
        &[
            does(Actor::Second, &[c2(Call::Wait, cap(Hand::Bell), w(1), Told::Is(1)), Step::Store(Place::Lent(4), 4)]),
            does(
                Actor::Client,
                &[
                    sleep(300),
                    Step::Store(Place::Lent(4), 3),
                    c2(Call::Signal, cap(Hand::Bell), w(1), Told::Ok),
                    c0(Call::Yield, Told::Ok),
                    load(Place::Lent(4), 3),
                    sleep(600),
                    load(Place::Lent(4), 4),
                ],
            ),
        ],
        &[],
    ),
    make(
        "time",
        "TIME_NOW tells ticks since boot, as many in a microsecond as the board says",
        TIME,
        &[does(
            Actor::Client,
            &[c0(Call::TimeNow, Told::Second(0)), Step::Clock(0, 1_000), Step::Spin(100), Step::Clock(100, 1_200)],
        )],
        &[],
    ),
    make(
        "sleep",
        "a thread sleeps until the time that it names, and hardly longer",
        TIME,
        &[does(Actor::Client, &[sleep(1_000), Step::Clock(1_000, 1_200)])],
        &[],
    ),
    make(
        "sleep into the past",
        "a time that has passed is no reason to sleep",
        TIME,
        &[does(Actor::Client, &[c2(Call::SleepUntil, w(1), w(0), Told::Ok), Step::Clock(0, 1_000)])],
        &[],
    ),
    make(
        "periodic thread",
        "a periodic thread is released at a boundary of its budget first, and then at nominal times, a period apart",
        TIME,
        &[does(
            Actor::Ticker,
            &[
                c0(Call::WaitPeriod, Told::Is(0)),
                Step::Clock(900, 1_300),
                c0(Call::WaitPeriod, Told::Is(0)),
                Step::Clock(4_900, 5_300),
            ],
        )],
        &[],
    ),
    make(
        "not periodic",
        "a thread without a period has no releases to wait for",
        TIME,
        &[does(Actor::Client, &[c0(Call::WaitPeriod, err(Error::NotPeriodic))])],
        &[],
    ),
    make(
        "interrupt",
        "an interrupt of the own device sets its bit, and wakes who waits",
        LINES,
        &[does(
            Actor::Driver,
            &[
                c1(Call::InterruptAck, cap(Hand::Tx), Told::Ok),
                Step::Raise,
                c2(Call::Wait, cap(Hand::Line), w(1), Told::Is(1)),
                Step::Quiet,
            ],
        )],
        &[],
    ),
    make(
        "masked line",
        "a line that was delivered stays masked until it is acknowledged",
        LINES,
        &[does(
            Actor::Driver,
            &[
                c1(Call::InterruptAck, cap(Hand::Tx), Told::Ok),
                Step::Raise,
                c2(Call::Wait, cap(Hand::Line), w(1), Told::Is(1)),
                Step::Raise,
                sleep(2_500),
                c2(Call::Poll, cap(Hand::Line), w(1), Told::Is(0)),
                c1(Call::InterruptAck, cap(Hand::Tx), Told::Ok),
                c2(Call::Wait, cap(Hand::Line), w(1), Told::Is(1)),
                Step::Quiet,
            ],
        )],
        &[],
    ),
];
