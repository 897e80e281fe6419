//! A simulator that tells an observer what a test has written down, of processors that nobody emulates.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use observer::{Begins, BlockOf, CoreId, EndReason, Family, Observer, RawInsn, Register, Seen, Target};
use record::{EventsReader, RunEvent, Summary, Watch};

/// An instruction without effect, and one that returns.
pub const NOP: u32 = 0xbf00;
pub const BX_LR: u32 = 0x4770;

/// Registers by name, and words of memory by address, which all cores have in common. Timers are never armed.
#[derive(Default)]
struct State {
    names: Vec<String>,
    registers: BTreeMap<String, u32>,
    words: BTreeMap<u32, u32>,
}

/// A processor, and the bytes that it was last asked for.
struct Processor(Rc<RefCell<State>>, Vec<u8>);

impl Target for Processor {
    fn find(&mut self, name: &str) -> Register {
        let names = &mut self.0.borrow_mut().names;
        names.push(name.to_owned());
        Register(names.len())
    }

    fn register(&mut self, Register(place): Register) -> u32 {
        let state = self.0.borrow();
        let name = place.checked_sub(1).and_then(|place| state.names.get(place));
        name.and_then(|name| state.registers.get(name)).copied().unwrap_or(0)
    }

    fn memory(&mut self, address: u32, len: usize) -> Option<&[u8]> {
        let state = self.0.borrow();
        let words = (0..len as u32 / 4).map(|word| state.words.get(&(address + word * 4)).copied());
        let words = words.collect::<Option<Vec<u32>>>()?;
        self.1 = words.into_iter().flat_map(u32::to_le_bytes).collect();
        Some(&self.1)
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        Some(u64::MAX)
    }

    fn advance(&mut self) -> bool {
        true
    }
}

/// A word whose first byte is at a virtual address, and where its first byte, and the first one in the page behind, went.
struct Word {
    value: u32,
    address: u32,
    went: [Option<u32>; 2],
}

impl Seen for Word {
    fn bytes(&self) -> u32 {
        4
    }

    fn value(&self) -> u128 {
        u128::from(self.value)
    }

    fn physical(&self, address: u32) -> Option<u32> {
        self.went[usize::from(address != self.address)]
    }
}

/// An event that a simulator would tell, or a change of its state.
#[derive(Clone, Copy)]
pub enum Told {
    /// A block of so many instructions of two bytes runs, of which the last is this one.
    Runs(u32, u32, u32),
    /// An instruction of the block that runs, the last one, stores or loads a word.
    Accesses { address: u32, value: u32, store: bool },
    /// The same where addresses are translated: where the first byte went, and the first one in the page behind.
    Reaches { address: u32, value: u32, store: bool, went: [Option<u32>; 2] },
    /// A block of one instruction of four bytes runs.
    Performs(u32, u32),
    /// A register has another value.
    Has(&'static str, u32),
    /// A word of memory has another value.
    Holds(u32, u32),
}

/// A block of one instruction.
pub const fn runs(pc: u32) -> Told {
    Told::Runs(pc, 1, NOP)
}

pub const fn stores(address: u32, value: u32) -> Told {
    Told::Accesses { address, value, store: true }
}

pub const fn loads(address: u32) -> Told {
    Told::Accesses { address, value: 0, store: false }
}

/// Tells of each in its order, on its core.
struct Script {
    told: Vec<(usize, Told)>,
    cores: usize,
    state: Rc<RefCell<State>>,
    ended: Rc<Cell<Option<EndReason>>>,
}

impl Begins for Script {
    fn target(&self, _: CoreId) -> Box<dyn Target> {
        Box::new(Processor(Rc::clone(&self.state), Vec::new()))
    }

    fn begin<F: Family>(&self, mut observer: Observer<F>) {
        (0..self.cores).for_each(|core| observer.started(core));
        assert!(observer.has(self.cores - 1) && !observer.has(self.cores));
        let mut running: Vec<Option<&'static BlockOf<F>>> = vec![None; self.cores];
        for (core, told) in &self.told {
            match *told {
                Told::Runs(pc, count, last) => {
                    let code = |place| if place + 1 == count { last } else { NOP };
                    let insn = |place| RawInsn { pc: pc + place * 2, size: 2, code: code(place), thumb: true };
                    let block = observer.translated(*core, (0..count).map(insn).collect());
                    running[*core] = Some(block);
                    let ended = observer.block(*core, block);
                    self.ended.set(ended.or(self.ended.get()));
                }
                Told::Performs(pc, code) => {
                    let block = observer.translated(*core, vec![RawInsn { pc, size: 4, code, thumb: false }]);
                    running[*core] = Some(block);
                    let ended = observer.block(*core, block);
                    self.ended.set(ended.or(self.ended.get()));
                    block.insns().iter().filter(|insn| insn.system).for_each(|insn| observer.system(*core, insn));
                }
                Told::Accesses { address, value, store } => {
                    let insn = running[*core].expect("a block runs").insns().last().expect("it has an instruction");
                    observer.data(*core, insn, &Word { value, address, went: [None; 2] }, address, store);
                }
                Told::Reaches { address, value, store, went } => {
                    let insn = running[*core].expect("a block runs").insns().last().expect("it has an instruction");
                    observer.data(*core, insn, &Word { value, address, went }, address, store);
                }
                Told::Has(name, value) => drop(self.state.borrow_mut().registers.insert(name.to_owned(), value)),
                Told::Holds(address, value) => drop(self.state.borrow_mut().words.insert(address, value)),
            }
        }
        observer.finish(EndReason::Exit);
    }
}

/// The results of a run in a directory of its own.
pub fn observe(name: &str, watch: Watch, told: Vec<(usize, Told)>) -> (Summary, Vec<RunEvent>, Option<EndReason>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).expect("the target directory can be written");
    let file = |name: &str| -> PathBuf { directory.join(name) };
    let watch = Watch { events: file("events.bin"), summary: file("summary.json"), ..watch };
    let ended = Rc::new(Cell::new(None));
    let cores = usize::from(watch.cores.max(1));
    let script = Script { told, cores, state: Rc::default(), ended: Rc::clone(&ended) };
    observer::begin(watch, Box::leak(Box::default()), &script).expect("a good request");
    let text = fs::read_to_string(file("summary.json")).expect("a summary");
    let events = fs::File::open(file("events.bin")).expect("events");
    let events = EventsReader::new(events).expect("a header").map(|event| event.expect("a record")).collect();
    (Summary::from_json(&text).expect("of this version"), events, ended.get())
}
