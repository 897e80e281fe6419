//! The stable codes: one table, from which `cofferdam explain` and docs/errors.md are made.

/// A code with its explanation.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Such as `CF0301`; never reused.
    pub code: &'static str,
    /// The error, in a few words.
    pub title: &'static str,
    /// Why that is a rule and what to do, in a few sentences.
    pub explains: &'static str,
}

macro_rules! codes {
    ($($code:literal $title:literal $explains:literal)*) => {
        /// Every code in order.
        pub const CODES: &[Code] = &[$(Code { code: $code, title: $title, explains: $explains }),*];
    };
}

codes! {
    "CF0101" "the manifest cannot be read"
        "The path given does not lead to a readable text file. Paths are relative to the current directory."
    "CF0102" "the manifest is not TOML"
        "The file violates TOML 1.0. The place shown is where the parser gave up; the mistake is there or on the line before."
    "CF0103" "unknown key"
        "The schema is strict: a key that is not in docs/manifest.md is refused, because a misspelt key that is ignored would give a \
         system other than the one described. The message lists the keys known at this place."
    "CF0104" "wrong value or missing key"
        "A value has another type or unit than its key needs, or a key without a default is missing. Sizes and times are strings with \
         their unit."
    "CF0201" "a name that cannot be used"
        "A name has at most 31 characters. Programs find memory and capabilities by name in their start-up information block, whose fields have \
         room for 15: names of domains, `uses`, interrupts, `shared`, `shares`, files and frames have no more. \
         Names are letters, digits, `-` and `_`."
    "CF0202" "unknown name"
        "Something is used that no section of the manifest declares, or that the board does not have. The message lists what exists."
    "CF0203" "name used twice"
        "Within one domain two threads, or two areas, or two capabilities have the same name, so that a look-up would be ambiguous."
    "CF0204" "a domain needs exactly one program"
        "A domain is built from exactly one of `crate`, `c` and `elf`."
    "CF0205" "a domain that can never run"
        "A domain without a thread and without a gate would occupy memory and do nothing."
    "CF0206" "a malformed use"
        "An entry of `uses` names exactly one object, with rights from the letters r, w and g. Only gates have badges."
    "CF0207" "nobody handles the fault"
        "The policies `restart` and `report` need a supervisor: a notification that is signalled on the fault, and a domain other than the \
         faulty one that may wait for it. A restart also needs the domain's capability with the right to write."
    "CF0208" "too many objects"
        "The kernel's tables and queues have fixed sizes, so that every loop is bounded: 32 domains, 32 threads, 32 budgets, 256 gates, 256 notifications, \
         256 handles of a domain; 256 areas, capabilities and ranges of memory of all domains; and 16 KiB for the tables with all of them. The console and the memory manager serve 16 clients each."
    "CF0209" "memory of the manager for who is no client"
        "Memory that a domain shares while the system runs (`shares`) comes from the memory manager, for the owner and for everybody who may map it; \
         so does what a quota is kept for. A client of the manager can call its gate, and the manager holds a capability for it under its name. An owner is not its own guest."
    "CF0210" "a memory manager that is restarted"
        "The memory manager continues from the ledger that the host hands over. One that began anew would take for free what its clients hold: the kernel \
         refuses what is wrong with that, so that its requests would fail. docs/memory.md says what a system does instead."
    "CF0211" "direct delivery that is not whole"
        "An interrupt with `delivery = \"direct\"` reaches a function of its domain, the `handler`, without the kernel. It needs a `priority` among handlers and \
         the least time from one of its interrupts to the next (`separation`), and its domain says in `[domain.NAME.handlers]` how long all of its handlers \
         together run. An interrupt that the kernel takes has none of this."
    "CF0301" "no exact cover by region registers"
        "A region of a register is a power of two of at least 32 bytes, aligned to its size, in eight sub-regions that can be left out. The registers \
         must permit exactly what was asked, byte for byte; a range that they cannot express exactly is refused, never rounded up."
    "CF0302" "overlapping memory"
        "Two areas have a byte in common. Only memory declared under `[shared.NAME]` can be accessed by several domains."
    "CF0303" "more pinned regions than the hardware has"
        "Pinned memory never misses because its regions are always in registers while the domain runs. There are only so many registers, so \
         what does not fit must be paged, merged or moved."
    "CF0304" "too few slots for paged memory"
        "An instruction can need several regions at once: its own bytes may cross a region border, and so may its operand's. With fewer slots \
         it could miss for ever. With pinned code 2 slots are enough, with paged code 4 are needed. `paging.slots` cannot go below that."
    "CF0305" "a memory of the chip is full"
        "The profile states how much of each memory the chip has. An image that the chip could not hold is refused, even if the board under \
         QEMU would hold it."
    "CF0306" "a stack must be pinned"
        "The processor saves registers on the stack when an exception comes. If the stack missed then, the exception could not be restarted. \
         So stacks are always pinned."
    "CF0307" "a device or a line with two owners, or a paged device"
        "Device registers react to accesses, so an access must not be tried twice; and two owners could undo each other's work. A device has \
         one owner and is always pinned. An interrupt line signals one notification."
    "CF0308" "a device of the kernel"
        "The kernel's clock cannot be given to a domain: whoever could stop it could stop every budget."
    "CF0309" "this memory cannot hold that"
        "Writable areas need RAM and code needs executable memory; constants and code are placed in flash by default."
    "CF0310" "a page size that cannot be used"
        "One paged region is loaded by one register: its size is a power of two of at least 256 bytes that divides the area."
    "CF0311" "heaps that cannot alternate"
        "Heaps of one `interleave` group own every second (fourth, eighth) frame of one range. Region registers tell them apart by \
         sub-regions, eighths of a power of two, so the group has 2, 4 or 8 equal heaps that fill whole regions."
    "CF0312" "a specification that contradicts itself"
        "A temporal specification says at which level of storage the check of an access ends, and may say where data lies: one level and one \
         place. It must agree with the memory that the area names."
    "CF0313" "a specification that the platform cannot keep"
        "A platform keeps what is asked or refuses; it never approximates. The table in docs/manifest.md says what each level means on each \
         platform, and what is refused there."
    "CF0314" "no memory for a table"
        "Paged memory is found through a table whose nodes lie in memory of the domain's level: TCM for `l1`, on-chip SRAM for `l2` and below."
    "CF0315" "an envelope that cannot be"
        "An envelope bounds what a domain has allocated at once: all bytes, the largest block and the number of blocks. The three figures must \
         be possible together."
    "CF0316" "an envelope that is too big"
        "The arena of an envelope has as many bytes as the allocator's worst fragmentation can need (docs/memory.md), so that an allocation \
         within the envelope is never refused. That arena does not fit its memory."
    "CF0317" "hardware that cannot be used so"
        "On boards with page tables, ways of the second-level cache can be closed to everything but tables of domains. There are only \
         so many ways, boards with region registers have none, and tables can lie in locked ways only where some are locked. The data \
         prefetcher of a processor that has one is off, unless `prefetch` switches it on; the costs of the kernel's paths were observed with it off, \
         so that nothing with a deadline is admitted beside it."
    "CF0318" "quotas that cannot be kept"
        "A quota is what a client of the memory manager has of a pool at most, and what is there for it whatever the others ask for. So all quotas \
         of a pool fit into it, and the pool is one that the manager holds. Clients without a quota share what the quotas leave."
    "CF0319" "no memory for the kernel's objects"
        "The kernel makes all of its objects at boot, in memory on the chip behind its own data, and none later. The bytes that each kind takes are \
         read from the kernel that was built, and what a system's objects take is computed by the function that the kernel itself computes \
         it with. A system that takes more would be refused at boot."
    "CF0320" "no marks for frames"
        "The kernel notes where memory of one type or use ends in a table of marks, of which there are as many as the bounds of its paths allow. \
         They are divided among the ranges of frames that domains hold, so that nobody can use up another's. A pool of the memory \
         manager has at least those without which a quota could not be kept however scattered its memory is; `marks` in `[frames.NAME]` says how many \
         any other range has."
    "CF0321" "frames that two would divide"
        "The memory manager divides its pools among its clients, and knows what is in use only as long as nobody else does so: there is one manager, \
         which holds each pool under one name, and nobody else holds it."
    "CF0322" "an interrupt that cannot be delivered directly"
        "A handler runs in a second security state of the processor, in which it has nothing of the kernel and of what it interrupts. Everything that it uses is Non-secure: \
         data in whole blocks of a memory that controllers of the board make so (`gates` in the board's file), never paged, and devices that have a register for it \
         (`open`). Most processors have no second state."
    "CF0323" "more than handlers can have"
        "At most 4 domains have handlers, of which one at a time occupies the Non-secure state. When the kernel cuts handlers off it looks at each line, of which there are at most 8 \
         in a system. The attribution unit has 8 regions: one for the way into the kernel, the others for the handlers' code, their data, and the device of each direct line."
    "CF0401" "a budget that cannot be"
        "A budget has a period and a capacity that is more than nothing and at most the period, both whole ticks of the board's clock. It pays \
         for all jobs that its thread can have within a period: for each its `wcet`, its misses, the bounds of the gates that it calls and what \
         a callee that fails costs beyond (`calls`), one activation, and one for each of its `activations`."
    "CF0402" "a deadline that can be missed"
        "Response-time analysis gives the worst response of each thread with a deadline; it must not exceed the deadline. The terms are those of \
         docs/time.md, \"The bound\": the thread's own job with the gates that it calls, the lateness of the timer, the longest masked path of the \
         kernel, the longest gate of somebody less important, interrupt lines, and every budget with a thread as important (a deferrable \
         server's capacity counts at the end of one period and the beginning of the next). The remedy is the smallest change that was found to be enough."
    "CF0403" "a gate's ceiling is below a caller's priority"
        "Within a gate the thread runs at the ceiling priority, so that no other caller can enter meanwhile. A caller more important than the \
         ceiling would break that."
    "CF0404" "a gate that its caller cannot pay"
        "Entry needs as much budget left as the gate's declared bound, and what handlers can take of it, so that nobody runs out of budget inside. A caller whose \
         capacity is below that could never enter."
    "CF0405" "a deadline that cannot be"
        "A deadline is more than nothing and at most the period of its thread."
    "CF0406" "a time that is no multiple of a tick"
        "The kernel counts time in ticks of the board's clock. A time between two ticks would be rounded silently; it is refused instead."
    "CF0407" "a priority out of range"
        "Priorities of threads are 0, the most important, to 31; those of handlers, which are all above, 0 to 2."
    "CF0408" "more time promised than there is"
        "The capacities of all budgets per period sum to more than one processor."
    "CF0409" "more misses than the budget allows"
        "A budget may bound the paged-region misses of a period (`misses`). Those that the threads of the domain declare, over all releases in a \
         period, must fit."
    "CF0410" "a deadline on a budget that its sharers can empty"
        "A thread that finds its budget empty waits for the next period, whatever its priority. So a budget with a deadline is shared only if that \
         cannot happen: every sharer is periodic with a declared `wcet`, and all of their prices fit into the capacity; or the thread is \
         more important than every other sharer, is released only when the budget is refilled (its period is a multiple of the budget's), and its \
         price fits beside what the others can have reserved for gates, and debt."
    "CF0411" "a budget shared across domains"
        "A budget pays for the threads of one domain. If two domains shared one, each could keep the other from running."
    "CF0412" "a core that the kernel does not run on"
        "A thread runs on the core that it names, and none takes over for another. The kernel runs on one core of a chip, number 0, whether the \
         chip has more or not."
    "CF0413" "gates that can call each other in a circle"
        "A warning: the system is admitted. By their capabilities, the callee of a gate can call, directly or through others, the same gate again. Nothing \
         can dead-lock and no stack is used twice: a gate lets nobody in while a thread is inside, so that the call that closes the circle returns \
         COF_E_BUSY at once; and it returns COF_E_NO_BUDGET where the bound of a gate does not fit into what the gate that calls it has left of its own. A \
         call that only ever fails is hardly meant. Another gate of the same domain can be entered, on a stack of its own, while the first is half done: \
         its data may then be between two states."
    "CF0414" "time of handlers that cannot be"
        "Handlers of a domain are a server of their own, more important than every thread: a capacity in every period, which is at most the period."
    "CF0415" "a gate whose time handlers can take"
        "A declared bound is what a callee has for itself. Handlers interrupt callees, too, and what no counter counts of their time is charged to whom they interrupt \
         (docs/time.md, \"The bound\"): it comes on top of the bound. If handlers, and the budgets that are more important than the gate's ceiling, can take all of \
         the processor, no bound is enough."
    "CF0416" "a budget too small to run"
        "Each time that a thread is woken, or goes on when its budget is refilled, its budget has paid for an activation: the switch to it, the switch away \
         from it, and timers that come too early (docs/time.md, rule (c)). With a capacity of no more than that nothing is left for the thread: it would run for a \
         moment in one period, and pay for that in the next ones."
    "CF0417" "a bound below what a service needs"
        "A service that comes with Cofferdam (the memory manager, the console) would be stopped by the first call that takes longer than its gate's `bound`, and any client can \
         make that call. The board's file says for each profile what the longest call takes, as it was measured with caches as bad as clients can leave them \
         (`service`); a lower bound is refused."
    "CF0501" "a program or file is missing"
        "The manifest names a source, an ELF or a data file that does not exist. Paths are relative to the manifest."
    "CF0502" "a program for another machine"
        "The file is not a 32-bit little-endian Arm ELF executable for the processor of the board with the same floating-point convention."
    "CF0503" "a program that cannot be moved"
        "The ELF keeps no relocations, and the addresses for which it was linked are not free. Link it with `--emit-relocs` and the linker script \
         that `cofferdam sdk` names, or for a free address."
    "CF0504" "a relocation that is not supported"
        "The program contains a relocation that cannot be applied when code and data move separately."
    "CF0505" "a symbol is missing"
        "The manifest names an entry function that the program does not define, or the linker dropped it because nothing refers to it."
    "CF0506" "a program does not build"
        "The compiler's messages stand above."
    "CF0507" "not a usable ELF file"
        "The file is damaged, or it is laid out in a way that cannot be placed: one segment for code and constants and one for data, without \
         gaps, are expected."
    "CF0508" "a program for another version of Cofferdam"
        "Every program says, in a note of its ELF file, for which version of the interface it was built: the numbers of calls and errors, and the \
         layout of the information block. With another version, or none, it would call what it does not mean. Build it again with this SDK; \
         domains that are built from a manifest are built again anyway."
    "CF0509" "a file that is not read"
        "The tools read regular files only, and programs and constant files of at most 128 MiB, texts of at most 16 MiB. A device or a pipe \
         might never end, and a file that is mostly holes would fill the memory."
    "CF0510" "words that may be addresses"
        "A warning. A finished program holds words, or pairs of instructions, that look like addresses of its own, and no relocation names them, so that they \
         stay when the program is moved. If they are numbers, all is well; if they are addresses that somebody wrote by hand, or that a linker \
         put into a veneer that is not known here, the program will go astray. A program that is built from its sources is linked twice, and \
         this cannot happen. Linked for other addresses (-Wl,--defsym=__cofferdam_code=ADDRESS and __cofferdam_data), a number stays the same."
    "CF0511" "results of another system"
        "The directory of results holds a run of another manifest, or of this one before it was changed. A report of it would be taken for one of \
         the system that was asked about."
    "CF0512" "a handler that reaches what is not its own"
        "The tool places all that a handler executes a second time, in Non-secure memory: the function, all that it calls, and the constants that it reads. All of that is found by \
         relocations and branches, and the way is told. It must not end at a system call, nor at code or constants that are found through a pointer in data: threads \
         and handlers share data, and a pointer in it leads to what is Secure."
    "CF0513" "handlers that need more stack than they have"
        "The tool adds up what the functions of a handler take of their stack, by the instructions that they consist of, along the deepest calls. Handlers of different \
         priorities interrupt each other, so that the stack holds one of each. Below the stack lies memory of others: a handler that needs more would fault there. A function \
         that calls itself has no such sum. What is called through a pointer, or takes a number of bytes that is only known when it runs, is not in the sum."
    "CF0520" "a program that nobody hears"
        "A warning: the program contains what printf and its kin call, and its domain has no console. Nothing is printed then; `write` fails with EIO."
    "CF0521" "a program without memory to allocate"
        "A warning: the program calls malloc or its kin, and its domain has no heap and no default envelope. Every allocation returns a null pointer."
    "CF0522" "a report that cannot be compared"
        "`cofferdam diff` reads two files report.json of the schema of this version."
    "CF0523" "the compiler warns"
        "A warning: the compiler took the program and warned about it. The text of the compiler follows."
    "CF0524" "a file that is no source"
        "`sources` names a header, a text or something else of which the compiler makes no object. A pattern such as `src/*` takes all that is in a directory: \
         `src/*.c` takes the sources."
    "CF0601" "a tool is missing"
        "Building needs a Rust compiler for bare-metal targets and the C compiler of the board's processor, and programs in C need its library of C. `make setup` installs them; for the soft core `make -C rtl setup` does."
    "CF0602" "QEMU is missing"
        "Running needs `qemu-system-arm` 10.0; `make setup` installs it. `check` and `build` work without it. On the soft core it needs the model of the board instead: `make -C rtl models`."
    "CF0603" "QEMU has another version"
        "The plug-in steers QEMU's clock and depends on how version 10.0 waits and wakes. With another version, `cofferdam run --fallback` uses QEMU's \
         instruction counter for time: functionally the same, with cruder times, and the report says so."
    "CF0604" "a file cannot be written"
        "The disk is full or the directory is not writable. Nothing was left half-written: results are written aside and renamed when complete."
    "CF0605" "the installation is damaged"
        "A part of Cofferdam itself (board file, profile, kernel image, plug-in) is missing or not as expected."
    "CF0701" "a domain never started"
        "The run ended and a domain that has a thread never executed an instruction: its threads were never given time, or it was stopped before."
    "CF0702" "the run did not finish"
        "The time limit passed before every awaited domain had finished. The report is written all the same."
    "CF0703" "an access that silicon would deny"
        "The plug-in found an access whose bytes are not all permitted by the region registers in force, which QEMU let through. The run \
         does not count as successful."
    "CF0704" "a deadline was missed"
        "A thread completed later than its deadline. The report shows when and who ran meanwhile."
    "CF0705" "the kernel stopped the run"
        "The kernel faulted or found an inconsistency, or did not accept its tables or its board, and stopped for good. No program can do this if \
         the kernel is right: report it with the manifest. The report says at which instruction, or why it did not start. If not even that \
         could be recorded, the processor has locked up."
    "CF0706" "a stale translation"
        "A TLB held, or a core was allowed to hold, a translation that the tables no longer say, and it was used, or a locked entry outlived its \
         mapping: an invalidation or the barrier behind it is missing. QEMU hides this; the modelled TLBs do not. The report names the instruction, \
         the address, the rule and what helps."
    "CF0707" "a table that walks do not see"
        "A walk read a descriptor in memory while a cache that walks pass by held a newer one: the descriptor's line was not cleaned before it \
         was needed."
    "CF0708" "a budget was overdrawn"
        "In a period of its grid, or in a window that ends at a switch, the threads of a budget used more than a deferrable server of its period and \
         capacity supplies and the report tolerates (docs/time.md, Supply). The observer counts this from what ran, not from what the kernel says. \
         No program can do this if the kernel keeps its rules: report it with the manifest."
    "CF0709" "a job took more than its wcet"
        "A job's code in its own domain and the kernel's work for its calls, without gates and misses, took longer than `wcet` declares. Only the \
         thread itself, and those that share its budget, can miss deadlines by this. Declare more, or make the job shorter."
    "CF0710" "a response took longer than its bound"
        "A thread completed later after its release than `check` computed, although nobody on whom the bound counts had taken more than its wcet \
         (CF0709) or slept inside a job before. If none of them called, signalled or missed more than it had declared, and no budget was overdrawn \
         (CF0708), the computed bound is wrong."
    "CF0711" "a gate call took longer than its bound"
        "The callee's code and the kernel's work for it, without the time in which other threads ran, took longer than the gate's `bound`; or the \
         kernel needed longer to stop a callee than its own paths allow. Declare more, or make the callee shorter."
    "CF0712" "a release was late"
        "Less important code ran, or the processor slept, for longer after a nominal release than the timer can be late (`shortest_ticks` and `start_ticks` of the board's clock), \
         while the thread waited for it. Responses begin late by so much."
    "CF0713" "the meters cannot be believed"
        "The tolerance with which the use of budgets is judged is above its limit, because the kernel took longer until a thread went on than the \
         board's file says; or the observer had to measure a time that ended before it began."
    "CF0714" "another context ran than the kernel said"
        "The address space in force, the place of the code or the stack in use says that another domain or thread ran than the kernel recorded. Its \
         account of time is then of no use."
    "CF0715" "a path of the kernel took longer than the board's file says"
        "With caches, TLBs, predictor and flash buffers as bad as others can leave them at each entry to the kernel, a path took longer than \
         admission assumes. `cofferdam costs` names the system and the path, and writes new values with `--write`."
    "CF0716" "the clock does not go as the board's file says"
        "Kernel and tools take the rate of the clock from the board's file. The observer compares what the kernel reads with the cycles that pass: the \
         rate is another one, by more than a hundredth, so that every period, budget and deadline is. Correct `ticks_per_second`, or the driver. Or the \
         kernel was not seen to read the clock as often as its timer interrupted, at which it always does: correct `offset` of `[image]` in the core's \
         file, or `clock` in the board's."
    "CF0717" "the processor has another number of region registers than its core's file says"
        "The machine's `MPU_TYPE`, as the kernel reads it when it starts, says another number than `regions` in the core's file, for which the kernel is \
         built. Correct the file, or choose the board of another core."
    "CF0718" "a program ended with a code"
        "A program returned from `main`, or called `exit`, with another code than 0, or the run ended with that status. The code is the program's own: its \
         documentation says what it means, and what it printed often says why. The platform has not failed. `hostile = true` says that any end of a \
         domain is expected."
    "CF0719" "a domain faulted"
        "A domain did what it may not do, and was stopped; nobody else was harmed. The report says for each fault which function and line of the program it \
         was, from where that was called, and why it was refused. `hostile = true` says that faults of a domain are expected."
    "CF0720" "interrupts were masked for longer than declared"
        "The kernel did not take interrupts for longer than the board's file says that it ever does. Response times were computed with that bound. \
         `cofferdam costs` measures it again."
    "CF0721" "the record of the run is not whole"
        "Time was not modelled, or records of the run are missing or make no sense: nothing can be said about what was promised."
    "CF0722" "a register showed something else than expected"
        "The manifest says in `[run.output.NAME]` which text a serial line sends, or which values of a register's bits follow each other, and the stores of the \
         run were others. The report has the text that was sent, and the cycle at which the first wrong frame or value came."
    "CF0723" "output was lost"
        "A program wrote to the console and ended, and the run ended before the console had printed all of it: what is on the screen is not what the program said. \
         `exit`, `abort`, and the end of `main` wait for the console, for 200 ms at most without a byte; a program that ends by `cof_exit` calls `cof_console_drain` before."
    "CF0724" "a hostile domain stopped another"
        "A domain that the manifest calls hostile holds a capability with which it may stop another one, and has done so; nobody has restarted that one. From then on it \
         kept none of its promises, so the run does not say that all were kept. A domain that one of the others stops is not judged any more, and the verdict has a note."
}

/// The explanation of a code, `None` when there is no such code.
pub fn code(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code.eq_ignore_ascii_case(code))
}
