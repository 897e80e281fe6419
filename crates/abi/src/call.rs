//! System calls. The number travels in r12, arguments in r0-r3, the status returns in r0 and values in r1 and r2.

/// One argument of a call, as documented in `cofferdam.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name in C.
    pub name: &'static str,
    /// Unit or range, in words.
    pub unit: &'static str,
}

/// The documentation of a call: the source of `cofferdam.h` and of the reference.
#[derive(Clone, Copy, Debug)]
pub struct CallDoc {
    /// The call.
    pub call: Call,
    /// Name in C, without the prefix `cof_`.
    pub name: &'static str,
    /// One sentence: what it does.
    pub does: &'static str,
    /// At most four arguments.
    pub args: &'static [Argument],
    /// Values returned beside the status.
    pub returns: &'static [Argument],
    /// Names of the errors that this call can return.
    pub errors: &'static [&'static str],
    /// The bound on its cost, in words.
    pub bound: &'static str,
}

macro_rules! calls {
    ($($variant:ident = $number:literal, $name:literal, $does:literal,
        args [$($arg:literal : $unit:literal),*], returns [$($ret:literal : $runit:literal),*],
        errors [$($error:literal),*], bound $bound:literal;)*) => {
        /// System-call numbers. Unknown numbers are refused with [`crate::Error::BadCall`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Call { $(#[doc = $does] $variant = $number,)* }

        impl Call {
            /// Decodes a number from r12, or `None` when no such call exists.
            #[inline]
            pub const fn from_number(number: u32) -> Option<Call> {
                match number { $($number => Some(Call::$variant),)* _ => None }
            }
        }

        /// Every call with its documentation, in the order of the numbers.
        pub const CALLS: &[CallDoc] = &[$(CallDoc {
            call: Call::$variant, name: $name, does: $does,
            args: &[$(Argument { name: $arg, unit: $unit }),*],
            returns: &[$(Argument { name: $ret, unit: $runit }),*],
            errors: &[$($error),*], bound: $bound,
        },)*];
    };
}

