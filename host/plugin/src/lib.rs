//! cofferdam-plugin
