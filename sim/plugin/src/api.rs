//! QEMU's plug-in interface, version 4, as far as it is used here (`qemu/qemu-plugin.h` of QEMU 10.0). The functions are
//! looked up when the plug-in is installed, so that the object has no undefined symbols and can be preloaded anywhere.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::transmute_copy;
use std::sync::OnceLock;

/// Version of the interface that the functions below belong to.
pub const VERSION: c_int = 4;
/// Callback flags: the callback reads no registers, or reads some.
pub const NO_REGS: c_int = 0;
/// The callback reads registers.
pub const R_REGS: c_int = 1;
/// Kinds of access a memory callback is called for.
pub const MEM_R: c_int = 1;
/// Stores.
pub const MEM_W: c_int = 2;

/// Identifier of the plug-in instance.
pub type Id = u64;
/// Opaque description of an access.
pub type MemInfo = u32;
/// Callback of a block or an instruction.
pub type ExecCallback = extern "C" fn(c_uint, *mut c_void);
/// Callback of an access.
pub type MemCallback = extern "C" fn(c_uint, MemInfo, u64, *mut c_void);

/// A translated block, valid during the translation callback.
#[repr(C)]
pub struct Block {
    _private: [u8; 0],
}

/// An instruction of a block, valid during the translation callback.
#[repr(C)]
pub struct Insn {
    _private: [u8; 0],
}

/// GLib's array header.
#[repr(C)]
pub struct GArray {
    pub data: *mut c_char,
    pub len: c_uint,
}

/// GLib's byte array header.
#[repr(C)]
pub struct GByteArray {
    pub data: *mut u8,
    pub len: c_uint,
}

/// A register's descriptor, as `qemu_plugin_get_registers` lists them.
#[repr(C)]
pub struct RegisterDescriptor {
    pub handle: *mut c_void,
    pub name: *const c_char,
    pub feature: *const c_char,
}

/// The value of an access: a type tag (log2 of the size) and up to 16 bytes.
#[repr(C)]
pub struct MemValue {
    pub kind: c_int,
    pub low: u64,
    pub high: u64,
}

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions, resolved.
        #[allow(missing_docs)]
        pub struct Api { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)* }

        impl Api {
            fn resolve() -> Result<Self, &'static str> {
                Ok(Self { $($name: {
                    let name = concat!(stringify!($name), "\0");
                    // SAFETY: the name is a C string; the default handle is always valid.
                    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr().cast()) };
                    if address.is_null() { return Err(stringify!($name)); }
                    // SAFETY: the symbol is the C function of that name, with the signature of the interface's version 4.
                    unsafe { transmute_copy(&address) }
                },)* })
            }
        }
    };
}

functions! {
    qemu_plugin_register_vcpu_init_cb: fn(Id, extern "C" fn(Id, c_uint));
    qemu_plugin_register_vcpu_tb_trans_cb: fn(Id, extern "C" fn(Id, *mut Block));
    qemu_plugin_register_atexit_cb: fn(Id, extern "C" fn(Id, *mut c_void), *mut c_void);
    qemu_plugin_register_vcpu_tb_exec_cb: fn(*mut Block, ExecCallback, c_int, *mut c_void);
    qemu_plugin_register_vcpu_insn_exec_cb: fn(*mut Insn, ExecCallback, c_int, *mut c_void);
    qemu_plugin_register_vcpu_mem_cb: fn(*mut Insn, MemCallback, c_int, c_int, *mut c_void);
    qemu_plugin_tb_n_insns: fn(*const Block) -> usize;
    qemu_plugin_tb_get_insn: fn(*const Block, usize) -> *mut Insn;
    qemu_plugin_insn_data: fn(*const Insn, *mut c_void, usize) -> usize;
    qemu_plugin_insn_size: fn(*const Insn) -> usize;
    qemu_plugin_insn_vaddr: fn(*const Insn) -> u64;
    qemu_plugin_mem_size_shift: fn(MemInfo) -> c_uint;
    qemu_plugin_mem_get_value: fn(MemInfo) -> MemValue;
    qemu_plugin_get_hwaddr: fn(MemInfo, u64) -> *const c_void;
    qemu_plugin_hwaddr_phys_addr: fn(*const c_void) -> u64;
    qemu_plugin_request_time_control: fn() -> *const c_void;
    qemu_plugin_update_ns: fn(*const c_void, i64);
    qemu_plugin_get_registers: fn() -> *mut GArray;
    qemu_plugin_read_register: fn(*mut c_void, *mut GByteArray) -> c_int;
    qemu_plugin_read_memory_vaddr: fn(u64, *mut GByteArray, usize) -> bool;
    g_byte_array_new: fn() -> *mut GByteArray;
    g_byte_array_set_size: fn(*mut GByteArray, c_uint) -> *mut GByteArray;
}

static API: OnceLock<Api> = OnceLock::new();

/// Looks the functions up.
///
/// # Errors
/// The name of the first function that this process does not have.
pub fn load() -> Result<(), &'static str> {
    let api = Api::resolve()?;
    let _ = API.set(api);
    Ok(())
}

/// The functions.
///
/// # Panics
/// Before [`load`] succeeded.
#[inline]
pub fn api() -> &'static Api {
    API.get().expect("the interface is loaded before any callback is registered")
}
