//! The arenas of the envelopes that the manifest declares: within an envelope no request leaves the domain, and none is refused.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};

use heap::{DEFAULT, EnvelopeArena};
use info::info;

unsafe extern "C" {
    /// Lets less important threads run for a moment; false in a gate, where nothing may wait. Provided by the run-time.
    safe fn cof_heap_wait() -> bool;
}

/// Arenas beside that of plain `malloc`; no manifest has more.
const ARENAS: usize = abi::info::FURTHER_ENVELOPES;

static OWN: [EnvelopeArena; ARENAS] = [const { EnvelopeArena::new() }; ARENAS];
/// Packed specification of each arena plus one, 0 for an arena without memory; the last is that of [`DEFAULT`].
static SPECS: [AtomicU32; ARENAS + 1] = [const { AtomicU32::new(0) }; ARENAS + 1];
static STATE: AtomicU32 = AtomicU32::new(NEW);

const NEW: u32 = 0;
const OPENING: u32 = 1;
const OPEN: u32 = 2;

/// Gives the arenas their memory, once. In a gate that comes while a thread is doing so there are none yet.
fn open() {
    if STATE.load(Ordering::Acquire) == OPEN {
        return;
    }
    if STATE.compare_exchange(NEW, OPENING, Ordering::Acquire, Ordering::Acquire).is_err() {
        while STATE.load(Ordering::Acquire) != OPEN {
            if !cof_heap_wait() {
                return;
            }
        }
        return;
    }
    if let Some(info) = info() {
        if let Some(heap) = info.area("heap") {
            SPECS[ARENAS].store(heap.spec + 1, Ordering::Relaxed);
        }
        let mut own = OWN.iter().zip(&SPECS);
        for envelope in info.envelopes() {
            if envelope.default {
                // `malloc` has opened it.
                SPECS[ARENAS].store(envelope.spec + 1, Ordering::Relaxed);
                continue;
            }
            let Some((arena, spec)) = own.next() else { break };
            // SAFETY: the area is this domain's, for this arena alone, and handed over once.
            if unsafe { arena.open(&envelope) }.is_ok() {
                spec.store(envelope.spec + 1, Ordering::Relaxed);
            }
        }
    }
    STATE.store(OPEN, Ordering::Release);
}

fn arenas() -> impl Iterator<Item = (u32, &'static EnvelopeArena)> {
    open();
    let all = OWN.iter().chain([&DEFAULT]);
    SPECS.iter().map(|spec| spec.load(Ordering::Relaxed)).zip(all).filter(|(spec, _)| *spec != 0)
}

/// A block of the arena with exactly this packed specification; `None` when there is none, or its envelope is exceeded.
///
/// # Time complexity
/// Constant.
pub(crate) fn alloc(bytes: u32, spec: u32) -> Option<NonNull<u8>> {
    arenas().filter(|(known, _)| *known == spec + 1).find_map(|(_, arena)| arena.alloc_aligned(bytes, 1).ok())
}

/// Takes a block back; `None` when it lies in no arena.
///
/// # Safety
/// The block is no longer in use.
pub(crate) unsafe fn free(block: NonNull<u8>) -> Option<Result<(), heap::Error>> {
    let address = block.as_ptr() as u32;
    let mut outcome = None;
    // Arenas whose pieces alternate span each other; at most one of them knows the block.
    for (_, arena) in arenas().filter(|(_, arena)| arena.spans(address)) {
        // SAFETY: as the caller promises.
        let freed = unsafe { arena.free(block) };
        if freed != Err(heap::Error::NotABlock) {
            return Some(freed);
        }
        outcome = Some(freed);
    }
    outcome
}
