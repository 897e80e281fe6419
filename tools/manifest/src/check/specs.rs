//! Temporal specifications and envelopes: words that mean something, and figures that can be true together.

use abi::info::FURTHER_ENVELOPES;
use spec::{AccessLevel, EnvelopeError, MemoryClass, SpecError, TemporalSpec};

use crate::board::Board;
use crate::diagnostic::Refusal;
use crate::schema::{Domain, Envelope, Manifest};
use crate::spec::Spec;

pub(super) fn check(manifest: &Manifest, board: &Board) -> Vec<Refusal> {
    let mut found: Vec<Refusal> =
        manifest.budget.iter().filter_map(|(name, budget)| no_miss(name, budget.misses)).collect();
    for (name, domain) in &manifest.domain {
        for (key, memory, spec) in written(domain, manifest) {
            let place = format!("domain.{name}.{key}.spec");
            found.extend(words(&place, spec));
            found.extend(memory.and_then(|memory| placed(&place, spec, memory, board)));
        }
        for (index, envelope) in domain.envelope.iter().enumerate() {
            found.extend(possible(&format!("domain.{name}.envelope[{index}]"), envelope));
        }
        found.extend(one_default(name, domain));
        found.extend(served(name, domain));
        found.extend(on_demand(name, domain, board));
    }
    found
}

/// Threads that may not miss at all need no paged memory.
fn no_miss(name: &str, misses: Option<u32>) -> Option<Refusal> {
    (misses == Some(0)).then(|| {
        Refusal::at("CF0401", format!("budget.{name}.misses"), format!("`{name}` allows no miss"))
            .value("0 misses in a period")
            .limit("1 or more; any number without `misses`")
            .rule("a thread whose budget of misses is used up waits: with none it could never load a paged region")
            .remedy("remove `misses`, or pin what the threads of this budget touch")
    })
}

/// Every specification of a domain: its key, and the memory that it is about.
fn written<'m>(domain: &'m Domain, manifest: &'m Manifest) -> Vec<(String, Option<&'m str>, &'m Spec)> {
    let mut all = vec![
        ("code".to_owned(), Some(domain.code.memory.as_str()), &domain.code.spec),
        ("data".to_owned(), Some(domain.data.memory.as_str()), &domain.data.spec),
        ("stack".to_owned(), domain.stack.memory.as_deref(), &domain.stack.spec),
    ];
    all.extend(domain.heap.iter().map(|heap| ("heap".to_owned(), Some(heap.memory.as_str()), &heap.spec)));
    let envelopes = domain.envelope.iter().enumerate();
    all.extend(envelopes.map(|(i, e)| (format!("envelope[{i}]"), Some(e.memory.as_str()), &e.spec)));
    let shared = domain.shared.iter().enumerate();
    let memory = |name: &str| manifest.shared.get(name).map(|shared| shared.memory.as_str());
    all.extend(shared.map(|(i, used)| (format!("shared[{i}]"), memory(&used.name), &used.spec)));
    all.extend(domain.files.iter().enumerate().map(|(i, used)| (format!("files[{i}]"), None, &used.spec)));
    all
}

fn words(place: &str, spec: &Spec) -> Option<Refusal> {
    let error = spec.error?;
    let word = |position: usize| spec.text.split_ascii_whitespace().nth(position).unwrap_or_default().to_owned();
    let refuse = |text: String| Refusal::at("CF0312", place, text).value(spec.text.clone());
    let one =
        "one access is checked once, and its data lies in one place: a specification names one level and one place";
    Some(match error {
        SpecError::TwoLevels(a, b) => refuse(format!("`{}` contradicts `{}`", b.text(), a.text()))
            .rule(one)
            .remedy(format!("write `spec = \"{}\"`, the stronger of the two", a.max(b).text())),
        SpecError::TwoPlaces(a, b) => refuse(format!("`{}` contradicts `{}`", b.text(), a.text()))
            .rule(one)
            .remedy(format!("remove `{}`", b.text())),
        SpecError::Repeated(position) => {
            refuse(format!("`{}` is there twice", word(position))).rule(one).remedy("remove one of them")
        }
        SpecError::UnknownWord(position) => refuse(format!("`{}` is no specification", word(position)))
            .limit("deterministic, l1, l2, l3, best-effort; independent, constant-time, allow-partial; data-tcm, data-on-chip, data-off-chip")
            .rule("a specification is made of known words")
            .remedy("choose one of the known words"),
        SpecError::UnknownBits(_) => refuse("these bits are no specification".into()).rule(one).remedy("remove them"),
    })
}

/// A request for a class of memory agrees with the memory that is named.
fn placed(place: &str, spec: &Spec, memory: &str, board: &Board) -> Option<Refusal> {
    let (asked, has) = (spec.value.data?, board.memory(memory)?.class?);
    let class = |class: MemoryClass| class.text().trim_start_matches("data-");
    (asked != has).then(|| {
        Refusal::at("CF0312", place, format!("`{}` contradicts `memory = \"{memory}\"`", asked.text()))
            .value(class(asked))
            .limit(format!("`{memory}` is {}", class(has)))
            .rule("data lies where `memory` says; a request for a class of memory has to agree with it")
            .remedy(format!("remove `{}`, or choose another memory", asked.text()))
    })
}

