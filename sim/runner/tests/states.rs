//! A core with security states: the observer tells them apart, and finds accesses that the emulator lets through and hardware would not.

mod support;

use record::{Architecture, AttributionWatch, ProfileSource, ViolationKind};
use runner::{Machine, Watch};
use support::Guest;

#[test]
fn accesses_across_the_ends_of_a_region_and_of_non_secure_memory_are_flagged() {
    let guest = Guest::build_for(&["-mcpu=cortex-m33", "-mfloat-abi=soft"], "secure.ld", "secure", "secure");
    let profile = ProfileSource::Constant {
        architecture: Architecture::Armv8M,
        cpu_hz: 20_000_000,
        cycles_per_instruction: 1,
        cycles_per_access: 2,
    };
    let attribution = Some(AttributionWatch { secure: 1 << 28, callable: 0 });
    let summary = guest.run_on(Machine::named("mps2-an505"), Watch { profile, attribution, ..guest.watch() }).summary;
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
