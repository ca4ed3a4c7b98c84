//! Twolane server library.
