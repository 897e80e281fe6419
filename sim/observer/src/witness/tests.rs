use abi::Call;
use abi::trace::Event;
use record::{DomainWatch, Range, RunEvent, Watch};

use super::{FRESH, Witnesses, hash_into};
use crate::{Register, Target};

#[test]
fn every_changed_byte_changes_the_hash() {
    let mut memory = [0u8; 100];
    let hash = |memory: &[u8]| {
        let mut state = FRESH;
        hash_into(&mut state, memory);
        state
    };
    let clean = hash(&memory);
    for index in 0..memory.len() {
        memory[index] = 0x80;
        assert_ne!(hash(&memory), clean, "byte {index}");
        memory[index] = 0;
    }
}

#[test]
fn a_store_over_ranges_that_follow_one_another_is_inside() {
    let range = |start, end| Range { start, end };
    let own =
        DomainWatch { domain: 1, hostile: true, ram: vec![range(0x100, 0x120)], may_store: vec![range(0x120, 0x122)] };
    let watch = Watch { domains: vec![own], ..Watch::default() };
    let mut witness = Witnesses::new(&watch);
    witness.follow(1);
    let outside = |witness: &mut Witnesses, at| witness.stores_outside(at, 4);
    assert!(!outside(&mut witness, 0x11c) && !outside(&mut witness, 0x11e));
    assert!(outside(&mut witness, 0x11f), "its last byte is nobody's");
    assert!(outside(&mut witness, 0xfe), "its first byte is nobody's");
    assert_eq!((witness.seen().stores, witness.seen().stores_outside), (4, 2));
}

/// Two domains and a hostile one, each with a word of memory.
struct Words([u32; 3], Vec<u8>);

impl Target for Words {
    fn find(&mut self, _: &str) -> Register {
        Register(0)
    }

    fn register(&mut self, _: Register) -> u32 {
        0
    }

    fn memory(&mut self, address: u32, _: usize) -> Option<&[u8]> {
        self.1 = self.0[address as usize / 4].to_le_bytes().into();
        Some(&self.1)
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        None
    }

    fn advance(&mut self) -> bool {
        true
    }
}

/// Domain 2 is hostile. Thread 7, of domain 0, is in its gate.
fn in_its_gate() -> (Witnesses, Words) {
    let own = |domain: u8| DomainWatch {
        domain,
        hostile: domain == 2,
        ram: vec![Range { start: u32::from(domain) * 4, end: u32::from(domain) * 4 + 4 }],
        may_store: Vec::new(),
    };
    let watch = Watch { domains: (0..3).map(own).collect(), ..Watch::default() };
    let (mut witness, mut words) = (Witnesses::new(&watch), Words([0; 3], Vec::new()));
    let record = |event: Event, detail, domain| RunEvent { event: event as u8, detail, domain, ..RunEvent::default() };
    for (event, from) in [(record(Event::Switch, 7, 0), 1), (record(Event::GateEnter, 7, 2), 0)] {
        witness.leave(&mut words);
        witness.recorded(&event, from);
        witness.enter(event.domain, &mut words);
    }
    (witness, words)
}

#[test]
fn a_call_changes_the_memory_of_whom_it_is_for_alone() {
    let [copies, restarts, other] = [Call::GateCopyOut, Call::DomainRestart, Call::Yield].map(|call| call as usize);
    // What call changes whose memory: who is told then.
    let cases: [(usize, &[u8], &[u8]); 7] = [
        (copies, &[0], &[]),
        (copies, &[1], &[1]),
        (copies, &[0, 1], &[1]),
        (restarts, &[1], &[]),
        (restarts, &[0, 1], &[1]),
        (other, &[0], &[0]),
        (other, &[], &[]),
    ];
    for (call, changes, expected) in cases {
        let (mut witness, mut words) = in_its_gate();
        assert_eq!(witness.calls(Some(call), &mut words), []);
        changes.iter().for_each(|domain| words.0[usize::from(*domain)] += 1);
        let mut told = witness.calls(None, &mut words);
        told.extend(witness.leave(&mut words));
        let told: Vec<u8> = told.into_iter().map(|(victim, _)| victim).collect();
        assert_eq!(told, expected, "call {call}, {changes:?}");
        assert_eq!(witness.seen().changed_slices, u64::from(!expected.is_empty()));
    }
}

#[test]
fn what_is_changed_before_and_behind_such_a_call_is_told() {
    let copies = Some(Call::GateCopyOut as usize);
    let (mut witness, mut words) = in_its_gate();
    words.0[0] = 1;
    assert_eq!(witness.calls(copies, &mut words).len(), 1);
    assert_eq!(witness.calls(None, &mut words), []);
    words.0[0] = 2;
    assert_eq!(witness.leave(&mut words).len(), 1);
    // Out of the gate nobody is its caller.
    let (mut witness, mut words) = in_its_gate();
    witness.leave(&mut words);
    witness.recorded(&RunEvent { event: Event::GateExit as u8, detail: 7, ..RunEvent::default() }, 2);
    witness.enter(2, &mut words);
    witness.calls(copies, &mut words);
    words.0[0] = 1;
    assert_eq!(witness.calls(None, &mut words).len() + witness.leave(&mut words).len(), 1);
}
