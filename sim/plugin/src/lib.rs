//! The observer inside QEMU. Loaded twice as one object: preloaded, it stands in front of the C library's clock and waits
//! ([`clock`]); as a plug-in, it sees every block and every access ([`observer`]), charges the modelled cycles, and writes
//! the run record that `cofferdam-record` defines. QEMU 10.0, one virtual processor, `-accel tcg,thread=single`.
//!
//! This package links into QEMU and is therefore under GPL-2.0-or-later; see `LICENSE` beside its manifest.

mod accounts;
mod api;
mod application;
mod block;
mod clock;
mod conduct;
mod decode;
mod exceptions;
mod finish;
mod hardware;
mod histogram;
mod hooks;
mod log;
mod meter;
mod model;
mod observer;
mod probes;
mod rate;
mod tick;
mod trace;
mod witness;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;

use record::{EndReason, Watch};

use api::{Block, Id, MEM_R, MEM_W, MemInfo, NO_REGS, R_REGS, api, find_register};
use block::{InsnInfo, RawInsn, TbInfo};
use clock::CLOCK;
use log::Log;
use model::Model;
use observer::{Observer, Registers, observer};

/// The version of the interface that the plug-in speaks; QEMU reads it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = api::VERSION;

/// Called by QEMU once the plug-in is loaded. The one argument is `config=PATH`, a [`record::Watch`] in JSON.
///
/// # Safety
/// Called by QEMU with valid arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _info: *const c_void,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU passes `argc` C strings.
    let arguments = (0..argc as usize).map(|index| unsafe { CStr::from_ptr(*argv.add(index)) });
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned()).collect::<Vec<_>>();
    match start(id, &arguments) {
        Ok(()) => 0,
        Err(text) => {
            eprintln!("cofferdam: {text}");
            1
        }
    }
}

fn start(id: Id, arguments: &[String]) -> Result<(), String> {
    api::load().map_err(|name| format!("this QEMU has no {name}"))?;
    let [argument] = arguments else { return Err("expected one argument, config=PATH".into()) };
    let path = argument.strip_prefix("config=").ok_or("expected config=PATH")?;
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let watch: Watch = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
    let model = Model::load(&watch)?;
    hardware::agrees(watch.protection, &model)?;
    let log = Log::create(&watch)?;
    // SAFETY: no precondition.
    let counter = || unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
    let (wake_fd, answer_fd) = (counter(), counter());
    if wake_fd < 0 || answer_fd < 0 {
        return Err("no event descriptor left".into());
    }
    let cpu_hz = model.cpu_hz();
    let sleep_limit = if watch.sleep_limit_cycles == 0 { 20 * cpu_hz } else { watch.sleep_limit_cycles };
    let debugger = watch.debugger;
    observer::install(Observer::new(watch, model, log));
    CLOCK.arm(cpu_hz, sleep_limit, debugger, wake_fd, answer_fd);
    let api = api();
    // SAFETY: the identifier is what QEMU gave; the callbacks live as long as the process.
    unsafe {
        (api.qemu_plugin_register_vcpu_init_cb)(id, processor_started);
        (api.qemu_plugin_register_vcpu_tb_trans_cb)(id, translated);
        (api.qemu_plugin_register_atexit_cb)(id, at_exit, std::ptr::null_mut());
    }
    Ok(())
}

extern "C" fn processor_started(_id: Id, _index: c_uint) {
    if let Model::Application(application) = &mut observer().model {
        return application.started();
    }
    observer().registers = Some(Registers {
        xpsr: find_register(c"xpsr"),
        lr: find_register(c"lr"),
        msp: find_register(c"msp"),
        psp: find_register(c"psp"),
        control: find_register(c"control"),
        masks: [find_register(c"primask"), find_register(c"basepri"), find_register(c"faultmask")],
    });
}

extern "C" fn at_exit(_id: Id, _data: *mut c_void) {
    // The guest ends itself on the processor's thread (semihosting); anything else comes from outside.
    let reason = if clock::on_processor_thread() { EndReason::Exit } else { EndReason::Killed };
    observer::write_results(reason);
}

