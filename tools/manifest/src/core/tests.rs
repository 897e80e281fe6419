use super::*;

const REGIONS: &str = include_str!("../../../../cores/cortex-m7.toml");
const PAGES: &str = include_str!("../../../../cores/cortex-a9.toml");

/// The refusal of a core's file with a change: code, message, value and limit.
fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    let refusal = Core::parse(&text.replacen(from, to, 1)).unwrap_err();
    let refusal = refusal.refusal();
    [refusal.code, &refusal.message, &refusal.value, &refusal.limit].join("; ")
}

#[test]
fn a_core_has_as_many_region_registers_as_the_kernel_is_compiled_for() {
    assert_eq!(Core::parse(REGIONS).unwrap().regions, Some(protect::regions::REGIONS as u32));
    let said = refused(REGIONS, "regions = 8", "regions = 16");
    assert!(said.starts_with("CF0202; ") && said.ends_with("; regions = 16; 8"), "{said}");
    let said = refused(REGIONS, "regions = 8\n", "");
    assert!(said.starts_with("CF0605; ") && said.contains("says how many"), "{said}");
    let said = refused(PAGES, "protection = \"vmsav7\"", "protection = \"vmsav7\"\nregions = 8");
    assert!(said.starts_with("CF0605; ") && said.contains("regions = 8: a core with page tables"), "{said}");
}

#[test]
fn the_timer_of_a_core_with_page_tables_is_an_interrupt_line() {
    assert!(Core::parse(PAGES).is_ok());
    let said = refused(PAGES, "timer = 45", "timer = 15");
    assert!(said.starts_with("CF0605; ") && said.contains("exceptions.timer = 15"), "{said}");
}
