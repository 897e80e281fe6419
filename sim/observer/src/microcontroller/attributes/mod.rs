//! Memory attributes, as the model takes them.

use protect::regions::{Attributes, Policy};
use timing::MemAttr;

/// The attributes that a unit or the default map gives.
#[inline]
pub fn memory_attr(memory: Attributes) -> MemAttr {
    const TABLE: [MemAttr; Attributes::COUNT] = {
        let mut table = [MemAttr::STRONGLY_ORDERED; Attributes::COUNT];
        let mut index = 0;
        while index < Attributes::COUNT {
            table[index] = modelled(Attributes::from_bits(index as u8));
            index += 1;
        }
        table
    };
    TABLE[usize::from(memory.bits()) % Attributes::COUNT]
}

/// Memory of a type without a meaning is as restricted as can be.
const fn modelled(memory: Attributes) -> MemAttr {
    let kind = match memory.policy() {
        Policy::StronglyOrdered | Policy::Reserved => return MemAttr::STRONGLY_ORDERED,
        Policy::Device => MemAttr::DEVICE,
        Policy::NonCacheable => MemAttr::NON_CACHEABLE,
        Policy::WriteThrough => MemAttr::WRITE_THROUGH,
        Policy::WriteBack => MemAttr::WRITE_BACK,
        Policy::WriteBackAllocate => MemAttr::WRITE_BACK_ALLOCATE,
    };
    if memory.is_shareable() { kind.shared() } else { kind }
}

#[cfg(test)]
mod tests;
