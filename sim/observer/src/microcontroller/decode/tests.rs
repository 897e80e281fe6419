use super::{changes_mask, is_floating_point, may_return, may_sleep};

/// A wide instruction as it is written: first halfword first.
const fn wide(first: u32, second: u32) -> u32 {
    first | second << 16
}

#[test]
fn returns_are_told_from_other_branches() {
    let pop_pc = 0xbd08;
    let bx_lr = 0x4770;
    let ldm_sp_pc = wide(0xe8bd, 0x8010);
    let ldr_pc_sp = wide(0xf85d, 0xfb04);
    let bxns_lr = 0x4774;
    for code in [pop_pc, bx_lr, bxns_lr, ldm_sp_pc, ldr_pc_sp] {
        assert!(may_return(code), "{code:#x}");
    }
    let pop_r3 = 0xbc08;
    let blx_r3 = 0x4798;
    let blxns_r3 = 0x479c;
    let ldm_without_pc = wide(0xe8bd, 0x4010);
    let stm_with_bit_15 = wide(0xe8ad, 0x8010);
    let ldr_r3 = wide(0xf8d3, 0x3000);
    let branch = 0xe7fe;
    for code in [pop_r3, blx_r3, blxns_r3, ldm_without_pc, stm_with_bit_15, ldr_r3, branch] {
        assert!(!may_return(code), "{code:#x}");
    }
}

#[test]
fn masks_are_changed_by_cps_and_msr() {
    let cpsid_i = 0xb672;
    let cpsie_f = 0xb661;
    let msr_basepri_r3 = wide(0xf383, 0x8811);
    let msr_primask_r0 = wide(0xf380, 0x8810);
    let msr_primask_ns_r0 = wide(0xf380, 0x8890);
    for code in [cpsid_i, cpsie_f, msr_basepri_r3, msr_primask_r0, msr_primask_ns_r0] {
        assert!(changes_mask(code), "{code:#x}");
    }
    let msr_control_r0 = wide(0xf380, 0x8814);
    let msr_control_ns_r0 = wide(0xf380, 0x8894);
    let msr_psp_r0 = wide(0xf380, 0x8809);
    let mrs_primask = wide(0xf3ef, 0x8010);
    for code in [msr_control_r0, msr_control_ns_r0, msr_psp_r0, mrs_primask, 0xbf30] {
        assert!(!changes_mask(code), "{code:#x}");
    }
}

#[test]
fn waiting_for_an_interrupt_or_an_event_may_be_sleep() {
    let [wfe, wfi, wfe_wide, wfi_wide] = [0xbf20, 0xbf30, wide(0xf3af, 0x8002), wide(0xf3af, 0x8003)];
    for code in [wfe, wfi, wfe_wide, wfi_wide] {
        assert!(may_sleep(code), "{code:#x}");
    }
    let [nop, yield_, sev, it_eq, nop_wide] = [0xbf00, 0xbf10, 0xbf40, 0xbf08, wide(0xf3af, 0x8000)];
    // Halfwords of other instructions that follow or go before.
    for code in [nop, yield_, sev, it_eq, nop_wide, wide(0xbf00, 0xbf30), wide(0xf3ef, 0x8003)] {
        assert!(!may_sleep(code), "{code:#x}");
    }
}

#[test]
fn floating_point_is_coprocessors_ten_and_eleven() {
    let vmov_s0_r0 = wide(0xee00, 0x0a10);
    let vldr_d0 = wide(0xed90, 0x0b00);
    let vadd_f32 = wide(0xee30, 0x0a00);
    for code in [vmov_s0_r0, vldr_d0, vadd_f32] {
        assert!(is_floating_point(code), "{code:#x}");
    }
    let ldrd = wide(0xe9d4, 0x6700);
    let mcr_p15 = wide(0xee00, 0x0f10);
    for code in [ldrd, mcr_p15, 0x4770] {
        assert!(!is_floating_point(code), "{code:#x}");
    }
}
