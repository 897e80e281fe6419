//! The observer's place in QEMU. Loaded twice as one object: preloaded, it stands in front of the C library's clock and waits
//! ([`clock`]); as a plug-in, it tells the observer (`cofferdam-observer`) of every block and every access. QEMU 10.0,
//! `-accel tcg,thread=single`.
//!
//! This package links into QEMU and is therefore under GPL-2.0-or-later; see `LICENSE` beside its manifest.

mod api;
mod clock;
mod counter;
mod hooks;
mod target;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use observer::{Begins, BlockOf, CoreId, EndReason, Family, InsnOf, Observer, RawInsn, Target, Watch};

use api::{Block, Id, MEM_R, MEM_W, MemInfo, NO_REGS, R_REGS, api};
use clock::SHIM;
use counter::Counter;
use target::{Access, Processor};

/// The version of the interface that the plug-in speaks; QEMU reads it.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = api::VERSION;

/// The [`Observer`] of the family of cores that runs, and what ends it.
static OBSERVER: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static FINISH: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static OVER: AtomicBool = AtomicBool::new(false);

/// Called by QEMU once the plug-in is loaded. The one argument is `config=PATH`, a [`Watch`] in JSON.
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
    // SAFETY: no precondition.
    let counter = || unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) };
    let (wake_fd, answer_fd) = (counter(), counter());
    if wake_fd < 0 || answer_fd < 0 {
        return Err("no event descriptor left".into());
    }
    let counter = watch.handlers.as_ref().and_then(|handlers| handlers.counter.as_ref());
    let counter = Cell::new(counter.map(Counter::open).transpose()?);
    observer::begin(watch, &SHIM.time, &Qemu { id, wake_fd, answer_fd, counter })
}

/// The emulator that has loaded the plug-in, and counters of events for its clock.
struct Qemu {
    id: Id,
    wake_fd: c_int,
    answer_fd: c_int,
    /// The first processor's.
    counter: Cell<Option<Counter>>,
}

impl Begins for Qemu {
    fn target(&self, _: CoreId) -> Box<dyn Target> {
        Box::new(Processor::new(self.counter.take()))
    }

    fn begin<F: Family>(&self, observer: Observer<F>) {
        let (watch, cpu_hz) = (observer.watch(), observer.cpu_hz());
        let sleep_limit = if watch.sleep_limit_cycles == 0 { 20 * cpu_hz } else { watch.sleep_limit_cycles };
        let debugger = watch.debugger;
        OBSERVER.store(Box::into_raw(Box::new(observer)).cast(), Ordering::Release);
        let finish: fn(EndReason) = |reason| observed::<F>().finish(reason);
        FINISH.store(finish as *mut c_void, Ordering::Release);
        SHIM.arm(cpu_hz, sleep_limit, debugger, self.wake_fd, self.answer_fd);
        // SAFETY: the identifier is what QEMU gave; the callbacks live as long as the process.
        unsafe {
            (api().qemu_plugin_register_vcpu_init_cb)(self.id, processor_started::<F>);
            (api().qemu_plugin_register_vcpu_tb_trans_cb)(self.id, translated::<F>);
            (api().qemu_plugin_register_atexit_cb)(self.id, at_exit, std::ptr::null_mut());
        }
    }
}

/// The observer. Callbacks do not nest and run on the virtual processors' thread, except that the main thread ends a run whose guest sleeps
/// for ever.
#[inline]
fn observed<F: Family>() -> &'static mut Observer<F> {
    // SAFETY: stored before the first callback with this very `F`, never freed, and never used by two callers at a time.
    unsafe { &mut *OBSERVER.load(Ordering::Relaxed).cast() }
}

/// Writes the results and ends the process.
fn end_run(reason: EndReason) -> ! {
    write_results(reason);
    // SAFETY: ends the process without running handlers that would wait for this very thread.
    unsafe { libc::_exit(0) }
}

/// Writes the results, once.
fn write_results(reason: EndReason) {
    let finish = FINISH.load(Ordering::Acquire);
    if OVER.swap(true, Ordering::SeqCst) || finish.is_null() {
        return;
    }
    // SAFETY: only functions of this type are stored.
    let finish: fn(EndReason) = unsafe { std::mem::transmute(finish) };
    finish(reason);
}

