//! The header says what the library is: its numbers, its layouts, its prototypes.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::process::Command;

use crate::support::{cc, file, run, scratch};
use cofferdam_mem::heap::{CfmHeap, CfmHeapUse};
use cofferdam_mem::ledger::{CfmAccount, CfmDenial, CfmGrant, CfmPlatform, CfmRequest};
use cofferdam_mem::region::{self, CfmRefusal, CfmSpan, rule_number};
use cofferdam_mem::trie::{CFM_NODE_WORDS, CfmTrie, CfmTrieUse, TRIE_WORDS};
use cofferdam_mem::{Status, VERSION, heap, ledger, slots};
use protect::pmsav7::{RegionRegs, Rule};
use protect::regions::pctrie::{MAX_DEPTH, Node};
use spec::{AccessLevel, Change, MemoryClass, Reason, TemporalSpec};

fn header() -> String {
    std::fs::read_to_string(file("include/cofferdam_mem.h")).expect("the header is in the package")
}

/// Every number of the library by the name that the header gives it.
fn numbers() -> BTreeMap<&'static str, i64> {
    let status = [
        ("CFM_OK", Status::Ok),
        ("CFM_NULL", Status::Null),
        ("CFM_MISALIGNED", Status::Misaligned),
        ("CFM_STALE", Status::Stale),
        ("CFM_ARGUMENT", Status::Argument),
        ("CFM_OVERLAPPING", Status::Overlapping),
        ("CFM_REFUSED", Status::Refused),
        ("CFM_NO_NODES", Status::NoNodes),
        ("CFM_NO_LEAVES", Status::NoLeaves),
        ("CFM_MAPPED", Status::Mapped),
        ("CFM_MALFORMED", Status::Malformed),
        ("CFM_NOT_MAPPED", Status::NotMapped),
        ("CFM_TOO_MANY_PINNED", Status::TooManyPinned),
        ("CFM_TOO_FEW_PAGED", Status::TooFewPaged),
        ("CFM_UNMAPPED", Status::Unmapped),
        ("CFM_PRESENT", Status::Present),
        ("CFM_FULL", Status::Full),
        ("CFM_TOO_LARGE", Status::TooLarge),
        ("CFM_NOT_A_BLOCK", Status::NotABlock),
        ("CFM_DOUBLE_FREE", Status::DoubleFree),
        ("CFM_CORRUPT", Status::Corrupt),
        ("CFM_PIECE", Status::Piece),
        ("CFM_DENIED", Status::Denied),
        ("CFM_NOT_GRANTED", Status::NotGranted),
        ("CFM_DAMAGED", Status::Damaged),
    ];
    let rules = [
        ("CFM_RULE_EMPTY", Rule::Empty),
        ("CFM_RULE_ADDRESS_SPACE", Rule::AddressSpace),
        ("CFM_RULE_GRANULE", Rule::Granule),
        ("CFM_RULE_ONE_REGION", Rule::OneRegion),
        ("CFM_RULE_REGISTERS", Rule::Registers),
        ("CFM_RULE_DEVICE_EXECUTE", Rule::DeviceExecute),
        ("CFM_RULE_EXECUTE_UNREADABLE", Rule::ExecuteUnreadable),
    ];
    let only = |access| i64::from(TemporalSpec::level(access).bits());
    let specs = [
        ("CFM_BEST_EFFORT", only(AccessLevel::BestEffort)),
        ("CFM_L3", only(AccessLevel::L3)),
        ("CFM_L2", only(AccessLevel::L2)),
        ("CFM_L1", only(AccessLevel::L1)),
        ("CFM_DETERMINISTIC", only(AccessLevel::Deterministic)),
        ("CFM_INDEPENDENT", i64::from(TemporalSpec { independent: true, ..TemporalSpec::default() }.bits())),
        ("CFM_CONSTANT_TIME", i64::from(TemporalSpec { constant_time: true, ..TemporalSpec::default() }.bits())),
        ("CFM_TCM", MemoryClass::Tcm as i64),
        ("CFM_ON_CHIP", MemoryClass::OnChip as i64),
    ];
    let denials = [
        ("CFM_DENY_TASK", spec::Rule::Domain),
        ("CFM_DENY_TABLE_LEVEL", spec::Rule::TableLevel),
        ("CFM_DENY_PINNED", spec::Rule::PinnedSlots),
        ("CFM_DENY_PAGED", spec::Rule::PagedSlots),
        ("CFM_DENY_MISSES", spec::Rule::Misses),
        ("CFM_DENY_TABLE_MEMORY", spec::Rule::TableMemory),
        ("CFM_DENY_NO_L3", spec::Rule::Spec(Reason::NoThirdLevel)),
        ("CFM_DENY_RELEASE", spec::Rule::Spec(Reason::ReleaseScrubs)),
        ("CFM_DENY_NO_L1", spec::Rule::Spec(Reason::NoFirstLevel)),
    ];
    let changes = [
        ("CFM_CHANGE_NONE", Change::None),
        ("CFM_CHANGE_SPEC", Change::Spec(TemporalSpec::default())),
        ("CFM_CHANGE_MISSES", Change::Misses(0)),
        ("CFM_CHANGE_REGISTERS", Change::ReleaseRegisters(0)),
        ("CFM_CHANGE_TABLE", Change::ReleaseTable(0)),
    ];
    let others = [
        ("CFM_VERSION", i64::from(VERSION)),
        ("CFM_READ", i64::from(region::READ)),
        ("CFM_WRITE", i64::from(region::WRITE)),
        ("CFM_EXECUTE", i64::from(region::EXECUTE)),
        ("CFM_COVER_MOST", i64::from(region::COVER_MOST)),
        ("CFM_NODE_WORDS", CFM_NODE_WORDS as i64),
        ("CFM_TRIE_DEPTH", MAX_DEPTH as i64),
        ("CFM_TRIE_WORDS", TRIE_WORDS as i64),
        ("CFM_REGIONS", slots::CFM_REGIONS as i64),
        ("CFM_SLOTS_DWORDS", slots::SLOTS_DWORDS as i64),
        ("CFM_HEAP_PIECES", heap::HEAP_PIECES as i64),
        ("CFM_HEAP_WORDS", heap::HEAP_WORDS as i64),
        ("CFM_LEDGER_TASKS", ledger::LEDGER_TASKS as i64),
        ("CFM_LEDGER_DWORDS", ledger::LEDGER_DWORDS as i64),
        ("CFM_LEDGER_BYTES", ledger::LEDGER_BYTES as i64),
    ];
    let memory = ["CFM_WRITE_BACK", "CFM_WRITE_THROUGH", "CFM_NON_CACHEABLE", "CFM_DEVICE", "CFM_STRONGLY_ORDERED"];
    let policies = ["CFM_BIT_PLRU", "CFM_ROUND_ROBIN", "CFM_RANDOM"];
    let in_order = |names: &'static [&'static str]| names.iter().zip(0..).map(|(name, number)| (*name, number));
    let status = status.into_iter().map(|(name, status)| (name, status as i64));
    let rules = rules.into_iter().map(|(name, rule)| (name, i64::from(rule_number(rule))));
    let denials = denials.into_iter().map(|(name, rule)| (name, i64::from(rule.number())));
    let changes = changes.into_iter().map(|(name, change)| (name, i64::from(change.numbers().0)));
    let listed = status.chain(rules).chain(specs).chain(denials).chain(changes).chain(others);
    listed.chain(in_order(Box::leak(Box::new(memory)))).chain(in_order(Box::leak(Box::new(policies)))).collect()
}

