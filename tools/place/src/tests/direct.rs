//! Handlers that interrupts reach without the kernel: where they lie, what the kernel is told, and what their image holds.

use std::fs;
use std::path::Path;
use std::process::Command;

use manifest::resolved::{Part, System};
use manifest::{BoardFile, Chip, Core, Document, Setup};
use system::build::SchemeTables;
use system::{area, direct};

use super::Scratch;
use crate::elf::{Kernel, Symbol};
use crate::error::PlaceError;
use crate::handlers::Handlers;
use crate::placed::ImageSizes;
use crate::plan::Plan;
use crate::relocate::{read_word, relocate};
use crate::spot::Spot;
use crate::{Isa, Program, tables};

const M33: &[&str] = &["-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"];
const SECURE: u32 = 0x1000_0000;
const SOURCE: &str = "volatile unsigned count, other[40] = { 1 }; const unsigned table[] = { 3, 5, 7 };
    __attribute__((noinline)) static unsigned next(unsigned x) { return table[x % 3]; }
    void fired(void) { count += next(count); }
    void received(void) { other[count % 40]++; }
    void _start(void) { for (;;) count++; }";
const MANIFEST: &str = r#"
    system = { name = "direct", board = "mps2-an505" }
    notification.events = {}
    budget.all = { period = "10 ms", capacity = "5 ms" }
    budget.other = { period = "10 ms", capacity = "1 ms" }
    [domain.app]
    c = { sources = ["a.c"] }
    devices = ["timer1", "uart1", "uart2"]
    stack = { size = "1 KiB" }
    thread = [{ priority = 4, budget = "all" }]
    handlers = { stack = "200 B", period = "10 ms", capacity = "1 ms" }
    [domain.app.interrupt]
    fired = { device = "timer1", line = "zero", notification = "events", delivery = "direct", handler = "fired", priority = 0, separation = "1 ms" }
    rx = { device = "uart1", line = "rx", notification = "events", bit = 1, delivery = "direct", handler = "received", priority = 2, separation = "1 ms" }
    tx = { device = "uart1", line = "tx", notification = "events", bit = 2 }
    [domain.beside]
    c = { sources = ["a.c"] }
    thread = [{ priority = 5, budget = "other" }]
"#;

fn system() -> System {
    system_of(MANIFEST)
}

fn system_of(manifest: &str) -> System {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let core = Core::parse(&read("cores/cortex-m33.toml")).unwrap();
    let mut file = BoardFile::parse(&read("boards/mps2-an505/board.toml"), "board.toml".into()).unwrap();
    file.memory.values_mut().for_each(|memory| memory.usable = memory.bytes);
    let chip = Chip { cpu_hz: 150_000_000, ..Chip::default() };
    let board = file.supported(core, |_| chip, Setup::default()).unwrap();
    let document = Document::parse(Path::new("system.toml"), manifest).unwrap();
    manifest::check(&document.manifest, &board, true).unwrap()
}

fn kernel() -> Kernel {
    let symbol = |(name, value): (&str, u32)| Symbol {
        name: name.into(),
        value,
        bytes: 0,
        section: None,
        absolute: false,
        named: true,
    };
    let known = [
        ("__kernel_flash_end", 0x1000_8004),
        ("__kernel_objects_start", 0x3800_1000),
        ("__kernel_objects_end", 0x3800_8000),
    ];
    let isa = Isa::of_target("thumbv8m.main-none-eabihf").unwrap();
    let symbols = known.map(symbol).to_vec();
    Kernel { isa, processors: None, segments: Vec::new(), entry: 0, symbols, sizes: ImageSizes::default() }
}

fn programs(scratch: &Scratch) -> Vec<Program> {
    let file = scratch.link_for(M33, SOURCE, 0x1600_0000, 0x3900_0000, &["-ffunction-sections"]);
    ["app", "beside"].iter().map(|name| Program::parse(name, &file).unwrap()).collect()
}

