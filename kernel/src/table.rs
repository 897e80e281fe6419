//! Tables of objects and references into them. Objects are made at boot and never move or go away, so that an index has to be
//! checked once: when the reference is made.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

/// A reference to an object of the only table of its kind. It stays valid for as long as the kernel
/// runs, because objects never go away, and is as good as an index that was checked.
pub struct Ref<T>(NonNull<T>);

impl<T> Ref<T> {
    /// A reference to an object that is yet to be made.
    ///
    /// # Safety
    /// The object will be made there, in a [`Table`], before the reference is used.
    pub(crate) unsafe fn new(object: NonNull<T>) -> Ref<T> {
        Ref(object)
    }

    /// The address, as the entry code holds it.
    #[inline]
    pub(crate) fn place(self) -> NonNull<T> {
        self.0
    }
}

impl<T> Clone for Ref<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ref<T> {}

impl<T> PartialEq for Ref<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T> Eq for Ref<T> {}

impl<T> fmt::Debug for Ref<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A [`Ref`] whose type is known from elsewhere, so that one field of a capability serves several
/// kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyRef(NonNull<()>);

impl AnyRef {
    /// For objects that are always found by their index.
    pub(crate) const DANGLING: AnyRef = AnyRef(NonNull::dangling());

    pub(crate) fn of<T>(object: Ref<T>) -> AnyRef {
        AnyRef(object.0.cast())
    }

    /// The reference again.
    ///
    /// # Safety
    /// The place was made from a reference to a `T`.
    #[inline]
    pub(crate) unsafe fn object<T>(self) -> Ref<T> {
        Ref(self.0.cast())
    }
}

/// All objects of one kind. As a slice it is indexed with checks; [`Table::at`] needs none.
pub struct Table<T: 'static> {
    first: NonNull<T>,
    count: usize,
    owned: PhantomData<&'static mut [T]>,
}

impl<T> Table<T> {
    /// Takes objects over.
    ///
    /// # Safety
    /// There are so many objects from `first` on, and nothing but the table and references into it ever uses them.
    pub(crate) unsafe fn new(first: NonNull<T>, count: usize) -> Table<T> {
        Table { first, count, owned: PhantomData }
    }

    #[inline]
    pub(crate) fn find(&self, index: usize) -> Option<Ref<T>> {
        // SAFETY: the index is below the count.
        (index < self.count).then(|| Ref(unsafe { self.first.add(index) }))
    }

    pub(crate) fn index_of(&self, object: Ref<T>) -> usize {
        (object.0.addr().get() - self.first.addr().get()) / size_of::<T>()
    }

    /// The object. This needs no check: references are made by this table, which is the only one of
    /// its kind.
    #[inline(always)]
    pub(crate) fn at(&self, object: Ref<T>) -> &T {
        // SAFETY: the reference is to one of the objects, which this table owns and lends out as long as it is borrowed itself.
        unsafe { object.0.as_ref() }
    }

    /// As [`Table::at`], to change it.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, mut object: Ref<T>) -> &mut T {
        // SAFETY: as above, and the table is borrowed exclusively.
        unsafe { object.0.as_mut() }
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the table owns so many objects from there on.
        unsafe { core::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl<T> DerefMut for Table<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the table is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.first.as_ptr(), self.count) }
    }
}
