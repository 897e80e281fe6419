//! The functions of the C library that this object stands in front of. Until the clock is armed they only pass on.

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use libc::{
    CLOCK_MONOTONIC, SYS_clock_gettime, SYS_ppoll, clockid_t, nfds_t, pollfd, pthread_cond_t, pthread_mutex_t,
    sigset_t, syscall, timespec,
};

use observer::EndReason;

use crate::clock::{SHIM, Wait, on_processor_thread};

const NS_PER_S: i64 = units::NS_PER_SECOND as i64;
/// How long the main loop waits at most before it looks again, ms. Nothing depends on it.
const PATIENCE_MS: i64 = 100;
const MOST_DESCRIPTORS: usize = 64;

/// The condition variable that the processor's thread waits on.
static WAITED_ON: AtomicPtr<pthread_cond_t> = AtomicPtr::new(std::ptr::null_mut());

/// The next definition of a function of the C library; looked up once.
fn real(cache: &AtomicUsize, name: &'static [u8]) -> usize {
    let known = cache.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let name: *const c_char = name.as_ptr().cast();
    // The old version of the condition variables must not be found, where the C library has both.
    // SAFETY: both names are C strings.
    let found = unsafe {
        let new = libc::dlvsym(libc::RTLD_NEXT, name, c"GLIBC_2.3.2".as_ptr());
        if new.is_null() { libc::dlsym(libc::RTLD_NEXT, name) } else { new }
    } as usize;
    cache.store(found, Ordering::Relaxed);
    found
}

/// `clock_gettime`: the modelled time instead of the monotonic clock.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, out: *mut timespec) -> c_int {
    if clock != CLOCK_MONOTONIC || !SHIM.is_armed() {
        // SAFETY: passed on as it came.
        return unsafe { syscall(SYS_clock_gettime, clock, out) } as c_int;
    }
    let ns = SHIM.read_ns();
    // SAFETY: the caller gives a place for the answer.
    unsafe { *out = timespec { tv_sec: ns / NS_PER_S, tv_nsec: ns % NS_PER_S } };
    0
}

/// `pthread_cond_wait`: the processor's thread waits only when the guest sleeps or is stopped.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the C library's function of that name.
    let wait: unsafe extern "C" fn(*mut pthread_cond_t, *mut pthread_mutex_t) -> c_int =
        unsafe { transmute(real(&REAL, b"pthread_cond_wait\0")) };
    let asleep = SHIM.is_armed() && on_processor_thread();
    if asleep {
        WAITED_ON.store(condition, Ordering::SeqCst);
        SHIM.fall_asleep();
    }
    // SAFETY: passed on as it came.
    let result = unsafe { wait(condition, mutex) };
    if asleep {
        SHIM.wake();
    }
    result
}

/// `pthread_cond_broadcast`.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the C library's function of that name, called as this one was.
    unsafe { notify(real(&REAL, b"pthread_cond_broadcast\0"), condition) }
}

/// `pthread_cond_signal`.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    static REAL: AtomicUsize = AtomicUsize::new(0);
    // SAFETY: the C library's function of that name, called as this one was.
    unsafe { notify(real(&REAL, b"pthread_cond_signal\0"), condition) }
}

/// # Safety
/// `function` is one of the two above.
unsafe fn notify(function: usize, condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: by the caller's promise.
    let function: unsafe extern "C" fn(*mut pthread_cond_t) -> c_int = unsafe { transmute(function) };
    if condition == WAITED_ON.load(Ordering::SeqCst) {
        SHIM.wake();
    }
    // SAFETY: passed on as it came.
    unsafe { function(condition) }
}

/// `ppoll`: the main loop's wait.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ppoll(
    descriptors: *mut pollfd,
    count: nfds_t,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: a timeout is null or valid.
    let timeout_ns = unsafe { timeout.as_ref() }.map(|t| (t.tv_sec * NS_PER_S + t.tv_nsec) as u64);
    if !SHIM.is_armed() || on_processor_thread() {
        // SAFETY: passed on as it came.
        return unsafe { raw_ppoll(descriptors, count, timeout_ns, mask) };
    }
    // SAFETY: passed on as it came.
    let ready = unsafe { raw_ppoll(descriptors, count, Some(0), mask) };
    if ready != 0 || timeout_ns == Some(0) {
        return ready;
    }
    match SHIM.main_would_wait(timeout_ns) {
        Wait::Recompute | Wait::Leapt => 0,
        // SAFETY: passed on as it came.
        Wait::ForDescriptors => unsafe { wait_for_descriptors(descriptors, count, mask) },
        Wait::Forever => crate::end_run(EndReason::IdleForever),
    }
}

/// `poll`.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn poll(descriptors: *mut pollfd, count: nfds_t, timeout_ms: c_int) -> c_int {
    let ms = i64::from(timeout_ms);
    let timeout = timespec { tv_sec: ms / 1000, tv_nsec: ms % 1000 * 1_000_000 };
    let timeout = if ms < 0 { std::ptr::null() } else { &raw const timeout };
    // SAFETY: passed on as it came.
    unsafe { ppoll(descriptors, count, timeout, std::ptr::null()) }
}

/// Waits for a descriptor, or until the guest falls asleep.
///
/// # Safety
/// As `ppoll`.
unsafe fn wait_for_descriptors(descriptors: *mut pollfd, count: nfds_t, mask: *const sigset_t) -> c_int {
    let count = count as usize;
    let patience = Some((PATIENCE_MS * 1_000_000) as u64);
    if count >= MOST_DESCRIPTORS {
        // SAFETY: passed on as it came.
        return unsafe { raw_ppoll(descriptors, count as nfds_t, Some(1_000_000), mask) };
    }
    let wake_fd = SHIM.wake_fd.load(Ordering::Relaxed);
    let mut all = [pollfd { fd: wake_fd, events: libc::POLLIN, revents: 0 }; MOST_DESCRIPTORS];
    // SAFETY: the caller gives `count` descriptors; the copy has room for one more, the event counter.
    let ready = unsafe {
        std::ptr::copy_nonoverlapping(descriptors, all.as_mut_ptr(), count);
        let ready = raw_ppoll(all.as_mut_ptr(), count as nfds_t + 1, patience, mask);
        std::ptr::copy_nonoverlapping(all.as_ptr(), descriptors, count);
        ready
    };
    if ready > 0 && all[count].revents != 0 {
        let mut counter = [0u8; 8];
        // SAFETY: the descriptor is an event counter; eight bytes are its unit.
        unsafe { libc::read(wake_fd, counter.as_mut_ptr().cast::<c_void>(), counter.len()) };
        return ready - 1;
    }
    ready.max(0)
}

/// # Safety
/// As `ppoll`.
unsafe fn raw_ppoll(descriptors: *mut pollfd, count: nfds_t, timeout_ns: Option<u64>, mask: *const sigset_t) -> c_int {
    const KERNEL_SIGSET_BYTES: usize = 8;
    let mut timeout = timeout_ns.map(|ns| timespec { tv_sec: ns as i64 / NS_PER_S, tv_nsec: ns as i64 % NS_PER_S });
    let place = timeout.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: passed on as it came, with a timeout of our own.
    unsafe { syscall(SYS_ppoll, descriptors, count, place, mask, KERNEL_SIGSET_BYTES) as c_int }
}