fn planned<'a>(system: &System, programs: &'a [Program]) -> (Handlers<'a>, Plan) {
    let mut handlers = Handlers::all(system, programs).unwrap();
    assert_eq!(handlers.len(), 1);
    let plan = crate::schemes::plan(system, &kernel(), programs, &[], &handlers).unwrap();
    (handlers.remove(0), plan)
}

#[test]
fn what_handlers_use_is_open_and_nothing_else() {
    let scratch = Scratch::new("open");
    let (system, programs) = (system(), programs(&scratch));
    let (_, plan) = planned(&system, &programs);
    let words = tables::build(&system, &plan, &programs).unwrap().encode().unwrap();
    let tables = system::System::parse(&words).unwrap();
    let owner = &plan.domains[0];
    let open = owner.areas.iter().filter(|spot| spot.flags & area::OPEN != 0);
    let names: Vec<_> = open.clone().map(|spot| spot.part.name()).collect();
    assert_eq!(names, ["data", "timer1", "uart1"]);
    for spot in open {
        assert_eq!((spot.base & SECURE, spot.physical), (0, spot.base | SECURE));
        assert!((spot.base | spot.bytes).is_multiple_of(1024) && spot.flags & area::PINNED != 0);
    }
    let closed = plan.domains.iter().flat_map(|domain| &domain.areas).filter(|spot| spot.flags & area::OPEN == 0);
    assert!(closed.clone().count() > 4);
    assert!(closed.into_iter().all(|spot| spot.base & SECURE != 0 && spot.base == spot.physical));
    // Data lies behind the handlers' stack, and stacks of threads lie elsewhere, with room for a larger frame.
    let data = owner.areas.iter().find(|spot| spot.part.name() == "data").unwrap();
    assert_eq!((owner.data_base, data.base + 224), (data.base + 224, owner.data_base));
    assert_eq!(owner.data_delta, i64::from(owner.data_base) - 0x3900_0000);
    assert_eq!((system.frame_bytes, system.domains[0].threads[0].stack_bytes), (40, 1024 + 40));
    assert!(direct::lines(&tables).eq([(4, 1, 0), (34, 3, 0)]));
    let SchemeTables::Pmsav8 { direct: [direct, ..], .. } = plan.scheme else { panic!("another scheme") };
    assert_eq!(direct::open(&tables, &direct).count(), 4);
    assert_eq!((direct.domain, direct.stack_top, direct.alias), (1, owner.data_base, SECURE));
    // 10 ms and 1 ms of a clock of 20 MHz.
    assert_eq!((direct.period, direct.capacity), (200_000, 20_000));
}

/// Of the board's file: each has a controller of its own.
const GATES: [u32; 2] = [0x3800_0000, 0x3820_0000];
const GATE_BYTES: u32 = 0x20_0000;

/// Two domains with handlers and so many bytes of data each, the first at an address or anywhere.
fn two_owners(bytes: u32, at: Option<u32>) -> Result<Plan, PlaceError> {
    let (head, rest) = MANIFEST.split_once("[domain.app]").unwrap();
    let own = rest.split_once("[domain.beside]").unwrap().0;
    let data = at.map_or_else(String::new, |at| format!("data = {{ at = \"{at:#x}\" }}"));
    let first = own.replace("{ stack =", "{ occupies = true, stack =");
    let mut other = own.replace("\"all\"", "\"other\"").replace("domain.app", "domain.other");
    for (one, instead) in [("timer1", "watchdog"), ("uart1", "uart0"), ("uart2", "fpgaio")] {
        other = other.replace(one, instead);
    }
    let system = system_of(&format!("{head}[domain.app]\n{data}{first}[domain.other]{other}"));
    let scratch = Scratch::new(&format!("gates{bytes}{}", at.is_some()));
    let source = format!("char large[{bytes}];{SOURCE}");
    let file = scratch.link_for(M33, &source, 0x1600_0000, 0x3900_0000, &["-ffunction-sections"]);
    let programs: Vec<_> = system.domains.iter().map(|domain| Program::parse(&domain.name, &file).unwrap()).collect();
    let handlers = Handlers::all(&system, &programs).unwrap();
    crate::schemes::plan(&system, &kernel(), &programs, &[], &handlers)
}

