//! Tests of the conformance oracle itself: it must pass what agrees and see every kind of difference.

mod compares;
mod echo;
mod isolates;
mod reads;
mod recorded;
mod rules;
mod skips;
