use super::{FRESH, hash_into};

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
