use std::collections::BTreeSet;
use std::path::Path;

use manifest::Document;

use crate::c::object_name;
use crate::rust::executable as executable_of;
use crate::{Install, Origin};

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

#[test]
fn who_claims_a_system_second_waits_for_the_first() {
    let target = std::env::temp_dir().join(format!("cofferdam-claim-{}", std::process::id()));
    let install = Install::new("/nowhere".into(), target.clone());
    let first = install.claim("gateway", &mut || panic!("nobody else is there")).unwrap();
    let copy = first.clone();
    install.claim("hello", &mut || panic!("another system does not matter")).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let other = std::thread::spawn({
        let install = install.clone();
        move || install.claim("gateway", &mut || tell.send(()).unwrap()).map(drop)
    });
    told.recv().unwrap();
    drop(first);
    std::thread::yield_now();
    assert!(!other.is_finished(), "a copy is a claim too");
    drop(copy);
    other.join().unwrap().unwrap();
    std::fs::remove_dir_all(target).unwrap();
}

/// Two projects whose systems have one name do not meet, and a change of the manifest shows.
#[test]
fn results_lie_beside_the_manifest_and_say_whose_they_are() {
    let base = std::env::temp_dir().join(format!("cofferdam-origin-{}", std::process::id()));
    let text = "[system]\nname = \"s\"\nboard = \"b\"\n";
    let project = |name: &str| {
        let manifest = base.join(name).join("system.toml");
        std::fs::create_dir_all(base.join(name)).unwrap();
        std::fs::write(&manifest, text).unwrap();
        (Install::new("/nowhere".into(), "/target".into()).beside(&manifest).system_dir("s"), manifest)
    };
    let ((first, manifest), (second, other)) = (project("an \u{e4} directory"), project("second"));
    assert!(first.starts_with(manifest.parent().unwrap().canonicalize().unwrap()) && first != second, "{first:?}");
    let inside = Install::new(base.canonicalize().unwrap(), "/target".into()).beside(&manifest);
    assert_eq!(inside.system_dir("s"), Path::new("/target/cofferdam/s"));
    let of = |path: &Path| Origin::of(&Document::read(path).unwrap());
    let origin = of(&manifest);
    assert_eq!(Origin::read(&first), None);
    origin.write(&first).unwrap();
    assert_eq!(Origin::read(&first), Some(origin.clone()));
    assert_ne!(of(&other), origin, "the same text elsewhere");
    std::fs::write(&manifest, format!("{text}# changed\n")).unwrap();
    assert_ne!(of(&manifest), origin);
    Origin::clear(&first);
    assert_eq!(Origin::read(&first), None);
    std::fs::remove_dir_all(base).unwrap();
}

/// Programs compare hashes of names: two boards, or two kinds of device, that have the same one would be taken for each other.
#[test]
fn names_of_boards_and_of_kinds_differ_as_words() {
    let install = Install::find().unwrap();
    let files: Vec<_> = install.boards().iter().map(|name| install.board_file(name, Path::new(".")).unwrap()).collect();
    let kinds: BTreeSet<&str> =
        files.iter().flat_map(|file| file.device.values()).filter_map(|device| device.kind.as_deref()).collect();
    let boards: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    for names in [kinds, boards] {
        let words: BTreeSet<u32> = names.iter().map(|name| abi::info::name_hash(name)).collect();
        assert!(words.len() == names.len() && !words.contains(&0), "{names:?}");
    }
}

/// However directories and files are called, each source has an object of its own, and two names of one file have one.
#[test]
fn sources_do_not_share_objects() {
    let names = ["a/b.c", "a_b.c", "a:b.c", "b.c", "a/b.cc", "./a_b_c"].map(|path| object_name(Path::new(path), ""));
    assert_eq!(BTreeSet::from(names.clone()).len(), names.len(), "{names:?}");
    assert_ne!(object_name(Path::new("b.c"), "-O1"), object_name(Path::new("b.c"), "-O2"));
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_eq!(object_name(&own.join("src/tests.rs"), ""), object_name(&own.join("src/../src/tests.rs"), ""));
}

#[test]
fn a_checkout_that_the_search_path_cannot_name_is_refused() {
    let first = crate::rust::first_in_path("/a/user".into()).unwrap();
    assert!(first.to_string_lossy().starts_with("/a/user:"), "{first:?}");
    assert_eq!(crate::rust::first_in_path("/a:b/user".into()).unwrap_err().refusal().code, "CF0605");
}
