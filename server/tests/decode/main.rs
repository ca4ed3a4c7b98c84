//! `twolane decode` as a real process.

mod exit;
mod formats;
mod live;
mod process;
