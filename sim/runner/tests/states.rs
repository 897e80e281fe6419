//! A core with security states: the observer tells them apart, and finds accesses that the emulator lets through and hardware would not.

mod support;

use protect::AccessKind;
use protect::attribution::{Idau, Security, Unit};
use protect::pmsav8::Shadow;
use record::{Architecture, AttributionWatch, ProfileSource, ViolationKind};
use runner::{Machine, Outcome, Watch};
use support::{Guest, MARK, directory, events};
use testing::Rng;

/// A bit of an address that makes it Secure on this board.
const SECURE: u32 = 1 << 28;

fn guest(name: &str, flags: &[&str]) -> Guest {
    let flags: Vec<_> = ["-mcpu=cortex-m33", "-mfloat-abi=soft"].iter().chain(flags).copied().collect();
    Guest::build_for(&flags, "secure.ld", name, name)
}

fn run(guest: &Guest) -> Outcome {
    let profile = ProfileSource::Constant {
        architecture: Architecture::Armv8M,
        cpu_hz: 20_000_000,
        cycles_per_instruction: 1,
        cycles_per_access: 2,
    };
    let attribution = Some(AttributionWatch { secure: SECURE, callable: 0 });
    guest.run_on(Machine::named("mps2-an505"), Watch { profile, attribution, ..guest.watch() })
}

#[test]
fn accesses_across_the_ends_of_a_region_and_of_non_secure_memory_are_flagged() {
    let guest = guest("secure", &[]);
    let summary = run(&guest).summary;
    assert_eq!(summary.end.status, Some(5), "the emulator is expected to let both through, and to stop the branch");
    let seen: Vec<_> = summary.violations.iter().map(|seen| (seen.kind, seen.pc, seen.address, seen.domain)).collect();
    let across = |pc: &str, address: u32| (ViolationKind::Read, guest.symbol(pc), address, 3);
    let own = guest.symbol("own");
    assert_eq!(seen, [across("straddling", own + 252), across("half_secure", 0x2820_01fe)]);
    let taken: Vec<_> = summary.exceptions.iter().map(|count| (count.number, count.taken)).collect();
    assert_eq!(taken, [(7, 1), (11, 1)]);
    assert_eq!(summary.regions, None, "the guest does not ask");
    assert_eq!(summary.broken_stretches, 0);
}

/// Registers and addresses, as `tested.S` reads them.
struct Case {
    control: u32,
    mpu: [(u32, u32); 8],
    sau: [(u32, u32); 8],
    attributes: u32,
    addresses: [u32; 16],
}

impl Case {
    fn any(rng: &mut Rng) -> Self {
        const AREAS: [u32; 5] = [0x0030_0000, 0x1030_0000, 0x2820_0000, 0x3820_0000, 0x4000_8000];
        let address = |rng: &mut Rng| AREAS[rng.below(5) as usize] + rng.below(0x800) as u32;
        let region = |rng: &mut Rng, low: u32, high: u32| {
            let base = address(rng);
            let last = base + rng.below(0x400) as u32;
            (base & !31 | rng.next() as u32 & low, last & !31 | rng.next() as u32 & high | u32::from(!rng.chance(4)))
        };
        Self {
            control: if rng.chance(8) { 0 } else { 5 },
            mpu: std::array::from_fn(|_| region(rng, 7, 0xe)),
            sau: std::array::from_fn(|_| region(rng, 0, 2)),
            attributes: [0, 1, 1, 1, 2][rng.below(5) as usize],
            addresses: std::array::from_fn(|_| address(rng)),
        }
    }

    fn words(&self) -> Vec<u32> {
        let pairs = self.mpu.iter().chain(&self.sau).flat_map(|(base, limit)| [*base, *limit]);
        [self.control].into_iter().chain(pairs).chain([self.attributes]).chain(self.addresses).collect()
    }

    /// Whether a byte can be read, whether it can be written, and whether it is Secure, for privileged code and for other code in Secure state.
    fn expected(&self) -> Vec<[bool; 3]> {
        let (mut unit, mut attribution) = (Shadow::new(), Unit::new(Idau { secure: SECURE, ..Idau::NONE }));
        for (number, ((base, limit), (first, last))) in (0..).zip(self.mpu.iter().zip(&self.sau)) {
            for (register, value) in [(8, number), (12, *base), (16, *limit)] {
                unit.write(register, value).expect("a register");
            }
            for (register, value) in [(8, number), (12, *first), (16, *last)] {
                attribution.write(register, value).expect("a register");
            }
        }
        unit.write(4, self.control).expect("a register");
        attribution.write(0, self.attributes).expect("a register");
        let mut expected = Vec::new();
        for address in self.addresses {
            let state = attribution.of(address, AccessKind::Read, Security::Secure).state();
            for privileged in [true, false] {
                let mut may = |kind| unit.permits(address, 1, privileged, kind).is_ok();
                expected.push([may(AccessKind::Read), may(AccessKind::Write), state == Security::Secure]);
            }
        }
        expected
    }
}

#[test]
fn the_processor_and_the_evaluators_agree_about_every_address() {
    let mut rng = Rng::new(40);
    let cases: Vec<Case> = (0..300).map(|_| Case::any(&mut rng)).collect();
    let place = directory("tested-cases");
    let bytes: Vec<u8> = cases.iter().flat_map(Case::words).flat_map(u32::to_le_bytes).collect();
    std::fs::write(place.join("cases.bin"), bytes).expect("the target directory can be written");
    let include = format!("-Wa,-I{}", place.display());
    let outcome = run(&guest("tested", &[&include]));
    assert_eq!(outcome.summary.end.status, Some(5));
    let marks = events(&outcome).into_iter().filter(|event| event.event == MARK);
    // R, RW and S of what TT answers (DDI 0553 D1.2, `TT_RESP`).
    let answers: Vec<_> = marks.map(|mark| [18, 19, 22].map(|bit| mark.payload >> bit & 1 != 0)).collect();
    let expected: Vec<_> = cases.iter().flat_map(Case::expected).collect();
    assert_eq!(answers.len(), expected.len());
    let differing = answers.iter().zip(&expected).position(|(answer, expected)| answer != expected);
    assert_eq!(differing.map(|at| (at, answers[at], expected[at])), None);
    let counts = [0, 1, 2].map(|bit| expected.iter().filter(|answer| answer[bit]).count());
    assert!(counts.iter().all(|count| (1_000..8_600).contains(count)), "{counts:?} of {}", expected.len());
}
