//! Calls that map memory, to a kernel whose processor and tables are looked at after each.

use abi::{Call, Error};

use super::refused;
use super::sim::{Guard, Machine, PEER};
use super::watch::memory;
use crate::Kernel;

pub type Told = Option<(u32, [u32; 2])>;

/// The capability to the frames from which memory is mapped.
pub const FRAMES: u32 = 4;
const PAGE: u32 = 0x1000;

pub fn check<K: Guard>(kernel: &mut Kernel<Machine<K>>) {
    K::check(kernel);
    memory(kernel);
}

pub fn call<K: Guard>(kernel: &mut Kernel<Machine<K>>, call: Call, args: [u32; 4]) -> Told {
    let told = kernel.asks(call as u32, args);
    check(kernel);
    told
}

/// The words for pages of frames from an offset on; `target` has the access in bits 31..16.
pub fn run(target: u32, frames: u32, at: u32, pages: u32, offset: u32) -> [u32; 4] {
    let (access, bytes) = (target >> 16, pages.wrapping_mul(PAGE));
    abi::Mapping { target: target as u16, frames: frames as u16, at, access, offset, bytes }.words()
}

pub fn map<K: Guard>(kernel: &mut Kernel<Machine<K>>, target: u32, virt: u32, pages: u32, offset: u32) -> Told {
    call(kernel, Call::FramesMap, run(target, FRAMES, virt, pages, offset))
}

pub fn unmap<K: Guard>(kernel: &mut Kernel<Machine<K>>, target: u32, virt: u32, pages: u32, offset: u32) -> Told {
    call(kernel, Call::FramesUnmap, run(target, FRAMES, virt, pages, offset))
}

pub fn restart<K: Guard>(kernel: &mut Kernel<Machine<K>>) -> Told {
    call(kernel, Call::DomainStop, [PEER, 0, 0, 0]);
    for _ in 0..1000 {
        let told = call(kernel, Call::DomainRestart, [PEER, 0, 0, 0]);
        if told != refused(Error::Again) {
            return told;
        }
    }
    panic!("the restart does not end");
}
