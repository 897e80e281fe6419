//! How the checks of accesses are kept: in slots of their own, or by tables in a place; what each of these promises; and what it takes to
//! change the tables.

use report::describe::{Degree, Effort, Independence, Keeping, Promise};
use spec::{Bound, Platform, TablePlace};

use crate::ledger::Book;

/// Code of what has region registers, or locked entries of the TLB. All others are names of places for tables.
pub const PINNED: &str = "pinned";

fn promised(kept: &str, bound: Bound) -> Promise {
    let (level, method) = (bound.level.text().into(), bound.method.text().into());
    Promise { kept: kept.into(), level, cycles: bound.cycles, method }
}

/// The code of a way: whether pinned, and where tables lie otherwise.
pub(crate) fn code(way: (bool, TablePlace)) -> &'static str {
    if way.0 { PINNED } else { way.1.name() }
}

/// Ways of a platform, strongest first: whether pinned, and where tables lie otherwise.
fn ways(platform: &Platform) -> impl Iterator<Item = (bool, TablePlace)> {
    let tables = platform.scheme().table_places;
    std::iter::once((true, tables[0])).chain(tables.iter().map(|place| (false, *place)))
}

/// All ways of a platform.
pub(crate) fn keeping(platform: &Platform) -> Vec<Keeping> {
    let view = |way: (bool, TablePlace)| {
        let bound = if way.0 { Some(platform.pinned()) } else { platform.bound_of(way.1) };
        let phrase = platform.wording().kept(way.0, way.1);
        let spec::Independence { kept, not_kept } = platform.independence(way.0, way.1);
        let degree = match (not_kept, bound) {
            (None, _) => Degree::Full,
            (Some(_), Some(_)) => Degree::InPart,
            (Some(_), None) => Degree::None,
        };
        Keeping {
            kept: code(way).into(),
            text: phrase.text.into(),
            short: phrase.short.into(),
            promise: bound.map(|bound| promised(code(way), bound)),
            independence: Independence { degree, kept: kept.into(), not_kept: not_kept.unwrap_or_default().into() },
        }
    };
    ways(platform).map(view).collect()
}

/// Promise of each way to a domain, for which its own first-level table counts, too.
pub(crate) fn promises(book: &Book, platform: &Platform, domain: u8) -> Vec<Promise> {
    let promise = |way: (bool, TablePlace)| Some(promised(code(way), book.promised(domain, way.0, way.1)?));
    ways(platform).filter_map(promise).collect()
}

/// Effort of changing tables, where hardware reads them.
pub(crate) fn effort(platform: &Platform) -> Option<Effort> {
    let spec::Work { method, map, release } = platform.work()?;
    let method = method.text().into();
    Some(Effort { map: (map.base, map.each), release: (release.base, release.each), method })
}