#[test]
fn every_number_is_the_librarys() {
    let header = header();
    let defined = header.lines().filter_map(|line| {
        let mut words = line.strip_prefix("#define CFM_")?.split_whitespace();
        let (name, value) = (words.next()?, words.next()?);
        Some((format!("CFM_{name}"), value.parse::<i64>().ok()?))
    });
    let defined: BTreeMap<String, i64> = defined.collect();
    let known = numbers().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    assert_eq!(defined, known);
}

/// Memory types and policies are positions in lists of the library: each must mean what its name says.
#[test]
fn positions_mean_what_their_names_say() {
    use protect::Span;
    use protect::pmsav7::encode_one;
    use protect::regions::slots::Replacement;
    use protect::{Access, MemType};
    let span = CfmSpan { base: 0x2000_0000, len: 0x1000, zero: 0 };
    let types =
        [MemType::WriteBack, MemType::WriteThrough, MemType::NonCacheable, MemType::Device, MemType::StronglyOrdered];
    for (number, memory) in types.into_iter().enumerate() {
        let mut out = RegionRegs::DISABLED;
        // SAFETY: pointers to values on this stack.
        let status = unsafe { region::cfm_region_encode(&span, 1, number as u32, &mut out, std::ptr::null_mut()) };
        assert_eq!((status, Ok(out)), (Status::Ok, encode_one(Span::new(0x2000_0000, 0x1000), Access::RO, memory)));
    }
    let policies = [Replacement::BitPlru, Replacement::RoundRobin, Replacement::Random];
    for (number, policy) in policies.into_iter().enumerate() {
        for paged in 0..8 {
            let most = slots::cfm_slots_most_misses(number as u32, paged);
            assert_eq!(most, protect::regions::slots::most_misses(policy, paged));
        }
    }
}

