//! Every domain of the cast but the lead. A thread's argument in the manifest is its number.
#![no_std]
#![no_main]

use cast::perform::{gate, thread};
use cofferdam::Start;
use conformance::Actor;

cofferdam::entry!(main);
cofferdam::thread!(conformance_second, main);

fn main(start: Start) -> u32 {
    thread(start.info, start.argument)
}

macro_rules! gates {
    ($($symbol:ident = $actor:ident;)*) => {$(
        /// A gate's entry; the low word of the result is the status, the high word the value.
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".cofferdam.entry")]
        pub extern "C" fn $symbol(badge: u32, a0: u32, a1: u32, a2: u32) -> u64 {
            gate(Actor::$actor, [badge, a0, a1, a2])
        }
    )*};
}

gates! {
    conformance_echo = Echo;
    conformance_deep1 = Deep1;
    conformance_deep2 = Deep2;
    conformance_deep3 = Deep3;
    conformance_deep4 = Deep4;
    conformance_deep5 = Deep5;
    conformance_wide = Wide;
}
