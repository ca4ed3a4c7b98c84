//! A whole client of a provider socket: shakes hands, asks for a step, follows both lanes, answers pings.

use twolane_core::body::{self, Body, BodyFault, DisplayEvent, ProviderControl, WriteFault};
use twolane_core::buffer::{BufferTooSmall, Event, FrameBuffer};
use twolane_core::envelope::{Flags, FrameType, Header, HeaderFault, Lane, LaneFault, Parts, Version};
use twolane_core::frame::FrameFault;
use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, HandshakeFault, Key, Nonce};
use twolane_core::lanes::law::{Law, Verdict};

/// The one generation that this client asks on.
const CHANNEL: u16 = 1;

/// One connection. What is read lies in the caller's buffer, what is to be sent goes to another.
pub struct Client<'b> {
    handshake: Option<ClientHandshake>,
    frames: FrameBuffer<'b>,
    display: Law,
    control: Law,
    sent: u64,
}

/// What the bytes received so far mean.
#[derive(Debug)]
pub enum Step<'c> {
    /// Nothing more: read on.
    Read,
    /// So many bytes at the front of `out` are to be sent.
    Send(usize),
    /// An event of the display lane, and whether it follows the one before.
    Display(DisplayEvent<'c>, Verdict),
    /// A unit of the control lane, and whether it follows the one before.
    Control(ProviderControl<'c>, Verdict),
    /// A frame over the buffer's size was passed over.
    Oversize(u32),
    /// The server ended the connection.
    Goodbye,
}

/// Why a connection cannot go on.
#[derive(Debug)]
pub enum Fault {
    Handshake(HandshakeFault),
    Frame(FrameFault),
    Header(HeaderFault),
    Lane(LaneFault),
    Body(BodyFault),
    Write(WriteFault),
    /// The buffer for what is to be sent is too small.
    Full,
}

impl<'b> Client<'b> {
    /// A client that expects `daemon` behind the socket; `storage` bounds the frames it reads.
    pub fn new(
        key: &Key,
        daemon: DaemonId,
        nonce: Nonce,
        storage: &'b mut [u8],
    ) -> Result<Self, BufferTooSmall> {
        Ok(Self {
            handshake: Some(ClientHandshake::new(key, daemon, nonce)),
            frames: FrameBuffer::new(storage)?,
            display: Law::from_start(Lane::Display),
            control: Law::from_start(Lane::Control),
            sent: 0,
        })
    }

    /// Writes message 1 to the front of `out`.
    pub fn hello(&self, out: &mut [u8]) -> Result<usize, Fault> {
        self.handshake.as_ref().map_or(Ok(0), |handshake| put(&handshake.hello(), out))
    }

    /// Where bytes off the socket go.
    pub fn space(&mut self) -> &mut [u8] {
        self.frames.space()
    }

    /// Says that `count` bytes went there.
    pub fn advance(&mut self, count: usize) {
        self.frames.advance(count);
    }

    /// The next step; call until it says `Read`.
    #[inline(never)]
    pub fn step(&mut self, out: &mut [u8]) -> Result<Step<'_>, Fault> {
        if let Some(handshake) = &mut self.handshake {
            let received = handshake.receive(self.frames.unread()).map_err(Fault::Handshake)?;
            self.frames.consume(received.consumed);
            let ClientStep::Authenticated { auth } = received.step else { return Ok(Step::Read) };
            self.handshake = None;
            return put(&auth, out).map(Step::Send);
        }
        let frame = match self.frames.take().map_err(Fault::Frame)? {
            None => return Ok(Step::Read),
            Some(Event::Oversize(header)) => return Ok(Step::Oversize(header.body_len())),
            Some(Event::Frame(frame)) => frame,
        };
        match frame.header.frame_type() {
            FrameType::Ping => {
                let parts =
                    Parts { frame_type: FrameType::Pong, flags: Flags::CONTROL, ..frame.header.parts() };
                put(&Header::new(parts).map_err(Fault::Header)?.encode(), out).map(Step::Send)
            }
            FrameType::Goodbye => Ok(Step::Goodbye),
            _ => {
                let lane = frame.header.lane().map_err(Fault::Lane)?;
                let body = Body::parse(frame.body).map_err(Fault::Body)?;
                match lane {
                    Lane::Display => {
                        let event = DisplayEvent::read(&body.payload).map_err(Fault::Body)?;
                        let dropped = match event {
                            DisplayEvent::DisplayGap { dropped } => Some(dropped),
                            _ => None,
                        };
                        Ok(Step::Display(event, self.display.check(body.seq, dropped)))
                    }
                    Lane::Control => {
                        let unit = ProviderControl::from_provider(&body.payload).map_err(Fault::Body)?;
                        Ok(Step::Control(unit, self.control.check(body.seq, None)))
                    }
                }
            }
        }
    }

    /// Writes a control frame around `payload` to the front of `out`.
    #[inline(never)]
    pub fn request(&mut self, run: &str, step: u64, payload: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
        let header_len = Version::V1.header_len();
        let (head, rest) = out.split_at_mut_checked(header_len).ok_or(Fault::Full)?;
        let len = body::write_into(rest, run, step, self.sent, payload).map_err(Fault::Write)?;
        let header = Header::new(Parts {
            version: Version::V1,
            frame_type: FrameType::StreamData,
            flags: Flags::CONTROL,
            channel: CHANNEL,
            epoch: 0,
            corr: step,
            len: u32::try_from(len).map_err(|_| Fault::Full)?,
        });
        put(&header.map_err(Fault::Header)?.encode(), head)?;
        self.sent += 1;
        Ok(header_len + len)
    }
}

fn put(bytes: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
    let place = out.get_mut(..bytes.len()).ok_or(Fault::Full)?;
    place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    Ok(bytes.len())
}

/// What a program of [`run`] and its server share.
pub const KEY: [u8; 32] = [7; 32];
/// The server's process.
pub const DAEMON: [u8; 16] = [1; 16];
/// The client's nonce; a program on a machine takes random bytes.
pub const NONCE: Nonce = [2; 32];

/// The result of [`run`] where the connection could not go on.
pub const FAILED: u32 = 1;

/// All of it, as a program would: what `bytes` hold is what the server says.
pub fn run(mut bytes: &[u8], storage: &mut [u8], out: &mut [u8]) -> u32 {
    let Ok(key) = Key::new(&KEY) else { return 0 };
    let Ok(mut client) = Client::new(&key, DaemonId(DAEMON), NONCE, storage) else { return 0 };
    let mut sent = client.hello(out).unwrap_or(0);
    sent += client.request("run-1", 1, br#"{"type":"cancel"}"#, out).unwrap_or(0);
    loop {
        let space = client.space();
        let count = space.len().min(bytes.len());
        let (now, later) = bytes.split_at_checked(count).unwrap_or_default();
        space.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
        client.advance(count);
        bytes = later;
        loop {
            match client.step(out) {
                Ok(Step::Read) => break,
                Ok(Step::Send(len)) => sent += len,
                Ok(Step::Display(DisplayEvent::TextDelta { delta, .. }, Verdict::Kept)) => {
                    sent += delta.raw().len()
                }
                Ok(Step::Control(ProviderControl::StepFinished { usage, .. }, _)) => {
                    sent += usage.output_tokens.is_some() as usize;
                }
                Ok(Step::Display(..) | Step::Control(..) | Step::Oversize(_)) => {}
                Ok(Step::Goodbye) => return u32::try_from(sent).unwrap_or(0),
                Err(_) => return FAILED,
            }
        }
        if count == 0 {
            return u32::try_from(sent).unwrap_or(0);
        }
    }
}
