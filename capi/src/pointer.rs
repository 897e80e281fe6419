//! Pointers from C, checked before they are used.

use core::mem::MaybeUninit;
use core::ops::Range;

use crate::Status;

/// Refuses what cannot be a pointer to a `T`.
#[inline(always)]
fn checked<T>(pointer: *const T) -> Result<(), Status> {
    if pointer.is_null() {
        Err(Status::Null)
    } else if !pointer.is_aligned() {
        Err(Status::Misaligned)
    } else {
        Ok(())
    }
}

/// A value that is read.
///
/// # Safety
/// As in [the crate's](crate) documentation, for `'a`.
#[inline(always)]
pub unsafe fn read<'a, T>(pointer: *const T) -> Result<&'a T, Status> {
    checked(pointer)?;
    // SAFETY: not null and aligned; the rest is the caller's duty.
    Ok(unsafe { &*pointer })
}

/// A value that is read, or nothing when there is none of them.
///
/// # Safety
/// As in [the crate's](crate) documentation, for `'a`, with `count` values at `pointer`.
pub unsafe fn read_all<'a, T>(pointer: *const T, count: u32) -> Result<&'a [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    checked(pointer)?;
    // SAFETY: not null and aligned; the rest is the caller's duty.
    Ok(unsafe { core::slice::from_raw_parts(pointer, count as usize) })
}

/// Values that are written, of types for which every content is valid; nothing when there is none of them.
///
/// # Safety
/// As in [the crate's](crate) documentation, for `'a`, with `count` initialised values at `pointer`.
pub unsafe fn write_all<'a, T>(pointer: *mut T, count: u32) -> Result<&'a mut [T], Status> {
    if count == 0 {
        return Ok(&mut []);
    }
    checked(pointer)?;
    // SAFETY: not null and aligned; the rest is the caller's duty.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, count as usize) })
}

/// A place for a result, checked before anything else happens, so that a call with a bad pointer has no effect.
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// A place that must be there.
    #[inline(always)]
    pub fn required(pointer: *mut T) -> Result<Self, Status> {
        checked(pointer).map(|()| Self(pointer))
    }

    /// A place that may be null.
    pub fn optional(pointer: *mut T) -> Result<Option<Self>, Status> {
        if pointer.is_null() { Ok(None) } else { Self::required(pointer).map(Some) }
    }

    /// Leaves the result.
    ///
    /// # Safety
    /// As in [the crate's](crate) documentation; no reference into the place is in use.
    #[inline(always)]
    pub unsafe fn put(self, value: T) {
        // SAFETY: not null and aligned; the rest is the caller's duty.
        unsafe { self.0.write(value) }
    }
}

/// An object in memory of the caller: its mark, and the value once there is one. Of the layouts in the header this is never larger.
#[repr(C)]
#[derive(Debug)]
pub struct Object<T, const MARK: u32> {
    value: MaybeUninit<T>,
    mark: u32,
}

impl<T, const MARK: u32> Object<T, MARK> {
    /// Places a value.
    ///
    /// # Safety
    /// As in [the crate's](crate) documentation.
    pub unsafe fn init(pointer: *mut Self, value: T) -> Result<(), Status> {
        checked(pointer)?;
        // SAFETY: not null and aligned; the rest is the caller's duty. The old value is not
        // dropped: values here own nothing.
        unsafe { pointer.write(Self { value: MaybeUninit::new(value), mark: MARK }) };
        Ok(())
    }

    /// Places a copy of a constant, which large objects need: no stack is used for them.
    ///
    /// # Safety
    /// As in [the crate's](crate) documentation.
    pub unsafe fn init_from(pointer: *mut Self, value: &'static T) -> Result<(), Status> {
        checked(pointer)?;
        // SAFETY: not null and aligned; the rest is the caller's duty. The constant stays and owns nothing, so that its bytes are
        // a value of their own.
        unsafe {
            (&raw mut (*pointer).value).copy_from_nonoverlapping(core::ptr::from_ref(value).cast(), 1);
            (&raw mut (*pointer).mark).write(MARK);
        }
        Ok(())
    }

    /// The value, if there is one.
    ///
    /// # Safety
    /// As in [the crate's](crate) documentation, for `'a`; the bytes of the object were set to something once.
    #[inline(always)]
    pub unsafe fn get<'a>(pointer: *const Self) -> Result<&'a T, Status> {
        checked(pointer)?;
        // SAFETY: not null and aligned; the mark may hold anything. The rest is the caller's duty.
        if unsafe { (&raw const (*pointer).mark).read() } != MARK {
            return Err(Status::Stale);
        }
        // SAFETY: the mark is written with the value only.
        Ok(unsafe { (*pointer).value.assume_init_ref() })
    }

    /// The value, if there is one, to be changed.
    ///
    /// # Safety
    /// As for [`Object::get`].
    #[inline(always)]
    pub unsafe fn get_mut<'a>(pointer: *mut Self) -> Result<&'a mut T, Status> {
        checked(pointer)?;
        // SAFETY: not null and aligned; the mark may hold anything. The rest is the caller's duty.
        if unsafe { (&raw const (*pointer).mark).read() } != MARK {
            return Err(Status::Stale);
        }
        // SAFETY: the mark is written with the value only.
        Ok(unsafe { (*pointer).value.assume_init_mut() })
    }
}

/// The addresses of `count` values.
pub fn range<T>(pointer: *const T, count: u32) -> Range<usize> {
    let start = pointer as usize;
    start..start.saturating_add(size_of::<T>().saturating_mul(count as usize))
}

/// Refuses memory of which two parts share a byte, and parts larger than half of the address space or reaching its end.
pub fn disjoint(parts: &[Range<usize>]) -> Result<(), Status> {
    for (i, one) in parts.iter().enumerate() {
        if one.end == usize::MAX || one.len() > isize::MAX as usize {
            return Err(Status::Argument);
        }
        if parts[..i].iter().any(|other| one.start < other.end && other.start < one.end && !one.is_empty()) {
            return Err(Status::Overlapping);
        }
    }
    Ok(())
}
