//! Thin face of the core for the page.
