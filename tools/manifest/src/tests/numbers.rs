//! Every number that a manifest can hold, with the values at which programs go wrong: it is kept as it is, or refused at its place. The places come from
//! the schema, so that a number that is added later is tried, too.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::Value;

use crate::*;

/// A number in a document: the keys that lead there, `0` for the first of a list.
type Place = Vec<String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Count,
    Size,
    Time,
    Address,
}

struct Base {
    text: &'static str,
    board: Board,
}

/// Systems that hold, together, every number of the schema.
fn bases() -> Vec<Base> {
    let chip = |cpu_hz| Chip { cpu_hz, ..Chip::default() };
    let of = |board: &str, core: &str, cpu_hz| {
        let mut file = BoardFile::parse(board, "board.toml".into()).unwrap();
        file.memory.values_mut().for_each(|memory| memory.usable = memory.usable.max(memory.bytes));
        file.supported(Core::parse(core).unwrap(), |_| chip(cpu_hz), Setup::default()).unwrap()
    };
    let m7 = || {
        of(
            include_str!("../../../../boards/mps2-an500/board.toml"),
            include_str!("../../../../cores/cortex-m7.toml"),
            216_000_000,
        )
    };
    let m33 = of(
        include_str!("../../../../boards/mps2-an505/board.toml"),
        include_str!("../../../../cores/cortex-m33.toml"),
        150_000_000,
    );
    vec![
        Base { text: include_str!("numbers/plain.toml"), board: m7() },
        Base { text: include_str!("numbers/memory.toml"), board: m7() },
        Base { text: include_str!("numbers/handlers.toml"), board: m33 },
    ]
}

/// The numbers of the schema: their places, with `*` for a name and `0` for an item.
fn of_schema() -> Vec<(Place, Kind)> {
    let schema: Value = serde_json::from_str(&json_schema().to_string()).unwrap();
    let mut found = Vec::new();
    walk(&schema, &schema, &mut Vec::new(), &mut found);
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found.dedup();
    found
}

fn walk(schema: &Value, node: &Value, place: &mut Place, found: &mut Vec<(Place, Kind)>) {
    let kind = match node["$ref"].as_str() {
        Some("#/$defs/Size") => Some(Kind::Size),
        Some("#/$defs/Time") => Some(Kind::Time),
        Some("#/$defs/Address") => Some(Kind::Address),
        _ => (node["type"] == "integer" || node["type"].as_array().is_some_and(|all| all.contains(&"integer".into())))
            .then_some(Kind::Count),
    };
    if let Some(kind) = kind {
        return found.push((place.clone(), kind));
    }
    if let Some(name) = node["$ref"].as_str() {
        return walk(schema, schema.pointer(&name[1..]).unwrap(), place, found);
    }
    for choice in ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| node[*key].as_array()).flatten() {
        walk(schema, choice, place, found);
    }
    let named = node["properties"].as_object().into_iter().flatten().map(|(key, below)| (key.as_str(), below));
    let others = [("*", &node["additionalProperties"]), ("0", &node["items"])];
    for (key, below) in named.chain(others.into_iter().filter(|(_, below)| below.is_object())) {
        place.push(key.to_owned());
        walk(schema, below, place, found);
        place.pop();
    }
}

/// Sets a number in a document; `None` when the document has not what it belongs to. A name is that of the first that has the rest.
fn set(document: &mut toml::Value, place: &[String], value: &toml::Value) -> Option<Place> {
    let [key, rest @ ..] = place else { return None };
    let list = document.is_array();
    if rest.is_empty() && key != "*" && !list {
        let changed = document.as_table_mut()?.insert(key.clone(), value.clone());
        return changed.map(|_| vec![key.clone()]);
    }
    let keys: Vec<String> = match document {
        toml::Value::Table(table) if key == "*" => table.keys().cloned().collect(),
        _ => vec![key.clone()],
    };
    for key in keys {
        let below = match &mut *document {
            toml::Value::Array(all) => all.first_mut(),
            other => other.get_mut(&key),
        };
        let Some(below) = below else { continue };
        let found = if rest.is_empty() {
            *below = value.clone();
            Some(Vec::new())
        } else {
            set(below, rest, value)
        };
        if let Some(mut found) = found {
            found.insert(0, key);
            return Some(found);
        }
    }
    None
}

