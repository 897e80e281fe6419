//! Every rule is fed what it must reject and the nearest thing that it must accept.

mod circles;

use crate::files::{LIMIT_LINES, REPORT_LINES, Size, Source};
use crate::workspace::{Edge, EdgeKind, Member};
use crate::{Finding, dependencies, files, layers, mutants, names, owners, portable};

fn member(directory: &str, edges: &[(&str, EdgeKind)]) -> Member {
    let edge = |&(to, kind): &(&str, EdgeKind)| {
        let name = to.rsplit('/').next().unwrap_or(to).to_owned();
        Edge {
            name,
            directory: (to.contains('/') || ["kernel", "capi", "cli", "drivers"].contains(&to)).then(|| to.into()),
            kind,
        }
    };
    Member { directory: directory.to_owned(), edges: edges.iter().map(edge).collect() }
}

fn normal(directory: &str, to: &[&str]) -> Member {
    member(directory, &to.iter().map(|to| (*to, EdgeKind::Normal)).collect::<Vec<_>>())
}

fn rules(found: &[Finding]) -> Vec<&'static str> {
    found.iter().map(|finding| finding.rule).collect()
}

#[test]
fn downward_edges_are_allowed() {
    let members = [
        normal("crates/protect", &["crates/units", "crates/spec", "serde"]),
        normal("kernel", &["crates/abi", "crates/sched"]),
        normal("capi", &["crates/protect", "crates/memory"]),
        normal("arch/armv7m", &["kernel", "crates/protect"]),
        normal("images/armv-m", &["arch/armv7m", "kernel", "crates/units"]),
        normal("user/rt", &["crates/abi", "arch/armv-m-user"]),
        normal("arch/armv-m-user", &["crates/abi", "arch/arm-user"]),
        normal("arch/armv-m", &["crates/abi", "kernel"]),
        normal("arch/armv8m", &["arch/armv-m", "crates/protect"]),
        normal("services/console", &["user/rt", "crates/abi"]),
        normal("examples/gateway/store", &["user/rt", "examples/gateway/shared"]),
        normal("cli", &["crates/system", "tools/report", "chips", "clap"]),
        normal("tests/conformance/rows", &["crates/abi"]),
        normal("tests/conformance/cast", &["user/rt", "tests/conformance/rows"]),
        normal("tests/suites", &["tests/conformance/rows", "tools/build"]),
        member("kernel", &[("tests/conformance/rows", EdgeKind::Development)]),
    ];
    assert_eq!(layers::check(&members), []);
}

#[test]
fn board_files_are_read_in_build_scripts_only() {
    for from in ["images/armv-m", "crates/foreign"] {
        let found = |to, kind| layers::check(&[member(from, &[(to, kind)])]);
        assert_eq!(found("tools/board-facts", EdgeKind::Build), []);
        assert_eq!(rules(&found("tools/board-facts", EdgeKind::Normal)), ["layer-edge"]);
        assert_eq!(rules(&found("tools/manifest", EdgeKind::Build)), ["layer-edge"]);
    }
}

#[test]
fn every_upward_edge_is_refused() {
    let upward = [
        ("crates/units", "kernel"),
        ("crates/units", "cli"),
        ("crates/units", "capi"),
        ("capi", "kernel"),
        ("capi", "arch/armv7m"),
        ("capi", "user/rt"),
        ("capi", "tools/lint"),
        ("kernel", "capi"),
        ("cli", "capi"),
        ("kernel", "arch/armv7m"),
        ("kernel", "user/rt"),
        ("kernel", "tests/conformance/rows"),
        ("crates/sched", "tests/conformance/rows"),
        ("tests/conformance/rows", "kernel"),
        ("tests/conformance/rows", "user/rt"),
        ("arch/armv7m", "images/armv-m"),
        ("arch/armv7m", "arch/armv8m"),
        ("arch/armv-m", "arch/armv7m"),
        ("images/armv-m", "arch/armv-m"),
        ("images/armv-m", "user/rt"),
        ("user/rt", "kernel"),
        ("user/rt", "arch/armv7m"),
        ("arch/armv-m-user", "kernel"),
        ("arch/armv-m-user", "arch/armv7m"),
        ("arch/armv7m", "arch/armv-m-user"),
        ("services/console", "arch/armv-m-user"),
        ("services/console", "kernel"),
        ("services/console", "services/memory"),
        ("examples/gateway/store", "services/console"),
        ("examples/gateway/store", "cli"),
        ("cli", "kernel"),
        ("cli", "images/armv-m"),
        ("chips", "sim/timing"),
        ("crates/units", "sim/timing"),
        ("sim/timing", "tools/manifest"),
        ("tools/build", "eval/bench"),
        ("tools/build", "cli"),
        ("eval/bench", "cli"),
        ("eval/bench", "tests/suites"),
        ("drivers", "services/console"),
        ("user/rt", "drivers"),
        ("eval/systems/bench/caller", "eval/bench"),
        ("eval/systems/bench/caller", "kernel"),
        ("cli", "user/rt"),
    ];
    for (from, to) in upward {
        let found = layers::check(&[normal(from, &[to])]);
        assert_eq!(rules(&found), ["layer-edge"], "{from} -> {to}");
        assert!(found[0].text.contains(to) && found[0].place == format!("{from}/Cargo.toml"));
    }
}

