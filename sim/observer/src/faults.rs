//! The context of a domain's fault: what the kernel has saved of its thread, and the top of its stack.

use abi::trace::Fault;
use record::{CONTEXTS_PER_DOMAIN, Deed, FaultContext, Range, RunEvent, STACK_BYTES};
use timing::thumb::{Class, Flags};

use crate::Target;
use crate::block::TbInfo;
use crate::family::Family;
use crate::observer::CoreObserver;

/// Registers of a thread.
pub struct Saved {
    /// r0 to r12, stack pointer, link register, program counter.
    pub registers: [Option<u32>; 16],
    /// xPSR or CPSR.
    pub status: Option<u32>,
}

/// Words of memory.
pub fn words<const COUNT: usize>(target: &mut dyn Target, address: u32) -> Option<[u32; COUNT]> {
    let bytes = target.memory(address, 4 * COUNT)?;
    let mut words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let read: [u32; COUNT] = std::array::from_fn(|_| words.next().unwrap_or(0));
    Some(read)
}

const SP: usize = 13;
const PC: usize = 15;

impl<F: Family> CoreObserver<F> {
    /// A domain faults, says the kernel, which has saved the registers of the thread that ran.
    #[cold]
    pub(crate) fn keep_context(&mut self, event: RunEvent) {
        let kept = self.faults.iter().filter(|kept| kept.domain == event.domain).count();
        let Some(word) = self.shared.watch.saved.filter(|_| kept < CONTEXTS_PER_DOMAIN) else { return };
        // The processor stores registers on the stack itself, or cannot where that is what has failed.
        let whole = event.detail != Fault::Stack as u16;
        let Some(context) = self.target.word(word) else { return };
        let Some(saved) = self.family.saved(&mut *self.target, context, whole) else { return };
        // SAFETY: blocks live as long as the process.
        let block = unsafe { self.interrupted.as_ref() };
        let (stack_of, stack_at, stack) = self.top_of_stack(event.domain, saved.registers[SP]);
        let deed = |block: &TbInfo| Some(deed::<F>(block, saved.registers[PC]?));
        self.faults.push(FaultContext {
            cycle: event.cycle,
            domain: event.domain,
            registers: saved.registers,
            status: saved.status,
            ran: block.map_or_else(Range::default, |block| Range { start: block.pc, end: block.end }),
            instruction: block.and_then(deed).flatten(),
            stack_of,
            stack_at,
            stack,
        });
    }

    /// Which stack of the domain the thread was on, and what it holds from the stack pointer on.
    fn top_of_stack(&mut self, domain: u8, sp: Option<u32>) -> (Option<u16>, u32, Vec<u8>) {
        let stack = self.meter.last_stack().filter(|(_, stack)| stack.domain == domain);
        let (Some((place, stack)), Some(sp)) = (stack, sp) else { return (None, 0, Vec::new()) };
        let at = sp.max(stack.range.start) & !3;
        let len = stack.range.end.saturating_sub(at).min(STACK_BYTES);
        let bytes = self.target.memory(at, len as usize).filter(|_| len > 0);
        (Some(place), at, bytes.map(<[u8]>::to_vec).unwrap_or_default())
    }
}

/// What the instruction at `pc` does, if the block has one there.
fn deed<F: Family>(block: &TbInfo, pc: u32) -> Option<Deed> {
    let insn = F::classify(&block.insn_at(pc)?.raw);
    Some(match insn.class {
        Class::Divide => Deed::Divide,
        Class::Exception => Deed::Trap,
        Class::System => Deed::System,
        Class::Undefined => Deed::Undefined,
        _ if insn.flags.has(Flags::STORE) => Deed::Write,
        _ if insn.flags.has(Flags::LOAD) => Deed::Read,
        _ => Deed::Other,
    })
}
