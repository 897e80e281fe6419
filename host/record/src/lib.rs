//! cofferdam-record
