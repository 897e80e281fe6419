//! Loads and stores (DDI 0406 A5.2.8, A5.2.10, A5.3, A5.5).

use super::word::{Word, new, written_back};
use crate::insn::{Class, Flags, InsnInfo, RegSet};

/// Completes a single access: base and index are needed early, and the base is written back when it is indexed afterwards
/// (P clear) or told to (W).
fn addressed(insn: InsnInfo, w: Word, index: RegSet) -> InsnInfo {
    let base = RegSet::core_or_none(w.rn());
    let insn = insn.early(base.union(index));
    if !w.bit(24) || w.bit(21) { insn.base_update(base) } else { insn }
}

/// LDR, STR, LDRB, STRB.
pub(super) fn single(w: Word) -> InsnInfo {
    let rt = RegSet::core(w.rd());
    let index = if w.bit(25) { RegSet::core(w.rm()) } else { RegSet::NONE };
    let insn = match (w.bit(20), w.bit(22)) {
        (true, false) => new(Class::Load).writes(rt).flag(Flags::LOAD),
        (true, true) => new(Class::LoadNarrow).writes(rt).flag(Flags::LOAD),
        (false, _) => new(Class::Store).reads(rt).flag(Flags::STORE),
    };
    // POP {PC} of one register.
    let returns = insn.is_branch() && w.rn() == 13 && !w.bit(24);
    addressed(if returns { insn.flag(Flags::RETURN) } else { insn }, w, index)
}

/// Half words, signed bytes and double words.
pub(super) fn extra(w: Word) -> InsnInfo {
    let rt = RegSet::core(w.rd());
    let pair = rt.union(RegSet::core(w.rd() + 1));
    let index = if w.bit(22) { RegSet::NONE } else { RegSet::core(w.rm()) };
    let insn = match (w.field(5, 3), w.bit(20)) {
        (1, false) => new(Class::Store).reads(rt).flag(Flags::STORE),
        (2, false) => new(Class::LoadMultiple).writes(pair).count(2).flag(Flags::LOAD.with(Flags::SINGLE)),
        (3, false) => new(Class::StoreMultiple).reads(pair).count(2).flag(Flags::STORE.with(Flags::SINGLE)),
        _ => new(Class::LoadNarrow).writes(rt).flag(Flags::LOAD),
    };
    addressed(insn, w, index)
}

/// LDREX and STREX of all sizes; SWP, which is obsolete, as a load.
pub(super) fn exclusive(w: Word) -> InsnInfo {
    let base = RegSet::core(w.rn());
    let double = w.field(21, 3) == 1;
    let values = |first: u32| {
        let one = RegSet::core(first);
        if double { one.union(RegSet::core(first + 1)) } else { one }
    };
    if w.bit(20) || !w.bit(23) {
        return new(Class::LoadExclusive).early(base).writes(values(w.rd())).flag(Flags::LOAD);
    }
    let insn = new(Class::StoreExclusive).reads(values(w.rm())).early(base).writes(RegSet::core(w.rd()));
    insn.flag(Flags::STORE.with(Flags::SINGLE))
}

/// LDM, STM, PUSH and POP of several.
pub(super) fn multiple(w: Word) -> InsnInfo {
    let list = RegSet::list(w.0);
    let insn = if w.bit(20) {
        let load = new(Class::LoadMultiple).writes(list).flag(Flags::LOAD);
        if list.has(RegSet::PC) { load.flag(Flags::RETURN) } else { load }
    } else {
        new(Class::StoreMultiple).reads(list).flag(Flags::STORE)
    };
    let insn = insn.early(RegSet::core(w.rn())).count(list.len()).flag(Flags::SINGLE);
    written_back(insn, w)
}
