//! Rules that a chip's file must keep together with a board's: what breaks one would let the kernel, QEMU and the tools see different chips.

use manifest::{BoardFile, Diagnostic, SchemeName};
use timing::cache::Replacement;
use timing::profile::{CacheParams, MemoryKind, MemoryParams};
use units::PhysAddr;

use crate::profile::{Profile, wrong};

/// Associativity (bit 16) and way size (bits 17 to 19) in the auxiliary control register (ARM DDI 0246, 3.3.4).
const SHAPE: u32 = 0xf << 16;
/// Round-robin replacement, not pseudo-random, in the same register.
const ROUND_ROBIN: u32 = 1 << 25;
/// The controller's associativities.
const WAYS: [u32; 2] = [8, 16];

impl Profile {
    /// Whether a board's file can be that of a board with this chip.
    ///
    /// # Errors
    /// CF0605 with the first rule that is broken.
    pub(crate) fn check(&self, file: &BoardFile, protection: SchemeName) -> Result<(), Diagnostic> {
        self.has_the_addresses_of(file)?;
        self.machine_has_the_memory_of(file)?;
        if !protection.sets_up(&self.setup) {
            return Err(wrong(&file.chip, "`setup`: the image for its core writes nothing at the start"));
        }
        if let Some(core) = &self.parameters.application {
            self.auxiliary_agrees_with(&core.l2.cache)?;
        }
        self.setup.writes.iter().try_for_each(|[address, _]| self.may_write(*address, file))
    }

    /// Whether memories and devices of a board begin where the chip has such.
    fn has_the_addresses_of(&self, file: &BoardFile) -> Result<(), Diagnostic> {
        let memories = file.memory.iter().filter(|(name, m)| self.must_have(name, m));
        let memories = memories.map(|(name, m)| ("memory", name, (m.base, m.bytes), false));
        let devices = file.device.iter().map(|(name, d)| ("device", name, (d.base, d.bytes), true));
        for (what, name, (base, bytes), is_device) in memories.chain(devices) {
            let at = |address: u64| self.parameters.locate(PhysAddr(address));
            let id = at(base.into());
            let found = id.and_then(|id| self.parameters.memory(id));
            // The board may have more of a memory than the chip; domains are given what both have.
            let is_boards = |memory: &MemoryParams| {
                u64::from(base) == memory.board_base.value && u64::from(bytes) <= memory.board_capacity.value
            };
            let is_whole = at(u64::from(base) + u64::from(bytes.max(1)) - 1) == id || found.is_some_and(is_boards);
            if !is_whole || found.is_none_or(|found| (found.kind == MemoryKind::Device) != is_device) {
                let there = found.map_or("nothing", |found| found.name.as_str());
                let text = format!("the {what} `{name}` of the board `{}` is not where its chip has one", file.name);
                return Err(Diagnostic::new("CF0605", text)
                    .value(format!("{bytes:#x} bytes from {base:#010x}"))
                    .limit(format!("the chip `{}` has {there} where it begins", self.parameters.name))
                    .rule("addresses of a board are those at which its chip's memories and device windows are on it (`board_base`)")
                    .remedy("correct the board file, or the chip's"));
            }
        }
        Ok(())
    }

