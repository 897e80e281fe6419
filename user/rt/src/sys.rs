//! System calls without types: handles and addresses are words. The crate's root has typed forms of most of them.
//! Each function names the call whose documentation (arguments, units, errors, bound) is in [`abi::CALLS`].

use abi::{Call, Error, Mapping};

/// Outcome of a call that returns nothing beside its status.
pub type Status = Result<(), Error>;

#[inline(always)]
fn raw(call: Call, a: [u32; 4]) -> Result<(u32, u32), Error> {
    // SAFETY: the calls that write memory of this domain are only reachable through the unsafe functions below.
    let (status, first, second) = unsafe { arch_user::call(call as u32, a[0], a[1], a[2], a[3]) };
    if status == 0 { Ok((first, second)) } else { Err(refused(status)) }
}

/// The error of a status that is not 0; a function of its own, so that a call that succeeds does
/// not pay for it.
#[cold]
#[inline(never)]
fn refused(status: u32) -> Error {
    Error::from_status(status).unwrap_or(Error::BadCall)
}

/// [`Call::Yield`].
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn yield_now() -> Status {
    // SAFETY: the call takes no arguments and changes no memory.
    let status = unsafe { arch_user::call_bare(Call::Yield as u32) };
    if status == 0 { Ok(()) } else { Err(refused(status)) }
}

/// Issues whatever call the number names; a test of the kernel needs this, a program does not.
///
/// # Safety
/// The caller upholds the contract of the call that the number names.
#[inline(always)]
pub unsafe fn any(number: u32, a: [u32; 4]) -> (u32, u32, u32) {
    // SAFETY: passed on to the caller.
    unsafe { arch_user::call(number, a[0], a[1], a[2], a[3]) }
}

macro_rules! unit_calls {
    ($($name:ident = $call:ident($($arg:ident),*);)*) => {$(
        #[doc = concat!("[`Call::", stringify!($call), "`].")]
        ///
        /// # Errors
        /// Those that [`abi::CALLS`] lists for this call.
        #[inline]
        pub fn $name($($arg: u32),*) -> Status {
            let mut args = [0; 4];
            let given = [$($arg),*];
            args[..given.len()].copy_from_slice(&given);
            raw(Call::$call, args).map(|_| ())
        }
    )*};
}

macro_rules! value_calls {
    ($($name:ident = $call:ident($($arg:ident),*);)*) => {$(
        #[doc = concat!("[`Call::", stringify!($call), "`]: returns the first value.")]
        ///
        /// # Errors
        /// Those that [`abi::CALLS`] lists for this call.
        #[inline]
        pub fn $name($($arg: u32),*) -> Result<u32, Error> {
            let mut args = [0; 4];
            let given = [$($arg),*];
            args[..given.len()].copy_from_slice(&given);
            raw(Call::$call, args).map(|(first, _)| first)
        }
    )*};
}

unit_calls! {
    signal = Signal(notification, bits);
    sleep_until_words = SleepUntil(time_low, time_high);
    interrupt_ack = InterruptAck(interrupt);
    mark = Mark(id, value);
    domain_stop = DomainStop(domain);
    occupy = Occupy(domain);
    cap_copy = CapCopy(from, to, rights);
    cap_grant = CapGrant(domain, from, to, rights);
    cap_delete = CapDelete(slot);
    revoke = Revoke(object);
    frames_retype = FramesRetype(frames, offset, bytes);
}

/// [`Call::FramesMap`].
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn frames_map(mapping: &Mapping) -> Status {
    raw(Call::FramesMap, mapping.words()).map(|_| ())
}

/// [`Call::FramesUnmap`].
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn frames_unmap(mapping: &Mapping) -> Status {
    raw(Call::FramesUnmap, mapping.words()).map(|_| ())
}

value_calls! {
    wait = Wait(notification, mask);
    poll = Poll(notification, mask);
    wait_period = WaitPeriod();
    frames_clean = FramesClean(frames, offset, bytes);
}

/// [`Call::Exit`]: ends the calling thread.
pub fn exit(code: u32) -> ! {
    loop {
        // Refused only inside a gate, where the bound on the gate ends what should not have begun.
        let _ = raw(Call::Exit, [code, 0, 0, 0]);
    }
}

/// [`Call::TimeNow`]: ticks since boot.
#[inline]
pub fn time_now() -> u64 {
    match raw(Call::TimeNow, [0; 4]) {
        Ok((low, high)) => u64::from(low) | u64::from(high) << 32,
        Err(_) => 0, // the call has no errors
    }
}

/// [`Call::SleepUntil`]: `time` in ticks since boot.
///
/// # Errors
/// [`Error::InGate`].
#[inline]
pub fn sleep_until(time: u64) -> Status {
    sleep_until_words(time as u32, (time >> 32) as u32)
}

