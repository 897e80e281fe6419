//! Rules that a board file must keep beyond its schema: what breaks one would make kernel and tools disagree, or give a domain what is the kernel's.

use units::Rate;

use crate::board_file::{BoardFile, Counter, KernelCosts, Memory, MemoryKind, Sampler};
use crate::core::{Chip, Core, Image};
use crate::diagnostic::Diagnostic;
use crate::rules::{Kept, MOST_CYCLES, require};
use crate::scheme::Scheme;

/// Bytes of a counter's registers.
const REGISTER_BYTES: u32 = 0x1_0000;
/// Ticks in a second, at least.
const LEAST_RATE: u32 = 1_000;
/// The kernel looks at each of 32 budgets before the low words of its times come round, at one in three quarters of a second, and does not start at a
/// higher rate (`Boot::kernel`).
const MOST_RATE: u32 = (sched::budget::Budget::FRESH as u64 * 4 / (3 * 33)) as u32;

impl BoardFile {
    /// Whether the file can be that of a board with this core and chip.
    ///
    /// # Errors
    /// The first rule that is broken, with the key and the value.
    pub(crate) fn check(&self, core: &Core, chip: &Chip, protection: &dyn Scheme) -> Kept {
        self.names()?;
        self.simulated()?;
        self.time()?;
        self.ranges(protection)?;
        self.lines(core)?;
        self.stand_ins()?;
        self.image(&core.image)?;
        self.sampler()?;
        if let Some(costs) = &self.kernel {
            kernel_costs(costs)?;
        }
        protection.check(self, chip)
    }

    /// Sampler and counter are devices of the kernel's and lines of them; gates are of whole blocks.
    fn sampler(&self) -> Kept {
        if let Some(Sampler { device, line }) = &self.sampler {
            let found = self.device.get(device).filter(|found| found.kernel && found.lines.contains_key(line));
            require(found.is_some(), || format!("sampler: no line `{line}` of a device `{device}` of the kernel's"))?;
        }
        if let Some(Counter { device, line, memory, registers, .. }) = &self.counter {
            let found = self.device.get(device).filter(|found| found.kernel && found.lines.contains_key(line));
            require(found.is_some(), || format!("counter: no line `{line}` of a device `{device}` of the kernel's"))?;
            require(self.sampler.is_some(), || "counter: no sampler beside it".to_owned())?;
            let place = |memory: &Memory| {
                let offset = registers.wrapping_sub(memory.base);
                registers.is_multiple_of(REGISTER_BYTES) && memory.optional && offset <= memory.bytes - REGISTER_BYTES
            };
            let there = self.memory.get(memory).is_some_and(place);
            require(there, || format!("counter: {registers:#010x} is no place in an optional memory `{memory}`"))?;
        }
        for gate in self.memory.values().flat_map(|memory| &memory.gates) {
            let whole =
                gate.block.is_power_of_two() && gate.block >= 32 && (gate.base | gate.bytes) & (gate.block - 1) == 0;
            require(whole, || format!("gates: {:#010x} is not of whole blocks of {} bytes", gate.base, gate.block))?;
        }
        Ok(())
    }

    /// Bytes of memory that QEMU is asked for, if any.
    ///
    /// # Errors
    /// CF0605 when the option is no size.
    pub fn machine_bytes(&self) -> Result<Option<u64>, Diagnostic> {
        let Some(text) = &self.machine_memory else { return Ok(None) };
        let unit = if text.ends_with('G') { 30 } else { 20 };
        let number = text.strip_suffix(['M', 'G']).filter(|number| number.chars().all(|c| c.is_ascii_digit()));
        let bytes = number.and_then(|number| number.parse::<u32>().ok()).map(|number| u64::from(number) << unit);
        let wrong = || self.wrong(&format!("machine_memory = \"{text}\": a number with M or G"));
        bytes.map(Some).ok_or_else(wrong)
    }

