//! The trie of paged regions over memory of the caller.

use protect::pmsav7::RegionRegs;
use protect::regions::pctrie::{NODE_WORDS, Node, PcTrie};

use crate::pointer::{Object, Out, disjoint, range, read, write_all};
use crate::status::{Status, status_of};

/// `CFM_NODE_WORDS`: words of a node.
pub const CFM_NODE_WORDS: usize = NODE_WORDS;
/// `CFM_TRIE_WORDS`: machine words of a trie.
pub const TRIE_WORDS: usize = 10;

/// `cfm_trie`.
pub type CfmTrie = Object<PcTrie<'static, RegionRegs>, { u32::from_le_bytes(*b"cfmt") }>;

const _: () = assert!(size_of::<CfmTrie>() <= TRIE_WORDS * size_of::<usize>());
const _: () = assert!(align_of::<CfmTrie>() <= align_of::<usize>());

/// `cfm_trie_use`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CfmTrieUse {
    /// Regions mapped.
    pub regions: u32,
    /// Nodes not in use.
    pub free_nodes: u32,
}

/// `cfm_trie_init`.
///
/// # Safety
/// As in [the crate's](crate) documentation, with `node_count` nodes and `leaf_count` leaves, which are the trie's from now on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_init(
    trie: *mut CfmTrie,
    nodes: *mut Node,
    node_count: u32,
    leaves: *mut RegionRegs,
    leaf_count: u32,
) -> Status {
    let body = || {
        Out::required(trie)?;
        disjoint(&[range(trie, 1), range(nodes, node_count), range(leaves, leaf_count)])?;
        // SAFETY: the caller's duty; the parts are disjoint. Words hold anything.
        let (nodes, leaves) = unsafe { (write_all(nodes, node_count)?, write_all(leaves, leaf_count)?) };
        // SAFETY: the caller's duty.
        unsafe { CfmTrie::init(trie, PcTrie::new(nodes, leaves)) }
    };
    status_of(body())
}

/// `cfm_trie_insert`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_insert(trie: *mut CfmTrie, region: *const RegionRegs) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let (trie, region) = unsafe { (CfmTrie::get_mut(trie)?, *read(region)?) };
        trie.insert(region)?;
        Ok(())
    };
    status_of(body())
}

/// `cfm_trie_remove`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_remove(trie: *mut CfmTrie, region: *const RegionRegs) -> Status {
    let body = || {
        // SAFETY: the caller's duty.
        let (trie, region) = unsafe { (CfmTrie::get_mut(trie)?, *read(region)?) };
        trie.remove(region)?;
        Ok(())
    };
    status_of(body())
}

/// `cfm_trie_lookup`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_lookup(trie: *const CfmTrie, address: u32, out: *mut RegionRegs) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let region = unsafe { CfmTrie::get(trie)? }.lookup(address).ok_or(Status::NotMapped)?;
        // SAFETY: the caller's duty.
        unsafe { out.put(region) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_trie_usage`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_usage(trie: *const CfmTrie, out: *mut CfmTrieUse) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let trie = unsafe { CfmTrie::get(trie)? };
        let usage = CfmTrieUse { regions: trie.len() as u32, free_nodes: trie.free_nodes() as u32 };
        // SAFETY: the caller's duty.
        unsafe { out.put(usage) };
        Ok(())
    };
    status_of(body())
}

/// `cfm_trie_depth`.
///
/// # Safety
/// As in [the crate's](crate) documentation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cfm_trie_depth(trie: *const CfmTrie, address: u32, out: *mut u32) -> Status {
    let body = || {
        let out = Out::required(out)?;
        // SAFETY: the caller's duty.
        let depth = unsafe { CfmTrie::get(trie)? }.depth_of(address);
        // SAFETY: the caller's duty.
        unsafe { out.put(depth as u32) };
        Ok(())
    };
    status_of(body())
}
