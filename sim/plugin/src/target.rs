//! The processor that runs, as QEMU lets a plug-in ask it.

use std::cell::Cell;
use std::ffi::CStr;
use std::sync::atomic::AtomicU32;

use observer::{Register, Seen, Target};

use crate::api::{GByteArray, MemInfo, RegisterDescriptor, api};
use crate::clock::SHIM;
use crate::counter::Counter;

/// The virtual processor whose callback runs, and a GLib byte array for its answers, which lives as long as the process.
pub struct Processor(*mut GByteArray, Option<Counter>);

impl Processor {
    /// With an empty array, and perhaps a counter.
    pub fn new(counter: Option<Counter>) -> Self {
        // SAFETY: no precondition.
        Self(unsafe { (api().g_byte_array_new)() }, counter)
    }

    fn content(&self) -> &[u8] {
        // SAFETY: GLib keeps `len` initialised bytes at `data`.
        unsafe {
            let array = &*self.0;
            if array.data.is_null() { &[] } else { std::slice::from_raw_parts(array.data, array.len as usize) }
        }
    }
}

impl Target for Processor {
    fn find(&mut self, name: &str) -> Register {
        // SAFETY: called in the callback of a virtual processor's start, where the interface allows it; the array holds `len` descriptors
        // with C strings as names.
        unsafe {
            let list = (api().qemu_plugin_get_registers)();
            let descriptors =
                std::slice::from_raw_parts((*list).data.cast::<RegisterDescriptor>(), (*list).len as usize);
            let named =
                |descriptor: &&RegisterDescriptor| CStr::from_ptr(descriptor.name).to_bytes() == name.as_bytes();
            descriptors.iter().find(named).map_or(Register::default(), |found| Register(found.handle as usize))
        }
    }

    fn register(&mut self, register: Register) -> u32 {
        if register == Register::default() {
            return 0;
        }
        // SAFETY: the handle comes from the list of registers; the array is ours.
        unsafe {
            (api().g_byte_array_set_size)(self.0, 0);
            if (api().qemu_plugin_read_register)(register.0 as *mut _, self.0) < 1 {
                return 0;
            }
        }
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(self.content()) {
            *to = *from;
        }
        u32::from_le_bytes(word)
    }

    fn memory(&mut self, address: u32, len: usize) -> Option<&[u8]> {
        // SAFETY: the array is ours and is resized by the function.
        let good = unsafe { (api().qemu_plugin_read_memory_vaddr)(u64::from(address), self.0, len) };
        good.then(|| self.content())
    }

    fn device_accessed(&mut self) {
        SHIM.forget_reads();
    }

    fn meet_deadline(&mut self) -> Option<u64> {
        SHIM.meet_main_loop()
    }

    fn advance(&mut self) -> bool {
        SHIM.advance()
    }

    fn counter_word(&self, offset: u32) -> Option<&AtomicU32> {
        self.1.as_ref()?.word(offset)
    }

    fn counter_matches(&mut self) {
        if let Some(counter) = &mut self.1 {
            counter.matches();
        }
    }
}

/// An access whose callback runs.
pub struct Access<'a> {
    info: MemInfo,
    /// The last description of an access of the instruction, and its bytes.
    known: &'a Cell<(u32, u32)>,
}

impl<'a> Access<'a> {
    /// The access of a callback, and the instruction's last one.
    ///
    /// # Safety
    /// The callback runs for as long as the value lives.
    #[inline]
    pub const unsafe fn new(info: MemInfo, known: &'a Cell<(u32, u32)>) -> Self {
        Self { info, known }
    }
}

impl Seen for Access<'_> {
    #[inline]
    fn bytes(&self) -> u32 {
        let (known, bytes) = self.known.get();
        if known == self.info && bytes != 0 {
            return bytes;
        }
        // SAFETY: by the promise to `new`.
        let bytes = 1 << unsafe { (api().qemu_plugin_mem_size_shift)(self.info) };
        self.known.set((self.info, bytes));
        bytes
    }

    #[inline]
    fn value(&self) -> u128 {
        // SAFETY: by the promise to `new`.
        let value = unsafe { (api().qemu_plugin_mem_get_value)(self.info) };
        u128::from(value.high) << 64 | u128::from(value.low)
    }

    #[inline]
    fn physical(&self, address: u32) -> Option<u32> {
        // SAFETY: by the promise to `new`; the answer stays valid until the next question. QEMU has looked up each page of an access before the
        // callback, so that both are in its TLB.
        unsafe {
            let found = (api().qemu_plugin_get_hwaddr)(self.info, u64::from(address));
            if found.is_null() { None } else { Some((api().qemu_plugin_hwaddr_phys_addr)(found) as u32) }
        }
    }
}