extern "C" fn translated(_id: Id, tb: *mut Block) {
    clock::enter_processor_thread();
    let observer = observer();
    let api = api();
    // SAFETY: the block is valid during this callback, and so are its instructions.
    unsafe {
        let count = (api.qemu_plugin_tb_n_insns)(tb);
        let handles: Vec<_> = (0..count).map(|index| (api.qemu_plugin_tb_get_insn)(tb, index)).collect();
        let mut raw: Vec<_> = handles.iter().map(|insn| read_insn(*insn)).collect();
        if raw.is_empty() {
            return;
        }
        if let Model::Application(application) = &observer.model {
            // The block is translated because it runs next: the processor is in its state already.
            let thumb = application.is_thumb(&mut observer.bytes);
            raw.iter_mut().for_each(|insn| insn.thumb = thumb);
            let info = observer.blocks.get(&raw, &observer.watch, &observer.model);
            return watch_application(tb, &handles, info);
        }
        let info: &'static TbInfo = observer.blocks.get(&raw, &observer.watch, &observer.model);
        // A block's callback may read registers: handlers are told apart by them. It costs nothing at a block's begin.
        (api.qemu_plugin_register_vcpu_tb_exec_cb)(tb, block_runs, R_REGS, pointer(info));
        for (insn, described) in handles.into_iter().zip(&info.insns) {
            (api.qemu_plugin_register_vcpu_mem_cb)(insn, loaded, NO_REGS, MEM_R, pointer(described));
            (api.qemu_plugin_register_vcpu_mem_cb)(insn, stored, NO_REGS, MEM_W, pointer(described));
            if observer.probes.concerns(described.pc) {
                (api.qemu_plugin_register_vcpu_insn_exec_cb)(insn, probed, NO_REGS, pointer(described));
            }
        }
    }
}

/// Registers the callbacks of a block of an application core.
///
/// # Safety
/// `tb` and its instructions are valid, as in the translation callback.
unsafe fn watch_application(tb: *mut Block, handles: &[*mut api::Insn], info: &'static TbInfo) {
    let (observer, api) = (observer(), api());
    // SAFETY: by the caller's promise; the callbacks and their data live as long as the process.
    unsafe {
        (api.qemu_plugin_register_vcpu_tb_exec_cb)(tb, application_runs, R_REGS, pointer(info));
        for (insn, described) in handles.iter().zip(&info.insns) {
            (api.qemu_plugin_register_vcpu_mem_cb)(*insn, application_loaded, NO_REGS, MEM_R, pointer(described));
            (api.qemu_plugin_register_vcpu_mem_cb)(*insn, application_stored, NO_REGS, MEM_W, pointer(described));
            if described.system.is_some() {
                (api.qemu_plugin_register_vcpu_insn_exec_cb)(*insn, application_system, R_REGS, pointer(described));
            }
            if observer.probes.concerns(described.pc) {
                (api.qemu_plugin_register_vcpu_insn_exec_cb)(*insn, probed, NO_REGS, pointer(described));
            }
        }
    }
}

fn pointer<T>(to: &'static T) -> *mut c_void {
    std::ptr::from_ref(to).cast_mut().cast()
}

/// # Safety
/// `insn` is valid, as in the translation callback.
unsafe fn read_insn(insn: *const api::Insn) -> RawInsn {
    let mut code = [0u8; 4];
    let api = api();
    // SAFETY: by the caller's promise; the buffer holds the four bytes asked for.
    unsafe {
        let size = (api.qemu_plugin_insn_size)(insn);
        (api.qemu_plugin_insn_data)(insn, code.as_mut_ptr().cast(), size.min(4));
        let pc = (api.qemu_plugin_insn_vaddr)(insn) as u32;
        RawInsn { pc, size: size as u32, code: u32::from_le_bytes(code), thumb: true }
    }
}

extern "C" fn block_runs(_index: c_uint, data: *mut c_void) {
    // SAFETY: the data is a block's description, which lives as long as the process.
    observer().block(unsafe { &*data.cast::<TbInfo>() });
}

extern "C" fn loaded(_index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().data(unsafe { &*data.cast::<InsnInfo>() }, info, address as u32, false);
}

extern "C" fn stored(_index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().data(unsafe { &*data.cast::<InsnInfo>() }, info, address as u32, true);
}

extern "C" fn application_runs(_index: c_uint, data: *mut c_void) {
    // SAFETY: the data is a block's description, which lives as long as the process.
    observer().application_block(unsafe { &*data.cast::<TbInfo>() });
}

extern "C" fn application_loaded(_index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().application_data(unsafe { &*data.cast::<InsnInfo>() }, info, address as u32, false);
}

extern "C" fn application_stored(_index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().application_data(unsafe { &*data.cast::<InsnInfo>() }, info, address as u32, true);
}

extern "C" fn application_system(_index: c_uint, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().application_system(unsafe { &*data.cast::<InsnInfo>() });
}

extern "C" fn probed(_index: c_uint, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observer().probed(unsafe { &*data.cast::<InsnInfo>() });
}
