//! What callers and runners say to each other (docs/wire.md, "Sessions").

mod cursor;

pub use cursor::Cursor;