macro_rules! layout {
    ($($c:literal = $rust:ty { $($field:ident),* }),* $(,)?) => {
        vec![$(
            (format!("sizeof({})", $c), size_of::<$rust>()),
            $((format!("offsetof({}, {})", $c, stringify!($field)), offset_of!($rust, $field)),)*
        )*]
    };
}

#[test]
fn every_layout_is_the_librarys() {
    let expected = layout! {
        "cfm_regs" = RegionRegs { rbar, rasr },
        "cfm_span" = CfmSpan { len, base, zero },
        "cfm_refusal" = CfmRefusal { asked, grown, moved, limit, rule, regions },
        "cfm_node" = Node {},
        "cfm_trie_use" = CfmTrieUse { regions, free_nodes },
        "cfm_heap_use" = CfmHeapUse { capacity, used, peak, blocks },
        "cfm_platform" = CfmPlatform { registers, slots_for_data, slots_for_code, l1_cycles, l2_cycles },
        "cfm_request" = CfmRequest { task, spec, code, registers, table_bytes, misses },
        "cfm_grant" = CfmGrant { task, spec, level, cycles, method, code, registers, table_bytes, misses },
        "cfm_denial" = CfmDenial { rule, asked, left, change, value },
        "cfm_account" = CfmAccount { pinned, paged, table_bytes, table_used, misses, misses_used },
    };
    let directory = scratch("layout");
    let print = |(what, _): &(String, usize)| format!("printf(\"%zu\\n\", {what});\n");
    let body: String = expected.iter().map(print).collect();
    let opaque = "printf(\"%zu %zu\\n\", sizeof(cfm_trie), _Alignof(cfm_trie));\
                  printf(\"%zu %zu\\n\", sizeof(cfm_slots), _Alignof(cfm_slots));\
                  printf(\"%zu %zu\\n\", sizeof(cfm_heap), _Alignof(cfm_heap));\
                  printf(\"%zu %zu\\n\", sizeof(cfm_ledger), _Alignof(cfm_ledger));";
    let source = directory.join("layout.c");
    let text = format!(
        "#include <stddef.h>\n#include <stdio.h>\n#include \"cofferdam_mem.h\"\nint main(void) {{\n{body}{opaque}\n}}\n"
    );
    std::fs::write(&source, text).expect("a writable directory");
    run(cc().arg("-I").arg(file("include")).arg(&source).arg("-o").arg(directory.join("layout")));
    let printed = run(&mut Command::new(directory.join("layout")));
    let printed: Vec<Vec<usize>> =
        printed.lines().map(|line| line.split(' ').map(|n| n.parse().expect("a number")).collect()).collect();
    for ((what, size), found) in expected.iter().zip(&printed) {
        assert_eq!(found, &[*size], "{what}");
    }
    // Opaque objects: room for the library's, in every respect.
    let objects = [
        (size_of::<CfmTrie>(), align_of::<CfmTrie>()),
        (size_of::<slots::CfmSlots>(), align_of::<slots::CfmSlots>()),
        (size_of::<CfmHeap>(), align_of::<CfmHeap>()),
        (size_of::<ledger::CfmLedger>(), align_of::<ledger::CfmLedger>()),
    ];
    for ((size, align), found) in objects.into_iter().zip(&printed[expected.len()..]) {
        assert!(size <= found[0] && align <= found[1], "{size} {align} {found:?}");
    }
}

