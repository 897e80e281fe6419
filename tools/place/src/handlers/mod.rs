//! Handlers that an interrupt reaches without the kernel run in Non-secure state, which executes no Secure memory, and Secure state none of the other
//! (DDI 0553 B8). So what they execute, with its constants, is placed a second time. Data is in Non-secure memory for both.

mod pieces;
mod reach;

pub(crate) use reach::Reached;
