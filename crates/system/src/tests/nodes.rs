//! Memory for tables: whatever areas a domain has, its table fits into the nodes that were counted.

use alloc::vec;
use alloc::vec::Vec;

use protect::pmsav7::Pmsav7;
use protect::pmsav8::Pmsav8;
use protect::regions::pctrie::{LEAVES_PER_NODE, NODE_WORDS, PcTrie};
use protect::regions::{Registers, Unit};
use testing::Rng;

use crate::regions::{Shape, regions, table_nodes};
use crate::{Area, area};

/// Paged areas that share no byte, near one another, each with its page size; of each that the scheme expresses.
fn areas<U: Unit>(rng: &mut Rng, spread_log2: u32) -> Vec<(Area, Shape)> {
    let mut found: Vec<(Area, Shape)> = Vec::new();
    for _ in 0..12 {
        let base = 0x2000_0000 + (rng.below(1 << spread_log2) as u32 & !31);
        let most = 1 << rng.below(u64::from(spread_log2));
        let bytes = (256 + rng.below(most) as u32) & !31;
        let page_log2 = if rng.chance(3) { 8 + rng.below(6) as u32 } else { 0 };
        let entry = Area { domain: 0, base, bytes, flags: area::READ | area::WRITE, memory: 0, physical: base };
        let apart = |(other, _): &(Area, Shape)| base >= other.base + other.bytes || other.base >= base + bytes;
        let shape = Shape { page_log2, disabled: 0 };
        // A cover of several regions may overlap itself; such an area is never paged.
        let own: Option<Vec<U::Regs>> = regions::<U>(&entry, shape).map(Result::ok).collect();
        let fits = own.is_some_and(|own| own.iter().all(|regs| regs.can_be_paged()) && are_apart(&own));
        if found.iter().all(apart) && fits {
            found.push((entry, shape));
        }
    }
    found
}

fn are_apart<R: Registers>(all: &[R]) -> bool {
    all.iter().enumerate().all(|(at, one)| all[..at].iter().all(|other| !one.meets(*other)))
}

/// Greatest number of nodes in use, and of areas, over random domains.
fn enough<U: Unit>(seed: u64) -> (usize, usize) {
    let mut rng = Rng::new(seed);
    let mut most = (0, 0);
    for round in 0..60 {
        let areas = areas::<U>(&mut rng, 12 + round % 14);
        let counted = table_nodes::<U>(areas.iter().copied(), false).unwrap();
        let all: Vec<U::Regs> =
            areas.iter().flat_map(|(entry, shape)| regions::<U>(entry, *shape).map(Result::unwrap)).collect();
        assert!(are_apart(&all));
        let leaves = all.len().div_ceil(LEAVES_PER_NODE as usize);
        let mut nodes = vec![[0; NODE_WORDS]; counted.saturating_sub(leaves)];
        let mut room = vec![U::Regs::DISABLED; all.len()];
        let mut trie = PcTrie::new(&mut nodes, &mut room);
        for regs in &all {
            assert!(trie.insert(*regs).is_ok(), "{areas:x?} need more than {counted} nodes");
        }
        most = (most.0.max(counted - leaves - trie.free_nodes()), most.1.max(areas.len()));
    }
    most
}

#[test]
fn a_table_fits_into_the_nodes_that_were_counted() {
    let (nodes, areas) = enough::<Pmsav7>(1);
    assert!(nodes >= 6 && areas >= 6, "{nodes} {areas}");
    let (nodes, areas) = enough::<Pmsav8>(2);
    assert!(nodes >= 10 && areas >= 6, "{nodes} {areas}");
}
