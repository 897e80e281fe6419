use super::*;

/// On-chip RAM in the kernel's half: a domain's area begins it, 0x8000_0000 lower; the kernel's tables lie behind.
#[test]
fn an_area_lies_where_its_memory_is_and_not_where_its_domain_has_it() {
    let area = |name: &str, base, bytes| Area { name: name.into(), base, bytes, ..Area::default() };
    let (own, tables) = (area("data", 0x7ffe_4000, 0x1000), area("tables", 0xfffe_6000, 0x2000));
    let words = Default::default();
    let part = |area, color| Part { area, part: &words, kept: "", owners: Vec::new(), color };
    let parts = [part(&tables, None), part(&own, Some(1))];
    let memory = Memory { base: 0xfffe_4000, capacity: 0x8000, offset: 0x8000_0000, ..Memory::default() };
    let drawn = blocks(&parts.iter().collect::<Vec<_>>(), &memory);
    let seen: Vec<(&str, &str, &str)> =
        drawn.iter().map(|block| (block.name.as_str(), block.left.as_str(), block.width.as_str())).collect();
    let at = |from: u64, bytes: u64| [format::position(from as f64, 32768.0), format::position(bytes as f64, 32768.0)];
    for (drawn, (name, from, bytes)) in seen.iter().zip([
        ("data", 0, 0x1000),
        ("free", 0x1000, 0x1000),
        ("tables", 0x2000, 0x2000),
        ("free", 0x4000, 0x4000),
    ]) {
        let [left, width] = at(from, bytes);
        assert_eq!(*drawn, (name, left.as_str(), width.as_str()));
    }
    assert_eq!(seen.len(), 4);
}
