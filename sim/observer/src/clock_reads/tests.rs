use super::*;

#[test]
fn counts_between_reads_add_up_in_either_direction_and_across_zero() {
    for (down, values) in [(false, [u32::MAX - 1, 3, 10]), (true, [1, u32::MAX - 3, u32::MAX - 10])] {
        let mut rate = ClockReads::new(Some(ClockWatch { register: 0x40, down }));
        for (value, cycle) in values.into_iter().zip([100, 150, 220]) {
            rate.loaded(0x44, 77, cycle);
            rate.loaded(0x40, value, cycle);
        }
        assert_eq!(rate.seen(), Some(ClockSeen { reads: 3, counts: 12, cycles: 120 }));
    }
    assert_eq!(ClockReads::new(None).seen(), None);
}
