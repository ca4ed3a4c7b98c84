//! Sealed, replay-safe turns against what else would keep them: bare commits, other stores, bare sockets and ciphers.

mod asked;
pub(crate) mod decode;
pub(crate) mod filled;
pub(crate) mod retries;
mod rivals;
pub(crate) mod seal;
mod serving;
pub(crate) mod turns;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where stores are made: on the disk that the benches are built on, since a file in memory is durable at once.
fn folder(place: Option<&Path>) -> TempDir {
    let place =
        place.map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target"), Path::to_owned);
    std::fs::create_dir_all(&place).expect("a folder for stores");
    tempfile::Builder::new().prefix("bench-").tempdir_in(place).expect("a folder for stores")
}