#[test]
fn a_test_dependency_is_an_edge_too() {
    let found = layers::check(&[member("crates/sched", &[("cli", EdgeKind::Development)])]);
    assert_eq!(rules(&found), ["layer-edge"]);
}

#[test]
fn the_ground_keeps_its_order() {
    assert_eq!(rules(&layers::check(&[normal("crates/units", &["crates/spec"])])), ["layer-edge"]);
    // A test may use a crate above, and its own package with another feature.
    let above =
        member("crates/spec", &[("crates/system", EdgeKind::Development), ("crates/spec", EdgeKind::Development)]);
    assert_eq!(layers::check(&[above]), []);
}

#[test]
fn an_unknown_place_is_refused() {
    let found = layers::check(&[normal("crates/novelty", &[]), normal("misc/thing", &[])]);
    assert_eq!(rules(&found), ["layer-unknown", "layer-unknown"]);
    assert_eq!(rules(&layers::check(&[normal("cli", &["misc/thing"])])), ["layer-edge"]);
}

#[test]
fn a_package_outside_the_workspace_is_refused() {
    let members = [normal("crates/units", &[])];
    let manifests = ["Cargo.toml", "crates/units/Cargo.toml", "images/armv-m/Cargo.toml", "docs/x/Cargo.toml"];
    let found = layers::check_members(&members, manifests.into_iter());
    assert_eq!(rules(&found), ["layer-member"]);
    assert_eq!(found[0].place, "images/armv-m");
}

#[test]
fn examples_do_not_share_code_across_systems() {
    let found = layers::check(&[normal("examples/gateway/store", &["examples/other/store"])]);
    assert_eq!(rules(&found), ["layer-edge"]);
}

const DOCUMENT: &str =
    "# D\n## Tools\n| `make` | x |\n## Rust crates\n| `serde` | data |\n| `toml` | text |\n## Data\n| `png` | x |\n";

#[test]
fn the_dependency_list_is_complete_and_minimal() {
    let complete = [normal("cli", &["serde", "toml", "crates/units"])];
    assert_eq!(dependencies::check(&complete, DOCUMENT), []);
    let unlisted = [normal("cli", &["serde", "toml", "png"])];
    assert_eq!(rules(&dependencies::check(&unlisted, DOCUMENT)), ["dependency-unlisted"]);
    let unused = [normal("cli", &["serde"])];
    assert_eq!(rules(&dependencies::check(&unused, DOCUMENT)), ["dependency-unused"]);
}

const ROOT: &str = "//! A crate.\n#![no_std]\n#![forbid(unsafe_code)]\n";

#[test]
fn a_crate_root_declares_what_it_does_without() {
    assert_eq!(portable::check("crates/a/src/lib.rs", ROOT), []);
    let nothing = portable::check("crates/a/src/lib.rs", "// #![no_std] #![forbid(unsafe_code)]\n");
    assert_eq!(rules(&nothing), ["portable-std", "portable-unsafe"]);
    assert_eq!(rules(&portable::check("kernel/src/lib.rs", "pub fn f() {}\n")), ["portable-std"]);
    assert_eq!(portable::check("crates/a/src/other.rs", "pub fn f() {}\n"), []);
}

#[test]
fn portable_code_neither_asks_for_its_target_nor_holds_assembly() {
    let refused = [
        ("#[cfg(target_arch = \"arm\")]\nfn f() {}", "portable-target"),
        ("fn f() { if cfg!(target_pointer_width = \"32\") {} }", "portable-target"),
        ("fn f() { unsafe { core::arch::asm!(\"wfi\") } }", "portable-asm"),
        ("global_asm! (\"nop\");", "portable-asm"),
        ("use core::arch::arm;", "portable-asm"),
    ];
    for (source, rule) in refused {
        let found = portable::check("kernel/src/a.rs", source);
        assert!(rules(&found).contains(&rule), "{source}: {found:?}");
    }
    for fine in [
        "// asm!(\"wfi\")\n",
        "/* a /* cfg(target_os) */ asm!() */",
        "const A: &str = \"target_arch \\\" asm!\";",
        "const B: &str = r#\"asm!(\"x\")\"#; let q = '\"'; // asm!()",
        "fn asm(target: u32) -> u32 { target }",
    ] {
        assert_eq!(portable::check("kernel/src/a.rs", fine), [], "{fine}");
    }
}

