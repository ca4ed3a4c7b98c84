//! What a request meets that may have come before: pure functions over what the store holds and what time it is.

mod clock;
mod decide;
mod retention;

pub use clock::{Clock, Now};
pub use decide::{Asked, Copies, Decision, Record, State, Terms, decide};
pub use retention::{Due, Retention};
