//! Notes, as an observer reads them from markers.

use std::vec::Vec;

use spec::TablePlace;

use crate::note::{GrantNote, Holder, Note, Reader, Strange};

fn told() -> GrantNote {
    GrantNote {
        client: 31,
        base: 0x4000_1000,
        bytes: 0x1_2000,
        spec: 0xff,
        write: true,
        holder: Holder::Member,
        pinned: true,
        place: TablePlace::OffChip,
        descriptors: 18,
    }
}

fn read(marks: impl IntoIterator<Item = (u16, u32)>) -> Vec<Result<Option<Note>, Strange>> {
    let mut reader = Reader::default();
    marks.into_iter().map(|(id, word)| reader.take(id, word)).collect()
}

#[test]
fn every_note_is_read_as_it_was_told() {
    for holder in [Holder::Private, Holder::Owner, Holder::Member] {
        for place in TablePlace::ALL {
            for (bit, descriptors) in [(false, 0), (true, 1)] {
                let told = GrantNote { holder, place, write: bit, pinned: !bit, descriptors, ..told() };
                let note = Note::Granted(told);
                assert_eq!(read(note.marks()).last(), Some(&Ok(Some(note))));
            }
        }
    }
    let note = Note::Ended { client: 7, base: 4096 };
    assert_eq!(read(note.marks()), [Ok(Some(note))]);
}

#[test]
fn markers_of_other_kinds_do_not_come_between() {
    let note = Note::Granted(told());
    let marks: Vec<_> = note.marks().flat_map(|mark| [(7, 9), mark, (0x7fff, 0)]).collect();
    let heard: Vec<_> = read(marks).into_iter().filter(|heard| *heard != Ok(None)).collect();
    assert_eq!(heard, [Ok(Some(note))]);
}

#[test]
fn what_no_manager_says_is_strange() {
    let [work, size, grant] = Note::Granted(told()).marks().collect::<Vec<_>>()[..] else { panic!("three markers") };
    let end = Note::Ended { client: 1, base: 0 }.marks().next().unwrap();
    let strange: [&[(u16, u32)]; 10] = [
        &[grant],
        &[work, grant],
        &[size, size],
        &[work, work],
        &[size, end],
        &[size, work],
        &[(work.0, 0)],
        &[(size.0 | 1 << 12, 1)],
        &[size, (grant.0 | 1 << 8, 1)],
        &[size, (grant.0 | 3 << 6, 1)],
    ];
    for marks in strange {
        let heard = read(marks.iter().copied());
        assert_eq!(heard.last(), Some(&Err(Strange)), "{marks:x?}");
    }
    // It begins anew.
    assert_eq!(read([size, size, work, size, grant]).last(), Some(&Ok(Some(Note::Granted(told())))));
}
