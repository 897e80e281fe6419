//! Each evaluator against a plain model of what its registers say, and cases worked out by hand.

use super::*;
use crate::testing::Rng;
use std::collections::BTreeMap;
use std::vec;
use std::vec::Vec;

const RNR: u32 = 8;
const RBAR: u32 = 12;
const RLAR: u32 = 16;
const KINDS: [AccessKind; 3] = [AccessKind::Read, AccessKind::Write, AccessKind::Exec];
/// Bytes of a block, in the gates below.
const BLOCK: u32 = 1024;
/// Bit 28 of an address decides; the private buses are exempt (`armsse_idau_check` in QEMU 10.0).
const IDAU: Idau = Idau { secure: 1 << 28, callable: 0, exempt: Some((0xeff0_0000, 0xe000_0000)) };
const STATES: [Security; 2] = [Security::Secure, Security::NonSecure];

fn attribute(unit: &mut Unit, region: u32, base: u32, last: u32, callable: bool) {
    unit.write(RNR, region).unwrap();
    unit.write(RBAR, base).unwrap();
    unit.write(RLAR, last & !31 | u32::from(callable) << 1 | 1).unwrap();
}

/// The registers as stored, and the rule of B8 in two flags, as the architecture's pseudocode has it.
#[derive(Default)]
struct Model {
    control: u32,
    regions: [(u32, u32); 8],
    nsccfg: u32,
}

impl Model {
    fn of(&self, addr: u32, kind: AccessKind, from: Security) -> Attribution {
        let fetch = kind == AccessKind::Exec;
        let own = if from == Security::Secure { Attribution::Secure } else { Attribution::NonSecure };
        match addr {
            0xf000_0000.. if fetch => return Attribution::Secure,
            0xe000_0000..=0xe00f_ffff | 0xf000_0000..=0xf00f_ffff => return own,
            0xe000_0000.. if fetch => return own,
            _ => {}
        }
        let (mut ns, mut nsc) = (self.control == 2, false);
        if self.control & 1 != 0 {
            let hits =
                self.regions.iter().filter(|(base, limit)| limit & 1 != 0 && (*base..=*limit | 31).contains(&addr));
            let hits: Vec<_> = hits.collect();
            if let [(_, limit)] = hits[..] {
                (ns, nsc) = (limit & 2 == 0, limit & 2 != 0);
            }
        }
        if addr >> 28 & 1 != 0 {
            let chip_callable = match addr >> 28 {
                1 => self.nsccfg & 1 != 0,
                3 => self.nsccfg & 2 != 0,
                _ => false,
            };
            if ns || nsc && !chip_callable {
                (ns, nsc) = (false, chip_callable);
            }
        }
        match (ns, nsc) {
            (true, _) => Attribution::NonSecure,
            (false, true) => Attribution::Callable,
            (false, false) => Attribution::Secure,
        }
    }
}

const AREAS: [u32; 8] = [0, 0x0fff_f000, 0x1000_0000, 0x2820_0000, 0x3820_0000, 0xdfff_f000, 0xe000_2000, 0xefff_f000];

fn address(rng: &mut Rng) -> u32 {
    AREAS[rng.below(8) as usize].wrapping_add(rng.below(0x2000) as u32)
}

fn scramble(unit: &mut Unit, ports: &mut PortGates, model: &mut Model, rng: &mut Rng) {
    let region = rng.below(8) as u32;
    let (base, flags) = (address(rng), rng.below(4) as u32);
    let last = base.wrapping_add(rng.below(0x1800) as u32);
    unit.write(RNR, region).unwrap();
    // The low bits of the base, and the reserved ones of the limit, keep nothing.
    unit.write(RBAR, base).unwrap();
    unit.write(RLAR, last & !31 | (rng.below(8) as u32) << 2 | flags).unwrap();
    model.regions[region as usize] = (base & !31, last & !31 | flags);
    if rng.chance(8) {
        model.control = [0, 1, 1, 1, 2, 3][rng.below(6) as usize];
        unit.write(0, model.control | 0xf0).unwrap();
    }
    if rng.chance(8) {
        model.nsccfg = rng.below(4) as u32;
        assert!(ports.write_secure(0x14, model.nsccfg | 4));
        unit.idau.callable = ports.callable();
    }
}

