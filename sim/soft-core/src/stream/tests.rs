use super::*;

fn bytes(cycle: u64, instructions: u64, words: [u32; 4]) -> Vec<u8> {
    let longs = [cycle, instructions].into_iter().flat_map(u64::to_le_bytes);
    longs.chain(words.into_iter().flat_map(u32::to_le_bytes)).collect()
}

fn told(words: [u32; 4]) -> Result<Told, String> {
    Entry::read(&mut bytes(7, 3, words).as_slice()).unwrap().told()
}

#[test]
fn entries_are_read_as_the_bench_writes_them() {
    let entry = Entry::read(&mut bytes(1 << 40, 5, [6, 0, 0, 0]).as_slice()).unwrap();
    assert_eq!(entry.at, At { cycle: 1 << 40, instructions: 5 });
    let call = Happened::Entered { exception: 8, pc: 0x8000_1000, call: 9 };
    assert_eq!(told([1, 8, 0x8000_1000, 9]), Ok(Told::Happened(call)));
    let timer = Happened::Entered { exception: 23, pc: 4, call: 0 };
    assert_eq!(told([1, INTERRUPT | 7, 4, 0]), Ok(Told::Happened(timer)));
    assert_eq!(told([5, 100, 7, 1]), Ok(Told::Happened(Happened::Woke { slept: 100, exception: Some(23) })));
    assert_eq!(told([5, 100, 0, 0]), Ok(Told::Happened(Happened::Woke { slept: 100, exception: None })));
    let strayed = Happened::Strayed { access: Access::Store, physical: 0x4000, space: 8 };
    assert_eq!(told([8, 1, 0x4000, 8]), Ok(Told::Happened(strayed)));
    let stored = |kernel| Happened::Stored { physical: 0x4000, kernel };
    assert_eq!(told([10, 0x4000, 1, 0]), Ok(Told::Happened(stored(true))));
    assert_eq!(told([10, 0x4000, 0, 0]), Ok(Told::Happened(stored(false))));
    assert_eq!(told([11, 2, 7, 8]), Ok(Told::Happened(Happened::Held { number: 2, values: [7, 8] })));
    let on_stack = Happened::OnStack { address: 0x8040_2000, values: [7, 8] };
    assert_eq!(told([12, 0x8040_2000, 7, 8]), Ok(Told::Happened(on_stack)));
    assert_eq!(told([7, 1, 0, 0]), Ok(Told::Ended { status: 1, reason: EndReason::Exit }));
    assert_eq!(told([7, 0, 1, 0]), Ok(Told::Ended { status: 0, reason: EndReason::CycleLimit }));
}

#[test]
fn a_record_that_breaks_off_or_says_something_else_is_an_error() {
    let whole = bytes(0, 0, [6, 0, 0, 0]);
    assert!(Entry::read(&mut &whole[..31]).is_err());
    assert!(told([13, 0, 0, 0]).is_err());
}
