use super::*;

const FILE: &str = "name = 'tiny'\nticks_per_second = 1000\n[clock]\ndevice = 'timer'\n\
    [protection]\nkernel_offset = 0x8000_0000\ndevice_offset = 0x8000_0000\n\
    [memory.chip]\nbase = 0xfff0_0000\nbytes = 0x4000\nkind = 'kernel'\n\
    [memory.near]\nbase = 0xfff0_4000\nbytes = 0x4000\nkind = 'ram'\n\
    [memory.far]\nbase = 0x10_0000\nbytes = 0x4000\nkind = 'loaded'\n\
    [device.timer]\nbase = 0xf000_0000\nbytes = 0x1000\nkernel = true\n\
    [device.uart]\nbase = 0xe000_0000\nbytes = 0x1000\n\
    [foreign]\nkernel_code = { memory = 'chip' }\nkernel_data = { memory = 'chip', offset = 0x100 }\n\
    kernel_objects = { memory = 'chip' }\nkernel_tables = { memory = 'near' }\n\
    kernel_device = { device = 'timer' }\nkernel_timer = { device = 'timer', offset = 8 }\ncore = { device = 'timer' }\n\
    console = { device = 'uart' }\nother_device = { device = 'uart' }\nheaps = { memory = 'far', seen_by = 'kernel' }\n\
    placed = { memory = 'far' }\nnowhere = { address = 0x7fff_0000 }\nouter_cache = { device = 'uart', offset = 4 }\n";

fn made(text: &str) -> Result<String, String> {
    let board: Board = basic_toml::from_str(text).map_err(|error| error.to_string())?;
    table(&[board])
}

#[test]
fn addresses_are_those_at_which_a_domain_would_try() {
    let text = made(FILE).unwrap();
    for field in [
        "kernel_code: 0xfff00000,",
        "kernel_data: 0xfff00100,",
        "kernel_tables: 0x7ff04000,",
        "kernel_timer: 0xf0000008,",
        "console: 0x60000000,",
        "heaps: 0x80100000,",
        "placed: 0x100000,",
        "nowhere: 0x7fff0000,",
        "outer_cache: Some(0x60000004),",
        "placed_on_chip: None",
    ] {
        assert!(text.contains(field), "{field} in\n{text}");
    }
    let without = FILE.split("[foreign]").next().unwrap();
    assert!(!made(without).unwrap().contains("tiny"));
}

#[test]
fn what_names_nothing_is_refused() {
    let with = |from: &str, to: &str| made(&FILE.replace(from, to)).unwrap_err();
    let wrong = "the board file of `tiny` is wrong: foreign.";
    assert_eq!(
        with("placed = { memory = 'far' }", "placed = { memory = 'fat' }"),
        format!("{wrong}placed: no memory `fat`")
    );
    assert_eq!(
        with("core = { device = 'timer' }", "core = { device = 'time' }"),
        format!("{wrong}core: no device `time`")
    );
    assert_eq!(
        with("offset = 0x100 }", "offset = 0x4000 }"),
        format!("{wrong}kernel_data: 0x4000 lies behind the memory `chip`")
    );
    let two = format!("{wrong}placed: a memory or a device with an offset, or an address");
    assert_eq!(with("placed = { memory = 'far' }", "placed = { memory = 'far', device = 'uart' }"), two);
    assert!(with("placed = { memory = 'far' }\n", "").contains("missing field `placed`"));
    assert!(with("nowhere = ", "somewhere = { address = 1 }\nnowhere = ").contains("unknown field `somewhere`"));
    let twice = [basic_toml::from_str::<Board>(FILE).unwrap(), basic_toml::from_str(FILE).unwrap()];
    assert_eq!(table(&twice).unwrap_err(), "two boards are called `tiny`");
}
