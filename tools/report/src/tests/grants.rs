//! How checks are kept: areas before the run, and what the manager says that it granted in it.

use abi::trace::Event;
use manager::note::{GrantNote, Holder, Note};
use record::{RunEvent, TranslationCounts, Walks};
use spec::{AccessLevel, TablePlace, TemporalSpec};

use super::{at, build, job, summary, system};
use crate::describe::*;
use crate::schema::{self, GrantReport};
use crate::{Report, SystemDescription};

/// Domain 0 is the manager, domain 1 its client.
const MANAGER: u8 = 0;
const CLIENT: u8 = 1;

fn promise(kept: &str, level: &str, cycles: u32) -> Promise {
    Promise { kept: kept.into(), level: level.into(), cycles, method: "derived".into() }
}

fn short(kept: &str) -> &str {
    match kept {
        "tcm" => "paged, TCM",
        "on-chip" => "on-chip RAM",
        other => other,
    }
}

fn words(one: &str, other: &str) -> [String; 2] {
    [one.to_owned(), other.to_owned()]
}

fn way(kept: &str, text: &str, promised: Option<Promise>, degree: Degree, not_kept: &str) -> Keeping {
    let independence = Independence { degree, kept: "entries never answer".into(), not_kept: not_kept.into() };
    Keeping { kept: kept.into(), text: text.into(), short: short(kept).into(), promise: promised, independence }
}

/// A platform with page tables.
fn paged() -> SystemDescription {
    let mut system = system();
    system.checks = Checks {
        slot: words("locked entry", "locked entries"),
        part: words("entry of the TLB", "entries of the TLB"),
        tables: words("first-level table", "second-level tables on the chip"),
        walks: true,
    };
    system.manager = Some(MANAGER);
    system.effort = Some(Effort { map: (1000, 10), release: (2000, 20), method: "derived".into() });
    let (locked, near) = (promise("pinned", "deterministic", 7), promise("on-chip", "l2", 52));
    system.keeping = vec![
        way("pinned", "locked entry of the TLB", Some(locked.clone()), Degree::InPart, "the micro-TLB is emptied"),
        way("on-chip", "tables in on-chip memory", Some(near.clone()), Degree::InPart, "others displace entries"),
        way("locked-ways", "tables in locked ways", None, Degree::InPart, "nobody uses this"),
        way("off-chip", "tables off the chip", None, Degree::None, "others displace lines"),
    ];
    system.domains[usize::from(CLIENT)].account.promises = vec![locked, near];
    system
}

fn told() -> GrantNote {
    GrantNote {
        client: CLIENT,
        base: 0x4000_0000,
        bytes: 0x1_0000,
        spec: TemporalSpec::level(AccessLevel::L2).bits(),
        write: true,
        holder: Holder::Private,
        pinned: false,
        place: TablePlace::OnChip,
        descriptors: 16,
    }
}

/// The markers of a note, from a cycle on.
fn say(from: u64, domain: u8, note: Note) -> Vec<RunEvent> {
    (from..).zip(note.marks()).map(|(cycle, (id, word))| at(cycle, Event::Mark, domain, id, word)).collect()
}

fn run(system: &SystemDescription, events: impl IntoIterator<Item = RunEvent>) -> Report {
    super::report(system, &summary(500), [super::START].into_iter().chain(events))
}

#[test]
fn a_grant_is_reported_with_its_bound_and_its_end() {
    let end = Note::Ended { client: CLIENT, base: told().base };
    let events = [say(10, MANAGER, Note::Granted(told())), say(90, MANAGER, end)].concat();
    let report = run(&paged(), events);
    let expected = GrantReport {
        domain: CLIENT,
        at: 12,
        until: Some(90),
        base: 0x4000_0000,
        bytes: 0x1_0000,
        access: "rw".into(),
        holder: schema::Holder::Private,
        spec: "l2".into(),
        kept: "on-chip".into(),
        level: "l2".into(),
        bound_cycles: Some(52),
        bound_method: "derived".into(),
        descriptors: 16,
        map_cycles: Some(1160),
        release_cycles: Some(2320),
    };
    assert_eq!((report.grants.as_slice(), report.grants_total), ([expected].as_slice(), 1));
    assert!(report.marks.is_empty() && report.run.strange_events == 0);
}

