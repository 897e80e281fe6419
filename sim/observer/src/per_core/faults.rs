//! The context of a domain's fault: the registers that the kernel has saved of its thread, and the top of its stack.

use abi::trace::Fault;
use record::{CONTEXTS_PER_DOMAIN, FaultContext, HandlerPlace, Range, RunEvent, STACK_BYTES};

use crate::saved::Saved;

use super::{BlockOf, CoreObserver, Family};

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
        let handler = self.handler_place(event.domain);
        let saved = self.target.word(word).and_then(|context| self.family.saved(&mut *self.target, context, whole));
        let Some(saved) = saved.or(handler.map(|_| Saved::default())) else { return };
        // SAFETY: blocks live as long as the process.
        let block = unsafe { self.interrupted.as_ref() };
        let (stack_of, stack_at, stack) = self.top_of_stack(event.domain, saved.registers[SP]);
        let deed = |block: &BlockOf<F>| block.insn_at(saved.registers[PC]?).map(|insn| F::deed(&insn.raw));
        self.faults.push(FaultContext {
            cycle: event.cycle,
            domain: event.domain,
            registers: saved.registers.to_vec(),
            status: saved.status,
            ran: block.map_or_else(Range::default, |block| Range { start: block.pc, end: block.end }),
            instruction: block.and_then(deed),
            stack_of,
            stack_at,
            stack,
            handler,
        });
    }

    /// Where a handler of the domain was when the kernel came above it last. Its stack pointer is its own making: of the frame there only a program counter
    /// in the code that ran last is believed.
    fn handler_place(&mut self, domain: u8) -> Option<HandlerPlace> {
        const PC_IN_FRAME: u32 = 24;
        let (block, sp) = self.handler_ran;
        // SAFETY: blocks live as long as the process.
        let block = unsafe { block.as_ref() }?;
        let owner = self.shared.watch.handlers.as_ref()?.owner(block.pc)?;
        let ran = Range { start: block.pc, end: block.end };
        let pc = self.target.word(sp.wrapping_add(PC_IN_FRAME)).filter(|pc| ran.holds(*pc, 2));
        (owner == domain).then_some(HandlerPlace { pc, ran })
    }

    /// The stack of the domain that the thread was on, and its bytes from the stack pointer on.
    fn top_of_stack(&mut self, domain: u8, sp: Option<u32>) -> (Option<u16>, u32, Vec<u8>) {
        let stack = self.meter.last_stack().filter(|(_, stack)| stack.domain == domain);
        let (Some((place, stack)), Some(sp)) = (stack, sp) else { return (None, 0, Vec::new()) };
        let at = sp.max(stack.range.start) & !3;
        let len = stack.range.end.saturating_sub(at).min(STACK_BYTES);
        let bytes = self.target.memory(at, len as usize).filter(|_| len > 0);
        (Some(place), at, bytes.map(<[u8]>::to_vec).unwrap_or_default())
    }
}
