use super::Profile;
use std::fs;
use std::string::String;

/// The text of the profile that comes with the project.
pub(crate) fn text() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../boards/profiles/stm32f767.toml")).unwrap()
}

pub(crate) fn stm32f767() -> Profile {
    toml::from_str(&text()).unwrap()
}

#[test]
fn the_profile_that_comes_along_is_valid() {
    assert_eq!(stm32f767().validate(), []);
}
