//! Sealed, replay-safe turns: what answers them, and what runs them.
//!
//! | file | what |
//! |---|---|
//! | `serve` | all of it together, start to stop |
//! | `service` | one request to one answer |
//! | `listen` | its sockets |
//! | `lookup`, `answer` | what is known of a request; what is sealed for it |
//! | `callers`, `callers_file`, `refusals`, `seals`, `time`, `room` | who may ask; repeated refusals; nonces; the clock; the disk |
//! | `backend` | the one trait that a connector for a provider implements |
//! | `events` | what a run says while it runs, up to its bound |
//! | `run` | one run: its time, its end, and the reply that it always gets |
//! | `script` | the backend that needs no provider: says again what it was asked |
//! | `exec` | the backend that is a program: request in, events out |

mod answer;
pub mod backend;
pub mod callers;
pub mod callers_file;
pub mod events;
pub mod exec;
pub mod listen;
mod lookup;
mod refusals;
mod room;
pub mod run;
pub mod script;
pub mod seals;
pub mod serve;
pub mod service;
pub mod time;

pub use backend::{NotReady, Outcome, ProviderBackend, Turn};
pub use callers::{Bounds, Caller, Callers, CallersFault};
pub use events::{Event, EventFault, Events};
pub use listen::{Bounds as ListenBounds, Watch};
pub use run::{Limits, Reply, RunEnd, run};
pub use serve::{Plan, Serving, StartFault, start, start_watched};
pub use service::{Answer, Service, ServiceFault, Settings};
pub use time::{SystemClock, Time};
