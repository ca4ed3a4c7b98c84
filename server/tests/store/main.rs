//! What the store promises: what was answered is there, whatever the disk does; nothing is claimed twice.

mod committing;
mod disk;
mod file;
mod journal;
mod lying;
mod model;
mod scenes;
