//! Bytes of stack that handlers need, by the instructions of everything that they execute. What is called through a register, and frames whose size is
//! only known when they are made, are not in it.

use std::collections::BTreeMap;

use super::pieces::Piece;
use crate::isa::flow::{self, Flow, Next};

/// What an interrupt above a handler takes of the same stack: eight words, and one that aligns them (DDI 0553, B3.18).
pub(super) const FRAME: u32 = 40;

/// What one function needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    /// Bytes that it takes itself at most.
    own: u32,
    /// Functions that it calls, by their addresses, and the most that it has taken then.
    calls: BTreeMap<u32, u32>,
}

/// The instructions of a function.
pub(super) struct Text<'a> {
    pub piece: &'a Piece,
    /// The half-word at an address.
    pub half: &'a dyn Fn(u32) -> u16,
    /// Where words in the code end that begin at an address, if some do.
    pub words_until: &'a dyn Fn(u32) -> Option<u32>,
}

impl Need {
    /// Follows the instructions from the first on. A table of branches is not read: what it leads to is entered with the most that was taken before.
    ///
    /// # Time complexity
    /// Each instruction is looked at again only if more is taken there than before, which happens no more often than the function has instructions.
    pub fn of(text: &Text) -> Need {
        let Piece { from, to, .. } = *text.piece;
        let (mut need, mut seen) = (Need::default(), BTreeMap::<u32, u32>::new());
        let mut todo = vec![(from, 0_u32)];
        // More looks than this are a loop that takes more stack each time.
        let mut looks = 16 * (to - from);
        while let Some((mut at, mut depth)) = todo.pop().or_else(|| skipped(text, &seen, need.own)) {
            while from <= at && at < to && looks > 0 && seen.get(&at).is_none_or(|before| *before < depth) {
                looks -= 1;
                if let Some(behind) = (text.words_until)(at) {
                    at = behind;
                    continue;
                }
                seen.insert(at, depth);
                let (first, second) = ((text.half)(at), (text.half)(at + 2));
                depth = depth.saturating_add_signed(flow::taken(first, second));
                need.own = need.own.max(depth);
                let next = at + if flow::is_wide(first) { 4 } else { 2 };
                if let Flow::Branch { target, .. } = flow::flow(first, second, at) {
                    if from <= target && target < to && !flow::is_call(first, second) {
                        todo.push((target, depth));
                    } else {
                        let most = need.calls.entry(target).or_default();
                        *most = depth.max(*most);
                    }
                }
                at = if flow::next(first, second) == Next::Behind { next } else { to };
            }
            if looks == 0 {
                return need;
            }
        }
        need
    }
}

/// The first instruction that nothing has led to: a table of branches may.
fn skipped(text: &Text, seen: &BTreeMap<u32, u32>, depth: u32) -> Option<(u32, u32)> {
    let mut at = text.piece.from;
    while at < text.piece.to {
        if let Some(behind) = (text.words_until)(at) {
            at = behind;
        } else if seen.contains_key(&at) {
            at += if flow::is_wide((text.half)(at)) { 4 } else { 2 };
        } else {
            return Some((at, depth));
        }
    }
    None
}

/// The deepest calls from a function: what they need, and the names with the bytes of each; of a circle, the names alone.
pub(super) type Deepest = Result<(u32, Vec<String>), Vec<String>>;

/// Functions by where they begin.
pub(super) struct Calls<'a> {
    pub pieces: Vec<(&'a Piece, Need)>,
    /// A function as it is told.
    pub named: &'a dyn Fn(&Piece) -> String,
}

impl Calls<'_> {
    /// The deepest calls from the function that holds an address.
    ///
    /// # Time complexity
    /// O(functions · calls): each function is asked once.
    pub fn deepest(&self, address: u32) -> Deepest {
        let mut known = vec![None; self.pieces.len()];
        self.holding(address).map_or(Ok((0, Vec::new())), |index| self.from(index, &mut known, &mut Vec::new()))
    }

    fn holding(&self, address: u32) -> Option<usize> {
        self.pieces.iter().position(|(piece, _)| piece.from <= address && address < piece.to)
    }

    fn from(&self, index: usize, known: &mut Vec<Option<(u32, Vec<String>)>>, within: &mut Vec<usize>) -> Deepest {
        if let Some(found) = &known[index] {
            return Ok(found.clone());
        }
        let name = |index: usize| (self.named)(self.pieces[index].0);
        within.push(index);
        let need = &self.pieces[index].1;
        let told = |bytes: u32| format!("{} ({bytes} B)", name(index));
        let mut most = (need.own, vec![told(need.own)]);
        for (target, taken) in &need.calls {
            let Some(called) = self.holding(*target & !1) else { continue };
            if within.contains(&called) {
                return Err(within.iter().chain([&called]).map(|index| name(*index)).collect());
            }
            let (more, way) = self.from(called, known, within)?;
            if taken + more > most.0 {
                most = (taken + more, [told(*taken)].into_iter().chain(way).collect());
            }
        }
        within.pop();
        known[index] = Some(most.clone());
        Ok(most)
    }
}
