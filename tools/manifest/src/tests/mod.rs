use crate::*;
use std::path::Path;

mod analysis;
mod circles;
mod direct;
mod numbers;

const BOARD: &str = include_str!("../../../../boards/mps2-an500/board.toml");

/// The board with its core, and the clock of its chip.
fn board() -> Board {
    parsed(BOARD).unwrap()
}

fn parsed(text: &str) -> Result<Board, Diagnostic> {
    let core = Core::parse(include_str!("../../../../cores/cortex-m7.toml")).unwrap();
    let chip = Chip { cpu_hz: 216_000_000, ..Chip::default() };
    BoardFile::parse(text, "board.toml".into())?.supported(core, |_| chip, Setup::default())
}

fn refusals(text: &str) -> Vec<Refusal> {
    let document = Document::parse(Path::new("system.toml"), text).expect("the schema accepts it");
    check(&document.manifest, &board(), true).err().unwrap_or_default()
}

#[test]
fn quantities_are_read_with_their_units() {
    assert_eq!(Size::parse("4 KiB"), Some(Size(4096)));
    assert_eq!(Size::parse("4KB"), None);
    assert_eq!(Time::parse("20 us"), Some(Time(20_000)));
    assert_eq!(Time::parse("1_000 ms").unwrap().ticks(25_000_000), Some(25_000_000));
    assert_eq!(Time(41).ticks(25_000_000), None);
    assert_eq!(Address::parse("0x2003_0000"), Some(Address(0x2003_0000)));
    assert_eq!((Size(6144).to_string(), Time(1_500_000).to_string()), ("6 KiB".into(), "1500 us".into()));
}

#[test]
fn the_codes_are_in_order_and_unique() {
    assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
}

#[test]
fn a_small_system_is_admitted() {
    let found = refusals(
        r#"
        system = { name = "small", board = "mps2-an500" }
        budget.all = { period = "10 ms", capacity = "10 ms" }
        [domain.app]
        crate = "app"
        [[domain.app.thread]]
        priority = 3
        budget = "all"
        "#,
    );
    assert_eq!(found, []);
}

/// Names that tools alone use have 31 characters, those that programs look up 15.
#[test]
fn names_are_as_long_as_their_fields() {
    let system = |tools: usize, programs: usize| {
        let [tools, programs] = [tools, programs].map(|length| "n".repeat(length));
        refusals(&format!(
            "[system]\nname = \"{tools}\"\nboard = \"mps2-an500\"\n[budget.{tools}]\nperiod = \"1 s\"\ncapacity = \"1 ms\"\n\
             [notification.{tools}]\n[domain.{programs}]\ncrate = \"app\"\n\
             uses = {{ {programs} = {{ notification = \"{tools}\", rights = \"r\" }} }}\n\
             [[domain.{programs}.thread]]\nname = \"{tools}\"\npriority = 3\nbudget = \"{tools}\"\n"
        ))
    };
    assert_eq!(system(31, 15), []);
    let places = |found: Vec<Refusal>| found.iter().map(|r| (r.code, r.limit[..7].to_owned())).collect::<Vec<_>>();
    assert_eq!(places(system(32, 15)), vec![("CF0201", "1 to 31".to_owned()); 4]);
    assert_eq!(places(system(31, 16)), vec![("CF0201", "1 to 15".to_owned()); 2]);
}

/// `count` budgets, and as many threads of one domain, each on its own.
fn crowd(count: usize) -> String {
    let mut text = String::from("[system]\nname = \"s\"\nboard = \"mps2-an500\"\n[domain.app]\ncrate = \"app\"\n");
    for i in 0..count {
        text += &format!("[budget.b{i}]\nperiod = \"1 s\"\ncapacity = \"1 ms\"\n[[domain.app.thread]]\n");
        text += &format!("name = \"t{i}\"\nentry = \"f\"\npriority = 3\nbudget = \"b{i}\"\n");
    }
    text
}

