use super::Exceptions;

const GOOD: &str =
    "call = 11\nfaults = [[3, 6]]\ntimer = 15\ninterrupts = [16, 255]\nstacked = true\ntimer_entry = \"timer\"\n";

fn refused(from: &str, to: &str) -> String {
    let parsed: Exceptions = toml::from_str(&GOOD.replacen(from, to, 1)).unwrap();
    parsed.check().unwrap_err()
}

#[test]
fn no_exception_is_served_twice() {
    assert_eq!(toml::from_str::<Exceptions>(GOOD).unwrap().check(), Ok(()));
    assert_eq!(refused("[[3, 6]]", "[[3, 11]]"), "exception 11 is served twice");
    assert_eq!(refused("[[3, 6]]", "[[6, 3]]"), "exceptions 6 to 3 are none");
    assert_eq!(refused("timer = 15", "timer = 16"), "exception 16 is served twice");
    assert_eq!(refused("call = 11", "call = 11\nmiss = 7"), "a miss, exception 7, is not among the faults");
}
