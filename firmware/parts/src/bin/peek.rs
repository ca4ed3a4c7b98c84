//! The header peek.
#![no_std]
#![no_main]

parts::program!((), |bytes| parts::peek::run(bytes));
