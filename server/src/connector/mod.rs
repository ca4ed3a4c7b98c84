//! Sealed, replay-safe turns: what runs them.
//!
//! | file | what |
//! |---|---|
//! | `backend` | the one trait that a connector for a provider implements |
//! | `events` | what a run says while it runs, up to its bound |
//! | `run` | one run: its time, its end, and the reply that it always gets |
//! | `echo` | the backend that needs no provider: says again what it was asked |
//! | `exec` | the backend that is a program: request in, events out |

pub mod backend;
pub mod echo;
pub mod events;
pub mod exec;
pub mod run;

pub use backend::{NotReady, Outcome, ProviderBackend, Turn};
pub use events::{Event, EventFault, Events};
pub use run::{Limits, Reply, RunEnd, run};
