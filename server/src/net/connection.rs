//! One authenticated peer of a provider endpoint: a reader, a writer, and the runs that fill the lanes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::tcp::OwnedReadHalf;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tracing::{debug, info, warn};
use twolane_core::body::{Body, BodyFault, ProviderControl};
use twolane_core::envelope::{FrameType, Generation, Header, Lane, LaneFault, Version};
use twolane_core::frame::{EndFault, FrameFault};
use twolane_core::limits::CONTROL_BODY_MAX;

use super::endpoint::Endpoint;
use super::handshake::Authenticated;
use super::inbox::{Found, Inbox, Taken};
use super::lanes::Lanes;
use super::observe::{Counters, Observer};
use super::writer::{self, WriteEnd};
use crate::inspect::tap::{Direction, Kind};
use crate::provider::runs::{Cause, Runs, Step};
use crate::stop::Stop;

/// How long the last bytes may take in both directions when a connection is closed by us, beside a drain.
const LINGER: Duration = Duration::from_secs(1);

/// Why a connection ended.
#[derive(Debug)]
pub enum End {
    /// The peer said Goodbye or closed between frames.
    Clean,
    /// The server stops.
    Stopped,
    /// The peer closed inside a frame.
    Cut(EndFault),
    /// The peer sent something that is not allowed here.
    Refused(Refusal),
    /// Writing ended before reading did.
    Write(WriteEnd),
    /// Reading failed.
    Read(io::Error),
}