    /// Whether the machine has all memory of the board that is dynamic memory of the chip. QEMU puts there what its option `-m` says; its
    /// other memories have a fixed size.
    fn machine_has_the_memory_of(&self, file: &BoardFile) -> Result<(), Diagnostic> {
        let kind = |base: u32| self.parameters.locate(PhysAddr(base.into())).and_then(|id| self.parameters.memory(id));
        let dynamic = self.parameters.memory.iter().filter(|memory| memory.kind == MemoryKind::Sdram);
        let start = dynamic.map(|memory| memory.board_base.value).min().unwrap_or(0);
        let bytes = file.machine_bytes()?;
        let in_it = file.memory.iter().filter(|(_, m)| kind(m.base).is_some_and(|m| m.kind == MemoryKind::Sdram));
        for (name, memory) in in_it {
            let end = u64::from(memory.base) + u64::from(memory.bytes);
            if bytes.is_none_or(|bytes| end - start > bytes) {
                let text = format!("the machine lacks a part of the memory `{name}` of the board `{}`", file.name);
                let stated =
                    bytes.map_or("no machine_memory".into(), |bytes| format!("machine_memory: {bytes:#x} bytes"));
                return Err(Diagnostic::new("CF0605", text)
                    .value(format!("{:#x} bytes from {:#010x}", memory.bytes, memory.base))
                    .limit(format!("{stated} from {start:#010x}"))
                    .rule("QEMU is given `machine_memory` bytes from where the chip's dynamic memory begins; the board's memories there end in it")
                    .remedy("correct `machine_memory`, or the memory"));
            }
        }
        Ok(())
    }

    /// The image writes associativity and way size itself, from the chip's cache; replacement is in both.
    fn auxiliary_agrees_with(&self, cache: &CacheParams) -> Result<(), Diagnostic> {
        let (auxiliary, ways) = (self.setup.l2_auxiliary, cache.ways.value);
        let refuse = |value: String, limit: String, rule: &str| {
            let text = format!("the profile `{}` is wrong: setup.l2_auxiliary", self.parameters.name);
            Err(Diagnostic::new("CF0605", text).value(value).limit(limit).rule(rule).remedy("correct the profile"))
        };
        let kib = cache.size.value / ways.max(1) / 1024;
        if auxiliary & SHAPE != 0 {
            let value = format!("{auxiliary:#010x}: bits 16 to 19 are {:#x}", (auxiliary & SHAPE) >> 16);
            let limit = format!("0; `application.l2.cache` says {ways} ways of {kib} KiB");
            return refuse(
                value,
                limit,
                "associativity and way size follow from the chip's cache, and stand nowhere else",
            );
        }
        if !WAYS.contains(&ways) {
            let limit = format!("{} or {}", WAYS[0], WAYS[1]);
            return refuse(
                format!("{ways} ways"),
                limit,
                "bit 16 chooses between two associativities of the controller",
            );
        }
        let stated = if auxiliary & ROUND_ROBIN == 0 { "pseudo-random" } else { "round-robin" };
        let modelled = match cache.replacement.value {
            Replacement::RoundRobin => "round-robin",
            Replacement::Random { .. } => "pseudo-random",
            Replacement::Lru => "lru",
            Replacement::TreePlru => "tree-plru",
        };
        if modelled == stated {
            return Ok(());
        }
        let limit = format!("`application.l2.cache.replacement` is {modelled}");
        refuse(
            format!("{auxiliary:#010x}: bit 25 says {stated}"),
            limit,
            "the controller replaces as the model of it does",
        )
    }

    /// Start-up writes to registers of the chip that no driver of the kernel or of a domain sets up.
    fn may_write(&self, address: u32, file: &BoardFile) -> Result<(), Diagnostic> {
        let id = self.parameters.locate(PhysAddr(address.into()));
        let found = id.and_then(|id| self.parameters.memory(id));
        let mut devices = file.device.iter();
        let device = devices.find(|(_, device)| address.wrapping_sub(device.base) < device.bytes);
        let there = match (found, device) {
            (_, Some((name, _))) => format!("the device `{name}` of the board"),
            (None, None) => "nothing".into(),
            (Some(memory), None) if memory.kind != MemoryKind::Device => format!("the memory `{}`", memory.name),
            _ if !address.is_multiple_of(4) => "no register begins there".into(),
            _ => return Ok(()),
        };
        let text = format!("the profile `{}` is wrong: setup.writes", self.parameters.name);
        Err(Diagnostic::new("CF0605", text)
            .value(format!("{address:#010x}"))
            .limit(there)
            .rule(
                "start-up writes words to registers of the chip, not to memory, and not to devices, which have drivers",
            )
            .remedy("correct the profile"))
    }
}
