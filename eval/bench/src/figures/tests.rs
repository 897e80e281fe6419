//! Tests of what records come to, of varied manifests and of verdicts.

use abi::trace::Event;
use record::{EventsWriter, RunEvent, observed};
use toml::{Table, Value};

use super::compare::{overhead, with_target};
use super::system::{Measured, Stretch, collect};
use super::variation::{Adversary, Emptied, Heap, Kept, Usage, Variation};
use super::{figures_table, manifests, places, translation};
use crate::chip::Geometry;
use crate::{Row, Target};

const WORK: u8 = 1;

fn row(id: &str) -> Row {
    Row { id: id.to_owned(), ..Row::default() }
}

fn events(list: &[(u64, u8, u8, u16, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = EventsWriter::new(&mut bytes).unwrap();
    for &(cycle, event, domain, detail, payload) in list {
        writer.push(RunEvent { core: record::CoreId::FIRST, cycle, event, domain, detail, payload }).unwrap();
    }
    writer.flush().unwrap();
    drop(writer);
    bytes
}

#[test]
fn misses_count_for_the_thread_that_marks_and_for_no_other() {
    let (switch, miss, mark) = (Event::Switch as u8, Event::Miss as u8, Event::Mark as u8);
    let bytes = events(&[
        (1, switch, WORK, 4, 0),
        (5, miss, WORK, 2, 0),
        (10, mark, WORK, 1, 7),
        (11, miss, WORK, 2, 0),
        (12, switch, WORK, 5, 0),
        (13, miss, WORK, 2, 0),
        (14, switch, 0, 0, 0),
        (15, miss, 0, 2, 0),
        (16, switch, WORK, 4, 0),
        (17, miss, WORK, 3, 0),
        (20, observed::PROBE, WORK, 0, 6),
        (22, observed::PROBE, WORK, 0, 3),
        (30, mark, WORK, 1, 0),
        (31, miss, WORK, 3, 0),
        (32, mark, WORK, 2, 5),
        (33, mark, WORK, 3, 1),
        (34, mark, WORK, 4, 600),
    ]);
    let measured = collect(&bytes[..], WORK).unwrap();
    assert_eq!(measured.stretches, [Stretch { number: 7, cycles: 20, probed: 9, misses: 2 }]);
    assert_eq!((measured.misses(&[7]), measured.misses(&[1])), (2, 0));
    assert_eq!((&measured.results[..], measured.too_large), (&[1 << 32 | 5][..], 600));
}

fn varied(heap: Heap, adversary: Adversary) -> Table {
    varied_on("mps2-an500", heap, adversary, None)
}

fn varied_on(board: &str, heap: Heap, adversary: Adversary, usage: Option<Usage>) -> Table {
    let text = "[system]\nboard = \"mps2-an500\"\nprofile = \"stm32f767\"\n[domain.work]\ncrate = \"w\"\nfiles = [\"f\"]\nheap = { memory = \"sdram\", size = \"4 MiB\", page = \"8 KiB\" }\n\
                [[domain.work.thread]]\nname = \"main\"\nargument = 1\n";
    let mut manifest: Table = text.parse().unwrap();
    let variation = Variation { heap, adversary, usage, ..Variation::new("x", "sqlite", 9) };
    manifests::vary(&mut manifest, &variation, board).unwrap();
    manifest
}

fn paged(geometry: Geometry) -> Heap {
    Heap::Paged { slots: 2, geometry, replacement: "random", fixed: Some("1 MiB".into()) }
}

#[test]
fn each_geometry_cuts_the_heap_its_own_way() {
    let heap = |geometry| varied(paged(geometry), Adversary::Nobody)["domain"]["work"]["heap"].clone();
    let page = |geometry| heap(geometry).get("page").and_then(Value::as_str).map(str::to_owned);
    assert_eq!(page(Geometry::Written).as_deref(), Some("8 KiB"));
    assert_eq!(page(Geometry::Paper).as_deref(), Some("128 KiB"));
    assert_eq!(page(Geometry::Planner), None);
    assert_eq!(page(Geometry::Regions("4 KiB".into())).as_deref(), Some("4 KiB"));
    assert_eq!(page(Geometry::Hostile).as_deref(), Some("64 KiB"));
    let manifest = varied(paged(Geometry::Hostile), Adversary::Nobody);
    let (work, other) = (&manifest["domain"]["work"], &manifest["domain"]["other"]);
    assert_eq!(work["heap"], other["heap"]);
    assert_eq!((work["paging"]["slots"].as_integer(), work["thread"][0]["argument"].as_integer()), (Some(2), Some(9)));
    assert_eq!(work["shared"][0]["spec"].as_str(), Some("deterministic"));
}

#[test]
fn other_areas_are_paged_when_they_are_named_and_a_domain_may_have_no_heap() {
    let text =
        "[system]\nboard = \"mps2-an500\"\n[domain.work]\ncrate = \"w\"\n[[domain.work.thread]]\nname = \"main\"\n";
    let mut manifest: Table = text.parse().unwrap();
    let (heap, paged_too) = (paged(Geometry::Paper), vec!["code".to_owned()]);
    let variation = Variation { heap, paged_too, ..Variation::new("x", "network", 0) };
    manifests::vary(&mut manifest, &variation, "mps2-an500").unwrap();
    let work = &manifest["domain"]["work"];
    assert_eq!((work["code"]["spec"].as_str(), work["paging"]["slots"].as_integer()), (Some("best-effort"), Some(2)));
    assert!(work.get("heap").is_none() && work.get("data").is_none());
}

#[test]
fn an_adversary_is_a_thread_of_the_domain_that_it_belongs_to() {
    let inside = varied(Heap::Pinned, Adversary::Inside(10, true));
    assert_eq!(inside["domain"]["work"]["thread"][1]["argument"].as_integer(), Some(10 | 2 << 16));
    assert_eq!(inside["domain"]["work"]["heap"]["spec"].as_str(), Some("deterministic"));
    let across = varied(Heap::AsWritten, Adversary::Across(100, false));
    assert_eq!(across["domain"]["other"]["thread"][0]["argument"].as_integer(), Some(100 | 1 << 16));
    assert!(across["domain"]["work"]["thread"].get(1).is_none());
}

#[test]
fn all_that_a_workload_has_is_kept_in_one_place() {
    let on = |kept, ways| {
        let usage = Usage { ways, kept, emptied: Emptied::Never, prefetch: ways == 3 };
        varied_on("xilinx-zynq-a9", Heap::Sized("768 KiB".into()), Adversary::Nobody, Some(usage))
    };
    for (kept, spec, near) in [
        (Kept::Tlb, "deterministic", None),
        (Kept::OnChip, "l2", Some("on-chip")),
        (Kept::LockedWays, "l2", Some("locked-ways")),
        (Kept::Memory, "best-effort", None),
    ] {
        let manifest = on(kept, 4);
        let work = &manifest["domain"]["work"];
        for area in ["code", "data", "stack", "heap"] {
            assert_eq!(work[area]["spec"].as_str(), Some(spec), "{area}");
        }
        assert_eq!((work["files"][0]["name"].as_str(), work["files"][0]["spec"].as_str()), (Some("f"), Some(spec)));
        assert_eq!((work["heap"]["size"].as_str(), work["heap"].get("page")), (Some("768 KiB"), None));
        assert_eq!(manifest["hardware"]["locked_ways"].as_integer(), Some(4));
        assert_eq!(manifest["hardware"]["prefetch"].as_bool(), Some(false));
        assert_eq!(on(kept, 3)["hardware"]["prefetch"].as_bool(), Some(true));
        assert_eq!(manifest["hardware"].get("near_tables").and_then(Value::as_str), near);
        let system = &manifest["system"];
        assert_eq!((system["board"].as_str(), system.get("profile")), (Some("xilinx-zynq-a9"), None));
    }
    assert_eq!(varied(Heap::Pinned, Adversary::Nobody)["system"]["profile"].as_str(), Some("stm32f767"));
}

#[test]
fn a_place_promises_walks_that_end_there_or_none() {
    let judged = |kept, on_chip, beyond| {
        let mut run = Measured { probes: vec![(1000, 400)], ..Measured::default() };
        run.translation.data_stall_cycles = 60;
        run.translation.fetch_walks.on_chip = on_chip;
        run.translation.data_walks.memory = beyond;
        translation::stall(row("a9.mxu.fig6.x"), kept, &run, 200, None)
    };
    let found = judged(Kept::OnChip, 3, 0);
    assert_eq!((found.met, found.walks, found.walks_beyond), (Some(true), Some(3), Some(0)));
    assert_eq!((found.cycles.median, found.run_cycles, found.overhead), (60, Some(1000), Some(-70.0)));
    assert_eq!(judged(Kept::LockedWays, 3, 1).met, Some(false), "one walk left the chip");
    assert_eq!((judged(Kept::Tlb, 0, 0).met, judged(Kept::Tlb, 1, 0).met), (Some(true), Some(false)));
    let memory = judged(Kept::Memory, 0, 9);
    assert_eq!((memory.met, memory.overhead, memory.walks_beyond), (None, None, Some(9)));
}

#[test]
fn few_locked_ways_slow_applications_down_by_no_more_than_in_the_paper() {
    let judged = |percent| translation::slowed(Row { overhead: Some(percent), ..row("a9.mxu.fig6.x") }, 4.9);
    assert_eq!((judged(4.9).met, judged(4.91).met), (Some(true), Some(false)));
    assert_eq!(judged(0.0).paper.as_deref(), Some("< 4.9 %"));
    assert!(figures_table(&[judged(5.0)]).contains("<= 4.90 %"));
}

#[test]
fn a_nearer_place_must_not_make_accesses_slower() {
    let judged = |percent| places::nearer(Row { overhead: Some(percent), ..row("a9.mxu.fig6.x") });
    assert_eq!((judged(-0.01).met, judged(0.01).met), (Some(true), Some(false)));
}

#[test]
fn a_target_is_met_up_to_its_limit_and_not_without_a_figure() {
    let target = |most| Target { overhead: Some(most), added_misses: Some(0), ..Target::default() };
    let with = |overhead, added| Row { overhead, added_misses: added, ..row("m7.mxu.x") };
    assert_eq!(overhead(1100, 1000), 10.0);
    assert_eq!(with_target(with(Some(10.0), Some(0)), target(10.0)).met, Some(true));
    assert_eq!(with_target(with(Some(10.01), Some(0)), target(10.0)).met, Some(false));
    assert_eq!(with_target(with(Some(1.0), Some(1)), target(10.0)).met, Some(false));
    assert_eq!(with_target(with(None, Some(0)), target(10.0)).met, Some(false));
}
