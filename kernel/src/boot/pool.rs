//! Memory for objects that are made at boot and never move.

use core::mem::{align_of, size_of};
use core::ptr::NonNull;

use system::objects::Size;
use units::{Bytes, PhysAddr};

use crate::boot::BootError;
use crate::physical::{Len, Phys, Physical};
use crate::table::{Ref, Table};

/// Hardware out kernel memory from one end.
pub struct Pool<A: Physical> {
    next: Phys<A>,
    end: Phys<A>,
}

impl<A: Physical> Pool<A> {
    pub(super) fn new(base: Phys<A>, bytes: Len<A>) -> Self {
        Pool { next: base, end: base.plus(bytes) }
    }

    /// Sets an object aside that is reached by its address only, such as a node of a table.
    pub(crate) fn take_one(&mut self, size: Size) -> Result<Phys<A>, BootError> {
        self.take(size.bytes.into(), size.align)
    }

    fn take(&mut self, bytes: Len<A>, align: u32) -> Result<Phys<A>, BootError> {
        let base = self.next.wide().align_up(Bytes(align.into())).ok_or(BootError::NoMemory)?;
        if self.end.wide().offset_from(base).is_none_or(|left| bytes.wide() > left) {
            return Err(BootError::NoMemory);
        }
        let base = PhysAddr::narrow(base);
        // No objects take nothing, not even a gap for their alignment: the host counts so, too.
        if bytes > Len::<A>::default() {
            self.next = base.plus(bytes);
        }
        Ok(base)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next == self.end
    }

    pub(super) fn reserve<T>(&mut self, arch: &mut A, count: usize) -> Result<Building<T>, BootError> {
        let bytes = Bytes::from((size_of::<T>() * count) as u32);
        let base = self.take(bytes, align_of::<T>() as u32)?;
        // SAFETY: the range is part of the object memory and `next` has moved past it, so it is handed out once.
        let first = unsafe { arch.object_memory(base, bytes).cast::<T>() };
        Ok(Building { first, made: 0, count })
    }

    pub(super) fn array<T>(
        &mut self,
        arch: &mut A,
        count: usize,
        mut make: impl FnMut(usize) -> Result<T, BootError>,
    ) -> Result<&'static mut [T], BootError> {
        let mut array = self.reserve(arch, count)?;
        for index in 0..count {
            array.push(make(index)?);
        }
        Ok(array.finish())
    }

    /// As [`Pool::array`], as a table.
    pub(super) fn table<T>(
        &mut self,
        arch: &mut A,
        count: usize,
        mut make: impl FnMut(usize) -> Result<T, BootError>,
    ) -> Result<Table<T>, BootError> {
        let mut array = self.reserve(arch, count)?;
        for index in 0..count {
            array.push(make(index)?);
        }
        array.table()
    }
}

/// An array whose elements are made one after the other, in place, because boot has little stack.
pub(super) struct Building<T> {
    first: *mut T,
    made: usize,
    count: usize,
}

impl<T> Building<T> {
    pub(super) fn push(&mut self, value: T) {
        assert!(self.made < self.count);
        // SAFETY: the memory was set aside for `count` elements, aligned for T.
        unsafe { self.first.add(self.made).write(value) };
        self.made += 1;
    }

    /// A reference to an element, made or yet to be made.
    pub(super) fn find(&self, index: usize) -> Result<Ref<T>, BootError> {
        let first = NonNull::new(self.first).ok_or(BootError::NoMemory)?;
        if index >= self.count {
            return Err(BootError::BadTables);
        }
        // SAFETY: the memory was set aside for `count` elements, of which a table is made before anything runs.
        Ok(unsafe { Ref::new(first.add(index)) })
    }

    pub(super) fn table(self) -> Result<Table<T>, BootError> {
        assert!(self.made == self.count);
        let first = NonNull::new(self.first).ok_or(BootError::NoMemory)?;
        // SAFETY: all elements were made; the memory is used for nothing else from now on.
        Ok(unsafe { Table::new(first, self.made) })
    }

    pub(super) fn finish(self) -> &'static mut [T] {
        if self.made == 0 {
            return &mut [];
        }
        // SAFETY: `made` elements were written; the memory is used for nothing else from now on.
        unsafe { core::slice::from_raw_parts_mut(self.first, self.made) }
    }
}