extern "C" fn processor_started<F: Family>(_id: Id, index: c_uint) {
    observed::<F>().started(index as usize);
}

extern "C" fn at_exit(_id: Id, _data: *mut c_void) {
    // A run that the kernel ends is over before ([`block_runs`]). What else ends the emulator may be the guest's, such as a reset, and leaves no summary.
    if SHIM.is_debugged() {
        write_results(EndReason::Killed);
    } else if !OVER.load(Ordering::SeqCst) {
        eprintln!("cofferdam: the emulator ended, and not because the kernel had ended the run");
    }
}

extern "C" fn translated<F: Family>(_id: Id, tb: *mut Block) {
    clock::enter_processor_thread();
    let (observer, api) = (observed::<F>(), api());
    // SAFETY: the block is valid during this callback, and so are its instructions; the callbacks and their data live as long as the process.
    unsafe {
        let count = (api.qemu_plugin_tb_n_insns)(tb);
        let handles: Vec<_> = (0..count).map(|index| (api.qemu_plugin_tb_get_insn)(tb, index)).collect();
        if handles.is_empty() {
            return;
        }
        // The interface does not say on which processor. The block is translated because it runs next: registers are of the right one.
        let info = observer.translated(0, handles.iter().map(|insn| read_insn(*insn)).collect());
        // A block's callback may read registers: handlers are told apart by them. It costs nothing at a block's begin.
        (api.qemu_plugin_register_vcpu_tb_exec_cb)(tb, block_runs::<F>, R_REGS, pointer(info));
        for (insn, described) in handles.into_iter().zip(info.insns()) {
            let data = pointer(described);
            (api.qemu_plugin_register_vcpu_mem_cb)(insn, loaded::<F>, NO_REGS, MEM_R, data);
            (api.qemu_plugin_register_vcpu_mem_cb)(insn, stored::<F>, NO_REGS, MEM_W, data);
            if described.system {
                (api.qemu_plugin_register_vcpu_insn_exec_cb)(insn, system::<F>, R_REGS, data);
            }
            if observer.is_probed(described.pc()) {
                (api.qemu_plugin_register_vcpu_insn_exec_cb)(insn, probed::<F>, NO_REGS, data);
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

extern "C" fn block_runs<F: Family>(index: c_uint, data: *mut c_void) {
    let observer = observed::<F>();
    if !observer.has(index as usize) {
        unobserved(index);
    }
    // SAFETY: the data is a block's description, which lives as long as the process.
    if let Some(reason) = observer.block(index as usize, unsafe { &*data.cast::<BlockOf<F>>() }) {
        end_run(reason);
    }
}

/// A processor runs that was to stay off.
#[cold]
fn unobserved(index: c_uint) -> ! {
    eprintln!("cofferdam: processor {index} runs, and is not observed");
    end_run(EndReason::ObserverFailed)
}

extern "C" fn loaded<F: Family>(index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    accessed::<F>(index, info, address, data, false);
}

extern "C" fn stored<F: Family>(index: c_uint, info: MemInfo, address: u64, data: *mut c_void) {
    accessed::<F>(index, info, address, data, true);
}

#[inline]
fn accessed<F: Family>(index: c_uint, info: MemInfo, address: u64, data: *mut c_void, store: bool) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    let insn = unsafe { &*data.cast::<InsnOf<F>>() };
    // SAFETY: the callback runs until this function returns.
    let access = unsafe { Access::new(info, &insn.access) };
    observed::<F>().data(index as usize, insn, &access, address as u32, store);
}

extern "C" fn system<F: Family>(index: c_uint, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observed::<F>().system(index as usize, unsafe { &*data.cast::<InsnOf<F>>() });
}

extern "C" fn probed<F: Family>(index: c_uint, data: *mut c_void) {
    // SAFETY: the data is an instruction's description, which lives as long as the process.
    observed::<F>().probed(index as usize, unsafe { &*data.cast::<InsnOf<F>>() });
}
