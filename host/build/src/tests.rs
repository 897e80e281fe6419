use crate::rust::executable as executable_of;

#[test]
fn the_executable_is_taken_from_the_messages() {
    let line = |name: &str, path: &str| {
        format!("{{\"reason\":\"compiler-artifact\",\"target\":{{\"name\":\"{name}\"}},\"executable\":{path}}}\n")
    };
    let one = line("lib", "null") + &line("app", "\"/x/app\"") + "not json\n";
    assert_eq!(executable_of(one.as_bytes(), None).unwrap().to_str(), Some("/x/app"));
    let two = one + &line("other", "\"/x/other\"");
    assert_eq!(executable_of(two.as_bytes(), None), None);
    assert_eq!(executable_of(two.as_bytes(), Some("other")).unwrap().to_str(), Some("/x/other"));
}