/// What a peer is refused for. It is told nothing but the end of the connection.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The stream is no stream of frames.
    #[error(transparent)]
    Frame(#[from] FrameFault),
    /// Another version than the one already written.
    #[error("the peer speaks version {}, but version {} was already written", found.number(), written.number())]
    Version {
        /// The peer's.
        found: Version,
        /// Ours.
        written: Version,
    },
    /// A frame type that provider sockets do not carry.
    #[error("{0} frames are not carried on a provider socket; StreamData, Ping, Pong and Goodbye are")]
    Type(FrameType),
    /// A frame on no lane.
    #[error(transparent)]
    Lane(#[from] LaneFault),
    /// Display goes from provider to runner only.
    #[error("display frame from a runner; display goes from provider to runner")]
    Display,
    /// A step without a correlation.
    #[error("corr is 0; a step's corr is never 0")]
    NoCorr,
    /// A body that cannot be read, or a payload that runners do not send.
    #[error("body: {0}")]
    Body(#[from] BodyFault),
    /// A generation that is still in use.
    #[error("generation {channel} (epoch {epoch}) is live; a runner chooses a free one")]
    Live {
        /// The channel.
        channel: u16,
        /// The epoch.
        epoch: u32,
    },
}

/// What a frame means for its connection.
enum Next {
    Continue,
    Goodbye,
}

/// Serves a peer until either side ends it.
pub async fn serve(
    peer: Authenticated,
    endpoint: &Arc<Endpoint>,
    observer: &Observer,
    mut stop: Stop,
) -> End {
    let (mut socket, mut write_half) = peer.stream.into_split();
    let lanes = Lanes::new(endpoint.version, endpoint.limits.budget);
    let mut connection = Connection {
        inbox: Inbox::new(peer.unread, CONTROL_BODY_MAX),
        runs: Runs::new(lanes.clone(), endpoint.provider.clone()),
        lanes: lanes.clone(),
        endpoint,
        observer,
    };
    let mut writer = {
        let (lanes, observer, endpoint) = (lanes.clone(), observer.clone(), Arc::clone(endpoint));
        tokio::spawn(async move {
            let show = |frame: &[u8]| {
                Counters::one(&endpoint.counters.frames_written);
                observer.offer(Direction::BToA, Kind::Frame, frame);
            };
            let end = writer::write(&lanes, &mut write_half, endpoint.limits.pace, show).await;
            // Producers must not wait for room in lanes that nobody empties.
            lanes.abandon();
            end
        })
    };
    connection.runs.start_unasked(Duration::ZERO);
    let end = connection.read(&mut socket, &mut writer, &mut stop).await;
    match &end {
        End::Stopped => connection.wind_down(&mut socket, &mut writer, endpoint.limits.drain, true).await,
        End::Clean | End::Refused(_) => connection.wind_down(&mut socket, &mut writer, LINGER, false).await,
        End::Cut(_) | End::Write(_) | End::Read(_) => {}
    }
    lanes.abandon();
    writer.abort();
    endpoint.counters.count_lanes(&lanes);
    end
}

struct Connection<'a> {
    inbox: Inbox,
    runs: Runs,
    lanes: Lanes,
    endpoint: &'a Endpoint,
    observer: &'a Observer,
}

impl Connection<'_> {
    async fn read(
        &mut self,
        socket: &mut OwnedReadHalf,
        writer: &mut JoinHandle<WriteEnd>,
        stop: &mut Stop,
    ) -> End {
        loop {
            match self.take_frames().await {
                Ok(Next::Continue) => {}
                Ok(Next::Goodbye) => return End::Clean,
                Err(refusal) => return End::Refused(refusal),
            }
            tokio::select! {
                () = stop.requested() => return End::Stopped,
                () = self.runs.next_ended() => {}
                ended = &mut *writer => {
                    return End::Write(ended.unwrap_or_else(|fault| WriteEnd::Socket(io::Error::other(fault))));
                }
                read = self.inbox.read(socket) => match read {
                    Ok(0) => return self.inbox.end().map_or_else(End::Cut, |()| End::Clean),
                    Ok(_) => {}
                    Err(fault) => return End::Read(fault),
                },
            }
        }
    }

    async fn take_frames(&mut self) -> Result<Next, Refusal> {
        while let Some(found) = self.inbox.take()? {
            Counters::one(&self.endpoint.counters.frames_read);
            let next = match found {
                Found::Frame(frame) => {
                    self.observer.offer(Direction::AToB, Kind::Frame, &frame.bytes);
                    self.check_version(&frame.header)?;
                    self.take_frame(&frame).await?
                }
                Found::Oversize(header) => {
                    self.observer.offer_skipped(Direction::AToB, &header);
                    self.check_version(&header)?;
                    self.take_oversize(&header).await?
                }
            };
            if let Next::Goodbye = next {
                return Ok(next);
            }
        }
        Ok(Next::Continue)
    }

    fn check_version(&self, header: &Header) -> Result<(), Refusal> {
        let found = header.version();
        if self.lanes.adopt(found) {
            Ok(())
        } else {
            Err(Refusal::Version { found, written: self.endpoint.version })
        }
    }

    async fn take_frame(&mut self, frame: &Taken) -> Result<Next, Refusal> {
        let header = &frame.header;
        match header.frame_type() {
            FrameType::Ping => {
                // Closed lanes end the connection by themselves.
                let _ = self.lanes.answer(FrameType::Pong, header).await;
                Ok(Next::Continue)
            }
            FrameType::Pong => Ok(Next::Continue),
            FrameType::Goodbye => Ok(Next::Goodbye),
            FrameType::StreamData => {
                check_control(header)?;
                self.take_control(header, frame.body()).await
            }
            other => Err(Refusal::Type(other)),
        }
    }

    async fn take_control(&mut self, header: &Header, body: &[u8]) -> Result<Next, Refusal> {
        let connection = self.observer.connection();
        let body = Body::parse(body)?;
        let generation = header.generation();
        match ProviderControl::from_runner(&body.payload)? {
            ProviderControl::StepRequest { .. } => {}
            ProviderControl::Cancel => {
                self.check_law(generation, body.seq);
                let known = self.runs.end(generation, Cause::Cancelled);
                debug!(connection, channel = generation.channel, known, "cancel");
                return Ok(Next::Continue);
            }
            // No other tag of the schema passes for a runner's.
            _ => {
                self.check_law(generation, body.seq);
                debug!(connection, "payload with an unfamiliar tag passed over");
                return Ok(Next::Continue);
            }
        }
        let step = Step {
            generation,
            corr: header.corr(),
            run_id: body.run_id.chars().collect(),
            step_id: body.step_id,
        };
        if !self.runs.claim(generation).await {
            return Err(Refusal::Live { channel: generation.channel, epoch: generation.epoch });
        }
        info!(
            connection,
            channel = generation.channel,
            corr = step.corr,
            step = step.step_id,
            "step requested"
        );
        self.runs.start_step(step);
        self.check_law(generation, body.seq);
        Ok(Next::Continue)
    }

    /// A broken law is reported and never repaired: the frame counts all the same.
    fn check_law(&mut self, generation: Generation, seq: u64) {
        if let Some(breach) = self.runs.judge(generation, seq) {
            Counters::one(&self.endpoint.counters.law_broken);
            let (connection, channel) = (self.observer.connection(), generation.channel);
            warn!(connection, channel, reason = %breach, "the peer's control breaks the law of seq");
        }
    }

    /// A request that is too long for us is answered, where it says for which generation the answer is.
    async fn take_oversize(&mut self, header: &Header) -> Result<Next, Refusal> {
        if header.frame_type() != FrameType::StreamData {
            return Err(Refusal::Type(header.frame_type()));
        }
        check_control(header)?;
        let generation = header.generation();
        if !self.runs.claim(generation).await {
            return Err(Refusal::Live { channel: generation.channel, epoch: generation.epoch });
        }
        // The run's id is in the body that was skipped.
        let step =
            Step { generation, corr: header.corr(), run_id: "unread".to_owned(), step_id: header.corr() };
        self.runs.refuse_step(
            step,
            format!("the body has {} bytes, at most {CONTROL_BODY_MAX} are read", header.body_len()),
        );
        Ok(Next::Continue)
    }

    /// Ends the runs, writes what is queued, and reads on meanwhile: bytes left unread would reset the connection
    /// and could cost the peer our last frames.
    async fn wind_down(
        &mut self,
        socket: &mut OwnedReadHalf,
        writer: &mut JoinHandle<WriteEnd>,
        limit: Duration,
        orderly: bool,
    ) {
        let Self { inbox, runs, lanes, .. } = self;
        let finish = async {
            if orderly {
                runs.end_all(Cause::Stopping).await;
            } else {
                runs.abort();
            }
            lanes.close(orderly);
            // Whatever its end was, there is nothing left to do about it.
            let _ = writer.await;
        };
        let discard = async {
            // What arrives now is not decoded any more: the connection is over for us.
            while let Ok(1..) = inbox.discard(socket).await {}
        };
        let mut discard = std::pin::pin!(discard);
        let both = async {
            tokio::select! {
                () = finish => { let _ = timeout(LINGER, discard).await; }
                () = &mut discard => {}
            }
        };
        let _ = timeout(limit, both).await;
    }
}

fn check_control(header: &Header) -> Result<(), Refusal> {
    if header.lane()? == Lane::Display {
        return Err(Refusal::Display);
    }
    if header.corr() == 0 {
        return Err(Refusal::NoCorr);
    }
    Ok(())
}

impl End {
    /// Tells log and counters.
    pub(super) fn report(&self, endpoint: &'static str, connection: u64, counters: &Counters) {
        match self {
            Self::Clean => debug!(endpoint, connection, "connection ended by the peer"),
            Self::Stopped => debug!(endpoint, connection, "connection ended: the server stops"),
            Self::Cut(fault) => info!(endpoint, connection, %fault, "connection cut by the peer"),
            Self::Read(fault) => info!(endpoint, connection, %fault, "connection lost"),
            Self::Refused(refusal) => {
                Counters::one(&counters.refused);
                warn!(endpoint, connection, reason = %refusal, "connection closed: the peer broke a rule");
            }
            Self::Write(end @ WriteEnd::Stalled { .. }) => {
                Counters::one(&counters.stalled);
                warn!(endpoint, connection, reason = %end, "connection closed");
            }
            Self::Write(end) => info!(endpoint, connection, reason = %end, "connection lost"),
        }
    }
}
