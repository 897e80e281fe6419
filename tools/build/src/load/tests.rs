use super::*;

#[test]
fn a_profile_that_needs_another_kernel_is_refused() {
    let install = Install::find().unwrap();
    let file = install.board_file("xilinx-zynq-a9", Path::new(".")).unwrap();
    let mut profile = Profile::find(&install, "xc7z020", Path::new(".")).unwrap();
    assert!(same_kernel(&install, &file, &profile, "xc7z020").is_ok());
    profile.parameters.application.as_mut().unwrap().l2.cache.ways.value = 16;
    assert!(same_kernel(&install, &file, &profile, "other").is_err());
    profile.parameters.application.as_mut().unwrap().mmu.lock_entries.value = 6;
    let refused = profile.board(&install, file).unwrap_err();
    assert_eq!((refused.refusal().code, refused.refusal().limit.as_str()), ("CF0202", "4"));
}
