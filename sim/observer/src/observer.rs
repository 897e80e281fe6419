//! The observer of all cores of a chip: a simulator tells it what happens.

use std::rc::Rc;

use record::{CoreId, EndReason, HandlersWatch, Mode, Watch};
use timing::Core;

use crate::block::{Block, Blocks, RawInsn, flag};
use crate::per_core::{BlockOf, CoreObserver, Family, InsnOf};
use crate::shared::Shared;
use crate::{Clock, Seen, Target};

/// A simulator, which takes the observer of any family.
pub trait Begins {
    /// The processor of a core.
    fn target(&self, core: CoreId) -> Box<dyn Target>;
    /// Observes from now on.
    fn begin<F: Family>(&self, observer: Observer<F>);
}

/// The observation of all cores of a chip.
pub struct Observer<F: Family> {
    pub(crate) shared: Rc<Shared>,
    pub(crate) cores: Box<[CoreObserver<F>]>,
    memory: F::Memory,
    blocks: Blocks<<F::Core as Core<F::Context>>::Code>,
}

impl<F: Family> Observer<F> {
    /// Ready to observe what `watch` asks for on a chip of this name and clock; `make` makes a core after reset.
    ///
    /// # Errors
    /// A text: a file that cannot be written, what `make` says, or a kernel made for another processor than the model's.
    pub(crate) fn new(
        watch: Watch,
        chip: (String, u64),
        clock: &'static Clock,
        simulator: &impl Begins,
        memory: F::Memory,
        make: impl Fn(&Watch) -> Result<F, String>,
    ) -> Result<Self, String> {
        let families = (0..watch.cores.max(1)).map(|_| make(&watch)).collect::<Result<Vec<F>, String>>()?;
        let modelled = families[0].divided();
        if let Some(watched) = watch.protection.filter(|watched| *watched != modelled) {
            return Err(format!("the kernel has {watched}, the observer's model {modelled}"));
        }
        let shared = Rc::new(Shared::new(watch, chip)?);
        let core = |(number, family)| {
            let id = CoreId(number);
            CoreObserver::new(id, Rc::clone(&shared), clock, simulator.target(id), family)
        };
        let cores = (0..).zip(families).map(core).collect();
        Ok(Self { shared, cores, memory, blocks: Blocks::new() })
    }

    /// Clock of the cores, Hz.
    pub fn cpu_hz(&self) -> u64 {
        self.shared.cpu_hz
    }

    /// The request.
    pub fn watch(&self) -> &Watch {
        &self.shared.watch
    }

    /// Whether core number `index` is observed. Of another one nothing may be told but that it has started.
    #[inline]
    pub fn has(&self, index: usize) -> bool {
        index < self.cores.len()
    }

    /// A processor has started: its registers can be found.
    pub fn started(&mut self, index: usize) {
        if let Some(core) = self.cores.get_mut(index) {
            core.family.started(&mut *core.target);
        }
    }

    /// Instructions (at least one) that will run as a block, and on core `index` next. Those of one block are always told together.
    pub fn translated(&mut self, index: usize, mut raw: Vec<RawInsn>) -> &'static BlockOf<F> {
        let core = &mut self.cores[index];
        let thumb = core.family.is_thumb(&mut *core.target);
        raw.iter_mut().for_each(|insn| insn.thumb = thumb);
        let (watch, model) = (&self.shared.watch, core.family.core());
        self.blocks.get(&raw, |raw| describe::<F>(raw, watch, model))
    }

    /// Whether [`Observer::probed`] is to be told before the instruction at `pc` executes.
    pub fn is_probed(&self, pc: u32) -> bool {
        self.cores[0].probes.concerns(pc)
    }

    /// A block is about to run on core `index`. The run is over when there is a reason.
    #[inline]
    pub fn block(&mut self, index: usize, tb: &'static BlockOf<F>) -> Option<EndReason> {
        self.cores[index].block(&mut self.memory, tb)
    }

    /// An access was made on core `index`, a store or a load.
    #[inline]
    pub fn data(&mut self, index: usize, insn: &InsnOf<F>, seen: &impl Seen, address: u32, store: bool) {
        let core = &mut self.cores[index];
        core.notice_cut(insn);
        core.accesses += 1;
        F::data(core, &mut self.memory, insn, seen, (address, store));
    }

    /// An instruction that is [`crate::BlockInsn::system`] is about to execute on core `index`.
    pub fn system(&mut self, index: usize, insn: &InsnOf<F>) {
        F::system(&mut self.cores[index], &self.memory, insn);
    }

    /// An instruction at which a probe starts or ends is about to execute on core `index`.
    pub fn probed(&mut self, index: usize, insn: &InsnOf<F>) {
        self.cores[index].probed(insn);
    }
}

/// Whether a handler may begin at an address that the manifest does not name: code that handlers have made, in memory of the state that is theirs. Their vectors
/// can lead there.
fn may_begin(watch: &Watch, handlers: &HandlersWatch, pc: u32) -> bool {
    watch.attribution.is_some_and(|chip| pc & chip.secure == 0) && handlers.owner(pc).is_none()
}

fn describe<F: Family>(raw: &[RawInsn], watch: &Watch, model: &F::Core) -> &'static BlockOf<F> {
    let first = &raw[0];
    let is_kernel = watch.kernel_text.is_empty() || watch.kernel_text.iter().any(|range| range.holds(first.pc, 1));
    let mut flags = F::flags(raw);
    flags |= if is_kernel { flag::KERNEL } else { 0 };
    let handlers = watch.handlers.as_ref().is_some_and(|handlers| {
        handlers.begins(first.pc) || handlers.served == first.pc || may_begin(watch, handlers, first.pc)
    });
    let is_apart = watch.handlers.is_some() && watch.attribution.is_some_and(|chip| first.pc & chip.secure == 0);
    flags |= if is_apart { flag::APART } else { 0 };
    flags |= if handlers || watch.vectors.contains(&first.pc) { flag::VECTOR } else { 0 };
    let insns: Vec<_> = raw.iter().map(F::decode).collect();
    let code = model.describe(first.pc, &insns, watch.mode == Mode::Exact);
    Block::leak(raw, flags, code, F::is_system)
}
