//! How fast the model itself is: nanoseconds per call on this host, and how many guest instructions per second a
//! typical mix could reach if nothing else took time.
//!
//! `cargo bench -p cofferdam-timing` prints both.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use timing::application::{Access, Application};
use timing::cp15::Operation;
use timing::thumb::classify;
use timing::vmsa::Tables;
use timing::{BlockCost, Machine, MemAttr, Profile};

const CALLS: u32 = 20_000_000;
const CACHED: MemAttr = MemAttr::WRITE_BACK_ALLOCATE;
const CODE: MemAttr = MemAttr::WRITE_THROUGH;

/// Times `CALLS` calls, of which each is given its number, and prints them. Nanoseconds per call.
fn per_call<M>(name: &str, machine: &mut M, mut call: impl FnMut(&mut M, u32)) -> f64 {
    let start = Instant::now();
    for i in 0..CALLS {
        call(machine, black_box(i));
    }
    let nanos = start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS);
    println!("{name:<44} {nanos:7.2} ns");
    nanos
}

/// Five instructions: two loads, an addition, a comparison, a branch back.
fn block(machine: &Machine, at: u32) -> BlockCost {
    let code: [u16; 5] = [0x6801, 0x6842, 0x1889, 0x4291, 0xD1FA];
    let insns = code.map(|half| classify(&half.to_le_bytes()));
    BlockCost::new(machine.costs(), at, &insns)
}

fn profile(name: &str) -> Result<Profile, Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = timing::profile::read_text(&root.join("chips").join(format!("{name}.toml")), &root.join("cores"))?;
    Ok(toml::from_str(&text.profile)?)
}

/// One mebibyte of pages at 0x4000_0000 in tables that never change.
struct Fixed;

impl Tables for Fixed {
    fn descriptor(&self, addr: u32) -> Option<u32> {
        match addr {
            0x0100_1000 => Some(0x0200_0001),
            0x0200_0000..0x0200_0400 => Some(0x0300_0000 | (addr & 0x3FF) << 10 | 0x7E),
            _ => None,
        }
    }

    fn generation(&self) -> u64 {
        0
    }
}

fn application() -> Result<(), Box<dyn Error>> {
    let core = || -> Result<Application, Box<dyn Error>> {
        let mut core = Application::new(&profile("xc7z020")?).map_err(|errors| format!("{errors:?}"))?;
        let table = Operation::Table0(0x0100_0048);
        for operation in [table, Operation::ContextId(1), Operation::Control(1 << 12 | 1 << 2 | 1)] {
            core.operate(operation, &Fixed);
        }
        Ok(core)
    };
    let access = |virt| Access { virt, phys: None, beyond: None, size: 4, store: false };
    per_call("A9 data: hit, same page", &mut core()?, |core, i| {
        core.data(access(0x4000_0000 + (i & 0x3FF) * 4), &Fixed);
    });
    per_call("A9 data: hit, eight pages in turn", &mut core()?, |core, i| {
        core.data(access(0x4000_0000 + (i & 7) * 0x1040), &Fixed);
    });
    per_call("A9 data: main TLB hit every time", &mut core()?, |core, i| {
        core.data(access(0x4000_0000 + (i & 63) * 0x1040), &Fixed);
    });
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let profile = profile("stm32f767")?;
    application()?;
    let machine = || Machine::new(&profile).map_err(|errors| format!("{errors:?}"));

    per_call("data: tightly coupled", &mut machine()?, |m, i| {
        m.data(0x2000_0000 + ((i * 4) & 0xFFFF), 4, i & 1 == 0, CACHED);
    });
    per_call("data: hit, same line", &mut machine()?, |m, i| {
        m.data(0x2002_0000 + (i & 7) * 4, 4, i & 1 == 0, CACHED);
    });
    per_call("data: hit, another line every time", &mut machine()?, |m, i| {
        m.data(0x2002_0000 + ((i * 32) & 0x1FFF), 4, i & 1 == 0, CACHED);
    });
    per_call("data: miss every time, dirty, SDRAM", &mut machine()?, |m, i| {
        m.data(0x6000_0000 + (i.wrapping_mul(32) & 0x00FF_FFFF), 4, true, CACHED);
    });
    let mut m = machine()?;
    let one = block(&m, 0x0020_0000);
    let single = per_call("block of 5: same flash line", &mut m, |m, _| {
        m.block(&one, CODE);
    });
    let mut m = machine()?;
    let many: Vec<BlockCost> = (0..256).map(|n| block(&m, 0x0020_0000 + n * 64)).collect();
    per_call("block of 5: 256 lines of flash in turn", &mut m, |m, i| {
        m.block(&many[i as usize & 255], CODE);
    });
    let mut m = machine()?;
    let mixed = per_call("block of 5, load and store, 1 in 16 misses", &mut m, |m, i| {
        m.block(&many[i as usize & 31], CODE);
        m.data(0x2002_0000 + (i.wrapping_mul(52) & 0x0FFF), 4, false, CACHED);
        m.data(0x6000_0000 + (i.wrapping_mul(4) & 0x000F_FFFF), 4, true, CACHED);
    });
    println!("one line:   {:7.0} million instructions per second of the model alone", 5e3 / single);
    println!("mixed:      {:7.0} million instructions per second of the model alone", 5e3 / mixed);
    println!("{:#?}", m.counters());
    Ok(())
}