/// `check` admits no more threads and budgets than the kernel boots with.
#[test]
fn as_many_threads_and_budgets_are_admitted_as_the_kernel_queues() {
    let most = check::QUEUED_MAX;
    let queue = include_str!("../../../../kernel/src/ranks.rs");
    assert!(queue.contains(&format!("pub const MAX_THREADS: usize = {most};")), "the kernel has another limit");
    assert_eq!(refusals(&crowd(most)), []);
    let over = refusals(&crowd(most + 1));
    let told: Vec<_> = over.iter().map(|r| (r.code, r.message.as_str())).collect();
    assert_eq!(told, [("CF0208", "too many budgets"), ("CF0208", "too many threads")]);
}

#[test]
fn grants_follow_the_order_of_the_file() {
    let text = r#"
        system = { name = "s", board = "b" }
        notification.n = {}
        [domain.a]
        [domain.a.gate.g]
        entry = "g"
        ceiling = 0
        bound = "1 us"
        [domain.b]
        [domain.b.gate.h]
        entry = "h"
        ceiling = 0
        bound = "1 us"
        [domain.c.uses]
        events = { notification = "n", rights = "r" }
        h = { gate = "b.h", badge = 9 }
    "#;
    let document = Document::parse(Path::new("x"), text).unwrap();
    let found = grants(&document.manifest, 2).unwrap();
    assert_eq!(found[0], Grant { name: "events".into(), object: Object::Notification(0), rights: 1, badge: 2 });
    assert_eq!(found[1], Grant { name: "h".into(), object: Object::Gate(1), rights: 2, badge: 9 });
}

#[test]
fn places_lead_to_lines() {
    let text = "[system]\nname = \"s\"\nboard = \"b\"\n[[domain.a.thread]]\npriority = 1\nbudget = \"x\"\n";
    let document = Document::parse(Path::new("x"), text).unwrap();
    let shown = render(&document.locate(Refusal::at("CF0202", "domain.a.thread[0].budget", "no budget")), false);
    assert!(shown.contains("x:6:10"), "{shown}");
    assert!(shown.contains("CF0202"), "{shown}");
}

/// docs/errors.md is made from the table of codes and the reviewed texts; `UPDATE_GOLDEN=1` rewrites it.
#[test]
fn the_page_of_errors_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("docs/errors.md");
    let text = errors_page(&root.join("tests/golden"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == text, "UPDATE_GOLDEN=1 rewrites docs/errors.md");
}

/// docs/manifest.md says what each level means on each platform as `spec::Platform` does; `UPDATE_GOLDEN=1` rewrites the table.
#[test]
fn the_table_of_platforms_is_up_to_date() {
    const FROM: &str = "UPDATE_GOLDEN=1 rewrites it -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manifest.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let start = page.find(FROM).unwrap() + FROM.len();
    let end = start + page[start..].find("<!-- end -->").unwrap();
    let table = platform_table(&board());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{}{table}{}", &page[..start], &page[end..])).unwrap();
        return;
    }
    assert_eq!(&page[start..end], table, "UPDATE_GOLDEN=1 rewrites docs/manifest.md");
}

/// Admission on a chip with an MMU counts the units that its tables and its lock slots are made of.
#[test]
fn admission_and_page_tables_agree() {
    use ::protect::vmsav7::{LOCK_SLOTS, Placement, Split, TABLE_BYTES, Unit, lockdown};
    use ::spec::TablePlace;
    let a9 = cortex_a9();
    let pages = a9.pages().unwrap();
    assert_eq!(usize::from(pages.lock_slots), LOCK_SLOTS);
    assert_eq!((pages.root_bytes, pages.table_bytes), (Split::Half.table_bytes(), TABLE_BYTES));
    assert_eq!((pages.way_bytes, pages.ways), (lockdown::WAY_BYTES, 8));
    assert_eq!(pages.constant_descriptors, u32::from(pages.lock_slots) * Unit::Large.descriptors());
    assert_eq!(::spec::UNITS, [Unit::Small.bytes(), Unit::Large.bytes(), Unit::Section.bytes()]);
    for (ours, theirs) in TablePlace::ALL[1..].iter().zip(Placement::ALL) {
        assert_eq!(*ours as u8, theirs as u8 + 1);
        assert_eq!(ours.level() == ::spec::AccessLevel::L2, theirs.stays_on_chip());
    }
}

