//! Since when the interrupts of handlers are pending that come to them without the kernel, and how long each has waited when its handler begins.
//!
//! An interrupt of a timer is pending from the cycle at which the timer expires. The interrupt controller says whose timer it was: its pending bits are read
//! when one has expired, as the code that runs would load them. Unprivileged code cannot; but then nothing holds the interrupt off, and it
//! is taken before the next instruction.

use record::Watch;

/// NVIC_ISPR0: a bit for each interrupt that is pending (DDI 0553, D1.2).
const SET_PENDING: u32 = 0xe000_e200;
const FIRST_LINE: u16 = record::FIRST_LINE;

/// A cycle, and the instructions until then.
pub(super) type Since = (u64, u64);

/// Since when each is pending.
pub(super) struct Pending {
    exceptions: Vec<(u16, Option<Since>)>,
    /// When a timer expired last, and how often the processor had slept by then.
    due: Option<(Since, u64)>,
}

impl Pending {
    pub(super) fn new(watch: &Watch) -> Self {
        let exceptions = watch.handlers.iter().flat_map(|handlers| &handlers.exceptions);
        Self { exceptions: exceptions.map(|exception| (*exception, None)).collect(), due: None }
    }

    /// Takes note of those that are pending, of which `word` says the bits of 32 lines; `None`: it cannot be read. The one that is being taken waits until its
    /// handler begins; any other one that is not pending any more was cleared.
    pub(super) fn note(
        &mut self,
        due: Since,
        (sleeps, taken): (u64, Option<u16>),
        mut word: impl FnMut(u32) -> Option<u32>,
    ) {
        self.due = Some((due, sleeps));
        for (exception, since) in &mut self.exceptions {
            let line = u32::from(exception.saturating_sub(FIRST_LINE));
            let Some(bits) = word(SET_PENDING + line / 32 * 4) else { continue };
            if bits >> (line % 32) & 1 != 0 {
                since.get_or_insert(due);
            } else if taken != Some(*exception) {
                *since = None;
            }
        }
    }

    /// The kernel has taken an exception.
    pub(super) fn forget(&mut self, exception: u16) {
        self.exceptions.iter_mut().filter(|(number, _)| *number == exception).for_each(|(_, since)| *since = None);
    }

    /// The handler of an exception begins, which was taken at `taken` when the processor had slept so often: since when it was pending.
    pub(super) fn take(&mut self, exception: u16, taken: Since, sleeps: u64) -> Since {
        let known = self.exceptions.iter_mut().find(|(number, _)| *number == exception);
        let since = known.and_then(|(_, since)| since.take());
        let just_now = self.due.filter(|((_, instructions), slept)| (*instructions, *slept) == (taken.1, sleeps));
        since.or(just_now.map(|(since, _)| since)).unwrap_or(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::HandlersWatch;

    fn pending() -> Pending {
        let range = record::Range::default();
        let handlers = HandlersWatch {
            owners: vec![],
            way_in: range,
            served: 0,
            above: vec![],
            exceptions: vec![17, 52],
            counter: None,
        };
        Pending::new(&Watch { handlers: Some(handlers), ..Watch::default() })
    }

    #[test]
    fn an_interrupt_waits_from_when_its_timer_expired() {
        let mut pending = pending();
        pending.note((100, 7), (0, None), |address| Some(if address == SET_PENDING { 1 << 1 } else { 0 }));
        // A second timer expires while the first interrupt still waits.
        pending.note((150, 9), (0, None), |address| Some(if address == SET_PENDING { 1 << 1 } else { 1 << 4 }));
        assert_eq!(pending.take(17, (180, 20), 0), (100, 7));
        assert_eq!(pending.take(52, (190, 22), 0), (150, 9));
        assert_eq!(pending.take(17, (300, 30), 0), (300, 30));
    }

    #[test]
    fn one_that_the_kernel_takes_or_clears_waits_for_no_handler() {
        let mut pending = pending();
        let of_17 = |address| Some(if address == SET_PENDING { 1 << 1 } else { 0 });
        pending.note((100, 7), (0, None), of_17);
        pending.forget(17);
        assert_eq!(pending.take(17, (500, 20), 0), (500, 20));
        pending.note((600, 30), (0, None), of_17);
        // Another timer expires while its handler is being entered.
        pending.note((650, 33), (0, Some(17)), |_| Some(0));
        assert_eq!(pending.take(17, (660, 35), 0), (600, 30));
        pending.note((700, 40), (0, None), of_17);
        pending.note((750, 43), (0, None), |_| Some(0));
        assert_eq!(pending.take(17, (900, 50), 0), (900, 50));
    }

    #[test]
    fn one_that_interrupts_unprivileged_code_waits_for_the_instruction_in_which_its_timer_expired() {
        let mut pending = pending();
        pending.note((100, 7), (0, None), |_| None);
        assert_eq!(pending.take(17, (103, 7), 0), (100, 7));
        pending.note((200, 9), (0, None), |_| None);
        assert_eq!(pending.take(17, (230, 12), 0), (230, 12));
        // The processor has slept since.
        pending.note((300, 15), (0, None), |_| None);
        assert_eq!(pending.take(17, (900, 15), 1), (900, 15));
    }
}