#[test]
fn what_is_promised_follows_from_how_it_is_kept() {
    let kept = |change: fn(&mut GrantNote)| {
        let mut told = told();
        change(&mut told);
        let grant = run(&paged(), say(10, MANAGER, Note::Granted(told))).grants.remove(0);
        (grant.kept, grant.bound_cycles, grant.access, grant.until)
    };
    assert_eq!(kept(|told| told.pinned = true), ("pinned".into(), Some(7), "rw".into(), None));
    assert_eq!(kept(|told| told.place = TablePlace::OffChip), ("off-chip".into(), None, "rw".into(), None));
    assert_eq!(kept(|told| told.write = false), ("on-chip".into(), Some(52), "r".into(), None));
}

#[test]
fn only_the_manager_says_what_is_granted() {
    let report = run(&paged(), say(10, CLIENT, Note::Granted(told())));
    assert_eq!((report.grants_total, report.marks.len(), report.run.strange_events), (0, 3, 0));
    let nobody = SystemDescription { manager: None, ..paged() };
    assert_eq!(run(&nobody, say(10, MANAGER, Note::Granted(told()))).grants_total, 0);
    // Other markers of the manager's are markers.
    assert_eq!(run(&paged(), [at(10, Event::Mark, MANAGER, 7, 8)]).marks.len(), 1);
}

#[test]
fn notes_that_contradict_each_other_fail_the_run() {
    let granted = |from, told| say(from, MANAGER, Note::Granted(told));
    let end = |base| say(50, MANAGER, Note::Ended { client: CLIENT, base });
    let strange = [
        end(told().base),
        [granted(10, told()), granted(20, told())].concat(),
        [granted(10, told()), end(told().base + 4096)].concat(),
        granted(10, GrantNote { client: 9, ..told() }),
        // No specification has these bits.
        granted(10, GrantNote { spec: 7, ..told() }),
        granted(10, told()).split_off(2),
    ];
    for events in strange {
        let report = run(&paged(), events.clone());
        let failed = report.verdict.failures.iter().any(|failure| failure.code == "trace-strange");
        assert!(failed && report.run.strange_events > 0, "{events:x?}");
    }
}

#[test]
fn more_grants_than_the_list_holds_are_counted() {
    let most = crate::MAX_GRANTS as u32 + 3;
    let each = |index: u32| GrantNote { base: index * 4096, ..told() };
    let begin = (0..most).flat_map(|index| say(10 + u64::from(index), MANAGER, Note::Granted(each(index))));
    let end = Note::Ended { client: CLIENT, base: (most - 1) * 4096 };
    let mut system = paged();
    system.domains[1].areas[0].spec = "l2".into();
    let report = run(&system, begin.chain(say(490, MANAGER, end)));
    assert_eq!((report.grants.len(), report.grants_total), (crate::MAX_GRANTS, most.into()));
    assert!(report.run.strange_events == 0 && report.grants.iter().all(|grant| grant.until.is_none()));
    assert!(report.to_html().contains("503 grants, the last 3 of which are not listed"));
}

fn shown(html: &str, text: &str) {
    assert!(html.replace('\u{a0}', " ").contains(text), "the page lacks {text}");
}

#[test]
fn areas_and_accounts_are_shown() {
    let mut system = system();
    (system.checks.slot, system.checks.tables) = (words("register pinned", "registers pinned"), words("table", ""));
    system.keeping = vec![
        way("pinned", "region registers", Some(promise("pinned", "deterministic", 0)), Degree::Full, ""),
        way("tcm", "paged, tables in tightly coupled memory", Some(promise("tcm", "l1", 180)), Degree::Full, ""),
    ];
    let domain = &mut system.domains[1];
    let heap = &mut domain.areas[0];
    (heap.spec, heap.kept, heap.level) = ("l1".into(), "tcm".into(), "l1".into());
    (heap.bound_cycles, heap.bound_method) = (Some(180), "derived".into());
    let envelope = Envelope { arena: heap.name.clone(), live: 512, largest: 128, count: 9, ..Envelope::default() };
    domain.account = Account {
        pinned: 3,
        paged: 5,
        table: "tcm".into(),
        table_bytes: 576,
        table_used: 288,
        envelopes: vec![envelope],
        ..Account::default()
    };
    let html = super::report(&system, &summary(500), job(0, 100)).to_html();
    shown(&html, "3 registers pinned, 5 left for paged memory; table tcm: 288 B of 576 B promised");
    shown(&html, "Paged, tables in tightly coupled memory</h3>");
    shown(&html, "180 cycles at most");
    shown(&html, "title=\"paged, tables in tightly coupled memory\">paged, TCM</span>");
    shown(
        &html,
        "<b>180</b><span><i style=\"width:100.000%\"></i></span><td title=\"entries never answer\"><i class=\"dot full\"></i>full<td>512 B in 9 blocks of at most 128 B</tr>",
    );
    shown(&html, "No domain grants memory in this system.");
    assert!(!html.contains("Region registers</h3>"), "nothing is kept in them");
    shown(&html, "Region misses and their cost");
    assert!(build(500, job(0, 100)).to_html().contains("No specification is known."));
}