/// A Cortex-A9, without the figures of a board.
fn cortex_a9() -> ::spec::Platform {
    use ::spec::{Costs, Hardware, Linear, MemoryClass, Method, Pages, Platform, Sizes, Work};
    let nothing = Linear { base: 0, each: 0 };
    let work = Work { method: Method::Derived, map: nothing, release: nothing };
    let costs = Costs { main_tlb: 0, walk_on_chip: 0, walk_locked_ways: 0 };
    let (lock_slots, way_bytes) = (::protect::vmsav7::LOCK_SLOTS as u8, ::protect::vmsav7::lockdown::WAY_BYTES);
    let pages = Pages::new(costs, work, Sizes { lock_slots, ways: 8, way_bytes, window_base: 0 });
    Platform::new(Hardware::Pages(pages), &[MemoryClass::OnChip, MemoryClass::OffChip])
}

/// Meaning of a specification on the Cortex-A9.
fn on_the_a9(spec: ::spec::TemporalSpec) -> String {
    use ::spec::{Meaning, TablePlace};
    let a9 = cortex_a9();
    let pages = a9.pages().unwrap();
    if spec.constant_time {
        return format!("at most {} descriptors, clearing apart", pages.constant_descriptors);
    }
    if spec.independent && spec.allow_partial {
        let parted = a9.independence(false, TablePlace::OffChip);
        return format!("in part: {}; but {}", parted.kept, parted.not_kept.unwrap_or_default());
    }
    match a9.meaning(spec) {
        Ok(Meaning::Pinned(_)) => format!("a locked TLB entry for each page; the chip has {}", pages.lock_slots),
        Ok(Meaning::Tables(places)) => places.iter().map(|place| place.text()).collect::<Vec<_>>().join(", else "),
        Err(reason) => format!("refused: {}", reason.text()),
    }
}

fn platform_table(board: &Board) -> String {
    use ::spec::{AccessLevel, Meaning, TemporalSpec};
    let platform = platform(board);
    let independent = TemporalSpec { independent: true, ..TemporalSpec::default() };
    let mut rows = vec![("independent", independent)];
    rows.push(("independent allow-partial", TemporalSpec { allow_partial: true, ..independent }));
    rows.push(("constant-time", TemporalSpec { constant_time: true, ..TemporalSpec::default() }));
    let levels = AccessLevel::ALL.into_iter().rev().map(|level| (level.text(), TemporalSpec::level(level)));
    let mut table = format!(
        "| | `{}` ({}) | the check takes at most | Cortex-A9 |\n| --- | --- | --- | --- |\n",
        "stm32f767", board.name
    );
    for (word, spec) in levels.chain(rows) {
        let bound = |bound: ::spec::Bound| format!("{} cycles, {}", bound.cycles, bound.method.text());
        let (meaning, time) = match platform.meaning(spec) {
            Ok(_) if spec.independent => ("always: registers and table are each domain's own".into(), String::new()),
            Ok(Meaning::Pinned(b)) => ("region registers of its own".into(), bound(b)),
            Ok(Meaning::Tables(places)) => {
                let place = *places.last().unwrap();
                let class = if place == ::spec::TablePlace::Tcm { "TCM" } else { "on-chip SRAM" };
                let promise = if spec.access == AccessLevel::BestEffort { ", as the domain's table is" } else { "" };
                (format!("a table with nodes in {class}{promise}"), bound(platform.bound_of(place).unwrap()))
            }
            Err(reason) => (format!("refused: {}", reason.text()), String::new()),
        };
        table += &format!("| `{word}` | {meaning} | {time} | {} |\n", on_the_a9(spec));
    }
    table
}

