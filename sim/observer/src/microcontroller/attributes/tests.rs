use super::memory_attr;
use protect::AccessKind;
use protect::pmsav7::{RegionRegs, Shadow};
use timing::MemAttr;

#[test]
fn the_model_sees_what_it_would_read_in_the_region_register() {
    for tex_s_c_b in 0..64u32 {
        let mut shadow = Shadow::new();
        shadow.write(4, 1).unwrap();
        shadow.set_region(0, RegionRegs { rbar: 0x2000_0000, rasr: 0x0300_0013 | tex_s_c_b << 16 });
        let seen = shadow.permits(0x2000_0000, 4, false, AccessKind::Read).unwrap();
        assert_eq!(memory_attr(seen.memory), MemAttr::from_rasr(tex_s_c_b << 16), "{tex_s_c_b:#x}");
    }
}
