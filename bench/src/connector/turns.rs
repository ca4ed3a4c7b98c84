//! Sealed, durable turns of many callers and of one, against bare commits and other stores on the same disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::folder;
use super::rivals::{Bare, Keeper, Log, Postgres, Redis, Twolane};
use crate::timing::{judge, median};

/// Callers at once; each waits for its answer before it asks again.
const CALLERS: usize = 64;

/// What ours has to pass of the turns that bare commits of the same engine pass.
const BARE_SHARE_MIN: f64 = 0.7;

/// What the turn of a caller who is alone may take of two bare commits.
const ALONE_RATIO_MAX: f64 = 3.0;

/// What one round of one way gave.
struct Round {
    turns_s: f64,
    /// Median of a turn, in milliseconds.
    turn_ms: f64,
}

/// One way, its rounds so far.
#[derive(Default)]
struct Way {
    many: Vec<Round>,
    alone: Vec<Round>,
}

impl Way {
    async fn rounds<K: Keeper>(&mut self, keeper: &Arc<K>, time: Duration) {
        self.many.push(round(keeper, CALLERS, time).await);
        self.alone.push(round(keeper, 1, time).await);
    }

    fn turns_s(&self) -> f64 {
        median(self.many.iter().map(|round| round.turns_s).collect())
    }

    fn alone_ms(&self) -> f64 {
        median(self.alone.iter().map(|round| round.turn_ms).collect())
    }

    fn print(&self, name: &str) {
        let turn_ms = median(self.many.iter().map(|round| round.turn_ms).collect());
        let (turns_s, alone_ms) = (self.turns_s(), self.alone_ms());
        println!("  {name:<44}{turns_s:>8.0} turns/s{turn_ms:>9.2} ms each{alone_ms:>9.2} ms alone");
    }
}

/// False where a promise was not kept, or a rival was not there.
pub(crate) async fn bench(rounds: u32, time: Duration, place: Option<&Path>) -> bool {
    println!(
        "turns: requests of 1.8 KB claimed durably, run by the script, answered durably; {CALLERS} callers, and one alone; \
         medians of {rounds} rounds of {time:?}"
    );
    let folder = folder(place);
    let ours = Arc::new(Twolane::start(&folder.path().join("twolane")).await);
    let reply_bytes = ours.reply_bytes().await;
    let bare = Arc::new(Bare::start(folder.path(), reply_bytes));
    let log = Arc::new(Log::start(folder.path(), reply_bytes));
    let redis = there(Redis::start(folder.path(), reply_bytes).await);
    let postgres = there(Postgres::start(folder.path(), reply_bytes).await);
    let mut ways: [Way; 5] = Default::default();
    let [of_ours, of_bare, of_log, of_redis, of_postgres] = &mut ways;
    for _ in 0..rounds {
        of_ours.rounds(&ours, time).await;
        of_bare.rounds(&bare, time).await;
        if let Some(postgres) = &postgres {
            of_postgres.rounds(postgres, time).await;
        }
        if let Some(redis) = &redis {
            of_redis.rounds(redis, time).await;
        }
        of_log.rounds(&log, time).await;
    }
    of_ours.print("twolane: seal, send, run, store, open");
    of_bare.print("redb, the same two commits by a bare thread");
    if postgres.is_some() {
        of_postgres.print("PostgreSQL, INSERT ON CONFLICT, UPDATE");
    }
    if redis.is_some() {
        of_redis.print("Redis, SET NX, SET, appendfsync always");
    }
    of_log.print("a log, append and fdatasync");
    let kept = judged(of_ours, of_bare, postgres.is_some().then_some(&*of_postgres));
    Arc::into_inner(ours).expect("no caller left").stop().await;
    kept & redis.is_some()
}

fn judged(ours: &Way, bare: &Way, postgres: Option<&Way>) -> bool {
    let (share, alone) = (ours.turns_s() / bare.turns_s(), ours.alone_ms() / bare.alone_ms());
    println!("  ours passes {share:.2} of the bare commits' turns; alone it takes {alone:.2}x of them");
    let mut kept = judge(&format!("{BARE_SHARE_MIN} of the bare commits"), share >= BARE_SHARE_MIN);
    kept &= judge(&format!("alone at most {ALONE_RATIO_MAX}x"), alone <= ALONE_RATIO_MAX);
    let ahead = postgres.map(|postgres| ours.turns_s() / postgres.turns_s());
    if let Some(ahead) = ahead {
        println!("  ours passes {ahead:.2} of PostgreSQL's turns");
    }
    kept & judge("ahead of PostgreSQL", ahead.is_some_and(|ahead| ahead > 1.0))
}

fn there<K>(started: Result<K, String>) -> Option<Arc<K>> {
    started.map(Arc::new).inspect_err(|fault| println!("  left out: {fault}")).ok()
}

/// Turns of so many callers for a time.
async fn round<K: Keeper>(keeper: &Arc<K>, callers: usize, time: Duration) -> Round {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut connected = Vec::new();
    for _ in 0..callers {
        connected.push(keeper.caller().await);
    }
    let started = Instant::now();
    let end = started + time;
    let mut tasks = JoinSet::new();
    for mut caller in connected {
        let keeper = Arc::clone(keeper);
        tasks.spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                let begun = Instant::now();
                // Ids as callers draw them: in no order.
                keeper
                    .turn(&mut caller, format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                    .await;
                times.push(begun.elapsed().as_secs_f64() * 1e3);
            }
            times
        });
    }
    let times = tasks.join_all().await.concat();
    Round { turns_s: times.len() as f64 / started.elapsed().as_secs_f64(), turn_ms: median(times) }
}
