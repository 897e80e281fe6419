//! Rules that a board's file must keep beyond its schema.

use super::Chip;
use crate::rows::SPEED;

impl Chip {
    /// Refuses a file that contradicts itself or the board.
    pub(super) fn check(&self) -> Result<(), String> {
        let prefix = self.prefix();
        let is_plain = prefix.starts_with(|c: char| c.is_ascii_lowercase())
            && prefix.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        if !is_plain || prefix == SPEED {
            return Err(format!(
                "`{prefix}` cannot begin ids: it takes small letters and digits, and is not `{}`",
                SPEED
            ));
        }
        if self.systems().micro.is_none() && !self.micro().is_empty() {
            return Err("pieces of code are listed, and `systems.micro` names no system of them".to_owned());
        }
        self.figures().check(self.has_tables())?;
        self.check_peers()?;
        self.check_targets()?;
        self.check_ids()
    }

    /// Every peer that an operation names is there.
    fn check_peers(&self) -> Result<(), String> {
        let named = self.file.operation.iter().flat_map(|operation| &operation.peers);
        let unknown = named.into_iter().find(|name| !self.peers().iter().any(|peer| peer.suffix == **name));
        unknown.map_or(Ok(()), |name| Err(format!("an operation belongs to `{name}`, which is no peer")))
    }

    /// Every bound that a target names is one of the board's.
    fn check_targets(&self) -> Result<(), String> {
        let limits = self.file.operation.iter().filter_map(|operation| operation.target.as_ref());
        let mut bounds = limits.chain(&self.file.masked_target).filter_map(|limit| limit.cycles);
        match bounds.any(|bound| bound.on(&self.board).is_none()) {
            true => Err("a target names a bound that the board's `protection` does not have".to_owned()),
            false => Ok(()),
        }
    }

    /// No two rows have the same id.
    fn check_ids(&self) -> Result<(), String> {
        let mut ids = self.ids();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
        twice.map_or(Ok(()), |pair| Err(format!("two rows have the id `{}`", pair[0])))
    }
}