calls! {
    Yield = 0, "yield", "Let other ready threads of the same priority run first.",
        args [], returns [], errors [], bound "one scheduling decision, O(1)";
    Exit = 1, "exit", "End the calling thread; the domain has finished when its last thread ends.",
        args ["code": "any; 0 means success"], returns [], errors ["IN_GATE"], bound "one scheduling decision, O(1)";
    Wait = 2, "wait", "Wait until one of the bits in the mask is set in a notification, then clear and return these bits.",
        args ["notification": "handle, right READ", "mask": "bits, not 0"], returns ["bits": "bits that were set"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "IN_GATE", "BUSY"], bound "one scheduling decision, O(1)";
    Poll = 3, "poll", "Clear and return the bits of the mask that are set, without waiting.",
        args ["notification": "handle, right READ", "mask": "bits"], returns ["bits": "bits that were set, or 0"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT"], bound "O(1)";
    Signal = 4, "signal", "Set bits in a notification and wake the thread that waits for them.",
        args ["notification": "handle, right WRITE", "bits": "bits"], returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "NO_BUDGET"], bound "one scheduling decision, O(1)";
    SleepUntil = 5, "sleep_until", "Sleep until a point of time; a point in the past returns at once.",
        args ["time_low": "ticks since boot, low word", "time_high": "ticks since boot, high word"], returns [],
        errors ["IN_GATE"], bound "insertion into the time queue, O(threads + budgets)";
    WaitPeriod = 6, "wait_period", "Complete the current release of a periodic thread and wait for the next one.",
        args [], returns ["missed": "releases that passed while the thread still ran"],
        errors ["NOT_PERIODIC", "IN_GATE"], bound "insertion into the time queue, O(threads + budgets)";
    GateCall = 7, "gate_call", "Call a gate: the thread continues in the callee's domain on the callee's stack and at the gate's ceiling priority.",
        args ["gate": "handle, right WRITE", "a0": "any", "a1": "any", "a2": "any"], returns ["value": "what the callee returned"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "CEILING", "NESTING", "NO_BUDGET", "BUSY", "STOPPED", "CALLEE_FAULT", "GATE_OVERRUN", "UNTOUCHED"],
        bound "O(1); the callee itself is bounded by the gate's declared bound";
    GateReturn = 8, "gate_return", "Return from a gate to its caller.",
        args ["status": "0 or a negative error", "value": "any"], returns [], errors ["NOT_IN_GATE"], bound "O(1)";
    GateCopyIn = 9, "gate_copy_in", "Inside a gate: copy bytes from the caller's memory into the callee's.",
        args ["dst": "address in the callee's domain", "src": "address in the caller's domain", "len": "bytes, 0 to 64"], returns [],
        errors ["NOT_IN_GATE", "BAD_ADDRESS", "BAD_ARGUMENT", "UNTOUCHED"], bound "two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes";
    GateCopyOut = 10, "gate_copy_out", "Inside a gate: copy bytes from the callee's memory into the caller's.",
        args ["dst": "address in the caller's domain", "src": "address in the callee's domain", "len": "bytes, 0 to 64"], returns [],
        errors ["NOT_IN_GATE", "BAD_ADDRESS", "BAD_ARGUMENT", "UNTOUCHED"], bound "two range checks, each at most three look-ups in eight slots and the domain's table, and 64 bytes";
    InterruptAck = 11, "interrupt_ack", "Allow an interrupt line to be delivered again.",
        args ["interrupt": "handle, right WRITE"], returns [], errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "NO_BUDGET"], bound "O(1)";
    TimeNow = 12, "time_now", "Read the time since boot.",
        args [], returns ["low": "ticks, low word", "high": "ticks, high word"], errors [], bound "O(1)";
    Mark = 13, "mark", "Write a marker into the trace.",
        args ["id": "0 to 65535", "value": "any"], returns [], errors [], bound "O(1)";
    BudgetQuery = 14, "budget_query", "Read what is left of a budget, or of the time of a domain's handlers, whose next replenishment is told as of the meter's last look.",
        args ["budget": "handle, right READ"], returns ["left": "ticks", "next": "ticks until the next replenishment"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT"], bound "O(1)";
    DomainStop = 15, "domain_stop", "Stop every thread of a domain.",
        args ["domain": "handle, right WRITE"], returns [], errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT"], bound "O(threads)";
    DomainRestart = 16, "domain_restart", "One step of re-initialising a stopped domain; repeat while it returns AGAIN. Frames that were mapped to it while it ran are unmapped; capabilities that were revoked since it began stay revoked.",
        args ["domain": "handle, right WRITE"], returns ["left": "bytes left to initialise"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "AGAIN", "BAD_STATE", "NO_BUDGET"], bound "128 bytes, one region, one capability or one thread a step";
    FaultNext = 17, "fault_next", "Take the oldest unread fault report of a domain.",
        args ["domain": "handle, right READ"], returns ["fault": "kind of fault, 0 for none", "address": "address or program counter"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT"], bound "O(1)";
    CapCopy = 18, "cap_copy", "Copy a capability into an empty slot of the own table, with the same or fewer rights.",
        args ["from": "handle", "to": "slot", "rights": "bits"], returns [],
        errors ["BAD_HANDLE", "NO_RIGHT", "BAD_SLOT"], bound "O(1)";
    CapGrant = 19, "cap_grant", "Copy a capability into an empty slot of another domain's table, with the same or fewer rights.",
        args ["domain": "handle, right WRITE", "from": "handle, right GRANT", "to": "slot", "rights": "bits"], returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_SLOT"], bound "O(1)";
    CapDelete = 20, "cap_delete", "Empty a slot of the own table.",
        args ["slot": "slot"], returns [], errors ["BAD_HANDLE"], bound "O(1)";
    Revoke = 21, "revoke", "Make every other capability to an object invalid.",
        args ["object": "handle, right GRANT"], returns [], errors ["BAD_HANDLE", "NO_RIGHT", "FULL"], bound "O(1): the object's generation changes";
    FramesRetype = 22, "frames_retype", "Make a part of untyped frames memory that can be mapped.",
        args ["frames": "handle, right WRITE", "offset": "bytes from the start of the frames, a multiple of 32", "bytes": "a multiple of 32, not 0"],
        returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "BAD_STATE", "FULL", "BUSY"],
        bound "a search, O(log ranges), and two marks between ranges; BUSY while another caller's mapping changes (if that caller does not go on, a step of the change is done)";
    FramesMap = 23, "frames_map", "Let a domain access exactly these bytes of frames, at this address, with these rights. A range that the processor cannot check exactly is refused: region registers hold an aligned power of two, or a run of its eighths, at its physical address; page tables hold pages of 4 KiB.",
        args ["handles": "bits 15..0 of the domain, right WRITE; bits 31..16 of the frames, right WRITE to map for writing, else READ",
            "place": "bits 31..5 of the first address; bit 0 read (always set), 1 write or 2 execute (not with page tables); bit 3: the check of an access waits for no table (a region register of its own, or one page, 64 KiB or 1 MiB, aligned, kept in the TLB); bit 4: nor for memory off the chip (page tables only)",
            "offset": "bytes from the start of the frames, a multiple of 32", "bytes": "a multiple of 32, not 0; from 256 on with region registers unless bit 3 is set"], returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "BAD_ADDRESS", "BAD_STATE", "FULL", "BUSY"],
        bound "in pieces, each the call once more: a few marks between ranges, or one node of the domain's table; BUSY as FRAMES_RETYPE";
    FramesUnmap = 24, "frames_unmap", "End what FRAMES_MAP with the same arguments began, in region registers and TLBs, too, before it returns.",
        args ["handles": "as for FRAMES_MAP; of the frames right READ", "place": "as for FRAMES_MAP", "offset": "as for FRAMES_MAP", "bytes": "as for FRAMES_MAP"], returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "BAD_ADDRESS", "BAD_STATE", "BUSY"], bound "as FRAMES_MAP";
    FramesClean = 25, "frames_clean", "One step of clearing a part of frames that nobody maps: the first bytes that are not untyped yet become untyped; repeat until none are left.",
        args ["frames": "handle, right WRITE", "offset": "bytes from the start of the frames, a multiple of 32", "bytes": "a multiple of 32, not 0"],
        returns ["left": "bytes behind what is untyped now; 0: all of it is"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "BAD_STATE", "FULL", "BUSY"],
        bound "256 bytes, a search and two marks between ranges; or as FRAMES_RETYPE";
    NodesGive = 26, "nodes_give", "Turn a part of untyped frames into kernel memory for the table of a domain, for good; of more than the kernel takes at once, its beginning.",
        args ["domain": "handle, right WRITE", "frames": "handle, right WRITE", "offset": "bytes from the start of the frames, so that the address is a multiple of 32, with page tables 1024", "bytes": "a multiple of 32; with region registers 288 (a node, for 36 regions or a step of the look-up) and more, of which at most 4096 are taken; with page tables 1024 (one table, for 1 MiB of addresses) and more"],
        returns ["bytes": "bytes that were taken", "mappings": "regions, or pages, that they can hold if they hold nothing else"],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_ARGUMENT", "BAD_STATE", "FULL", "BUSY"],
        bound "a search, two marks between ranges, and one word for each node; or as FRAMES_RETYPE";
    Occupy = 27, "occupy", "Give the processor's Non-secure state to a domain with handlers that interrupts reach without the kernel. The kernel takes the interrupts of the domain that had it, as of every other one.",
        args ["domain": "handle, right WRITE"], returns [],
        errors ["BAD_HANDLE", "WRONG_KIND", "NO_RIGHT", "BAD_STATE"], bound "O(areas of the system): attribution, blocks of memory and devices of two domains, and 8 lines";
    RegionMap = 28, "region_map", "Make free pages of the own demand area a region, or up to three, one behind the other. Nothing of it is mapped: each page gets a frame at its first touch. BAD_CALL on a processor without them.",
        args ["place": "address of the first page", "pages": "not 0", "cuts": "bit 0: the first page is a region of its own; bit 1: the last one is"], returns [],
        errors ["BAD_CALL", "BAD_ADDRESS", "BAD_ARGUMENT", "BAD_STATE"], bound "constant, whatever the number of pages";
    RegionUnmap = 29, "region_unmap", "Free regions of the own demand area, one behind the other; all their frames are free at once. Behind page tables that have to be visited page by page this is one step of it.",
        args ["place": "address of the first page of the first one", "regions": "1 to 3"],
        returns ["rest": "address at which the rest begins, which is regions as before", "left": "regions of it; 0: all are free"],
        errors ["BAD_CALL", "BAD_ADDRESS", "BAD_ARGUMENT", "BAD_STATE"], bound "constant, whatever their sizes and however much of them is mapped; or 16 pages";
}
