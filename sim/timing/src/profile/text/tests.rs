use super::*;

fn profile(chip: &str, core: &str) -> Result<String, String> {
    combined(chip.parse().unwrap(), core.parse().unwrap())
}

#[test]
fn a_profile_is_the_chips_file_and_the_cores() {
    let chip = "core = 'm'\nname = 'x'\n[a.b]\none = 1\n[setup]\nwrites = []\n";
    let core = "name = 'm'\n[timing.a.c]\ntwo = 2\n[timing.d]\nthree = 3\n";
    let both: Table = profile(chip, core).unwrap().parse().unwrap();
    assert_eq!(both, "name = 'x'\n[a]\nb.one = 1\nc.two = 2\n[d]\nthree = 3\n".parse::<Table>().unwrap());
}

#[test]
fn no_fact_stands_in_both() {
    let refused = |chip: &str| profile(chip, "[timing.a]\nways = { value = 2, source = 's' }\n").unwrap_err();
    assert_eq!(refused("a = 1"), "`a` is a fact of the core, whose file states it");
    let ways = "[a]\nways = { value = 3, source = 's' }";
    assert_eq!(refused(ways), "`a.ways` is a fact of the core, whose file states it");
}
