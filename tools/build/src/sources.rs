//! What a file is to the compiler of C and C++, by its name.

use std::path::Path;

/// Whether a file is a source in C or C++, by its name.
pub fn is_source(path: &Path) -> bool {
    is_cpp(path) || path.extension().is_some_and(|e| e == "c")
}

/// Whether a source is in C++, by its extension as the compiler has it.
pub(crate) fn is_cpp(source: &Path) -> bool {
    source.extension().is_some_and(|e| ["cc", "cp", "cpp", "cxx", "c++", "C", "CPP"].iter().any(|known| e == *known))
}

/// Whether the compiler makes an object of a file, by its name: a source in C, C++, assembler, or one that the preprocessor has read.
pub(crate) fn can_be_compiled(path: &Path) -> bool {
    is_source(path) || path.extension().is_some_and(|e| ["S", "s", "sx", "i", "ii"].iter().any(|known| e == *known))
}
