//! Answers on a caller's socket: frames of the control lane that stand in no stream's numbers.

use super::slot::{CALLERS, Key};
use super::{Outbox, PushFault};
use crate::envelope::{Flags, FrameType, Header, Parts};
use crate::limits::LAST_WAIT_MS;

/// What an answer is to its request.
///
/// ```
/// use twolane_core::envelope::Version;
/// use twolane_core::lanes::outbox::{Budget, Outbox, PushFault, Reply};
///
/// let mut outbox = Outbox::new(Version::V1, Budget { control_bytes: 20, ..Budget::default() });
/// outbox.push_reply(0, Reply::Error, 7, br#"{"code":"cancelled"}"#).unwrap();
/// // A peer that does not read keeps its answers waiting; none is lost.
/// assert_eq!(outbox.push_reply(0, Reply::Response, 8, b"{}"), Err(PushFault::Full));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The first frame of a subscription, in its stream.
    Attached,
    /// The terminal answer of a request that was done.
    Response,
    /// The terminal answer of one that was not.
    Error,
}

impl Outbox {
    /// Queues the answer to the request `corr`, in order with the control that is queued. A terminal answer to a
    /// subscription ends it as LAST ends a generation: it waits up to [`LAST_WAIT_MS`] for the subscription's display,
    /// which is then shed. `body` is written as it is.
    pub fn push_reply(&mut self, now_ms: u64, reply: Reply, corr: u64, body: &[u8]) -> Result<(), PushFault> {
        let len = body.len();
        let header = Header::new(Parts {
            version: self.version,
            frame_type: match reply {
                Reply::Attached => FrameType::StreamData,
                Reply::Response => FrameType::Response,
                Reply::Error => FrameType::Error,
            },
            flags: Flags::CONTROL,
            channel: CALLERS.channel,
            epoch: CALLERS.epoch,
            corr,
            len: u32::try_from(len).map_err(|_| PushFault::ControlTooLong { len })?,
        })?;
        let key = Key::Subscription(corr);
        self.open_stream(key)?;
        let header = header.encode();
        self.check_room(header.len() + len)?;
        let is_last = reply != Reply::Attached;
        let stream = if is_last { self.streams.get_mut(&key) } else { None };
        let deadline_ms = stream.is_some().then(|| now_ms.saturating_add(LAST_WAIT_MS));
        if let Some(stream) = stream {
            stream.ended = true;
        }
        self.control.push(key, deadline_ms, &[&header, body]);
        Ok(())
    }
}
