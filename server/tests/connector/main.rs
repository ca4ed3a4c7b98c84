//! Turns that are run, whatever the backend does.

mod ask;
mod program;
mod running;