fn possible(place: &str, envelope: &Envelope) -> Option<Refusal> {
    let most = u64::from(u32::MAX);
    let refuse = |key: &str, text: &str| {
        let rule =
            "an envelope bounds what is allocated at once: all bytes, the largest block, and the number of blocks";
        Refusal::at("CF0315", format!("{place}.{key}"), text).rule(rule)
    };
    if envelope.live.0 > most || envelope.largest.0 > most {
        return Some(refuse("live", "this is more than there is").limit("4 GiB").remedy("lower it"));
    }
    let figures = spec::Envelope {
        spec: envelope.spec.value,
        live: envelope.live.0 as u32,
        largest: envelope.largest.0 as u32,
        count: envelope.count,
    };
    let refusal = match figures.check().err()? {
        EnvelopeError::Empty => refuse("live", "nothing could be allocated").remedy("let all figures be more than 0"),
        EnvelopeError::LargestAboveLive => refuse("largest", "the largest block is larger than everything together")
            .value(format!("{} of {}", envelope.largest, envelope.live))
            .remedy(format!("write `live = \"{}\"` or more", envelope.largest)),
        EnvelopeError::LiveAboveBlocks { most } => refuse("count", "so few blocks cannot hold so many bytes")
            .value(format!("{} in {} blocks of at most {}", envelope.live, envelope.count, envelope.largest))
            .limit(format!("{most} bytes"))
            .remedy(format!("write `count = {}` or more", envelope.live.0.div_ceil(envelope.largest.0))),
    };
    Some(refusal)
}

fn one_default(name: &str, domain: &Domain) -> Option<Refusal> {
    let mut defaults =
        domain.envelope.iter().enumerate().filter(|(_, envelope)| envelope.default).map(|(index, _)| index);
    let (first, second) = (defaults.next()?, defaults.next()?);
    Some(
        Refusal::at("CF0315", format!("domain.{name}.envelope[{second}].default"), "`malloc` would have two arenas")
            .value(format!("envelopes {first} and {second}"))
            .rule("plain `malloc` uses one arena")
            .remedy("remove one `default`"),
    )
}

/// The run-time opens so many arenas, and requests of any further envelope would leave the domain.
fn served(name: &str, domain: &Domain) -> Option<Refusal> {
    let further = domain.envelope.iter().enumerate().filter(|(_, envelope)| !envelope.default);
    let (index, _) = further.clone().nth(FURTHER_ENVELOPES)?;
    let place = format!("domain.{name}.envelope[{index}]");
    Some(
        Refusal::at("CF0315", place, "nobody would open the arena of this envelope")
            .value(format!("{} envelopes besides the default one", further.count()))
            .limit(format!("{FURTHER_ENVELOPES}"))
            .rule("`rt_malloc` has so many arenas besides that of plain `malloc`")
            .remedy("let envelopes with the same specification be one with the sum of their figures, or give one `default = true`"),
    )
}

/// Arenas that are mapped at their first touch have their frames in one memory, and no level is promised for the check of an access, which may be the first.
fn on_demand(name: &str, domain: &Domain, board: &Board) -> Option<Refusal> {
    let all = domain.envelope.iter().enumerate();
    let is_on_demand = |asked: bool, envelope: &Envelope| board.protection.is_on_demand(envelope.spec.value, asked);
    if let Some((index, _)) = all.clone().find(|(_, envelope)| envelope.on_demand && !is_on_demand(true, envelope)) {
        let place = format!("domain.{name}.envelope[{index}].on_demand");
        return Some(
            Refusal::at("CF0315", place, "pages do not get frames at their first touch on this board")
                .value("on_demand = true")
                .rule("boards with the MMUs of the soft core have demand areas")
                .remedy("remove `on_demand`"),
        );
    }
    let mut arenas = all.filter(|(_, envelope)| is_on_demand(envelope.on_demand, envelope));
    let mut level = arenas.clone().filter(|(_, envelope)| envelope.spec.value.access != AccessLevel::BestEffort);
    if let Some((index, envelope)) = level.next() {
        let without = TemporalSpec { constant_time: false, ..envelope.spec.value };
        let place = format!("domain.{name}.envelope[{index}].spec");
        return Some(
            Refusal::at("CF0313", place, "a first touch and a level of the check exclude each other here")
                .value(envelope.spec.text.clone())
                .limit("best-effort constant-time")
                .rule("with `constant-time` or `on_demand` a page is mapped at its first touch, which takes longer than any level promises")
                .remedy(format!("write `spec = \"{without}\"`, or drop the level")),
        );
    }
    // An unknown name is refused elsewhere.
    let memory_of = |envelope: &Envelope| board.memory_for(&envelope.memory).map_or("", |(name, _)| name);
    let (first, memory) = arenas.next().map(|(index, envelope)| (index, memory_of(envelope)))?;
    let (index, other) = arenas.find(|(_, envelope)| memory_of(envelope) != memory)?;
    Some(
        Refusal::at(
            "CF0315",
            format!("domain.{name}.envelope[{index}].memory"),
            "the frames of a demand area lie in two memories",
        )
        .value(format!("`{}` here and `{memory}` of envelope {first}", memory_of(other)))
        .limit(format!("`{memory}`"))
        .rule("a domain has one demand area for all envelopes with `constant-time` or `on_demand`, with its frames in one memory")
        .remedy(format!("write `memory = \"{memory}\"`, or drop `constant-time` or `on_demand` of one envelope")),
    )
}
