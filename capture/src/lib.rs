//! Captures to frames.