#[test]
fn every_address_is_attributed_as_the_model_says() {
    let mut rng = Rng::new(30);
    let (mut unit, mut ports, mut model) = (Unit::new(IDAU), PortGates::new([[0; 4]; 3]), Model::default());
    let mut seen = BTreeMap::new();
    let mut mixed = 0;
    for _ in 0..10_000 {
        scramble(&mut unit, &mut ports, &mut model, &mut rng);
        for _ in 0..20 {
            let (addr, kind) = (address(&mut rng), KINDS[rng.below(3) as usize]);
            let from = STATES[rng.below(2) as usize];
            let want = model.of(addr, kind, from);
            assert_eq!(unit.of(addr, kind, from), want, "{addr:#x} {kind:?} {from:?}");
            *seen.entry(want).or_insert(0) += 1;
            let len = [1, 4, 16, 200][rng.below(4) as usize];
            let other = (1..len).map(|offset| addr.wrapping_add(offset));
            let other = other.take_while(|at| *at > addr).find(|at| model.of(*at, kind, from).state() != want.state());
            assert_eq!(
                unit.state_of_all(addr, len, kind, from),
                other.map_or(Ok(want.state()), Err),
                "{addr:#x}+{len}"
            );
            mixed += u32::from(other.is_some());
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count > 1_000) && mixed > 300, "{seen:?} {mixed}");
}

#[test]
fn the_more_secure_opinion_counts_and_overlap_is_secure() {
    let of = |unit: &Unit, addr| unit.of(addr, AccessKind::Read, Security::NonSecure);
    let mut unit = Unit::new(IDAU);
    assert_eq!([0x20_0000, 0x1020_0000].map(|addr| of(&unit, addr)), [Attribution::Secure; 2]);
    attribute(&mut unit, 0, 0x1000_0100, 0x1000_011f, true);
    attribute(&mut unit, 1, 0x20_0000, 0x20_3fff, false);
    attribute(&mut unit, 2, 0x1020_0000, 0x1020_3fff, false);
    attribute(&mut unit, 3, 0x0000_0100, 0x0000_011f, true);
    assert_eq!(of(&unit, 0x20_0000), Attribution::Secure, "off");
    unit.write(0, 1).unwrap();
    assert_eq!(of(&unit, 0x20_0000), Attribution::NonSecure);
    assert_eq!(of(&unit, 0x20_4000), Attribution::Secure, "in no region");
    assert_eq!(of(&unit, 0x1020_0000), Attribution::Secure, "the chip says so");
    assert_eq!(of(&unit, 0x1000_0100), Attribution::Secure, "the chip does not let it be callable");
    assert_eq!(of(&unit, 0x100), Attribution::Callable, "nor does it speak against this one");
    unit.idau.callable = 1 << 1;
    assert_eq!(of(&unit, 0x1000_0100), Attribution::Callable);
    assert_eq!(of(&unit, 0x1000_0120), Attribution::Secure);
    assert_eq!(of(&unit, 0x1020_0000), Attribution::Callable, "Non-secure here, Secure and callable there");
    attribute(&mut unit, 7, 0x20_3fe0, 0x20_5fff, false);
    let edges = [0x20_3fdf, 0x20_3fe0, 0x20_3fff, 0x20_4000].map(|addr| of(&unit, addr));
    use Attribution::{NonSecure, Secure};
    assert_eq!(edges, [NonSecure, Secure, Secure, NonSecure]);
    unit.write(0, 2).unwrap();
    assert_eq!([0x2800_0000, 0x3800_0000].map(|addr| of(&unit, addr)), [NonSecure, Secure]);
    let bad = |offset, value| Err(Unpredictable { offset, value });
    for (offset, value) in [(4, 8), (RNR, 8), (0x14, 0), (2, 0)] {
        assert_eq!(unit.write(offset, value), bad(offset, value));
    }
}

#[test]
fn without_a_chips_opinion_the_registers_decide_alone() {
    let mut unit = Unit::new(Idau::NONE);
    attribute(&mut unit, 0, 0x1000_0000, 0x1000_ffff, false);
    unit.write(0, 1).unwrap();
    let of = |addr| unit.of(addr, AccessKind::Exec, Security::Secure);
    assert_eq!([of(0x1000_0000).state(), of(0x1001_0000).state()], [Security::NonSecure, Security::Secure]);
    assert_eq!(of(0xffff_0000), Attribution::Secure);
}

