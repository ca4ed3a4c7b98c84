//! Retries of finished turns from a full store: in process, over sockets, and soon after a kill.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use twolane::connector::Answer;
use twolane_core::limits::CONNECTOR_PREFIX_LEN;

use super::filled::{Process, REPLY_BYTES, fill, reply, request_id};
use super::{asked, folder, serving};
use crate::timing::{judge, median};

/// Frames to send again and again, of turns from all over the store.
const FRAMES: u64 = 10_000;

/// Connections at once.
const CALLERS: usize = 16;

/// Answers a second in process, at least.
const ANSWERS_S_MIN: f64 = 50_000.0;

/// What ours has to pass of the exchanges that a bare loop passes.
const BARE_SHARE_MIN: f64 = 0.6;

/// How long a server may take, from its start to its first answer, after it was killed.
const REOPENED_MAX: Duration = Duration::from_secs(2);

/// A retry, and the answer that it has to bring.
struct Retry {
    frame: Vec<u8>,
    number: u64,
}

type Retries = &'static [Retry];

/// False where a promise was not kept.
pub(crate) async fn bench(rounds: u32, time: Duration, turns: u64, place: Option<&Path>) -> bool {
    println!(
        "retries: requests of 1.8 KB again, {turns} finished turns stored with replies of {REPLY_BYTES} bytes; medians of \
         {rounds} rounds of {time:?}"
    );
    let folder = folder(place);
    fill(folder.path(), turns);
    // To the end of the program, so that any task may use them.
    let retries: Retries = Vec::leak((0..FRAMES).map(|place| Retry::of(place * turns / FRAMES)).collect());
    in_process(folder.path(), retries, rounds, time).await
        & over_sockets(folder.path(), retries, rounds, time).await
        & after_kills(folder.path(), retries, rounds).await
}

impl Retry {
    fn of(number: u64) -> Self {
        let invocation = asked::invocation(&request_id(number));
        Self { frame: asked::sealed(&asked::key(), &invocation), number }
    }

    fn body(&self) -> &[u8] {
        &self.frame[CONNECTOR_PREFIX_LEN..]
    }

    /// Over a connection of its own.
    async fn send(&self, address: SocketAddr) {
        let answer = serving::exchange(address, &self.frame).await.expect("an answer");
        assert_eq!(answer, reply(self.number), "the stored bytes");
    }
}

/// Carriage, seal, document, look-up, stored bytes; no socket.
async fn in_process(folder: &Path, retries: Retries, rounds: u32, time: Duration) -> bool {
    let service = serving::service(folder);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    let mut figures = Vec::new();
    for _ in 0..rounds {
        let service = Arc::clone(&service);
        let answers = rate(workers, time, retries, move |retry| {
            let service = Arc::clone(&service);
            async move {
                let answer = service.answer(retry.body()).await;
                assert_eq!(answer, Answer::Frame(reply(retry.number)), "the stored bytes");
            }
        });
        figures.push(answers.await);
    }
    let answers_s = median(figures);
    println!("  in process, {workers} workers                {answers_s:>10.0} answers/s");
    judge(&format!("{ANSWERS_S_MIN} a second"), answers_s >= ANSWERS_S_MIN)
}

/// The same over loopback, beside a loop that reads as many bytes and writes as many.
async fn over_sockets(folder: &Path, retries: Retries, rounds: u32, time: Duration) -> bool {
    let serving = serving::serve(folder).await;
    let (ours, bare) = (serving.address(), bare().await);
    let mut figures = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        let answers = rate(CALLERS, time, retries, move |retry| async move { retry.send(ours).await });
        figures[0].push(answers.await);
        let echoes = rate(CALLERS, time, retries, move |retry| async move {
            let answer = serving::exchange(bare, &retry.frame).await.expect("an answer");
            assert_eq!(answer.len(), REPLY_BYTES);
        });
        figures[1].push(echoes.await);
    }
    serving.stop().await;
    let [ours, bare] = figures.map(median);
    println!("  over sockets, {CALLERS} callers             {ours:>10.0} answers/s");
    println!(
        "  bare connect, read, write, close          {bare:>10.0} answers/s   ours passes {:.2} of it",
        ours / bare
    );
    judge(&format!("{BARE_SHARE_MIN} of the bare loop"), ours >= BARE_SHARE_MIN * bare)
}

/// Takes a frame, gives as many bytes as a reply has, closes.
async fn bare() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a socket");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    });
    address
}

async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut prefix = [0; CONNECTOR_PREFIX_LEN];
    stream.read_exact(&mut prefix).await?;
    let mut body = vec![0; u32::from_be_bytes(prefix) as usize];
    stream.read_exact(&mut body).await?;
    stream.write_all(&[0x42; REPLY_BYTES]).await
}

/// Kills a server that takes turns, starts another, and takes the time to its first answer.
async fn after_kills(folder: &Path, retries: Retries, rounds: u32) -> bool {
    let mut longest = Duration::ZERO;
    for round in 0..rounds {
        let mut killed = Process::start(folder);
        let address = killed.address();
        let turns = tokio::spawn(turns(address, round));
        tokio::time::sleep(Duration::from_millis(500)).await;
        drop(killed);
        assert!(turns.await.expect("turns") > 0, "a store that is being written");
        let started = Instant::now();
        let mut again = Process::start(folder);
        retries[round as usize].send(again.address()).await;
        longest = longest.max(started.elapsed());
    }
    println!(
        "  first answer after kill -9 and a new start {:>8.0} ms, the longest",
        longest.as_secs_f64() * 1e3
    );
    judge(&format!("within {REOPENED_MAX:?}"), longest <= REOPENED_MAX)
}

/// New turns until the server is gone; how many were answered.
async fn turns(address: SocketAddr, round: u32) -> usize {
    let mut tasks = JoinSet::new();
    for caller in 0..CALLERS {
        tasks.spawn(async move {
            let key = asked::key();
            let mut answered = 0;
            loop {
                let invocation = asked::invocation(&format!("new-{round}-{caller}-{answered}"));
                match serving::exchange(address, &asked::sealed(&key, &invocation)).await {
                    Ok(reply) if !reply.is_empty() => answered += 1,
                    _ => return answered,
                }
            }
        });
    }
    tasks.join_all().await.into_iter().sum()
}

/// Calls a second of so many workers, who go through the retries together.
async fn rate<F: Future<Output = ()> + Send + 'static>(
    workers: usize,
    time: Duration,
    retries: Retries,
    call: impl Fn(&'static Retry) -> F + Send + Sync + 'static,
) -> f64 {
    let (call, next) = (Arc::new(call), Arc::new(AtomicUsize::new(0)));
    let started = Instant::now();
    let end = started + time;
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let (call, next) = (Arc::clone(&call), Arc::clone(&next));
        tasks.spawn(async move {
            let mut calls = 0_u64;
            while Instant::now() < end {
                let place = next.fetch_add(1, Ordering::Relaxed);
                call(&retries[place % retries.len()]).await;
                calls += 1;
            }
            calls
        });
    }
    let calls: u64 = tasks.join_all().await.into_iter().sum();
    calls as f64 / started.elapsed().as_secs_f64()
}
