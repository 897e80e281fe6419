//! Timing profiles: by name from those that come with Cofferdam, or from a file.

use std::path::Path;

use manifest::{Board, BoardFile, Chip, Diagnostic, Setup, input};
use report::describe;
use timing::profile::{Interface, Text, read_text};
use units::PhysAddr;

use crate::install::{Install, misnamed, unreadable};
use crate::parameters::{Described, Parameters};

/// Descriptors that a walk reads at most.
const DESCRIPTORS: u32 = 2;

pub(crate) fn wrong(name: &str, why: &str) -> Diagnostic {
    Diagnostic::new("CF0605", format!("the profile `{name}` is wrong: {why}"))
        .rule("a profile follows the schema of sim/timing, each parameter with unit and source; its core's part stands in the core's file")
        .remedy("correct the profile")
}

/// A chip with a model of time.
fn modelled(name: &str, text: &str) -> Result<Parameters, Diagnostic> {
    let parsed: Result<timing::profile::Profile, _> = toml::from_str(text);
    let profile = parsed.map_err(|error| wrong(name, error.message()))?;
    match profile.validate().first() {
        Some(error) => Err(wrong(name, &error.to_string())),
        None => Ok(profile.into()),
    }
}

/// A chip whose simulator is made of its hardware's description.
fn described(name: &str, text: &str) -> Result<Parameters, Diagnostic> {
    let parsed: Result<Described, _> = toml::from_str(text);
    let described = parsed.map_err(|error| wrong(name, error.message()))?;
    described.parameters().map_err(|why| wrong(name, &why))
}

/// A profile with its text, which the observer is given.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its facts that are no model of time.
    pub parameters: Parameters,
    /// Whether the rest of it is a model of time; otherwise the simulator is made of the hardware's description.
    pub is_modelled: bool,
    /// The TOML text.
    pub text: String,
    /// Name of the processor's core.
    pub core: String,
    /// Settings that start-up writes to the chip.
    pub setup: Setup,
}

impl Profile {
    /// Finds a profile: a name (a file below `chips`), or a path relative to `directory` that ends in `.toml`.
    ///
    /// # Errors
    /// CF0202 for an unknown name, CF0501 for a file that is not there, CF0605 for a profile that is not valid.
    pub fn find(install: &Install, name: &str, directory: &Path) -> Result<Profile, Diagnostic> {
        let home = install.root.join("chips");
        let path = if name.ends_with(".toml") {
            directory.join(name)
        } else if manifest::name_ok(name) && home.join(format!("{name}.toml")).is_file() {
            home.join(format!("{name}.toml"))
        } else {
            return Err(Diagnostic::new("CF0202", format!("there is no profile `{name}`"))
                .limit(format!("known: {}", install.profiles().join(", ")))
                .rule("a profile is a file below chips, or a path that ends in .toml")
                .remedy("choose one of the known profiles"));
        };
        input::readable(&path, input::MOST_TEXT).map_err(|why| unreadable(&path, &why))?;
        let text = read_text(&path, &install.root.join("cores")).map_err(|why| wrong(name, &why))?;
        let profile = Profile::parse(name, text)?;
        let is_named = name.ends_with(".toml") || profile.parameters.name == name;
        if is_named { Ok(profile) } else { Err(misnamed(&path, &profile.parameters.name)) }
    }

    fn parse(name: &str, text: Text) -> Result<Profile, Diagnostic> {
        let setup = Setup::of(&text.chip)?;
        let is_modelled = text.is_modelled;
        let parameters = if is_modelled { modelled(name, &text.profile)? } else { described(name, &text.profile)? };
        Ok(Profile { parameters, is_modelled, text: text.profile, core: text.core, setup })
    }

    /// The board of this file with this chip.
    ///
    /// # Errors
    /// CF0202 for a chip with another core than the board's own, and for a board or chip that the kernel is not made for; CF0605 for a damaged
    /// file.
    pub fn board(&self, install: &Install, file: BoardFile) -> Result<Board, Diagnostic> {
        let core = install.core(&self.core)?;
        self.check(&file, core.protection)?;
        runner::check_name(&file.simulator).map_err(|error| {
            Diagnostic::new("CF0605", format!("the file of the board `{}` is wrong: {error}", file.name))
                .value(format!("simulator = {:?}", file.simulator))
                .rule("a board states the simulator that executes its images")
                .remedy("correct `simulator`")
        })?;
        let mut board = file.supported(core, |tables| self.chip(tables), self.setup.clone())?;
        board.memory.retain(|name, memory| self.must_have(name, memory));
        for (name, memory) in &mut board.memory {
            let chips = self.parameters.by_name(name).and_then(|id| self.parameters.memory(id));
            let Some(window) = chips.map(|memory| memory.usable_window()) else { continue };
            let end = window.end().0.min(u64::from(memory.base) + u64::from(memory.bytes));
            memory.usable = end.saturating_sub(u64::from(memory.base)) as u32;
        }
        Ok(board)
    }