#[test]
fn findings_in_portable_code_name_the_line() {
    let found = portable::check("kernel/src/a.rs", "/* one\ntwo */\nconst A: &str = \"\n\";\nasm!(\"nop\");\n");
    assert_eq!(found[0].place, "kernel/src/a.rs:5");
}

#[test]
fn only_crates_and_kernel_have_to_be_portable() {
    assert!(portable::applies("crates/units/src/lib.rs") && portable::applies("kernel/src/a.rs"));
    assert!(portable::applies("tests/conformance/rows/src/lib.rs"));
    assert!(!portable::applies("tests/conformance/cast/src/lib.rs"));
    assert!(!portable::applies("arch/armv7m/src/lib.rs") && !portable::applies("crates/units/Cargo.toml"));
}

fn source(path: &str, lines: usize) -> Source {
    Source { path: path.to_owned(), text: "x\n".repeat(lines) }
}

#[test]
fn long_files_are_reported_and_then_refused() {
    assert_eq!(files::size(&source("a.rs", REPORT_LINES)), Size::Fine);
    assert_eq!(files::size(&source("a.rs", REPORT_LINES + 1)), Size::Long);
    assert_eq!(files::check(&source("a.rs", LIMIT_LINES)), None);
    let refused = files::check(&source("a.rs", LIMIT_LINES + 1)).expect("too long");
    assert_eq!(refused.rule, "file-size");
}

#[test]
fn tests_and_generated_files_may_be_long() {
    assert_eq!(files::size(&source("kernel/src/tests.rs", LIMIT_LINES + 1)), Size::Long);
    assert_eq!(files::size(&source("host/a/tests/b.rs", LIMIT_LINES + 1)), Size::Long);
    let rest = "x\n".repeat(LIMIT_LINES);
    for mark in ["Generated by cofferdam", "Generated from crates/abi", "@generated"] {
        let text = format!("// {mark}\n{rest}");
        assert_eq!(files::size(&Source { path: "user/include/cofferdam.h".into(), text }), Size::Fine);
    }
    let text = format!("{rest}// Generated by cofferdam\n");
    assert_eq!(files::size(&Source { path: "user/a.h".into(), text }), Size::TooLong);
}

#[test]
fn this_repository_is_readable() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let members = crate::workspace::read(&root).expect("workspace");
    let own = members.iter().find(|member| member.directory == "tools/lint").expect("this package");
    assert!(own.edges.iter().any(|edge| edge.name == "cargo_metadata" && edge.directory.is_none()));
    let sources = files::read(&root).expect("sources");
    assert!(sources.iter().any(|source| source.path == "tools/lint/src/lib.rs"));
    assert!(!sources.iter().any(|source| source.path.starts_with("target/")));
}

#[test]
fn code_of_the_product_names_no_board() {
    let source = |path: &str, text: &str| files::Source { path: path.into(), text: text.into() };
    let data = ["boards/lamp/board.toml", "chips/x1.toml", "cores/core-m1.toml"].map(|path| source(path, ""));
    let with = |path: &str, text: &str| {
        let mut sources: Vec<files::Source> = data.iter().map(|file| source(&file.path, "")).collect();
        sources.push(source(path, text));
        names::check(&sources)
    };
    let found = with("sim/runner/src/run.rs", "let a = 1;\nlet board = \"lamp\";\n");
    assert_eq!((rules(&found).as_slice(), found[0].place.as_str()), (["name"].as_slice(), "sim/runner/src/run.rs:2"));
    assert_eq!(with("arch/x/src/lib.rs", "fn core_m1() {}").len(), 1);
    assert_eq!(with("kernel/src/lib.rs", "const A: &str = \"x1\";").len(), 1);
    // An item that only tests have does not hide what is behind it.
    for item in
        ["mod tests;", "fn f(\n    a: u8,\n) -> u8 {\n    \"x1\";\n}", "#[rustfmt::skip]\nuse a::{\n    x1,\n};"]
    {
        let found = with("kernel/src/lib.rs", &format!("#[cfg(test)]\n{item}\nconst A: &str = \"x1\";"));
        let line = item.lines().count() + 2;
        assert_eq!(
            found.iter().map(|one| one.place.clone()).collect::<Vec<_>>(),
            [format!("kernel/src/lib.rs:{line}")]
        );
    }
    for (path, text) in [
        ("kernel/src/lib.rs", "#[cfg(test)]\nconst A: &str = \"x1\";"),
        ("sim/runner/tests/run.rs", "\"lamp\""),
        ("tests/suites/src/lib.rs", "\"lamp\""),
        ("boards/lamp/board.toml", "name = \"lamp\""),
        ("examples/a/src/main.rs", "\"lamp\""),
    ] {
        assert_eq!(with(path, text), [], "{path}");
    }
}