/// The C type of a Rust parameter.
fn c_type(rust: &str) -> String {
    if let Some(to) = rust.strip_prefix("*mut ") {
        let to = c_type(to);
        return if to.ends_with('*') { format!("{to}*") } else { format!("{to} *") };
    }
    if let Some(to) = rust.strip_prefix("*const ") {
        return format!("const {} *", c_type(to));
    }
    let known = [
        ("u32", "uint32_t"),
        ("u64", "uint64_t"),
        ("u8", "uint8_t"),
        ("Status", "cfm_status"),
        ("RegionRegs", "cfm_regs"),
        ("CfmSpan", "cfm_span"),
        ("CfmRefusal", "cfm_refusal"),
        ("Node", "cfm_node"),
        ("CfmTrie", "cfm_trie"),
        ("CfmTrieUse", "cfm_trie_use"),
        ("CfmSlots", "cfm_slots"),
        ("CfmHeap", "cfm_heap"),
        ("CfmHeapUse", "cfm_heap_use"),
        ("CfmLedger", "cfm_ledger"),
        ("CfmPlatform", "cfm_platform"),
        ("CfmRequest", "cfm_request"),
        ("CfmGrant", "cfm_grant"),
        ("CfmDenial", "cfm_denial"),
        ("CfmAccount", "cfm_account"),
    ];
    let found = known.iter().find(|(name, _)| *name == rust);
    found.unwrap_or_else(|| panic!("no C type for {rust}")).1.to_owned()
}

/// Prototypes of the functions that a Rust source exports, in the header's spelling.
fn exported(source: &str) -> Vec<String> {
    let functions = source.split("extern \"C\" fn ").skip(1).filter(|rest| rest.starts_with("cfm_"));
    let prototype = |rest: &str| {
        let (name, rest) = rest.split_once('(').expect("parameters");
        let (parameters, rest) = rest.split_once(')').expect("the end of the parameters");
        let result = rest.split_once("-> ").expect("a result").1.split_once(" {").expect("a body").0;
        let parameter = |text: &str| {
            let (name, rust) = text.trim().split_once(": ")?;
            let c = c_type(rust);
            Some(if c.ends_with('*') { format!("{c}{name}") } else { format!("{c} {name}") })
        };
        let parameters: Vec<String> = parameters.split(',').filter_map(parameter).collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let result = c_type(result);
        let blank = if result.ends_with('*') { "" } else { " " };
        format!("{result}{blank}{name}({parameters});")
    };
    functions.map(prototype).collect()
}

#[test]
fn every_prototype_is_the_librarys() {
    let sources = std::fs::read_dir(file("src"))
        .expect("sources")
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a source"));
    let mut exported: Vec<String> = sources.flat_map(|source| exported(&source)).collect();
    exported.push("void cfm_panic(void);".to_owned());
    exported.sort();
    let header = header();
    let starts = |line: &&str| {
        ["cfm_status cfm_", "uint32_t cfm_", "const cfm_regs *cfm_", "void cfm_"].iter().any(|s| line.starts_with(s))
    };
    let lines: Vec<&str> = header.lines().collect();
    let mut declared: Vec<String> = (0..lines.len())
        .filter(|at| starts(&lines[*at]))
        .map(|at| {
            let end = (at..lines.len()).find(|end| lines[*end].ends_with(';')).expect("a declaration ends");
            lines[at..=end].iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
        })
        .collect();
    declared.sort();
    assert_eq!(declared, exported);
}
