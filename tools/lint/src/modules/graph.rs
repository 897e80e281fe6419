//! Circles of a directed graph.

use std::collections::{BTreeMap, BTreeSet};

/// The sets of two nodes and more in which each reaches each other, in the order of their smallest nodes. O(nodes x edges).
pub fn components<Node: Ord + Clone, Label>(edges: &BTreeMap<Node, BTreeMap<Node, Label>>) -> BTreeSet<BTreeSet<Node>> {
    let reached: BTreeMap<&Node, BTreeSet<&Node>> = edges.keys().map(|node| (node, reach(edges, node))).collect();
    let circle = |node: &Node| -> BTreeSet<Node> {
        let back = |other: &&&Node| reached.get(**other).is_some_and(|its| its.contains(node));
        reached[node].iter().filter(back).map(|other| (*other).clone()).collect()
    };
    edges.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

fn reach<'a, Node: Ord, Label>(edges: &'a BTreeMap<Node, BTreeMap<Node, Label>>, from: &'a Node) -> BTreeSet<&'a Node> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        open.extend(edges.get(node).into_iter().flat_map(BTreeMap::keys).filter(|other| found.insert(*other)));
    }
    found
}
