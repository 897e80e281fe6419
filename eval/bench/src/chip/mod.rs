//! The boards on which Cofferdam is measured: those with a file `boards/NAME/bench.toml`. A row's id begins with its board's prefix.

mod check;
mod file;
mod plan;

#[cfg(test)]
pub(crate) mod tests;

use std::path::PathBuf;

use board_facts::BoardText;
use build_tool::Install;
use manifest::{Board, Diagnostic, Span};
pub use manifest::{Exceptions, Handler};
use runner::Simulator;

use file::BenchFile;
pub use file::{Micro, Systems};
pub use plan::Geometry;
pub(crate) use plan::{
    Database, Interference, LockedWays, PagedApp, Places, Plan, Synthetic, TIMES, TableApp, TimedApp, Way,
};

use crate::error::Error;
use crate::operations::{MASKED, Operation};
use crate::peers::Peer;
use crate::rows::{Target, kinds};

/// A board, and its rows under its own profile.
#[derive(Clone, Debug)]
pub struct Chip {
    /// The board.
    pub board: Board,
    file: BenchFile,
}

/// Every board that is measured, in the order of the boards' names, which is that of the table.
///
/// # Errors
/// [`Error::Data`] with CF0605 for a file that cannot be read, does not follow its schema, contradicts itself, or has another board's prefix; the
/// refusals of [`Install::board`] otherwise.
pub fn all(install: &Install) -> Result<Vec<Chip>, Error> {
    let measured = install.boards().into_iter().filter(|name| path(install, name).is_file());
    let chips = measured.map(|name| Chip::read(install, &name)).collect::<Result<Vec<Chip>, Error>>()?;
    for (index, chip) in chips.iter().enumerate() {
        if let Some(other) = chips[..index].iter().find(|other| other.prefix() == chip.prefix()) {
            let why = format!("its prefix `{}` is that of `{}`", chip.prefix(), other.board.name);
            return Err(damaged(&chip.board.name, &why).into());
        }
    }
    Ok(chips)
}

/// A board by its name.
///
/// # Errors
/// [`Error::Data`]: CF0202 when nothing is measured on it, and as for [`all`].
pub fn find(install: &Install, board: &str) -> Result<Chip, Error> {
    let chips = all(install)?;
    let names: Vec<&str> = chips.iter().map(|chip| chip.board.name.as_str()).collect();
    let unknown = Diagnostic::new("CF0202", format!("nothing is measured on the board `{board}`"))
        .limit(format!("known: {}", names.join(", ")))
        .rule("a board on which something is measured has a file boards/NAME/bench.toml")
        .remedy("choose one of the known boards, or write the file as docs/bench.md says");
    chips.into_iter().find(|chip| chip.board.name == board).ok_or_else(|| unknown.into())
}

fn path(install: &Install, board: &str) -> PathBuf {
    install.root.join("boards").join(board).join("bench.toml")
}

/// The refusal of a board's file, which belongs to the installation.
fn damaged(board: &str, why: &str) -> Diagnostic {
    Diagnostic::new("CF0605", format!("boards/{board}/bench.toml is wrong: {why}"))
        .rule("boards/NAME/bench.toml follows the schema of docs/bench.md")
        .remedy("correct the file")
}

/// A row of the longest activation of a handler in the benchmark system.
#[derive(Clone, Debug)]
pub struct MaskedRow {
    /// End of the id.
    pub id: &'static str,
    /// Its meaning, in a few words.
    pub about: &'static str,
    /// First and last number of the exceptions that count.
    pub served: Span,
}

impl Chip {
    fn read(install: &Install, board: &str) -> Result<Chip, Error> {
        let file = BoardText::read(&path(install, board)).map_err(|why| damaged(board, &why.to_string()))?;
        Ok(Chip::new(install.board(board)?, &file.text)?)
    }

    /// A board with the text of its `bench.toml`.
    ///
    /// # Errors
    /// CF0605 when the text does not follow the schema, or contradicts itself or the board.
    pub fn new(board: Board, text: &str) -> Result<Chip, Diagnostic> {
        let name = board.name.clone();
        let file = toml::from_str(text).map_err(|error| damaged(&name, error.message()))?;
        let chip = Chip { board, file };
        chip.check().map_err(|why| damaged(&name, &why))?;
        Ok(chip)
    }

