//! Refusals of direct delivery that no board of the checkout can show.

use crate::*;
use std::path::Path;

const BOARD: &str = include_str!("../../../../boards/mps2-an505/board.toml");

/// The board, with further devices, each with a line.
fn board(text: &str, devices: usize) -> Board {
    let device = |index: usize| {
        let base = 0x5040_0000 + 0x1000 * index;
        format!(
            "[device.more{index}]\nbase = {base:#x}\nbytes = 0x1000\nlines = {{ up = {} }}\nopen = [[0x5008_0090, {index}], [0x4008_00D0, {index}]]\n",
            40 + index
        )
    };
    let text = text.to_owned() + &(0..devices).map(device).collect::<String>();
    let mut file = BoardFile::parse(&text, "board.toml".into()).unwrap();
    file.memory.values_mut().for_each(|memory| memory.usable = memory.bytes);
    let core = Core::parse(include_str!("../../../../cores/cortex-m33.toml")).unwrap();
    let chip = Chip { cpu_hz: 150_000_000, ..Chip::default() };
    file.supported(core, |_| chip, Setup::default()).unwrap()
}

/// A domain with a direct line of each of these devices.
fn refusals(board: &Board, devices: &[String], line: &str) -> Vec<Refusal> {
    let interrupt = |(index, device): (usize, &String)| {
        format!(
            "[domain.app.interrupt.i{index}]\ndevice = \"{device}\"\nline = \"{line}\"\nnotification = \"events\"\nbit = {index}\ndelivery = \"direct\"\nhandler = \"f\"\npriority = 0\nseparation = \"1 ms\"\n"
        )
    };
    let text = format!(
        "system = {{ name = \"direct\", board = \"mps2-an505\" }}\nnotification.events = {{}}\n\
         budget.all = {{ period = \"10 ms\", capacity = \"1 ms\" }}\n[domain.app]\ncrate = \"app\"\ndevices = {devices:?}\n\
         thread = [{{ priority = 3, budget = \"all\" }}]\nhandlers = {{ period = \"10 ms\", capacity = \"1 ms\" }}\n{}",
        devices.iter().enumerate().map(interrupt).collect::<String>()
    );
    let document = Document::parse(Path::new("system.toml"), &text).expect("the schema accepts it");
    check(&document.manifest, board, true).err().unwrap_or_default()
}

#[test]
fn handlers_use_no_more_ranges_than_the_attribution_unit_has() {
    let board = board(BOARD, 6);
    let names: Vec<String> = (0..6).map(|index| format!("more{index}")).collect();
    let wide = |count: usize| refusals(&board, &names[..count], "up").into_iter().find(|found| found.code == "CF0323");
    assert!(wide(5).is_none());
    let refused = wide(6).unwrap();
    assert_eq!(refused.place, "domain.app.interrupt");
    assert!(refused.message.contains("too many ranges"), "{}", refused.message);
}

#[test]
fn a_device_that_cannot_be_opened_is_refused() {
    let closed = BOARD.replace("open = [[0x5008_0070, 1], [0x4008_00B0, 1]]\n", "");
    let found = refusals(&board(&closed, 0), &["timer1".to_owned()], "zero");
    let [refused] = &found[..] else { panic!("{found:?}") };
    assert_eq!((refused.code, refused.place.as_str()), ("CF0322", "domain.app.interrupt.i0.device"));
    assert!(refusals(&board(BOARD, 0), &["timer1".to_owned()], "zero").is_empty());
}

/// Behind a comma QEMU takes options that write files of the host, and a model is the name of a program.
#[test]
fn what_the_simulator_is_called_with_is_a_plain_name() {
    let machine = "machine = \"mps2-an505\"\n";
    assert!(BOARD.contains(machine));
    let core = || Core::parse(include_str!("../../../../cores/cortex-m33.toml")).unwrap();
    for (key, line) in
        [("machine", "machine = \"mps2-an505,dumpdtb=x\"\n"), ("model", "machine = \"x\"\nmodel = \"../x\"\n")]
    {
        let file = BoardFile::parse(&BOARD.replace(machine, line), "board.toml".into()).unwrap();
        let refused = file.supported(core(), |_| Chip::default(), Setup::default()).unwrap_err();
        let message = &refused.refusal().message;
        assert!(message.contains(&format!("{key} = ")) && refused.refusal().code == "CF0605", "{message}");
    }
}