/// Values of a kind, each with the number that it stands for: what TOML can hold, and what it cannot.
fn values(kind: Kind) -> Vec<(i128, toml::Value)> {
    let near = |limit: i128| [limit - 1, limit, limit + 1];
    let limits =
        [0, 2, 3, 4, 8, 16, 31, 32, 64, 255, 256, 512, 4096, 65535, 65536, 1 << 20, 3 << 20, 1 << 24, 16_000_000];
    let wide = [1 << 31, 1 << 32, (1 << 32) + 8, (1 << 32) + 4096, 1 << 33, 1 << 63, 1 << 64, 1 << 65];
    let numbers: BTreeSet<i128> = limits.into_iter().chain(wide).flat_map(near).collect();
    let text = |number: i128, text: String| (number, toml::Value::String(text));
    let plain = |number: i128| i64::try_from(number).ok().map(|short| (number, toml::Value::Integer(short)));
    let times = [(1, "ns"), (1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s")];
    match kind {
        Kind::Count => numbers.into_iter().filter_map(plain).collect(),
        Kind::Address => {
            numbers.into_iter().map(|n| text(n, format!("{}0x{:x}", if n < 0 { "-" } else { "" }, n.abs()))).collect()
        }
        Kind::Size => {
            let units = [(1, "B"), (1024, "KiB"), (1 << 20, "MiB")];
            let all = units
                .iter()
                .flat_map(|(factor, unit)| numbers.iter().map(move |n| (n * factor, format!("{n} {unit}"))));
            all.map(|(number, written)| text(number, written)).collect()
        }
        Kind::Time => {
            let all = times
                .iter()
                .flat_map(|(factor, unit)| numbers.iter().map(move |n| (n * factor, format!("{n} {unit}"))));
            all.map(|(number, written)| text(number, written)).collect()
        }
    }
}

/// Numbers that are none: a fraction, a number without its unit, and one with another.
fn nonsense(kind: Kind) -> Vec<toml::Value> {
    let texts = ["1.5", "1.5 KiB", "1.5 ms", "", "-1", "1", "0x", "1e3 us", "1 GiB", "1 h", "KiB"];
    let numbers =
        [toml::Value::Float(0.5), toml::Value::Float(f64::NAN), toml::Value::Float(1e300), toml::Value::Boolean(true)];
    let plain = (kind != Kind::Count).then_some(toml::Value::Integer(4096));
    texts.iter().map(|text| toml::Value::String((*text).into())).chain(numbers).chain(plain).collect()
}

/// What became of a document: what the system is, or the refusals.
fn outcome(base: &Base, text: &str) -> Result<String, Vec<Refusal>> {
    let document =
        Document::parse(Path::new("system.toml"), text).map_err(|refused| vec![refused.refusal().clone()])?;
    let mut document = document;
    fit_console(&mut document.manifest, None);
    let system = check(&document.manifest, &base.board, true)?;
    analyse(&system, &base.board)?;
    Ok(format!("{system:?}"))
}

/// Whether a refusal is about the number: its place is in the same part of the manifest, the text cannot be read at all, which shows its line, or it is
/// about a sum or an overlap, which names another of its terms.
fn is_about(refusal: &Refusal, place: &Place) -> bool {
    const OF_SEVERAL: [&str; 6] = ["CF0302", "CF0401", "CF0402", "CF0404", "CF0408", "CF0409"];
    refusal.place.contains(&place[0])
        || refusal.code == "CF0104"
        || !refusal.place.is_empty() && OF_SEVERAL.contains(&refusal.code)
}

#[test]
fn every_number_is_kept_or_refused() {
    let (bases, mut wrong, mut tried) = (bases(), Vec::new(), 0);
    for base in &bases {
        let found = outcome(base, base.text);
        assert!(found.is_ok(), "{}\n{found:?}", base.text);
    }
    for (place, kind) in of_schema() {
        let mut covered = false;
        for base in &bases {
            let document: toml::Value = toml::from_str(base.text).unwrap();
            let mut kept: Vec<(i128, String)> = Vec::new();
            let nonsense = nonsense(kind).into_iter().map(|value| (None, value));
            for (number, value) in values(kind).into_iter().map(|(number, value)| (Some(number), value)).chain(nonsense)
            {
                let mut changed = document.clone();
                let Some(at) = set(&mut changed, &place, &value) else { continue };
                (covered, tried) = (true, tried + 1);
                let text = toml::to_string(&changed).unwrap();
                let Ok(found) = catch_unwind(AssertUnwindSafe(|| outcome(base, &text))) else {
                    wrong.push(format!("{} = {value}: it panics", at.join(".")));
                    continue;
                };
                match (found, number) {
                    (Ok(system), Some(number)) => kept.push((number, system)),
                    (Ok(_), None) => wrong.push(format!("{} = {value}: it is taken", at.join("."))),
                    (Err(refused), _) if refused.iter().any(|refusal| is_about(refusal, &at)) => {}
                    (Err(refused), _) => wrong.push(format!("{} = {value}: {refused:?}", at.join("."))),
                }
            }
            wrong.extend(lost(&place, kind, &mut kept));
        }
        assert!(covered, "no base of the test holds {}", place.join("."));
    }
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Values that were taken and that the system does not tell apart: one of them is not kept.
fn lost(place: &Place, kind: Kind, kept: &mut [(i128, String)]) -> Vec<String> {
    kept.sort();
    // Sizes are rounded up to what the hardware can express.
    let apart = |one: i128, other: i128| if kind == Kind::Size { other - one >= 4096 } else { other != one };
    let same = |pair: &[(i128, String)]| apart(pair[0].0, pair[1].0) && pair[0].1 == pair[1].1;
    let pairs = kept.windows(2).filter(|pair| same(pair));
    pairs.map(|pair| format!("{}: {} and {} are one", place.join("."), pair[0].0, pair[1].0)).collect()
}
