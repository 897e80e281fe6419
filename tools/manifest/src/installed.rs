//! Cores and boards of an installation, by the rules that their files must keep.

use std::sync::Arc;

use board_facts::{Foreign, Named};
use indexmap::IndexMap;
use units::Rate;

use crate::board::{self, Board};
use crate::board_file::{BoardFile, Counter, Device, Memory, Sampler};
use crate::core::{Chip, Core, Setup};
use crate::diagnostic::Diagnostic;
use crate::scheme::{self, Scheme};

impl Core {
    /// Parses a core's file.
    ///
    /// # Errors
    /// CF0605 with the parser's message: the files of cores belong to the installation.
    pub fn parse(text: &str) -> Result<Core, Diagnostic> {
        let core: Result<Core, _> = toml::from_str(text);
        let wrong = |why: &str| {
            Diagnostic::new("CF0605", format!("the core's file is wrong: {why}"))
                .rule("cores/NAME.toml follows the schema of tools/manifest/src/core/mod.rs")
                .remedy("correct the core's file")
        };
        let core = core.map_err(|error| wrong(error.message()))?;
        core.exceptions.check().map_err(|why| wrong(&why))?;
        core.protection.scheme().core(&core).map_err(|why| wrong(&why))?;
        match (core.timing.is_empty(), core.protection.scheme().is_modelled()) {
            (true, true) => Err(wrong("it has no model of time")),
            (false, false) => Err(wrong("`timing`: its simulator needs no model of time")),
            _ => core.protection.scheme().divides(&core).map(|()| core),
        }
    }
}

impl BoardFile {
    /// Its scheme for the check of accesses.
    ///
    /// # Errors
    /// CF0605 when it is not what the core's scheme has, or names no memory.
    pub fn scheme(&self, core: &Core) -> Result<Arc<dyn Scheme>, Diagnostic> {
        scheme::read(core, self).map_err(|why| self.wrong(&why))
    }

    /// The board with its core and chip, if systems can be admitted and run on it.
    ///
    /// # Errors
    /// CF0202 when the kernel does not run there, because its paths have no bounds or it is made for another chip. CF0605 when a name in it
    /// names nothing.
    pub fn supported(
        self,
        core: Core,
        chip: impl FnOnce(Option<&Memory>) -> Chip,
        setup: Setup,
    ) -> Result<Board, Diagnostic> {
        let protection = self.scheme(&core)?;
        let chip = chip(protection.tables().and_then(|name| self.memory.get(name)));
        check_foreign(self.foreign.as_ref(), &self.memory, &self.device)?;
        let Some(kernel) = self.kernel else {
            return Err(Diagnostic::new("CF0202", format!("no system can run on the board `{}` yet", self.name))
                .rule("a system is admitted by the bounds of the kernel's paths on its board")
                .remedy("choose a board that `cofferdam boards` does not mark so"));
        };
        self.check(&core, &chip, &*protection).map_err(|why| self.wrong(&why))?;
        protection.divides(&chip)?;
        let late = u64::from(self.clock.shortest_ticks) + u64::from(self.clock.start_ticks);
        let enforcement_ns = Rate::hz(self.ticks_per_second.into()).ns_in(late).ceil();
        let BoardFile { name, about, simulator, machine, model, machine_memory, ticks_per_second, clock, .. } = self;
        let BoardFile { path, mut memory, device, sampler, counter, .. } = self;
        let line = |sampler: &Sampler| device.get(&sampler.device)?.lines.get(&sampler.line).copied();
        let sampler = sampler.as_ref().and_then(line);
        let counter = counter.as_ref().and_then(|counter| {
            let Counter { serial, registers, beyond_cycles, .. } = *counter;
            let line = *device.get(&counter.device)?.lines.get(&counter.line)?;
            let memory = memory.get(&counter.memory)?.base;
            Some(board::Counter { line, serial, registers, memory, beyond_cycles })
        });
        memory.values_mut().for_each(|memory| memory.usable = memory.bytes);
        Ok(Board {
            path,
            name,
            about,
            simulator,
            machine,
            model,
            machine_memory,
            core,
            chip,
            setup,
            ticks_per_second,
            clock,
            enforcement_ns,
            protection,
            kernel,
            memory,
            device,
            sampler,
            counter,
        })
    }
}

/// Whether what suites try on the board is there.
///
/// # Errors
/// CF0605 when a name in the table names nothing.
fn check_foreign(
    foreign: Option<&Foreign>,
    memory: &IndexMap<String, Memory>,
    device: &IndexMap<String, Device>,
) -> Result<(), Diagnostic> {
    let bytes = |named: Named| match named {
        Named::Memory(name) => memory.get(name).map(|memory| memory.bytes),
        Named::Device(name) => device.get(name).map(|device| device.bytes),
        Named::Address(_) => None,
    };
    foreign.map_or(Ok(()), |foreign| foreign.check(bytes)).map_err(|why| {
        Diagnostic::new("CF0605", format!("the board file is wrong: {why}"))
            .rule("each name of `[foreign]` is a place in a memory or a device of the board, or an address")
            .remedy("correct the board file")
    })
}