/// [`Call::BudgetQuery`]: ticks left, and ticks until the next replenishment.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn budget_query(budget: u32) -> Result<(u32, u32), Error> {
    raw(Call::BudgetQuery, [budget, 0, 0, 0])
}

/// [`Call::FaultNext`]: kind of fault (0 for none) and address.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn fault_next(domain: u32) -> Result<(u32, u32), Error> {
    raw(Call::FaultNext, [domain, 0, 0, 0])
}

/// [`Call::DomainRestart`]: one step; `Ok(true)` when the domain runs again.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call, except `AGAIN`.
#[inline]
pub fn domain_restart(domain: u32) -> Result<bool, Error> {
    done(raw(Call::DomainRestart, [domain, 0, 0, 0]))
}

/// [`Call::NodesGive`]: bytes that were taken, and mappings that the domain's table can hold more.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn nodes_give(domain: u32, frames: u32, offset: u32, bytes: u32) -> Result<(u32, u32), Error> {
    raw(Call::NodesGive, [domain, frames, offset, bytes])
}

/// [`Call::RegionMap`].
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn region_map(place: u32, pages: u32, cuts: u32) -> Status {
    raw(Call::RegionMap, [place, pages, cuts, 0]).map(|_| ())
}

/// [`Call::RegionUnmap`]: where the rest begins, and how many regions it is.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call.
#[inline]
pub fn region_unmap(place: u32, regions: u32) -> Result<(u32, u32), Error> {
    raw(Call::RegionUnmap, [place, regions, 0, 0])
}

fn done(step: Result<(u32, u32), Error>) -> Result<bool, Error> {
    match step {
        Ok(_) => Ok(true),
        Err(Error::Again) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Bytes behind an argument of a gate that count as passed even if no argument is a length: a message.
const PASSED_BYTES: u32 = 256;

/// Returns true if an address lies behind an argument of a gate by less than another argument says. One that is not smaller is no length: addresses are larger than
/// the lengths of what lies there.
fn is_passed(at: u32, arguments: [u32; 3]) -> bool {
    let bytes =
        |from: u32| arguments.iter().filter(|bytes| **bytes < from).fold(PASSED_BYTES, |most, bytes| most.max(*bytes));
    arguments.iter().any(|from| at.wrapping_sub(*from) < bytes(*from))
}

/// [`Call::GateCall`]: the value is what the callee returned. A page of this domain's demand area that was passed to the callee and never touched is touched
/// here, where this domain pays for it, and the gate is called again. Other pages are not, because a callee that chose pages could have its caller pay for each.
///
/// # Errors
/// Those that [`abi::CALLS`] lists for this call, `UNTOUCHED` for a page that was not passed, and the callee's own.
#[inline]
pub fn gate_call(gate: u32, a0: u32, a1: u32, a2: u32) -> Result<u32, Error> {
    loop {
        // SAFETY: the kernel changes no memory of this domain; a callee changes what it is asked to.
        let (status, value, _) = unsafe { arch_user::call(Call::GateCall as u32, gate, a0, a1, a2) };
        if status == 0 {
            return Ok(value);
        }
        if !arch_user::DEMAND || status != Error::Untouched.status() || !is_passed(value, [a0, a1, a2]) {
            return Err(refused(status));
        }
        // SAFETY: with this status the value is an address in the demand area; the byte that is read is of no interest. It ends: each time another page
        // that was passed has been mapped.
        unsafe { core::ptr::with_exposed_provenance::<u8>(value as usize).read_volatile() };
    }
}

/// [`Call::GateCopyIn`]: fills `into` (at most 64 bytes) from `from` in the caller's memory, checked by the kernel.
///
/// # Errors
/// [`Error::NotInGate`], [`Error::BadAddress`], [`Error::BadArgument`]; [`Error::Untouched`], which is to be given back to the caller.
#[inline]
pub fn gate_copy_in(into: &mut [u8], from: u32) -> Status {
    raw(Call::GateCopyIn, [into.as_mut_ptr() as u32, from, into.len() as u32, 0]).map(|_| ())
}

/// [`Call::GateCopyOut`]: copies `from` (at most 64 bytes) to `to` in the caller's memory, checked by the kernel.
///
/// # Errors
/// [`Error::NotInGate`], [`Error::BadAddress`], [`Error::BadArgument`]; [`Error::Untouched`], which is to be given back to the caller.
#[inline]
pub fn gate_copy_out(to: u32, from: &[u8]) -> Status {
    raw(Call::GateCopyOut, [to, from.as_ptr() as u32, from.len() as u32, 0]).map(|_| ())
}
