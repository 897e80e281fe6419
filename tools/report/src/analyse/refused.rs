//! System calls that the kernel refused.

use std::collections::BTreeMap;

use abi::{CALLS, Call, ERRORS, Error};
use record::RunEvent;

use crate::MAX_REFUSALS;
use crate::schema::Refusal;

/// Refused calls by domain, call and status word.
#[derive(Debug, Default)]
pub struct Refused {
    counts: BTreeMap<(u8, u16, u32), u64>,
}

impl Refused {
    /// Counts a refusal. Beyond [`MAX_REFUSALS`] different ones, new ones are counted under call 65535.
    pub fn note(&mut self, event: &RunEvent) -> bool {
        let mut key = (event.domain, event.detail, event.payload);
        if self.counts.len() >= MAX_REFUSALS && !self.counts.contains_key(&key) {
            key = (event.domain, u16::MAX, Error::BadCall.status());
        }
        *self.counts.entry(key).or_default() += 1;
        true
    }

    /// The refusals of one domain, by number of the call, then of the error.
    pub fn of(&self, domain: u8) -> Vec<Refusal> {
        let range = self.counts.range((domain, 0, 0)..=(domain, u16::MAX, u32::MAX));
        range
            .map(|(&(_, call, status), &count)| Refusal { call: call_name(call), error: error_name(status), count })
            .collect()
    }

    /// All refusals, and all answers that a call is only to be repeated.
    pub fn totals(&self) -> (u64, u64) {
        let sum = |retried: bool| {
            self.counts.iter().filter(|((.., status), _)| is_retry(*status) == retried).map(|(_, count)| count).sum()
        };
        (sum(false), sum(true))
    }
}

/// Whether an answer is no refusal: somebody else is at work, or a long operation goes on.
fn is_retry(status: u32) -> bool {
    matches!(Error::from_status(status), Some(Error::Busy | Error::Again))
}

/// Name of a call, or its number when no call has it.
pub fn call_name(number: u16) -> String {
    let doc = Call::from_number(u32::from(number)).and_then(|call| CALLS.iter().find(|doc| doc.call == call));
    doc.map_or_else(|| format!("call {number}"), |doc| doc.name.to_owned())
}

/// Name of an error, or its status word.
pub fn error_name(status: u32) -> String {
    let doc = Error::from_status(status).and_then(|error| ERRORS.iter().find(|doc| doc.error == error));
    doc.map_or_else(|| format!("{status:#x}"), |doc| doc.name.to_owned())
}
