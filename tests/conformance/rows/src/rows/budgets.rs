//! Budgets: a thread runs only while its budget has time left.

use abi::{Call, Error};

use crate::step::{Step, Told, c1, c4, cap, err, w};
use crate::{Actor, Hand, Row, does, make};

const DOC: &str = "manifest.md: budget; cofferdam_abi.h: BUDGET_QUERY";

/// Rows.
pub const ROWS: &[Row] = &[
    make(
        "budget",
        "a budget is full at the replenishment, and is charged for what its threads run",
        DOC,
        &[does(
            Actor::Client,
            &[
                c1(Call::BudgetQuery, cap(Hand::Purse), Told::Lasts(800, 940)),
                Step::Spin(400),
                c1(Call::BudgetQuery, cap(Hand::Purse), Told::Lasts(360, 520)),
            ],
        )],
        &[],
    ),
    make(
        "exhaustion",
        "threads whose budget is used up wait for the replenishment; others run meanwhile",
        DOC,
        &[
            does(Actor::Client, &[Step::Spin(1_500), Step::Clock(4_900, 5_300)]),
            does(Actor::Second, &[Step::Clock(4_900, 5_500)]),
            does(Actor::Servant, &[Step::Clock(850, 1_300)]),
        ],
        &[],
    ),
    make(
        "sleep costs nothing",
        "a budget is not charged for time in which its threads do not run",
        DOC,
        &[does(
            Actor::Client,
            &[crate::step::sleep(3_000), c1(Call::BudgetQuery, cap(Hand::Purse), Told::Lasts(800, 900))],
        )],
        &[],
    ),
    make(
        "budget without right",
        "READ is needed to look at a budget",
        DOC,
        &[does(Actor::Client, &[c1(Call::BudgetQuery, cap(Hand::Sealed), err(Error::NoRight))])],
        &[],
    ),
    make(
        "a gate waits for budget",
        "a call waits when less than the gate's bound is left, and goes in after the replenishment",
        "architecture.md: Gates; cofferdam_abi.h: GATE_CALL",
        &[
            does(
                Actor::Client,
                &[
                    Step::Spin(450),
                    c4(Call::GateCall, [cap(Hand::Deep1), w(0), w(0), w(0)], Told::Is(3)),
                    Step::Clock(4_900, 5_400),
                ],
            ),
            does(Actor::Deep1, &[Step::Clock(4_900, 5_300), Step::Return(0, 3)]),
        ],
        &[],
    ),
    make(
        "a gate is not too dear",
        "a call whose bound exceeds the caller's capacity is refused, because waiting would not help",
        "cofferdam_abi.h: NO_BUDGET",
        &[
            does(Actor::Chief, &[c4(Call::CapGrant, [cap(Hand::Guest), cap(Hand::Wide), w(20), w(2)], Told::Ok)]),
            does(
                Actor::Guest,
                &[crate::step::sleep(500), c4(Call::GateCall, [w(20), w(0), w(0), w(0)], err(Error::NoBudget))],
            ),
        ],
        &[],
    ),
];
