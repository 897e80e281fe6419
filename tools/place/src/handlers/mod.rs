//! Handlers that an interrupt reaches without the kernel run in Non-secure state, which executes no Secure memory, and Secure state none of the other
//! (DDI 0553 B8). So what they execute, with its constants, is placed a second time. Data is in Non-secure memory for both.

mod pieces;
mod quiet;
mod reach;
mod stack;
mod why;

use std::collections::BTreeMap;

use manifest::resolved::{self, Domain, Item, Part, System};
use system::direct::Direct;

use crate::allocate::Space;
use crate::elf::{Loaded, Program};
use crate::error::PlaceError;
use crate::spot::DomainSpot;
use reach::KEPT;
pub(crate) use reach::{Copied, Reached};

/// Words of a table of vectors in front of those of interrupt lines.
const SYSTEM_VECTORS: u32 = 16;
/// PendSV and SysTick, of which each security state has its own.
const STATE_EXCEPTIONS: [usize; 2] = [14, 15];
/// A table of vectors begins at a multiple of this, at least (VTOR; DDI 0553).
const LEAST_TABLE: u32 = 128;

/// The handlers of a domain, with what they reach.
pub(crate) struct Handlers<'a> {
    /// Number of the domain.
    pub owner: usize,
    shared: resolved::Handlers,
    /// The bit that says Secure.
    alias: u32,
    reached: Reached<'a>,
    /// Number of each line, and address of its handler at link time.
    lines: Vec<(u32, u32)>,
}

/// The place of all that handlers execute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlersSpot {
    /// As the kernel reads it.
    pub direct: Direct,
    /// Address of what exceptions reach while handlers are cut off.
    stub: u32,
    /// Address of the copy of the program's part.
    pub copy: u32,
}

impl HandlersSpot {
    /// Whether it is the place of these.
    pub fn is_of(&self, handlers: &Handlers) -> bool {
        self.direct.owner() == Some(handlers.owner as u32)
    }
}

impl<'a> Handlers<'a> {
    /// Those of a system, the first occupant's first.
    ///
    /// # Errors
    /// [`PlaceError::Symbol`], [`PlaceError::NotCode`], [`PlaceError::Reaches`].
    pub fn all(system: &System, programs: &'a [Program]) -> Result<Vec<Handlers<'a>>, PlaceError> {
        let Some(alias) = system.secure else { return Ok(Vec::new()) };
        system.handlers().map(|(owner, shared)| Handlers::of(system, programs, owner, shared, alias)).collect()
    }

    fn of(
        system: &System,
        programs: &'a [Program],
        owner: usize,
        shared: resolved::Handlers,
        alias: u32,
    ) -> Result<Handlers<'a>, PlaceError> {
        let program = &programs[owner];
        let (domain, hostile) = (&system.domains[owner], system.domains[owner].hostile);
        let direct = domain.interrupts.iter().filter_map(|line| Some((line.line, line.direct.as_ref()?)));
        let names: Vec<&str> = direct.clone().map(|(_, direct)| direct.handler.as_str()).collect();
        let reached = Reached::from(program, &names, hostile)?;
        let at = |direct: &resolved::Direct| Ok((direct.level, program.function(&direct.handler)? & !1));
        if !hostile {
            let levels = direct.clone().map(|(_, direct)| at(direct)).collect::<Result<Vec<_>, _>>()?;
            fits(&reached, domain, &levels, shared.stack_bytes.next_multiple_of(program.data.align.max(32)))?;
        }
        let lines = direct.map(|(line, direct)| Ok((line, at(direct)?.1))).collect::<Result<_, _>>()?;
        Ok(Handlers { owner, shared, alias, reached, lines })
    }

    /// Bytes of their stack, in whole units of which the data behind it is aligned.
    pub fn stack_bytes(&self, align: u32) -> u32 {
        self.shared.stack_bytes.next_multiple_of(align)
    }

    /// Takes memory for what they execute: two tables of vectors, the answer of those that are cut off, and the copy. The domain's data has its
    /// place; their stack is in front of it.
    ///
    /// # Errors
    /// [`PlaceError::Full`].
    pub fn place(
        &self,
        system: &System,
        (rom, spaces): (usize, &mut [Space]),
        domain: &DomainSpot,
    ) -> Result<HandlersSpot, PlaceError> {
        let block = system.memories[rom].block.unwrap_or(1);
        let vectors = 4 * self.vectors();
        let table = vectors.next_power_of_two().max(LEAST_TABLE);
        let quiet = vectors.next_multiple_of(LEAST_TABLE);
        let stub = quiet + 4 * SYSTEM_VECTORS;
        let copy = (stub + quiet::bytes().len() as u32).next_multiple_of(KEPT);
        let bytes = (copy + self.reached.bytes()).next_multiple_of(block.max(32));
        let what = Item::Of(Part::Handlers, system.domains[self.owner].name.clone());
        let place = |space: &mut Space| space.plain(&what, bytes.into(), table.max(block).into());
        let base = spaces[rom].in_one_gate(place)? & !self.alias;
        let direct = Direct {
            domain: self.owner as u32 + 1,
            alias: self.alias,
            text_base: base,
            text_bytes: bytes,
            vectors: base,
            quiet: base + quiet,
            stack_top: domain.data_base,
            period: self.shared.period,
            capacity: self.shared.capacity,
            counted: if self.shared.counted { ratio(system.cpu_hz, system.ticks_per_second) } else { 0 },
        };
        Ok(HandlersSpot { direct, stub: base + stub, copy: base + copy })
    }

