//! The memory of a processor.

use units::{Bytes, PhysAddr, VirtAddr, Width};

/// A physical address of a processor. Domains never see one, unless they see no other.
pub type Phys<A> = PhysAddr<<A as Physical>::Width>;

/// An address of a processor as a domain uses it.
pub type Virt<A> = VirtAddr<<A as Physical>::Width>;

/// A size in a processor's memory.
pub type Len<A> = Bytes<<A as Physical>::Width>;

/// Addresses of a processor, and its memory for the kernel's objects.
///
/// # Safety
/// An implementation promises that [`Physical::object_memory`] returns memory that nothing else uses, for as long as the kernel runs.
pub unsafe trait Physical: Sized + 'static {
    /// The unsigned integer that holds an address.
    type Width: Width;

    /// Memory for kernel objects.
    ///
    /// # Safety
    /// The range is typed as kernel memory and is asked for once only.
    unsafe fn object_memory(&mut self, base: Phys<Self>, bytes: Len<Self>) -> *mut u8;
}
