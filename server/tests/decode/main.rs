//! `twolane decode` and `twolane tap` as real processes.

mod exit;
mod formats;
mod live;
mod process;
mod progress;
mod tap;