    /// What the simulator is called with. QEMU takes options behind a comma, with which it writes files of the host; a model is a file below a directory.
    fn simulated(&self) -> Kept {
        let plain = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphanumeric())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        };
        for (key, name) in [("machine", Some(&self.machine)), ("model", self.model.as_ref())] {
            require(name.is_none_or(|name| plain(name)), || {
                format!(
                    "{key} = \"{}\": letters, digits, `-`, `_` and `.`",
                    name.map_or("", String::as_str).escape_debug()
                )
            })?;
        }
        Ok(())
    }

    /// Names become identifiers of the kernel and of its linker script.
    fn names(&self) -> Kept {
        let plain = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let names = self.memory.keys().chain(self.device.keys());
        let wrong = names.into_iter().find(|name| !plain(name));
        wrong.map_or(Ok(()), |name| {
            Err(format!("`{name}` is no name of a memory or device: small letters, digits and `_`"))
        })
    }

    fn time(&self) -> Kept {
        let (rate, clock) = (self.ticks_per_second, &self.clock);
        let counts = (LEAST_RATE..=MOST_RATE).contains(&rate);
        require(counts && Rate::hz(rate.into()).ns_in(1).exact().is_some(), || {
            format!(
                "ticks_per_second = {rate}: {LEAST_RATE} to {MOST_RATE}, and a tick is a whole number of nanoseconds"
            )
        })?;
        require((1..=256).contains(&clock.divider), || format!("clock.divider = {}: 1 to 256", clock.divider))?;
        let (shortest, start) = (clock.shortest_ticks, clock.start_ticks);
        require([shortest, start].iter().all(|ticks| (1..=rate / 10).contains(ticks)), || {
            format!(
                "clock.shortest_ticks = {shortest}, start_ticks = {start}: at least one each, and at most a tenth of a second"
            )
        })
    }

    /// Memories and device windows lie in the address space and nowhere on each other.
    fn ranges(&self, protection: &dyn Scheme) -> Kept {
        let memories = self.memory.iter().map(|(name, m)| (name, u64::from(m.base), u64::from(m.bytes)));
        let devices = self.device.iter().map(|(name, d)| (name, u64::from(d.base), u64::from(d.bytes)));
        let all: Vec<_> = memories.chain(devices).collect();
        for (index, (name, base, bytes)) in all.iter().enumerate() {
            require(*bytes > 0 && base + bytes <= 1 << 32, || format!("`{name}` has {bytes:#x} bytes from {base:#x}"))?;
            let meets = |(_, other, size): &&(_, u64, u64)| base < &(other + size) && other < &(base + bytes);
            let other = all[..index].iter().find(meets);
            other.map_or(Ok(()), |(other, ..)| Err(format!("`{name}` and `{other}` overlap")))?;
        }
        for (name, device) in &self.device {
            require(protection.covers(device), || {
                format!("the window of `{name}` is not what one region or whole pages cover")
            })?;
        }
        for (name, Memory { reserved, bytes, code_page, optional, .. }) in &self.memory {
            require(reserved <= bytes, || format!("`{name}` reserves {reserved:#x} bytes, more than it has"))?;
            require(!optional || *reserved == 0, || {
                format!("`{name}` is optional and reserves bytes for a kernel, which every chip of the board has")
            })?;
            require(code_page.is_power_of_two() && code_page <= bytes, || {
                format!("memory.{name}.code_page = {code_page}: a power of two, and no more than the memory has")
            })?;
        }
        Ok(())
    }

    /// Interrupt lines are none of the kernel's, and each is one device's.
    fn lines(&self, core: &Core) -> Kept {
        let [first, last] = core.exceptions.interrupts;
        for (index, (name, device)) in self.device.iter().enumerate() {
            // The kernel's own devices interrupt nobody.
            for (line, number) in device.lines.iter().filter(|_| !device.kernel) {
                let exception = u64::from(*number) + u64::from(record::FIRST_LINE);
                require((u64::from(first)..=u64::from(last)).contains(&exception), || {
                    format!("device.{name}.lines.{line} = {number}: it is the kernel's, or there is none")
                })?;
                let mut others = self.device.iter().take(index).filter(|(_, other)| !other.kernel);
                let taken = others.find(|(_, other)| other.lines.values().any(|known| known == number));
                taken.map_or(Ok(()), |(other, _)| {
                    Err(format!("device.{name}.lines.{line} = {number}: it is `{other}`'s"))
                })?;
            }
        }
        Ok(())
    }

    /// A name stands for one memory or device. It may stand for memories behind an optional one, too, which serve chips without that.
    fn stand_ins(&self) -> Kept {
        let memories = self.memory.iter().map(|(name, memory)| (name, &memory.stands_in_for, memory.optional));
        once(&memories.collect::<Vec<_>>())?;
        let devices = self.device.iter().map(|(name, device)| (name, &device.stands_in_for, false));
        once(&devices.collect::<Vec<_>>())?;
        let kernels = self.device.iter().find(|(_, device)| device.kernel && !device.stands_in_for.is_empty());
        kernels.map_or(Ok(()), |(name, _)| Err(format!("`{name}` is the kernel's and stands in for nothing")))
    }

    /// Memories and devices that the kernel's image uses are there, as it uses them.
    fn image(&self, image: &Image) -> Kept {
        for (name, kind) in &image.memories {
            let found =
                self.memory.get(name).ok_or_else(|| format!("the image for its core needs a memory `{name}`"))?;
            require(found.kind == *kind, || {
                format!("the image for its core needs `{name}` as {}, it is {}", kind.text(), found.kind.text())
            })?;
            let shared = *kind == MemoryKind::Ram;
            require(!shared || found.reserved > 0, || format!("`{name}` reserves nothing for the kernel"))?;
        }
        let clock = (&self.clock.device, &image.clock.kind);
        for (name, kind) in image.devices.iter().chain([clock]) {
            let key = if name == clock.0 { "clock.device: " } else { "" };
            let device = self.device.get(name).ok_or_else(|| format!("{key}no device `{name}`"))?;
            let found = device.kind.as_deref().unwrap_or("none");
            require(found == kind, || {
                format!("the image for its core drives `{name}` as a `{kind}`, its kind is `{found}`")
            })?;
            require(device.kernel, || format!("the device `{name}` is the kernel's: `kernel = true`"))?;
        }
        require(image.clock.divided || self.clock.divider == 1, || {
            format!("clock.divider = {}: the clock has none", self.clock.divider)
        })
    }
}

