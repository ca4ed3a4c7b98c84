//! Streams of embedded-io: every future dropped at every await, and nothing lost, doubled or out of order.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use embedded_io_async::{ErrorType, Read, Write};
use twolane_core::buffer::Event;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::frame::{EncodeFault, EndFault, Part, encode_frame};
use twolane_core::stream::asynchronous::{FrameReader, LaneWriter, Turn, turn};
use twolane_core::stream::{ReadFault, WriteFault, blocking};

/// A stream that is not ready the first time it is asked, and then takes or gives a few bytes.
#[derive(Default)]
struct Wire {
    bytes: Vec<u8>,
    read: usize,
    step: usize,
    ready: bool,
}

impl Wire {
    fn of(bytes: Vec<u8>, step: usize) -> Self {
        Self { bytes, read: 0, step, ready: false }
    }

    fn poll(&mut self) -> Poll<()> {
        self.ready = !self.ready;
        if self.ready { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl ErrorType for Wire {
    type Error = Infallible;
}

impl Read for Wire {
    async fn read(&mut self, out: &mut [u8]) -> Result<usize, Infallible> {
        poll_fn(|_| self.poll()).await;
        embedded_io::Read::read(self, out)
    }
}

impl embedded_io::Read for Wire {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, Infallible> {
        let count = self.step.min(out.len()).min(self.bytes.len() - self.read);
        out[..count].copy_from_slice(&self.bytes[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

impl Write for Wire {
    async fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        poll_fn(|_| self.poll()).await;
        embedded_io::Write::write(self, bytes)
    }

    async fn flush(&mut self) -> Result<(), Infallible> {
        poll_fn(|_| self.poll()).await;
        Ok(())
    }
}

impl embedded_io::Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Infallible> {
        let count = self.step.min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Polls once and drops.
fn once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

fn header(flags: Flags, corr: u64, body: &[u8]) -> Header {
    let (version, frame_type) = (Version::V1, FrameType::StreamData);
    let len = u32::try_from(body.len()).unwrap();
    Header::new(Parts { version, frame_type, flags, channel: 1, epoch: 0, corr, len }).unwrap()
}

fn control(corr: u64) -> Header {
    header(Flags::CONTROL, corr, &[7; 30])
}

fn display(corr: u64) -> Header {
    header(Flags::display(Version::V1), corr, &[9; 50])
}

fn body(header: &Header) -> Vec<u8> {
    vec![if header.body_len() == 30 { 7 } else { 9 }; header.body_len() as usize]
}

fn wire(headers: &[Header]) -> Vec<u8> {
    let mut out = vec![0; 4096];
    let mut len = 0;
    for header in headers {
        len += encode_frame(header, &body(header), &mut out[len..]).unwrap();
    }
    out.truncate(len);
    out
}

/// The corrs of the frames in `bytes`, which have to be whole and unharmed.
fn corrs(bytes: &[u8]) -> Vec<u64> {
    let mut storage = [0; 128];
    let mut reader = blocking::FrameReader::new(Wire::of(bytes.to_vec(), 64), &mut storage).unwrap();
    let mut found = Vec::new();
    while reader.fill().unwrap() {
        while let Some(event) = reader.take().unwrap() {
            let Event::Frame(frame) = event else { panic!("{event:?}") };
            assert_eq!(frame.body, body(&frame.header));
            found.push(frame.header.corr());
        }
    }
    found
}

#[test]
fn fill_dropped_at_every_await_loses_no_byte() {
    let sent: Vec<Header> = (0..20).map(|n| if n % 3 == 0 { control(n) } else { display(n) }).collect();
    for step in [1, 2, 7, 67, 4096] {
        let mut storage = [0; 128];
        let mut reader = FrameReader::new(Wire::of(wire(&sent), step), &mut storage).unwrap();
        let (mut dropped, mut found) = (0, Vec::new());
        loop {
            match once(reader.fill()) {
                None => dropped += 1,
                Some(Ok(true)) => {
                    while let Some(Event::Frame(frame)) = reader.take().unwrap() {
                        assert_eq!(frame.body, body(&frame.header));
                        found.push(frame.header.corr());
                    }
                }
                Some(end) => break assert_eq!(end, Ok(false)),
            }
        }
        assert_eq!(found, (0..20).collect::<Vec<u64>>());
        assert!(dropped > 1, "no future was dropped");
    }
}

#[test]
fn send_and_flush_dropped_at_every_await_write_each_byte_once() {
    for step in [1, 3, 16, 47, 68, 500] {
        for whole in [false, true] {
            let (mut one, mut other) = ([0; 512], [0; 512]);
            let mut out = Wire::of(Vec::new(), step);
            let mut writer = LaneWriter::new(&mut out, &mut one, &mut other).unwrap();
            (10..15).for_each(|n| writer.push(&display(n), &body(&display(n))).unwrap());
            let mut dropped = 0;
            let mut next = 0;
            while !writer.is_empty() {
                // Control comes while display is on its way.
                if dropped % 4 == 3 && next < 5 {
                    writer.push(&control(next), &body(&control(next))).unwrap();
                    next += 1;
                }
                let done = if whole { once(writer.flush()) } else { once(writer.send()) };
                match done {
                    None => dropped += 1,
                    Some(result) => result.unwrap(),
                }
            }
            assert!(dropped > 1, "no future was dropped");
            let found = corrs(&out.bytes);
            let of =
                |display: bool| found.iter().copied().filter(|n| (*n >= 10) == display).collect::<Vec<_>>();
            assert_eq!(of(true), [10, 11, 12, 13, 14], "step {step}");
            assert_eq!(of(false), (0..next).collect::<Vec<_>>(), "step {step}");
        }
    }
}

#[test]
fn control_overtakes_display_between_frames_and_never_inside_one() {
    let (mut one, mut other) = ([0; 512], [0; 512]);
    let mut out = Wire::of(Vec::new(), 40);
    let mut writer = LaneWriter::new(&mut out, &mut one, &mut other).unwrap();
    (10..13).for_each(|n| writer.push(&display(n), &body(&display(n))).unwrap());
    while once(writer.send()).is_none() {}
    (0..2).for_each(|n| writer.push(&control(n), &body(&control(n))).unwrap());
    while once(writer.flush()).is_none() {}
    assert_eq!(corrs(&out.bytes), [10, 0, 1, 11, 12]);
}

#[test]
fn a_full_lane_refuses_and_keeps_what_it_has() {
    let (mut one, mut other) = ([0; 100], [0; 60]);
    let mut out = Wire::of(Vec::new(), 4096);
    let mut writer = LaneWriter::new(&mut out, &mut one, &mut other).unwrap();
    let full = |needed, available| Err(EncodeFault::BufferTooSmall { needed, available });
    (0..2).for_each(|n| writer.push(&control(n), &[7; 30]).unwrap());
    assert_eq!(writer.push(&control(2), &[7; 30]), full(47, 6));
    assert_eq!(writer.push(&display(10), &[9; 50]), full(67, 60));
    while once(writer.flush()).is_none() {}
    writer.push(&control(3), &[7; 30]).unwrap();
    while once(writer.flush()).is_none() {}
    assert_eq!(corrs(&out.bytes), [0, 1, 3]);
    assert!(LaneWriter::new(&mut Wire::default(), &mut [0; 20], &mut [0; 21]).is_err());
}

#[test]
fn turns_dropped_at_every_await_bring_both_ways_to_their_end() {
    let sent: Vec<Header> = (0..20).map(display).collect();
    let (mut storage, mut one, mut other) = ([0; 128], [0; 1024], [0; 1024]);
    let mut reader = FrameReader::new(Wire::of(wire(&sent), 13), &mut storage).unwrap();
    let mut out = Wire::of(Vec::new(), 11);
    let mut writer = LaneWriter::new(&mut out, &mut one, &mut other).unwrap();
    (0..9).for_each(|n| writer.push(&control(n), &body(&control(n))).unwrap());
    (10..19).for_each(|n| writer.push(&display(n), &body(&display(n))).unwrap());
    let (mut found, mut written) = (Vec::new(), 0);
    loop {
        match once(turn(&mut reader, &mut writer)) {
            None => {}
            Some(Ok(Turn::Written)) => written += 1,
            Some(Ok(Turn::Read(true))) => {
                while let Some(Event::Frame(frame)) = reader.take().unwrap() {
                    found.push(frame.header.corr());
                }
            }
            Some(end) => break assert_eq!(end, Ok(Turn::Read(false))),
        }
    }
    while once(writer.flush()).is_none() {}
    assert_eq!(found, (0..20).collect::<Vec<u64>>());
    assert!(written > 1, "no turn wrote");
    assert_eq!(corrs(&out.bytes), (0..9).chain(10..19).collect::<Vec<u64>>());
}

#[test]
fn blocking_frames_are_written_whole_and_an_end_inside_one_is_told() {
    let mut out = Wire::of(Vec::new(), 5);
    blocking::write_frame(&mut out, &control(1), &[7; 30]).unwrap();
    assert_eq!(out.bytes, wire(&[control(1)]));
    let wrong = EncodeFault::LengthMismatch { announced: 30, actual: 1 };
    assert_eq!(blocking::write_frame(&mut out, &control(1), &[7]), Err(WriteFault::Encode(wrong)));
    assert_eq!(blocking::write_frame(&mut Wire::default(), &control(1), &[7; 30]), Err(WriteFault::Closed));
    let mut storage = [0; 128];
    let cut = out.bytes[..40].to_vec();
    let mut reader = blocking::FrameReader::new(Wire::of(cut, 64), &mut storage).unwrap();
    assert_eq!(reader.fill(), Ok(true));
    assert_eq!(reader.take(), Ok(None));
    let end = EndFault { part: Part::Body, expected: 30, actual: 23 };
    assert_eq!(reader.fill(), Err(ReadFault::End(end)));
}
