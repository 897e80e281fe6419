//! The link `.cofferdam` to the checkout, by which Rust projects name its packages: no file of a project holds a path of one machine.

use std::path::Path;

use manifest::Diagnostic;

use crate::files::unwritable;
use crate::install::Install;

/// Name of the link, in a project's directory.
pub const NAME: &str = ".cofferdam";

impl Install {
    /// Makes the link in a directory, or leads it to this checkout. A file or directory of that name stays.
    ///
    /// # Errors
    /// CF0604 when the directory cannot be written.
    pub fn link_into(&self, directory: &Path) -> Result<(), Diagnostic> {
        let link = directory.join(NAME);
        match std::fs::read_link(&link) {
            Ok(there) if there == self.root => return Ok(()),
            Err(_) if link.exists() => return Ok(()),
            _ => {}
        }
        // Somebody else may make it at the same time: one of two equal links stays.
        let aside = directory.join(format!("{NAME}.{}", std::process::id()));
        let made = std::os::unix::fs::symlink(&self.root, &aside).and_then(|()| std::fs::rename(&aside, &link));
        made.map_err(|error| unwritable(&link, &error))
    }

    /// Makes the link that a package's file names, in the package's directory or the one above.
    pub(crate) fn link_for(&self, package: &Path) -> Result<(), Diagnostic> {
        let text = std::fs::read_to_string(package.join("Cargo.toml")).unwrap_or_default();
        let above = package.join("..");
        for (named, directory) in [(format!("\"{NAME}/"), package), (format!("\"../{NAME}/"), &above)] {
            if text.contains(&named) {
                self.link_into(directory)?;
            }
        }
        Ok(())
    }
}