/// Memories or devices: each with its name, the names for which it stands, and whether a chip may lack it.
type Named<'a> = (&'a String, &'a Vec<String>, bool);

/// No name stands for two things that a chip has.
fn once(all: &[Named<'_>]) -> Kept {
    for (index, (_, names, _)) in all.iter().enumerate() {
        for (at, name) in names.iter().enumerate() {
            let is_own = all.iter().any(|(own, ..)| *own == name);
            let is_taken = all[..index].iter().any(|(_, earlier, optional)| !optional && earlier.contains(name));
            require(!is_own && !is_taken && !names[..at].contains(name), || {
                format!("`{name}` stands for two (stands_in_for)")
            })?;
        }
    }
    Ok(())
}

fn kernel_costs(costs: &KernelCosts) -> Kept {
    let KernelCosts {
        switch_cycles, entry_cycles, early_cycles, miss_cycles, masked_cycles, masked_frames_cycles, ..
    } = *costs;
    let never_none = [switch_cycles, entry_cycles, early_cycles, masked_cycles, masked_frames_cycles];
    require(never_none.iter().all(|cycles| *cycles > 0), || "kernel: a path that takes no cycle".into())?;
    require(never_none.iter().all(|cycles| *cycles <= MOST_CYCLES) && miss_cycles <= MOST_CYCLES, || {
        format!("kernel: a path of more than {MOST_CYCLES} cycles")
    })?;
    require(entry_cycles <= switch_cycles, || "kernel.entry_cycles: a part of switch_cycles, and more than it".into())?;
    require(masked_cycles <= masked_frames_cycles, || "kernel.masked_frames_cycles: less than masked_cycles".into())
}