#[test]
fn a_board_without_a_sampler_is_refused() {
    let sampler = "[sampler]\ndevice = \"dualtimer\"\nline = \"zero\"\n";
    assert!(BOARD.contains(sampler));
    let (before, counter) = BOARD.split_once("[counter]\n").unwrap();
    let (_, after) = counter.split_once("\n\n").unwrap();
    let blind = format!("{before}{after}").replace(sampler, "");
    let found = refusals(&board(&blind, 0), &["timer1".to_owned()], "zero");
    let [refused] = &found[..] else { panic!("{found:?}") };
    assert_eq!((refused.code, refused.place.as_str()), ("CF0322", "domain.app.interrupt.i0.delivery"));
    assert!(refused.limit.contains("[sampler]"), "{refused:?}");
}

#[test]
fn a_memory_has_blocks_only_if_controllers_cover_all_of_it() {
    let board = board(BOARD, 0);
    let blocks = |change: &dyn Fn(&mut Memory)| {
        let mut memory = board.memory["sram"].clone();
        change(&mut memory);
        memory.block()
    };
    assert_eq!(blocks(&|_| {}), Some(1024));
    assert_eq!(blocks(&|memory| memory.gates[1].block = 4096), Some(4096));
    assert_eq!(blocks(&|memory| memory.gates.truncate(1)), None);
    assert_eq!(blocks(&|memory| memory.gates[1].base += 1024), None);
    assert_eq!(blocks(&|memory| memory.gates.clear()), None);
}

/// The part that a hostile domain's handlers have in the response of somebody else, in ticks of 50 ns.
fn taken(board: &Board, handlers: &str) -> u64 {
    let text = format!(
        "system = {{ name = \"slips\", board = \"mps2-an505\" }}\nnotification.events = {{}}\n\
         budget.victim = {{ period = \"1 s\", capacity = \"500 ms\" }}\nbudget.guest = {{ period = \"1 s\", capacity = \"1 ms\" }}\n\
         [domain.app]\ncrate = \"app\"\n\
         thread = [{{ priority = 1, budget = \"victim\", period = \"1 s\", deadline = \"1 s\", wcet = \"1 ms\" }}]\n\
         [domain.guest]\ncrate = \"guest\"\nhostile = true\ndevices = [\"timer1\"]\n\
         thread = [{{ priority = 3, budget = \"guest\" }}]\nhandlers = {{ period = \"1 s\", capacity = \"100 us\"{handlers} }}\n\
         [domain.guest.interrupt.fired]\ndevice = \"timer1\"\nline = \"zero\"\nnotification = \"events\"\n\
         delivery = \"direct\"\nhandler = \"f\"\npriority = 0\nseparation = \"1 ms\"\n"
    );
    let document = Document::parse(Path::new("system.toml"), &text).expect("the schema accepts it");
    let system = check(&document.manifest, board, true).unwrap();
    let bounds = analyse(&system, board).unwrap();
    bounds[0].terms.iter().filter(|term| matches!(term.kind, Kind::Handlers(_))).map(|term| term.ticks).sum()
}

/// Each 32 cycles of a hostile domain's handlers can cost others 250. A window meets two capacities, each twice as long as what is counted, and what their counter
/// hides once.
#[test]
fn slips_count_unless_they_are_accepted() {
    let mut board = board(BOARD, 0);
    // More slips are a longer window, with more looks.
    (board.kernel.counted_look_cycles, board.kernel.counted_met_cycles) = (0, 0);
    let [counted, accepted] = [taken(&board, ""), taken(&board, ", slips = \"accepted\"")];
    let spending = 2 * (2000 + board.ticks_in(board.counter.unwrap().beyond_cycles));
    let hidden = u64::from(sched::sampling::COUNTED_HIDDEN_TICKS);
    let wasted = |used: u64| (used * 250).div_ceil(32);
    assert_eq!(counted - accepted, 2 * wasted(spending) + wasted(hidden));
    assert_eq!(taken(&board, ", slips = \"counted\""), counted);
}
