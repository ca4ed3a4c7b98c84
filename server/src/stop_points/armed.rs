//! The places where they are more than their names.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::process::{Signal, getpid, kill_process};

use super::Point;
use crate::store::Change;

/// The test's folder.
const VARIABLE: &str = "TWOLANE_STOP_POINTS";

/// What a test arms and reads.
struct Stage {
    folder: PathBuf,
    /// The place, and at which passing.
    armed: Option<(String, u32)>,
    book: File,
    passed: HashMap<String, u32>,
}

static STAGE: LazyLock<Option<Mutex<Stage>>> = LazyLock::new(|| {
    std::env::var_os(VARIABLE).and_then(|folder| Stage::open(folder.into())).map(Mutex::new)
});

static AHEAD_MS: AtomicU64 = AtomicU64::new(0);

impl Stage {
    fn open(folder: PathBuf) -> Option<Self> {
        let armed = fs::read_to_string(folder.join("armed")).unwrap_or_default();
        let armed = armed.split_once(' ').map(|(name, pass)| (name.to_owned(), pass.trim().parse()));
        let mut passed = HashMap::new();
        for name in fs::read_to_string(folder.join("book")).unwrap_or_default().lines() {
            *passed.entry(name.to_owned()).or_default() += 1;
        }
        let book = OpenOptions::new().create(true).append(true).open(folder.join("book")).ok()?;
        let armed = armed.and_then(|(name, pass)| Some((name, pass.ok()?)));
        let armed = armed.filter(|_| !folder.join("died").exists());
        Some(Self { folder, armed, book, passed })
    }

    fn pass(&mut self, point: Point) {
        let name = format!("{point:?}");
        // A book that cannot be written lacks what the test looks for.
        let _ = self.book.write_all(format!("{name}\n").as_bytes());
        let passed = self.passed.entry(name.clone()).or_default();
        *passed += 1;
        // Behind it too: a test that kills the server itself may take the very passing away.
        if self.armed.as_ref().is_some_and(|(armed, pass)| *armed == name && *passed >= *pass) {
            let _ = fs::write(self.folder.join("died"), &name);
            // Nothing of the process runs on behind this, no other thread and no handler.
            let _ = kill_process(getpid(), Signal::KILL);
        }
        if point == Point::ClaimCommitted {
            let late = self.folder.join("late");
            let ms = fs::read_to_string(&late).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            AHEAD_MS.fetch_add(ms, Ordering::SeqCst);
            let _ = fs::remove_file(late);
        }
    }
}

/// Comes by a place.
pub(crate) fn pass(point: Point) {
    if let Some(stage) = &*STAGE {
        stage.lock().unwrap_or_else(PoisonError::into_inner).pass(point);
    }
}

/// Comes by the place of each of `changes`, which are not durable yet.
pub(crate) fn applied(changes: &[Change]) {
    changes.iter().filter_map(places).for_each(|(applied, _)| pass(applied));
}

/// Comes by the place of each of `changes`, which are durable now.
pub(crate) fn durable(changes: &[Change]) {
    changes.iter().filter_map(places).for_each(|(_, durable)| pass(durable));
}

/// The places of a change: made, and durable. A server makes no others by itself.
const fn places(change: &Change) -> Option<(Point, Point)> {
    Some(match change {
        Change::Claim(_) => (Point::ClaimApplied, Point::ClaimDurable),
        Change::Unclaim { .. } => (Point::GiveBackApplied, Point::GiveBackDurable),
        Change::Finish { .. } => (Point::FinishApplied, Point::FinishDurable),
        Change::Reseal { .. } => (Point::ResealApplied, Point::ResealDurable),
        Change::Purge(_) => (Point::PurgeApplied, Point::PurgeDurable),
        Change::ReserveSeals { .. } => (Point::SealsApplied, Point::SealsDurable),
        _ => return None,
    })
}

/// A frame is written in two halves, with a place between them.
pub(crate) fn halves(frame: &[u8]) -> (&[u8], &[u8]) {
    frame.split_at(frame.len() / 2)
}

/// How far the clock is ahead of the system's.
pub(crate) fn clock_ahead_ms() -> u64 {
    AHEAD_MS.load(Ordering::SeqCst)
}