#[test]
fn a_gate_of_blocks_lets_through_as_its_table_says() {
    const WORDS: usize = 5;
    let mut rng = Rng::new(31);
    let mut gate = BlockGate::new(vec![0xffff_ffff; WORDS], 10);
    let mut model = [false; WORDS * 32];
    let mut index = 0;
    assert_eq!([0x10, 0x14, 0x18].map(|offset| gate.read(offset)), [Some(4), Some(5), Some(0)]);
    for _ in 0..20_000 {
        match rng.below(4) {
            0 => {
                index = rng.below(20) as usize % WORDS;
                assert!(gate.write(0x18, index as u32 + 15));
            }
            1 => {
                let word = rng.next() as u32 & rng.next() as u32;
                (0..32).for_each(|bit| model[index * 32 + bit] = word >> bit & 1 != 0);
                assert!(gate.write(0x1c, word));
                index = (index + 1) % WORDS;
            }
            2 => {
                let word = (0..32).map(|bit| u32::from(model[index * 32 + bit]) << bit).sum();
                assert_eq!(gate.read(0x1c), Some(word));
                index = (index + 1) % WORDS;
            }
            _ => assert_eq!(gate.read(0x18), Some(index as u32)),
        }
        let offset = rng.below(u64::from(WORDS as u32 * 32 * BLOCK + 3000)) as u32;
        let (len, from) = ([1, 4, 16, 2048][rng.below(4) as usize], STATES[rng.below(2) as usize]);
        let reaches = |at: u32| model.get((at / BLOCK) as usize) == Some(&(from == Security::NonSecure));
        let stopped = (offset..offset + len).find(|at| !reaches(*at));
        assert_eq!(gate.passes(offset, len, from), stopped.map_or(Ok(()), Err), "{offset:#x}+{len}");
    }
}

#[test]
fn a_locked_gate_keeps_its_table_and_one_told_so_stays_at_its_word() {
    let mut gate = BlockGate::new([0; 4], 10);
    assert!(!gate.answers_with_error());
    assert!(gate.write(0, 1 << 4));
    assert!(gate.answers_with_error());
    assert!(gate.write(0x18, 2) && gate.write(0x1c, 1) && gate.write(0x1c, 3));
    assert_eq!([gate.read(0x1c), gate.read(0x18)], [Some(3), Some(2)]);
    assert!(gate.write(0, 1 << 31 | 1 << 8));
    assert!(!gate.write(0x1c, 0) && !gate.write(0, 0) && gate.write(0x18, 2));
    assert_eq!([gate.read(0x1c), gate.read(0x18), gate.read(0)], [Some(3), Some(3), Some(1 << 31 | 1 << 8)]);
    assert!(!gate.write(0x10, 0) && gate.read(0x20).is_none());
    assert_eq!(gate.of(64 * BLOCK), Some(Security::NonSecure));
    assert_eq!((gate.of(66 * BLOCK), gate.of(128 * BLOCK)), (Some(Security::Secure), None));
}

#[test]
fn ports_are_one_states_and_for_privileged_code_unless_told_otherwise() {
    let mut rng = Rng::new(32);
    let connected = [[0xffff, 0x7, 0, 0], [0x3f, 0x1, 0, 0], [0x7, 0xffff, 0xf0, 0]];
    let mut gates = PortGates::new(connected);
    // Non-secure, unprivileged while Secure, unprivileged while Non-secure.
    let mut model = [[[0u16; 4]; 3]; 3];
    for _ in 0..20_000 {
        let (group, controller, what) = (rng.below(3) as usize, rng.below(4) as usize, rng.below(3) as usize);
        let value = rng.next() as u32;
        let offset = [0x60, 0xa0, 0xa0][what] + 0x10 * group as u32 + 4 * controller as u32;
        let exists = group != 1 || controller < 2;
        let done = if what == 2 { gates.write_non_secure(offset, value) } else { gates.write_secure(offset, value) };
        assert_eq!(done, exists, "{offset:#x}");
        if exists {
            model[what][group][controller] = value as u16 & connected[group][controller];
        }
        let (from, privileged) = (STATES[rng.below(2) as usize], rng.chance(2));
        let port = Port {
            group: [Group::AhbExpansion, Group::Apb, Group::ApbExpansion][rng.below(3) as usize],
            controller: rng.below(4) as u8,
            port: rng.below(16) as u8,
        };
        let [non_secure, secure_user, user] = [0, 1, 2].map(|what| {
            let ports: [[u16; 4]; 3] = model[what];
            ports[port.group as usize][usize::from(port.controller)] >> port.port & 1 != 0
        });
        let want = match from {
            Security::Secure => !non_secure && (privileged || secure_user),
            Security::NonSecure => non_secure && (privileged || user),
        };
        assert_eq!(gates.passes(port, from, privileged), want, "{port:?} {from:?} {privileged}");
    }
    for offset in [0x00, 0x50, 0x61, 0x78, 0x90, 0xb8, 0xd0] {
        assert!(!gates.write_secure(offset, 1), "{offset:#x}");
    }
    assert!(!gates.write_non_secure(0x14, 3) && !gates.write_non_secure(0x60, 3) && gates.callable() == 0);
    assert!(gates.write_secure(0x14, 3) && gates.callable() == 0b1010);
    assert!(!gates.answers_with_error() && gates.write_secure(0x10, 1) && gates.answers_with_error());
}