    /// Words of the table of vectors: no line behind the last that reaches a handler.
    fn vectors(&self) -> u32 {
        SYSTEM_VECTORS + self.lines.iter().map(|(line, _)| line + 1).max().unwrap_or(0)
    }

    /// Addresses that exceptions lead to.
    pub fn entries(&self, spot: &HandlersSpot) -> Vec<u32> {
        let copied = self.lines.iter().filter_map(|(_, handler)| self.reached.copied(spot.copy, *handler));
        copied.chain([spot.stub]).collect()
    }

    /// All that handlers execute, for the loader, of the relocated programs.
    ///
    /// # Errors
    /// [`PlaceError::Relocation`].
    pub fn load(&self, spot: &HandlersSpot, relocated: &[Vec<u8>]) -> Result<Loaded, PlaceError> {
        let HandlersSpot { direct, stub, copy } = *spot;
        // An exception without a vector is a fault, which cuts the owner off. Their state's own ones may come of what the occupant before has left.
        let mut vectors = vec![0; self.vectors() as usize];
        STATE_EXCEPTIONS.iter().for_each(|number| vectors[*number] = stub | 1);
        vectors[0] = direct.stack_top;
        for (line, handler) in &self.lines {
            // The handlers are among what is reached.
            vectors[(SYSTEM_VECTORS + line) as usize] = self.reached.copied(copy, *handler).unwrap_or(0) | 1;
        }
        let mut quiet = [stub | 1; SYSTEM_VECTORS as usize];
        quiet[0] = direct.stack_top;
        let mut bytes = vec![0; direct.text_bytes as usize];
        let mut put = |at: u32, from: &[u8]| {
            let at = (at - direct.text_base) as usize;
            bytes[at..at + from.len()].copy_from_slice(from);
        };
        let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        put(direct.vectors, &words(&vectors));
        put(direct.quiet, &words(&quiet));
        put(stub, &quiet::bytes());
        put(copy, &self.reached.copy(&relocated[self.owner], copy)?);
        Ok(Loaded::here(direct.text_base | direct.alias, bytes))
    }

    /// The pieces of the program that are placed for them.
    pub fn pieces(&self, spot: &HandlersSpot) -> impl Iterator<Item = Copied<'_>> {
        self.reached.pieces(spot.copy)
    }
}

/// Checks that the stack holds the deepest calls of a handler of each level, given by level and address, one above the other.
fn fits(reached: &Reached, domain: &Domain, handlers: &[(u32, u32)], there: u32) -> Result<(), PlaceError> {
    let given = domain.handlers.as_ref().map_or(0, |handlers| handlers.stack_bytes);
    let refuse = |way, needed| PlaceError::HandlerStack { domain: domain.name.clone(), way, needed, there, given };
    let mut most = BTreeMap::<u32, (u32, Vec<String>)>::new();
    for (level, address) in handlers {
        let found = reached.deepest(*address).map_err(|circle| refuse(circle, None))?;
        let known = most.entry(*level).or_default();
        if found.0 >= known.0 {
            *known = found;
        }
    }
    let needed = most.values().map(|(bytes, _)| bytes.saturating_add(stack::FRAME)).fold(0, u32::saturating_add);
    if needed > there {
        return Err(refuse(most.into_values().flat_map(|(_, way)| way).collect(), Some(needed)));
    }
    Ok(())
}

/// Cycles (upper half) in ticks (lower half), in lowest terms. More than fits is rounded: a cycle takes a little longer then.
fn ratio(cycles: u32, ticks: u32) -> u32 {
    let (mut common, mut rest) = (cycles.max(1), ticks);
    while rest != 0 {
        (common, rest) = (rest, common % rest);
    }
    let (mut cycles, mut ticks) = (cycles / common, ticks / common);
    while cycles > 0xffff {
        (cycles, ticks) = (cycles / 2, ticks.div_ceil(2));
    }
    cycles << 16 | ticks
}