#[test]
fn lists_of_files_name_what_exists() {
    let exists = |path: &str| ["boards", "drivers/src"].contains(&path);
    let good = "* `boards/NAME/board.toml`: the board\n* `drivers/src/KIND.rs`: a driver\ntext\n* no path\n";
    assert_eq!(names::check_document(good, exists), []);
    let found = names::check_document("* `drivers/KIND.rs`: a driver\n", exists);
    assert_eq!((rules(&found).as_slice(), found[0].place.as_str()), (["porting"].as_slice(), "docs/porting.md:1"));
}

#[test]
fn implementations_are_told_apart_where_the_lists_say() {
    let document = "A core:\n* `arch/ARCHITECTURE`: entry\n* `tools/a/src/isa`: tables\n\n\
        A scheme of protection:\n* `crates/protect/src/SCHEME`: encoding\n* `arch/NAME`: registers\n\n\
        A simulator:\n* `sim/b/src/SIMULATOR.rs`: it\n\n* `tools`: else\n";
    let found = |path: &str, text: &str| {
        let found = owners::check(&[Source { path: path.into(), text: text.into() }], document);
        assert!(found.iter().all(|finding| finding.rule == "owner"));
        found.into_iter().map(|finding| finding.place).collect::<Vec<_>>()
    };
    for (path, text) in [
        ("arch/armv7m/src/a.rs", "use armv7m::A; use protect::pmsav7;"),
        ("tools/a/src/isa/arm.rs", "elf::R_ARM_ABS32"),
        ("crates/protect/src/pmsav8/mod.rs", "use crate::pmsav8::Regs;"),
        (
            "crates/protect/src/lib.rs",
            "pub mod pmsav8;\n// Of pmsav8.\nfn a() {}\n#[cfg(test)]\nmod tests { use pmsav8; }",
        ),
        ("sim/b/src/qemu.rs", "struct Qemu;"),
        ("tests/suites/tests/a.rs", "protect::pmsav8 armv7m Qemu"),
        ("docs/a.md", "armv7m"),
    ] {
        assert_eq!(found(path, text), [""; 0], "{path}");
    }
    for (path, text) in [
        ("kernel/src/a.rs", "use armv7m::A;"),
        ("arch/common/src/a.rs", "use armv7m::A;"),
        ("tools/a/src/b.rs", "let a = elf::EM_ARM; // armv7m"),
        ("tools/place/src/plan.rs", "if area.is_paged() {}"),
        ("tools/place/src/plan.rs", "use protect::pmsav8;"),
        ("sim/b/src/run.rs", "struct Qemu;"),
    ] {
        assert_eq!(found(path, text), [format!("{path}:1")], "{text}");
    }
    assert_eq!(rules(&owners::check(&[], "A core:\n* `a`: b\n")), ["owner", "owner"]);
}

#[test]
fn a_map_names_what_exists() {
    let exists = |path: &str| ["crates", "crates/spec/src", "boards"].contains(&path);
    let good = "`crates/spec/src`, `boards/NAME/board.toml`, `a/b`, `crates/*`, `make test`, crates/x";
    assert_eq!(names::check_paths("d.md", good, exists), []);
    let found = names::check_paths("d.md", "text\n`crates/spec/src` and `crates/gone`\n", exists);
    assert_eq!((rules(&found).as_slice(), found[0].place.as_str()), (["map"].as_slice(), "d.md:2"));
}

#[test]
fn a_mutant_changes_one_place() {
    let list = "[[mutant]]\nfile = \"a.rs\"\nfind = \"once\"\nother = 1\n[[mutant]]\nfile = \"a.rs\"\nfind = \"twice\"\n\
                [[mutant]]\nfile = \"a.rs\"\nfind = \"never\"\n[[mutant]]\nfile = \"gone.rs\"\nfind = \"once\"\n";
    let read = |path: &str| (path == "a.rs").then(|| "once twice twice".to_owned());
    let found = mutants::check("list", list, read).unwrap();
    assert_eq!(rules(&found), ["mutant-applies"; 3]);
    let told: Vec<bool> =
        ["2 times", "0 times", "no gone.rs"].iter().zip(&found).map(|(part, one)| one.text.contains(part)).collect();
    assert_eq!(told, [true; 3]);
    assert!(mutants::check("list", "mutant = 1", read).is_err());
}
