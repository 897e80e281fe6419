//! Addresses of the labels between which an operation is measured.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use object::{Object, ObjectSymbol};
use record::ProbeWatch;

use crate::Error;

/// An address, and the domain in whose address space it is.
#[derive(Clone, Copy, Debug)]
struct Place {
    address: u32,
    domain: Option<u8>,
}

/// The symbols of one image or of several that are loaded together.
#[derive(Debug, Default)]
pub struct Symbols {
    addresses: HashMap<String, Place>,
    files: Vec<PathBuf>,
}

impl Symbols {
    /// Adds the symbols of an ELF file; of two with one name the first stays.
    ///
    /// # Errors
    /// [`Error::File`] when the file cannot be read or is no object file.
    pub fn add(&mut self, path: &Path) -> Result<(), Error> {
        self.add_of(path, None)
    }

    /// Adds the symbols of all domains, whose files stand in the order of their numbers.
    ///
    /// # Errors
    /// As [`Symbols::add`].
    pub fn add_domains(&mut self, files: &[PathBuf]) -> Result<(), Error> {
        (0..).zip(files).try_for_each(|(domain, file)| self.add_of(file, Some(domain)))
    }

    fn add_of(&mut self, path: &Path, domain: Option<u8>) -> Result<(), Error> {
        let bytes = std::fs::read(path).map_err(|error| Error::file(path, &error))?;
        let file = object::File::parse(&*bytes).map_err(|error| Error::file(path, &error))?;
        for symbol in file.symbols().filter(|symbol| !symbol.is_undefined()) {
            if let (Ok(name), Ok(address)) = (symbol.name(), u32::try_from(symbol.address())) {
                self.addresses.entry(name.to_owned()).or_insert(Place { address, domain });
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
        self.place(name).map(|place| place.address)
    }

    fn place(&self, name: &str) -> Result<Place, Error> {
        let place = self.addresses.get(name).copied();
        place.ok_or_else(|| Error::Symbol { name: name.to_owned(), files: self.files.clone() })
    }

    /// A stretch between two labels. Those of domains count in their domains alone, because other domains have other code at the same addresses where each
    /// has addresses of its own.
    ///
    /// # Errors
    /// As [`Symbols::address`].
    pub fn probe(&self, name: &str, start: &str, end: &str) -> Result<ProbeWatch, Error> {
        let (start, end) = (self.place(start)?, self.place(end)?);
        let [(start, start_domain), (end, end_domain)] = [start, end].map(|place| (place.address & !1, place.domain));
        Ok(ProbeWatch { name: name.to_owned(), start, end, start_domain, end_domain })
    }

    /// Address of the first instruction of the only function whose name contains `part`.
    ///
    /// # Errors
    /// [`Error::Symbol`] when no file has it, or there are several.
    pub fn containing(&self, part: &str) -> Result<u32, Error> {
        let mut found = self.addresses.iter().filter(|(name, _)| name.contains(part));
        match (found.next(), found.next()) {
            (Some((_, place)), None) => Ok(place.address & !1),
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
