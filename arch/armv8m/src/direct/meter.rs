//! Time of handlers: a deferrable server, whose use one of two instruments tells, and the exceptions of these.

use core::sync::atomic::Ordering::Relaxed;

use abi::trace::Fault;

use super::access::is_thread_mode_privileged;
use super::displaced::DISPLACED;
use super::frames::SECURE;
use super::inside;
use super::judge::{self, GO_ON};
use super::left::put_back;
use super::occupy::change;
use super::owner::{COFFERDAM_OWNER, Request, is_masked, sleeps_on_exit};
use super::servers::{READING, SERVERS, keep, meter};

/// Begins with full capacities: a period and a capacity for each domain with handlers.
pub(super) fn start(servers: impl Iterator<Item = (u32, u32)>, seed: u32) -> Option<()> {
    SERVERS.begin(servers)?;
    let owner = &COFFERDAM_OWNER;
    measure(None);
    owner.looks.start(seed);
    Some(())
}

/// Charges handlers when an interval has ended, or when they have used up what was left. Returns
/// true if their capacity is used up now.
fn measure(met: Option<bool>) -> bool {
    let owner = &COFFERDAM_OWNER;
    let meter = meter();
    let used = meter.used(met).max(DISPLACED.owed());
    let (left, boundary) = SERVERS.charge(used, owner.looks.take_passed());
    owner.looks.expect(boundary);
    meter.grant(left);
    DISPLACED.charged(used, left);
    READING.keep(keep);
    left <= 0
}

/// Looks for what the domain that leaves has done to its counter, or left set. That is done before
/// the change, so that another domain is not blamed for it.
fn find() {
    let counter = &COFFERDAM_OWNER.counter;
    let goes_back = DISPLACED.goes_back();
    if counter.is_there() && (counter.finds(false) || goes_back) {
        judge::blame(Fault::Data, 0);
    } else if is_masked() || sleeps_on_exit() || is_thread_mode_privileged() {
        judge::blame(Fault::Return, 0);
    }
}

/// Does what the kernel has asked for, once. While a handler stays active no other domain occupies,
/// because that handler would go on in the other's state; the look that ends it does the rest.
fn serve(request: u32, stays: bool) {
    let owner = &COFFERDAM_OWNER;
    owner.request.store(0, Relaxed);
    if request == Request::Stop as u32 {
        owner.occupant().stopped.store(1, Relaxed);
        owner.close();
        put_back();
    } else if request == Request::Open as u32 {
        owner.occupant().stopped.store(0, Relaxed);
        owner.reopen();
    }
    if owner.next.load(Relaxed) == owner.seat.load(Relaxed) {
        return;
    }
    if stays {
        owner.request.store(Request::Change as u32, Relaxed);
        return;
    }
    find();
    measure(None);
    change();
    let is_empty = measure(None);
    owner.exhausted.store(u32::from(is_empty), Relaxed);
    owner.reopen();
}

/// Serves the meter's interrupts. It gets EXC_RETURN and both stack pointers as they were, and
/// returns a verdict as `judge` does.
#[unsafe(no_mangle)]
pub(super) extern "C" fn cofferdam_owner_meter(exc_return: u32, psp: u32, msp: u32) -> u64 {
    let owner = &COFFERDAM_OWNER;
    let outside = exc_return & SECURE == 0;
    // A handler is also met on its way into the kernel. What is active above other Secure code
    // stays there, and is ended.
    let is_inside = !outside && judge::is_active();
    let stays = is_inside && !inside::is_on_its_way(exc_return, msp);
    let request = owner.request.load(Relaxed);
    // A handler can come between the kernel's request and its interrupt, which follows then.
    // Nothing is done while that handler is interrupted: it would go on with what belongs to the
    // next one.
    if request != 0 && !outside && (!is_inside || stays) {
        serve(request, stays);
    }
    let (ended, matched) = (owner.looks.take_end(), owner.counter.take_match());
    if !ended && !matched {
        return if stays { end(exc_return, psp, msp) } else { GO_ON };
    }
    let strays = outside && judge::is_stray(exc_return);
    let meets = outside && !strays || is_inside && !stays;
    let (is_counted, is_at_boundary) = (owner.counter.is_there(), owner.looks.is_at_boundary());
    // A Thread mode that handlers have made privileged lets their returns fail in others' places
    // without a trace, so it is looked for at each interval.
    let found = match ended {
        true if is_thread_mode_privileged() => Some((Fault::Return, 0)),
        true if is_counted && judge::is_handler(exc_return) => judge::finding(),
        _ => None,
    };
    let tampers = is_counted && ended && owner.counter.finds(meets);
    let cheats = tampers || found.is_some();
    // A counter that is believed interrupts when the capacity is used up, so that a look need not charge. Time in the way in makes no match, and a counter that
    // looks doubt may have been set back: then the look charges.
    let is_doubted = is_counted && ended && owner.counter.is_doubted();
    let is_used_up = is_counted && ended && owner.counter.is_used_up();
    if matched || is_at_boundary || cheats || is_used_up || meets && (is_doubted || !is_counted) {
        settle(ended.then_some(meets));
    }
    if ended {
        owner.looks.arm(is_counted);
    }
    if cheats {
        let (fault, address) = found.unwrap_or((Fault::Data, 0));
        judge::blame(fault, address);
    } else if stays || !meets && (is_masked() || sleeps_on_exit()) {
        judge::blame(Fault::Return, 0);
    }
    if outside {
        if !strays {
            DISPLACED.met();
        }
        return judge::met(exc_return, psp, msp, cheats || owner.exhausted.load(Relaxed) != 0);
    }
    if stays {
        return judge::end(exc_return, psp, msp);
    }
    // The counter stands still in the way in, so that no match would end the handler.
    let is_over = is_inside && (cheats || owner.exhausted.load(Relaxed) != 0);
    if is_over { judge::end_inside(exc_return, psp, msp) } else { GO_ON }
}

/// Ends what stays active above Secure code, and blames its domain, because no handler may be
/// there.
fn end(exc_return: u32, psp: u32, msp: u32) -> u64 {
    judge::blame(Fault::Return, 0);
    judge::end(exc_return, psp, msp)
}

/// Charges what there is to charge, and closes lines as long as nothing is left, so that no handler
/// begins without capacity.
fn settle(met: Option<bool>) {
    let owner = &COFFERDAM_OWNER;
    let is_empty = measure(met);
    let was_empty = owner.exhausted.swap(u32::from(is_empty), Relaxed) != 0;
    if is_empty && !was_empty {
        owner.close();
    } else if was_empty {
        owner.reopen();
    }
}
