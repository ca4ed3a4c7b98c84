//! Sources to ordered bytes: what a capture holds is handed out once, in order, and what it lacks
//! is said.

mod files;
mod links;
mod peers;
mod reassembly;
mod scene;
mod taps;
mod texts;
