//! Addresses of the labels between which an operation is measured.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};

use crate::Error;

/// The symbols of one image or of several that are loaded together.
#[derive(Debug, Default)]
pub struct Symbols {
    addresses: HashMap<String, u32>,
    files: Vec<PathBuf>,
}

impl Symbols {
    /// Adds the symbols of an ELF file; of two with one name the first stays.
    ///
    /// # Errors
    /// [`Error::File`] when the file cannot be read or is no object file.
    pub fn add(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
        let file = object::File::parse(&*bytes).map_err(|error| Error::file(path, &error))?;
        for symbol in file.symbols().filter(|symbol| !symbol.is_undefined()) {
            if let (Ok(name), Ok(address)) = (symbol.name(), u32::try_from(symbol.address())) {
                self.addresses.entry(name.to_owned()).or_insert(address);
            }
        }
        self.files.push(path.to_owned());
        Ok(())
    }

    /// Address of data, or of a label.
    ///
    /// # Errors
    /// [`Error::Symbol`] when no file has it.
    pub fn address(&self, name: &str) -> Result<u32, Error> {
        self.addresses
            .get(name)
            .copied()
            .ok_or_else(|| Error::Symbol { name: name.to_owned(), files: self.files.clone() })
    }

    /// Address of the first instruction of the only function whose name contains `part`.
    ///
    /// # Errors
    /// [`Error::Symbol`] when no file has it, or there are several.
    pub fn containing(&self, part: &str) -> Result<u32, Error> {
        let mut found = self.addresses.iter().filter(|(name, _)| name.contains(part));
        match (found.next(), found.next()) {
            (Some((_, address)), None) => Ok(address & !1),
            _ => Err(Error::Symbol { name: part.to_owned(), files: self.files.clone() }),
        }
    }

    /// Address of the instruction at a label or of a function's first; the Thumb bit is cleared.
    ///
    /// # Errors
    /// As [`Symbols::address`].
    pub fn code(&self, name: &str) -> Result<u32, Error> {
        self.address(name).map(|address| address & !1)
    }
}
