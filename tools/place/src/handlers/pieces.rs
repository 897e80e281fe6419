//! A program in pieces: functions, objects, and constants between them that have no name.

use crate::elf::{Program, Section};

/// A part between two addresses that is needed as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// First address, and the one behind the last.
    pub from: u32,
    pub to: u32,
    /// Its symbol; for code or data without one, its section and address.
    pub name: String,
    pub is_code: bool,
    /// It can be written: data, which is placed once.
    pub is_data: bool,
}

/// All pieces that have a name, and where sections begin and end.
pub(super) struct Pieces<'a> {
    sections: Vec<&'a Section>,
    /// In ascending order; of those that overlap, the largest is found first.
    named: Vec<Piece>,
}

impl<'a> Pieces<'a> {
    /// Those of a program.
    pub fn of(program: &'a Program) -> Pieces<'a> {
        let mut named = Vec::new();
        for symbol in program.symbols.iter().filter(|symbol| symbol.named && symbol.bytes > 0) {
            let Some(section) = symbol.section.and_then(|index| program.sections.get(index)) else { continue };
            if section.is_loaded() {
                let from = if section.executable { symbol.value & !1 } else { symbol.value };
                let to = from.saturating_add(symbol.bytes);
                let (is_code, is_data) = (section.executable, section.writable);
                named.push(Piece { from, to, name: symbol.name.clone(), is_code, is_data });
            }
        }
        named.sort_by(|one, other| (one.from, other.to, &one.name).cmp(&(other.from, one.to, &other.name)));
        Pieces { sections: program.sections.iter().filter(|section| section.is_loaded()).collect(), named }
    }

    /// The piece that an address is in; `None` outside of the program, and for code of which no symbol says how long it is.
    ///
    /// # Time complexity
    /// Linear in the number of symbols.
    pub fn at(&self, address: u32) -> Option<Piece> {
        let inside = |from: u32, to: u32| from <= address && address < to;
        if let Some(found) =
            self.named.iter().filter(|piece| inside(piece.from, piece.to)).max_by_key(|p| p.to - p.from)
        {
            return Some(found.clone());
        }
        let section = self
            .sections
            .iter()
            .find(|section| u64::from(address).wrapping_sub(section.range().0) < section.bytes.into())?;
        if section.executable {
            return None;
        }
        let (start, end) = section.range();
        let within = |at: u32| start <= at.into() && u64::from(at) <= end;
        let before = self.named.iter().filter(|piece| piece.to <= address && within(piece.to)).map(|piece| piece.to);
        let behind =
            self.named.iter().filter(|piece| piece.from > address && within(piece.from)).map(|piece| piece.from);
        let name = format!("{} at {address:#010x}", section.name);
        let (from, to) = (before.max().unwrap_or(start as u32), behind.min().unwrap_or(end as u32));
        Some(Piece { from, to, name, is_code: false, is_data: section.writable })
    }
}
