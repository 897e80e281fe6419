//! Warns of programs whose calls would fail in silence: what their symbols use, and their domains do not have.

use manifest::{Diagnostic, Domain, Refusal};
use place::{Layout, Placed};

use crate::load::Loaded;

/// The function of the run-time that writes to the console, by the names under which libraries of C call it; the linker drops it from a program
/// that never prints.
const PRINTS: &[&str] = &["_write", "write"];
/// Functions that only a program itself calls: the C library has others for its buffers.
const ALLOCATES: &[&str] = &["malloc", "calloc", "memalign", "aligned_alloc", "posix_memalign"];

/// A program that prints without a console (CF0520), or allocates without a heap (CF0521).
pub fn silent(loaded: &Loaded, placed: &Placed) -> Vec<Diagnostic> {
    let domains = loaded.document.manifest.domain.iter().enumerate();
    let programs = domains.filter(|(_, (_, domain))| domain.package.is_none() && !domain.hostile);
    let found = programs.flat_map(|(index, (name, domain))| of(&placed.layout, index, name, domain));
    found.map(|refusal| loaded.document.locate(refusal).as_warning()).collect()
}

fn of(layout: &Layout, index: usize, name: &str, domain: &Domain) -> Vec<Refusal> {
    let has = |wanted: &[&str]| {
        let own = layout.symbols.iter().filter(|symbol| symbol.domain.map(usize::from) == Some(index));
        own.map(|symbol| symbol.name.as_str()).find(|name| wanted.contains(name)).map(str::to_owned)
    };
    let console = domain.uses.get("console").is_some_and(|used| used.gate.is_some());
    let arena = domain.heap.is_some() || domain.envelope.iter().any(|envelope| envelope.default);
    let place = format!("domain.{name}");
    let mut found = Vec::new();
    if let Some(symbol) = has(PRINTS).filter(|_| !console) {
        found.push(
            Refusal::at("CF0520", &place, format!("`{name}` prints, or can, and has no console"))
                .value(format!("the program has `{symbol}`, which printf, puts, assert and perror call"))
                .rule("text reaches the terminal through a gate that the domain uses under the name `console`; without, write fails with EIO")
                .remedy(format!("write console = {{ gate = \"console.write\" }} under [domain.{name}.uses], or remove the calls")),
        );
    }
    if let Some(symbol) = has(ALLOCATES).filter(|_| !arena) {
        found.push(
            Refusal::at("CF0521", &place, format!("`{name}` allocates, or can, and has no heap"))
                .value(format!("the program has `{symbol}`"))
                .rule("malloc takes from the domain's heap, or from an envelope with `default = true`; without, it returns a null pointer")
                .remedy(format!("give [domain.{name}] a heap, as heap = {{ memory = \"sdram\", size = \"1 MiB\", page = \"64 KiB\" }}")),
        );
    }
    found
}