fn errors_page(golden: &Path) -> String {
    let mut page = String::from(ERRORS_HEAD);
    let list = |directory: &Path| std::fs::read_dir(directory).unwrap().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = list(golden).chain(list(&golden.join("run"))).collect();
    files.sort();
    let texts: Vec<String> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect();
    for (hundred, about) in HUNDREDS {
        page += &format!("\n*{about}*\n\n| code | error |\n| --- | --- |\n");
        for code in CODES.iter().filter(|code| code.code.starts_with(hundred)) {
            let heading = heading(code);
            page += &format!("| [{}](#{}) | {} |\n", code.code, anchor(&heading), code.title);
        }
    }
    assert!(CODES.iter().all(|code| HUNDREDS.iter().any(|(hundred, _)| code.code.starts_with(hundred))));
    for code in CODES {
        page += &format!("\n## {}\n{}\n", heading(code), code.explains);
        let of_code = || texts.iter().filter(|text| text.starts_with(code.code));
        // One that points into a manifest, if there is any.
        if let Some(text) = of_code().find(|text| text.contains("╭─")).or_else(|| of_code().next()) {
            page += &format!("\n```text\n{}\n```\n", text.trim_end());
        }
    }
    page
}

fn heading(code: &Code) -> String {
    format!("{}: {}", code.code, code.title)
}

/// The anchor that a page gets for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
}

/// What codes that begin so are about.
const HUNDREDS: [(&str, &str); 7] = [
    ("CF01", "The manifest as a text"),
    ("CF02", "Names and objects"),
    ("CF03", "Memory, protection and devices"),
    ("CF04", "Time"),
    ("CF05", "Programs"),
    ("CF06", "The installation and its files"),
    ("CF07", "Runs"),
];

const ERRORS_HEAD: &str = "# Errors

Every refusal has a stable code (`cofferdam explain CF0303` says what it means), points at the place in the manifest, and says
which *rule* was broken, what was *asked*, what is *left*, and a *remedy*. With `--json` every verb prints one object: `verb`, `ok`, `exit`,
and `diagnostics` with these parts as fields; after wrong use (exit code 2) `usage` says why.
This page is made from the table of codes in tools/manifest and the texts in tests/golden.

| exit code | meaning |
| --- | --- |
| 0 | as promised |
| 1 | the run ended, but not as promised; the report says why |
| 2 | wrong use of the command |
| 3 | the manifest or a program was refused |
| 4 | a program does not build |
| 5 | a tool is missing or of the wrong version |
| 6 | a file cannot be written |
| 130 | interrupted |
";

/// Suites try addresses of the board file; a name there that names nothing is no reason to try another address.
#[test]
fn a_foreign_place_that_is_not_there_is_a_damaged_board_file() {
    let refused = |from: &str, to: &str| parsed(&BOARD.replace(from, to)).unwrap_err().refusal().clone();
    for (from, to, what) in [
        ("other_device = { device = \"uart1\" }", "other_device = { device = \"uart9\" }", "no device `uart9`"),
        ("heaps = { memory = \"sdram\" }", "heaps = { memory = \"ddr\" }", "no memory `ddr`"),
        (
            "heaps = { memory = \"sdram\" }",
            "heaps = { memory = \"sdram\", offset = 0x100_0000 }",
            "behind the memory `sdram`",
        ),
        ("heaps = { memory = \"sdram\" }", "heaps = {}", "foreign.heaps: "),
        ("heaps = { memory = \"sdram\" }", "heap = { memory = \"sdram\" }", "unknown field `heap`"),
    ] {
        assert!(BOARD.contains(from), "{from}");
        let refusal = refused(from, to);
        assert!(refusal.code == "CF0605" && refusal.message.contains(what), "{refusal:?}");
    }
}
