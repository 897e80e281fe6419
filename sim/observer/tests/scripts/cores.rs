//! Two cores that no emulator runs: each has a state of its own, and records say whose they are.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use observer::{Begins, BlockOf, CoreId, EndReason, Family, Observer, RawInsn, Register, Seen, Target};
use record::{EventsReader, Range, RunEvent, Summary, ViolationKind, Watch};

/// Code of the kernel and of a domain, the trace port, and what no domain may read.
const KERNEL: Range = Range { start: 0x100, end: 0x200 };
const DOMAIN: u32 = 0x800;
const PORT: u32 = 0x2000_0000;
const DENIED: u32 = 0x2000_1000;
/// `MPU_CTRL`, and its bit that switches the unit on.
const MPU_CTRL: u32 = 0xe000_ed94;

/// A processor without registers and memory, whose timers are never armed.
struct Bare;

impl Target for Bare {
    fn find(&mut self, _: &str) -> Register {
        Register::default()
    }

    fn register(&mut self, _: Register) -> u32 {
        0
    }

    fn memory(&mut self, _: u32, _: usize) -> Option<&[u8]> {
        None
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        Some(u64::MAX)
    }

    fn advance(&mut self) -> bool {
        true
    }
}

struct Word(u32);

impl Seen for Word {
    fn bytes(&self) -> u32 {
        4
    }

    fn value(&self) -> u128 {
        u128::from(self.0)
    }

    fn physical(&self) -> Option<u32> {
        None
    }
}

/// An event that a simulator would tell.
#[derive(Clone, Copy)]
enum Told {
    /// A block of one instruction runs.
    Runs(u32),
    /// The instruction of the block that runs stores or loads a word.
    Accesses { address: u32, value: u32, store: bool },
}

/// Tells of each in its order, on its core.
struct Script(Vec<(usize, Told)>, Rc<Cell<Option<EndReason>>>);

impl Begins for Script {
    fn target(&self, _: CoreId) -> Box<dyn Target> {
        Box::new(Bare)
    }

    fn begin<F: Family>(&self, mut observer: Observer<F>) {
        (0..2).for_each(|core| observer.started(core));
        assert!(observer.has(1) && !observer.has(2));
        let mut running: [Option<&'static BlockOf<F>>; 2] = [None; 2];
        for (core, told) in &self.0 {
            match *told {
                Told::Runs(pc) => {
                    let nop = RawInsn { pc, size: 2, code: 0xbf00, thumb: true };
                    let block = observer.translated(*core, vec![nop]);
                    running[*core] = Some(block);
                    let ended = observer.block(*core, block);
                    self.1.set(ended.or(self.1.get()));
                }
                Told::Accesses { address, value, store } => {
                    let insn = &running[*core].expect("a block runs").insns()[0];
                    observer.data(*core, insn, &Word(value), address, store);
                }
            }
        }
        observer.finish(EndReason::Exit);
    }
}

fn observe(name: &str, watch: Watch, script: Vec<(usize, Told)>) -> (Summary, Vec<RunEvent>, Option<EndReason>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).expect("the target directory can be written");
    let file = |name: &str| -> PathBuf { directory.join(name) };
    let watch = Watch { events: file("events.bin"), summary: file("summary.json"), ..watch };
    let ended = Rc::new(Cell::new(None));
    observer::begin(watch, Box::leak(Box::default()), &Script(script, Rc::clone(&ended))).expect("a good request");
    let text = fs::read_to_string(file("summary.json")).expect("a summary");
    let events = fs::File::open(file("events.bin")).expect("events");
    let events = EventsReader::new(events).expect("a header").map(|event| event.expect("a record")).collect();
    (Summary::from_json(&text).expect("of this version"), events, ended.get())
}

fn stores(address: u32, value: u32) -> Told {
    Told::Accesses { address, value, store: true }
}

#[test]
fn each_core_has_its_own_domain_permissions_and_counters() {
    let switch = u32::from(abi::trace::Event::Switch as u8);
    let switch_to = |core: usize, domain: u32| {
        [(core, Told::Runs(KERNEL.start)), (core, stores(PORT, 0)), (core, stores(PORT + 4, switch | domain << 8))]
    };
    let reads = |core| [(core, Told::Runs(DOMAIN)), (core, Told::Accesses { address: DENIED, value: 0, store: false })];
    // Core 1 switches its protection unit on, with no region: its domain may access nothing. Core 0 leaves it off.
    let script = [
        &switch_to(0, 3)[..],
        &switch_to(1, 4),
        &[(1, stores(MPU_CTRL, 0b101))],
        &reads(0),
        &reads(1),
        &reads(0),
        &[(0, Told::Runs(KERNEL.start)), (1, Told::Runs(KERNEL.start))],
    ];
    let watch = Watch { cores: 2, trace_port: Some(PORT), kernel_text: vec![KERNEL], ..Watch::default() };
    let (summary, events, _) = observe("permissions", watch, script.concat());

    let seen: Vec<_> = summary.violations.iter().map(|seen| (seen.core.0, seen.domain, seen.kind)).collect();
    let entry = ViolationKind::KernelEntry;
    assert_eq!(seen, [(1, 4, ViolationKind::Execute), (1, 4, ViolationKind::Read), (0, 3, entry), (1, 4, entry)]);
    let counted = summary.domains.iter().filter(|domain| domain.domain != record::IDLE);
    let counted: Vec<_> = counted.map(|of| (of.core.0, of.domain, of.instructions, of.kernel_instructions)).collect();
    assert_eq!(counted, [(0, 3, 2, 1), (1, 4, 1, 1)]);
    let switches = events.iter().filter(|event| u32::from(event.event) == switch);
    assert_eq!(switches.map(|event| (event.core.0, event.domain)).collect::<Vec<_>>(), [(0, 3), (1, 4)]);
    assert_eq!(summary.instructions, 7);
}

#[test]
fn a_limit_ends_the_run_on_whichever_core_reaches_it() {
    let watch = Watch { cores: 2, instruction_limit: 1, ..Watch::default() };
    let (_, _, ended) = observe("limit", watch, vec![(1, Told::Runs(KERNEL.start))]);
    assert_eq!(ended, Some(EndReason::InstructionLimit));
}