#[test]
fn grants_and_independence_are_shown() {
    let mut system = paged();
    let heap = &mut system.domains[1].areas[0];
    (heap.spec, heap.kept) = ("best-effort".into(), "off-chip".into());
    let again = |at| say(at, MANAGER, Note::Granted(GrantNote { base: at as u32 * 4096, ..told() }));
    let html = run(&system, [again(10), again(20)].concat()).to_html();
    shown(
        &html,
        "<td class=\"n\">2<td class=\"mono\">several<td class=\"n\">64 KiB<td>rw<td>l2<td><span class=\"kept k-chip\" title=\"tables in on-chip memory\">on-chip RAM</span>",
    );
    shown(&html, "<b>52</b>");
    shown(
        &html,
        "<td title=\"entries never answer; but others displace entries\"><i class=\"dot part\"></i>in part<td class=\"n\">1\u{202f}160<td class=\"n\">2\u{202f}320<td",
    );
    shown(&html, "<li class=\"no\">Others displace lines</li>");
    shown(&html, "<b>none</b><span><i style=\"width:0.000%\">");
    shown(&html, "no bound</p>");
    let used = |class: &str| html.split("<li class=\"k-").find_map(|way| way.strip_prefix(class)).expect("shown");
    shown(used("chip"), "count\">2 grants at run time</p>");
    shown(used("off"), "count\">1 area</p>");
    assert!(!html.contains("nobody uses this"), "a way that nothing is kept in is not shown");
}

/// The longest bar is the longest bound of all, be it granted before the run or in it.
#[test]
fn bounds_are_drawn_to_one_scale() {
    let mut system = paged();
    let heap = &mut system.domains[1].areas[0];
    (heap.spec, heap.kept, heap.bound_cycles) = ("deterministic".into(), "pinned".into(), Some(7));
    let html = run(&system, say(10, MANAGER, Note::Granted(told()))).to_html();
    shown(&html, "<b>52</b><span><i style=\"width:100.000%\">");
    shown(&html, "<b>7</b><span><i style=\"width:13.462%\">");
}

#[test]
fn walks_are_shown_where_there_are_page_tables() {
    let counts = TranslationCounts {
        micro_misses: 100,
        locked_hits: 40,
        main_hits: 30,
        data_walks: Walks { on_chip: 20, level2: 3, ..Walks::default() },
        fetch_walks: Walks { level1: 5, memory: 2, ..Walks::default() },
        data_stall_cycles: 50,
        fetch_stall_cycles: 25,
    };
    let mut summary = summary(500);
    summary.domains[1].translation = counts;
    summary.domains[1].kernel_translation = TranslationCounts { data_walks: counts.data_walks, ..Default::default() };
    let html = super::report(&paged(), &summary, [super::START]).to_html();
    shown(
        &html,
        "<td class=\"n\">100<td class=\"n\">40<td class=\"n\">30<td class=\"n\">25<td class=\"n\">5<td class=\"n\">7.5 ms<td class=\"n\">23<td class=\"n\">3</tr>",
    );
    shown(&html, "<dt><a href=\"#misses\">Table walks</a></dt><dd>30</dd><dd class=\"note\">5 left the chip</dd>");
    shown(&html, "25 walks on the chip, <em class=\"beyond\">5 beyond</em>");
    assert!(!html.contains("Region misses"));
}

#[test]
fn a_trace_shows_grants_and_no_markers_of_theirs() {
    let end = Note::Ended { client: CLIENT, base: told().base };
    let other = at(5, Event::Mark, MANAGER, 7, 8);
    let events = [vec![other], say(10, MANAGER, Note::Granted(told())), say(90, MANAGER, end)].concat();
    let mut text = Vec::new();
    crate::trace::write_to(&mut text, &paged(), None, events).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let named = |name: &str| {
        let all = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == name);
        all.map(|event| event["args"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(named("granted"), [r#"{"address":"0x40000000","bytes":65536,"domain":1}"#]);
    assert_eq!(named("grant ended"), [r#"{"address":"0x40000000","domain":1}"#]);
    assert_eq!(named("mark").len(), 1);
}
