//! Places at which a test lets the process die. Without the feature `stop-points`, with which no release builds, all of
//! it is empty.
//!
//! `TWOLANE_STOP_POINTS` names a folder that is the test's:
//!
//! | file | holds |
//! |---|---|
//! | `armed` | a place and a number: `FinishAsked 2` kills the process, as kill -9 would, at its second passing |
//! | `book` | each passing, a line with the place; it goes on over the lives of a server |
//! | `died` | the place, once the process was killed there |
//! | `late` | milliseconds: so far the clock goes ahead once the next claim is durable, which takes the file away |

#[cfg(all(feature = "stop-points", not(debug_assertions)))]
compile_error!("the feature `stop-points` is for tests alone: no release is built with it");

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A place, in the order in which a server and one request pass them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Point { $($(#[$doc])* $name,)* }

        impl Point {
            /// Every one.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];
        }
    };
}

points! {
    /// A new store is whole, beside its place.
    StoreMade,
    /// It is in its place, which is not durable yet.
    StorePlaced,
    /// Its journal has its length, and the tables do not know of it.
    JournalMade,
    /// They do, durably.
    JournalBegun,
    /// The journal of a store that was killed is read.
    JournalRead,
    /// The tables have all of it, durably.
    JournalCaughtUp,
    /// A commit's record is written into the journal, not durably yet.
    RecordWritten,
    /// A commit is durable and seen by readers, and nobody was told.
    CommitSeen,
    /// The journal is full, so that the tables are about to be made durable.
    TablesAsked,
    /// They are, and the journal has not begun anew.
    TablesDurable,
    /// Seal numbers are about to be reserved.
    SealsAsked,
    /// They are, not durably yet.
    SealsApplied,
    /// They are durable, and nobody was told.
    SealsDurable,
    /// They are in hand.
    SealsReserved,
    /// The connector listens, and nobody was told.
    Listening,
    /// What is old is about to be let go of.
    PurgeAsked,
    /// It is gone, not durably yet.
    PurgeApplied,
    /// That is durable, and nobody was told.
    PurgeDurable,
    /// The purge is over.
    Purged,
    /// A connection is there.
    Accepted,
    /// The length of its request is read.
    PrefixRead,
    /// The request is whole.
    RequestRead,
    /// A claim is about to be asked for.
    ClaimAsked,
    /// It is made, not durably yet.
    ClaimApplied,
    /// It is durable, and nobody was told.
    ClaimDurable,
    /// Who asked for it was told.
    ClaimCommitted,
    /// Its mark is that of the clock too.
    ClockMarked,
    /// A claim that came too late is about to be given back.
    GiveBackAsked,
    /// It is, not durably yet.
    GiveBackApplied,
    /// That is durable, and nobody was told.
    GiveBackDurable,
    /// Who gave it back was told.
    GivenBack,
    /// The run begins; its provider has heard nothing.
    RunBegun,
    /// The program runs.
    ProgramStarted,
    /// It has its request.
    ProgramAsked,
    /// It said something.
    ProgramSaid,
    /// It said how its run ended.
    ProgramEnded,
    /// The reply is sealed.
    ReplySealed,
    /// The reply is about to be stored.
    FinishAsked,
    /// It is, not durably yet.
    FinishApplied,
    /// It is durable, and nobody was told.
    FinishDurable,
    /// Who stored it was told.
    FinishCommitted,
    /// The reply is about to be stored under another key as well.
    ResealAsked,
    /// It is, not durably yet.
    ResealApplied,
    /// It is durable, and nobody was told.
    ResealDurable,
    /// Who stored it was told.
    ResealCommitted,
    /// A refusal is sealed.
    RefusalSealed,
    /// Half of an answer is written.
    AnswerHalfWritten,
    /// All of it is.
    AnswerWritten,
    /// The server was told to stop, and listens no more.
    Stopping,
    /// All runs ended.
    RunsEnded,
    /// The tables are about to be made durable for the last time.
    CloseAsked,
    /// They have everything.
    Closed,
    /// The store is closed.
    StoreClosed,
}

#[cfg(not(feature = "stop-points"))]
mod empty {
    use super::Point;
    use crate::store::Change;

    pub(crate) const fn pass(_: Point) {}

    pub(crate) const fn applied(_: &[Change]) {}

    pub(crate) const fn durable(_: &[Change]) {}

    /// A frame is written at once.
    pub(crate) const fn halves(frame: &[u8]) -> (&[u8], &[u8]) {
        (frame, &[])
    }

    pub(crate) const fn clock_ahead_ms() -> u64 {
        0
    }
}

#[cfg(not(feature = "stop-points"))]
pub(crate) use empty::{applied, clock_ahead_ms, durable, halves, pass};

#[cfg(feature = "stop-points")]
mod armed;

#[cfg(feature = "stop-points")]
pub(crate) use armed::{applied, clock_ahead_ms, durable, halves, pass};