    /// Whether a memory of the board has to be the chip's, too: an optional one only if the chip has something there, or one of that name elsewhere.
    pub(crate) fn must_have(&self, name: &str, memory: &manifest::Memory) -> bool {
        let is_there = || self.parameters.locate(PhysAddr(memory.base.into())).is_some();
        !memory.optional || is_there() || self.parameters.by_name(name).is_some()
    }

    /// Admission's part of the profile, for a board whose translation tables lie in this memory of its chip.
    fn chip(&self, tables: Option<&manifest::Memory>) -> Chip {
        let has_caches = self.parameters.memory.iter().any(|memory| memory.cacheable.value);
        let chip = Chip { name: self.parameters.name.clone(), cpu_hz: self.cpu_hz(), has_caches, ..Chip::default() };
        let Some(core) = &self.parameters.application else { return chip };
        let walk = |read: u32| {
            core.mmu.main_hit.value + core.mmu.walk_start.value + DESCRIPTORS * (core.mmu.walk_level.value + read)
        };
        let level2 = core.l2.latency.read_first.value;
        let memory = tables.and_then(|tables| self.parameters.locate(PhysAddr(tables.base.into())));
        let on_chip = memory.and_then(|id| self.parameters.memory(id)).map_or(0, |memory| {
            let read = memory.latency.as_ref().map_or(0, |latency| latency.read_first.value);
            // A read of memory behind the second level is looked up there first.
            if memory.interface == Interface::Axi { level2 + read } else { read }
        });
        let ways = core.l2.cache.ways.value;
        Chip {
            lock_entries: core.mmu.lock_entries.value,
            ways,
            way_bytes: core.l2.cache.size.value / ways.max(1),
            line_bytes: core.l2.cache.line.value,
            main_tlb_cycles: core.mmu.main_hit.value,
            walk_on_chip_cycles: walk(on_chip),
            walk_locked_ways_cycles: walk(level2),
            ..chip
        }
    }

    /// Clock of the processor in Hz.
    pub fn cpu_hz(&self) -> u64 {
        self.parameters.core_hz
    }

    /// The profile as a report describes it.
    pub fn describe(&self) -> describe::Profile {
        let mut listed = Vec::new();
        if let Ok(table) = self.text.parse::<toml::Table>() {
            collect("", &toml::Value::Table(table), &mut listed);
        }
        describe::Profile {
            name: self.parameters.name.clone(),
            summary: self.parameters.title.clone(),
            parameters: listed,
            caveats: self.parameters.caveats.clone(),
        }
    }
}

/// Every table with a value, a unit and a source is a parameter.
fn collect(path: &str, value: &toml::Value, out: &mut Vec<describe::Parameter>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        toml::Value::Table(table) => {
            if let (Some(value), Some(unit), Some(source)) =
                (table.get("value"), table.get("unit"), table.get("source"))
            {
                let unit = unit.as_str().unwrap_or_default();
                let shown = shown(value, unit);
                let source = source.as_str().unwrap_or_default().to_owned();
                out.push(describe::Parameter { name: path.to_owned(), value: shown, source });
                return;
            }
            table.iter().for_each(|(key, value)| collect(&join(key), value, out));
        }
        toml::Value::Array(items) => {
            for item in items.iter().filter(|item| item.is_table()) {
                let name = item.get("name").and_then(toml::Value::as_str).unwrap_or("?");
                collect(&join(name), item, out);
            }
        }
        _ => {}
    }
}

fn shown(value: &toml::Value, unit: &str) -> String {
    let plain = match value {
        toml::Value::Integer(number) if unit == "address" => format!("{number:#010x}"),
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if matches!(unit, "choice" | "count" | "address") { plain } else { format!("{plain} {unit}") }
}

impl Install {
    /// Reads the description of a board on which systems can run, with its own chip.
    ///
    /// # Errors
    /// As for [`Install::board_file`]; CF0202 for one on which none can.
    pub fn board(&self, name: &str) -> Result<Board, Diagnostic> {
        let file = self.board_file(name, Path::new("."))?;
        self.chip_of(&file)?.board(self, file)
    }

    /// Reads the profile of a board's own chip.
    ///
    /// # Errors
    /// As for [`Profile::find`].
    pub fn chip_of(&self, board: &BoardFile) -> Result<Profile, Diagnostic> {
        Profile::find(self, &board.chip, board.path.parent().unwrap_or(Path::new(".")))
    }
}