    /// Beginning of the ids of its rows, up to the first dot.
    pub fn prefix(&self) -> &str {
        &self.file.prefix
    }

    /// Beginning of the ids of its rows of one kind.
    pub fn rows(&self, kind: &str) -> String {
        format!("{}.{kind}.", self.prefix())
    }

    /// Whether accesses are checked by page tables.
    pub fn has_tables(&self) -> bool {
        self.board.protection.facts().walked
    }

    /// Whether cycles are those of a hardware description that is simulated; otherwise a timing model's.
    pub fn is_exact(&self) -> bool {
        self.board.model.is_some()
    }

    /// The simulator of the board.
    ///
    /// # Errors
    /// [`Error::Run`]: there is none of this name, or it is not installed.
    pub fn simulator(&self) -> Result<Box<dyn Simulator>, Error> {
        runner::find(&self.board.simulator).map_err(|error| Error::Run(error.to_string()))
    }

    /// Whether domains can have tightly coupled memory.
    pub fn has_tcm(&self) -> bool {
        self.board.memory.values().any(|memory| memory.class == Some(spec::MemoryClass::Tcm))
    }

    /// The systems that are run on it.
    pub fn systems(&self) -> &Systems {
        &self.file.systems
    }

    /// Numbers of its exceptions.
    pub fn exceptions(&self) -> &Exceptions {
        &self.board.core.exceptions
    }

    /// Label of the first instruction of the timer's handler.
    pub fn timer_entry(&self) -> &str {
        &self.exceptions().timer_entry
    }

    /// The systems that Cofferdam is compared with, in the order of the table.
    pub fn peers(&self) -> &[Peer] {
        &self.file.peer
    }

    /// The operations of Cofferdam, or of a peer, in the order of the table.
    pub fn operations(&self, of: Option<&Peer>) -> Vec<Operation> {
        let mut operations: Vec<Operation> =
            self.file.operation.iter().filter(|operation| operation.is_of(of)).cloned().collect();
        for operation in &mut operations {
            let published = of.and_then(|peer| peer.paper.clone());
            operation.paper = operation.paper.take().or(published);
        }
        operations
    }

    /// Short pieces of code with public figures.
    pub(crate) fn micro(&self) -> &[Micro] {
        &self.file.micro
    }

    /// The experiments that are repeated on it.
    pub(crate) fn figures(&self) -> &Plan {
        &self.file.figures
    }

    /// Targets by the ids of their rows.
    pub fn targets(&self) -> Vec<(String, Target)> {
        self.file.targets(&self.board)
    }

    /// The rows of the longest activations in the benchmark system.
    pub fn masked_rows(&self) -> Vec<MaskedRow> {
        let row = |id, about, served| MaskedRow { id, about, served };
        let Exceptions { call, miss, timer, interrupts, .. } = *self.exceptions();
        let miss = miss.map(|miss| row("masked.miss", "longest handling of a memory-protection fault", [miss; 2]));
        let others = [
            row("masked.call", "longest handling of a system call", [call; 2]),
            row("masked.timer", "longest handling of the timer's interrupt", [timer; 2]),
            row("masked.interrupt", "longest handling of another interrupt", interrupts),
        ];
        miss.into_iter().chain(others).collect()
    }

    /// Ids of all rows that the file lists.
    pub(crate) fn ids(&self) -> Vec<String> {
        let peers = self.peers().iter().map(Some);
        let of_subjects = core::iter::once(None).chain(peers).flat_map(|of| self.subject_ids(of));
        let micro = self.micro().iter().map(|micro| self.rows(kinds::MICRO) + &micro.name);
        of_subjects.chain(micro).collect()
    }

    /// Ids of the rows of Cofferdam, or of a peer, in the benchmark.
    pub(crate) fn subject_ids(&self, of: Option<&Peer>) -> Vec<String> {
        let operations = self.operations(of).into_iter().map(|operation| operation.id);
        let handlers = self.masked_rows().into_iter().filter(|_| of.is_none()).map(|row| row.id.to_owned());
        let all = operations.chain([MASKED.0.to_owned()]).chain(handlers);
        let suffix = of.map_or_else(String::new, |peer| format!(".{}", peer.suffix));
        all.map(|id| format!("{}.{id}{suffix}", self.prefix())).collect()
    }
}