#[test]
fn what_handlers_use_lies_in_the_range_of_one_controller() {
    let plan = two_owners(1_500_000, None).unwrap();
    let open = |spot: &&Spot| spot.flags & area::OPEN != 0 && spot.part == Part::Data;
    let found: Vec<_> = plan.domains.iter().flat_map(|domain| domain.areas.iter().find(open)).collect();
    assert_eq!(found.len(), 2);
    for Spot { physical, bytes, .. } in found {
        assert!(GATES.iter().any(|gate| physical.wrapping_sub(*gate) <= GATE_BYTES - bytes), "{physical:#x} {bytes}");
    }
}

#[test]
fn what_no_controller_can_open_is_refused() {
    let full = two_owners(0x20_0000, None).unwrap_err();
    let PlaceError::Full { what, memory, asked, rounded, left } = full else { panic!("{full:?}") };
    assert_eq!((what.place(), memory.as_str()), ("domain.app.data".to_owned(), "sram"));
    assert!(
        rounded.contains("controller") && asked > left && left == u64::from(GATE_BYTES),
        "{rounded} {asked} {left}"
    );
    let at = two_owners(1_000_000, Some(0x3818_0000)).unwrap_err();
    let PlaceError::At { reason, .. } = at else { panic!("{at:?}") };
    assert!(reason.ends_with("another's begins at 0x38200000"), "{reason}");
}

#[test]
fn vectors_lead_to_copies_of_handlers_and_the_quiet_ones_to_a_stub() {
    let scratch = Scratch::new("vectors");
    let (system, programs) = (system(), programs(&scratch));
    let (handlers, plan) = planned(&system, &programs);
    let moved = programs.iter().zip(&plan.domains);
    let moved: Vec<_> =
        moved.map(|(program, spot)| relocate(program, spot.code_delta, spot.data_delta).unwrap()).collect();
    let spot = plan.handlers[0];
    let loaded = handlers.load(&spot, &moved).unwrap();
    let direct = spot.direct;
    assert_eq!((loaded.at, loaded.bytes.len() as u32), (direct.text_base | SECURE, direct.text_bytes));
    let word = |address: u32| read_word(&loaded.bytes, (address - direct.text_base) as usize).unwrap();
    let named = |name: &str| handlers.pieces(&spot).find(|copy| copy.name == name).unwrap().at;
    for vector in 0..16 + 35 {
        let expected = match vector {
            0 => direct.stack_top,
            20 => named("fired") | 1,
            50 => named("received") | 1,
            // PendSV and SysTick of that state.
            14 | 15 => word(direct.quiet + 4),
            _ => 0,
        };
        assert_eq!(word(direct.vectors + 4 * vector), expected, "{vector}");
    }
    let quiet: Vec<u32> = (0..16).map(|vector| word(direct.quiet + 4 * vector)).collect();
    let stub = quiet[1] & !1;
    assert_eq!((quiet[0], quiet[1] & 1), (direct.stack_top, 1));
    assert!(quiet[1..].iter().all(|vector| *vector == stub | 1));
    fs::write(scratch.0.join("text.bin"), &loaded.bytes).unwrap();
    let arguments = ["-D", "-b", "binary", "-marm", "-Mforce-thumb", "text.bin"];
    let from = [format!("--adjust-vma={:#x}", direct.text_base), format!("--start-address={stub:#x}")];
    let output =
        Command::new("arm-none-eabi-objdump").args(arguments).args(from).current_dir(&scratch.0).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let code = text.lines().filter_map(|line| Some(line.split_once('\t')?.1.split_once('\t')?.1.replace('\t', " ")));
    let code: Vec<String> = code.map(|line| line.split(" @").next().unwrap().trim().to_owned()).take(7).collect();
    let [control, reload, value] = ["str r1, [r0, #0]", "str r1, [r0, #4]", "str r1, [r0, #8]"];
    assert_eq!(code, ["movw r0, #57360", "movt r0, #57344", "movs r1, #0", control, reload, value, "bx lr"]);
}
