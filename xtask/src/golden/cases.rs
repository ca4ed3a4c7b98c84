//! What the goldens hold: each frame type and version, each body unit, each handshake message, each kind of damage.

use anyhow::Result;
use twolane_core::dissect::Stage;
use twolane_core::envelope::{Flags, FrameType, Header, Parts, Version};
use twolane_core::handshake::{ClientHandshake, ClientStep, DaemonId, Key, ServerHandshake, ServerStep};

use super::{Case, Kind};

/// Every file of fixtures/golden with its cases.
pub(crate) fn all() -> Result<Vec<(&'static str, Vec<Case>)>> {
    Ok(vec![
        ("v1.json", types(Version::V1)?),
        ("v2.json", types(Version::V2)?),
        ("lanes.json", lanes()?),
        ("bodies.json", bodies()?),
        ("damaged.json", damaged()?),
        ("handshake.json", handshake()?),
    ])
}

fn frame(parts: Parts, body: &[u8]) -> Result<Vec<u8>> {
    let header = Header::new(Parts { len: u32::try_from(body.len())?, ..parts })?;
    Ok([&header.encode(), body].concat())
}

fn parts(version: Version, frame_type: FrameType, flags: Flags) -> Parts {
    let epoch = if version == Version::V2 { 9 } else { 0 };
    Parts { version, frame_type, flags, channel: 3, epoch, corr: 0x0102_0304_0506_0708, len: 0 }
}

fn label(version: Version) -> &'static str {
    match version {
        Version::V1 => "v1",
        Version::V2 => "v2",
    }
}

/// Each frame type once, with a body of its own where it may have one.
fn types(version: Version) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for frame_type in FrameType::ALL {
        let body: &[u8] = match frame_type {
            FrameType::Request => br#"{"method":"session.list","params":{}}"#,
            FrameType::Response => br#"{"result":{"sessions":[]}}"#,
            FrameType::Error => br#"{"code":"not_found","message":"no such session"}"#,
            FrameType::Push => b"plain text, not JSON",
            FrameType::StreamData => br#"{"some":["other",{"JSON":-1.5e3}],"ok":true,"none":null}"#,
            _ => b"",
        };
        let flags = if frame_type == FrameType::StreamData { Flags::CONTROL } else { Flags::NONE };
        let bytes = frame(parts(version, frame_type, flags), body)?;
        cases.push(Case {
            name: format!("{}-{}", label(version), frame_type.name()),
            kind: Kind::Frame,
            bytes,
            opens_to: None,
        });
    }
    Ok(cases)
}

/// Each flag byte that means something on a lane socket, and those that are legal but no lane.
fn lanes() -> Result<Vec<Case>> {
    let body = br#"{"version":1,"run_id":"run-7","step_id":1,"seq":0,"payload":{"type":"display_reset"}}"#;
    let table = [
        (Version::V1, "control", 0x02),
        (Version::V1, "control-last", 0x0a),
        (Version::V1, "display", 0x04),
        (Version::V1, "display-last", 0x0c),
        (Version::V1, "passive", 0x00),
        (Version::V1, "binary", 0x03),
        (Version::V2, "control", 0x02),
        (Version::V2, "control-last-expedite", 0x1a),
        (Version::V2, "display-sheddable", 0x24),
        (Version::V2, "display-unsheddable", 0x04),
        (Version::V2, "control-sheddable", 0x22),
        (Version::V2, "every-flag", 0xed),
    ];
    table
        .into_iter()
        .map(|(version, name, bits)| {
            let bytes = frame(parts(version, FrameType::StreamData, Flags::from_bits(bits)), body)?;
            Ok(Case {
                name: format!("{}-lane-{name}", label(version)),
                kind: Kind::Frame,
                bytes,
                opens_to: None,
            })
        })
        .collect()
}

/// Each payload of the two lanes of a provider socket, with all members and with the fewest.
fn bodies() -> Result<Vec<Case>> {
    let display = [
        ("text-delta", r#"{"type":"text_delta","message_id":"m1","delta":"Hi, d\u00e9p\u00f4t 🔎\n"}"#),
        (
            "text-delta-of-tool",
            r#"{"type":"text_delta","message_id":"m1","delta":"x","tool_call_id":"call_1"}"#,
        ),
        ("reasoning-delta", r#"{"type":"reasoning_delta","message_id":"m1","delta":"Let me look."}"#),
        (
            "tool-input-delta",
            r#"{"type":"tool_input_delta","tool_call_id":"call_1","delta":"{\"path\":\"src"}"#,
        ),
        ("display-gap", r#"{"type":"display_gap","dropped":3}"#),
        ("display-reset", r#"{"type":"display_reset"}"#),
        ("display-unfamiliar", r#"{"type":"from_the_future","shape":{"any":[1,2]}}"#),
        ("display-type-last", r#"{"dropped":3,"type":"display_gap"}"#),
    ];
    let control = [
        (
            "stream-start",
            r#"{"type":"stream_start","message_id":"m1","model":"sonnet","provider_request_id":"req_9"}"#,
        ),
        ("stream-start-bare", r#"{"type":"stream_start"}"#),
        ("step-started", r#"{"type":"step_started","attempt":2}"#),
        (
            "assistant-message",
            r#"{"type":"assistant_message","message":{"message_id":"m1","content":[{"type":"text","text":"Hi"},{"type":"tool_call","tool_call_id":"call_1","tool_name":"read_file","input":{"path":"src/lib.rs"}}]}}"#,
        ),
        (
            "step-finished",
            r#"{"type":"step_finished","finish_reason":"tool_calls","usage":{"input_tokens":1204,"cached_input_tokens":1024,"output_tokens":58}}"#,
        ),
        (
            "finished",
            r#"{"type":"finished","finish_reason":"stop","usage":{"input_tokens":10,"output_tokens":2}}"#,
        ),
        (
            "error",
            r#"{"type":"error","error":{"class":"transient","message":"overloaded","status":529,"retry_after_secs":1.5}}"#,
        ),
        (
            "step-request",
            r#"{"type":"step_request","request":{"model":"sonnet","messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],"tools":[],"tool_choice":"auto","generation":{"max_output_tokens":1024}}}"#,
        ),
        ("cancel", r#"{"type":"cancel"}"#),
    ];
    let mut cases = Vec::new();
    for (flags, payloads) in [(Flags::display(Version::V1), &display[..]), (Flags::CONTROL, &control[..])] {
        for (name, payload) in payloads {
            let body = format!(
                "{{\"version\":1,\"run_id\":\"run-7\",\"step_id\":1,\"seq\":4,\"payload\":{payload}}}"
            );
            let bytes = frame(parts(Version::V1, FrameType::StreamData, flags), body.as_bytes())?;
            cases.push(Case { name: format!("body-{name}"), kind: Kind::Frame, bytes, opens_to: None });
        }
    }
    Ok(cases)
}

/// Frames that break one rule each: what can be read is shown, then the fault.
fn damaged() -> Result<Vec<Case>> {
    let good = |version| frame(parts(version, FrameType::StreamData, Flags::CONTROL), b"{\"a\":1}");
    let patched = |version, at: usize, byte: u8| -> Result<Vec<u8>> {
        let mut bytes = good(version)?;
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        Ok(bytes)
    };
    let bodied = |body: &str| {
        frame(parts(Version::V1, FrameType::StreamData, Flags::display(Version::V1)), body.as_bytes())
    };
    let cut = |version, len: usize| -> Result<Vec<u8>> {
        let mut bytes = good(version)?;
        bytes.truncate(len);
        Ok(bytes)
    };
    let table: Vec<(&str, Vec<u8>)> = vec![
        ("unknown-version", patched(Version::V1, 4, 9)?),
        ("unknown-type", patched(Version::V1, 5, 12)?),
        ("reserved-flags", patched(Version::V1, 6, 0x82)?),
        ("priority-3", patched(Version::V1, 6, 0x06)?),
        ("v2-admission-3", patched(Version::V2, 6, 0x32)?),
        (
            "v2-sheddable-request",
            [patched(Version::V2, 5, 0)?.split_at(6).0, &[0x20], &good(Version::V2)?[7..]].concat(),
        ),
        ("ping-with-body", patched(Version::V1, 5, 7)?),
        ("v2-epoch-without-channel", patched(Version::V2, 7, 0)?),
        ("body-over-64-mib", patched(Version::V1, 3, 0x40)?),
        ("cut-in-prefix", cut(Version::V1, 3)?),
        ("cut-in-header", cut(Version::V2, 12)?),
        ("cut-in-body", cut(Version::V1, 20)?),
        ("trailing-bytes", [&good(Version::V1)?[..], b"more"].concat()),
        ("body-not-json", bodied("{\"version\":1,\"run_id\":\"run-7\",}")?),
        ("body-lone-surrogate", bodied(r#"{"version":1,"run_id":"\ud800"}"#)?),
        (
            "body-other-version",
            bodied(r#"{"version":2,"run_id":"r","step_id":0,"seq":0,"payload":{"type":"display_reset"}}"#)?,
        ),
        (
            "body-duplicate-name",
            bodied(
                r#"{"version":1,"run_id":"r","step_id":0,"seq":0,"s\u0065q":1,"payload":{"type":"display_reset"}}"#,
            )?,
        ),
        (
            "body-without-seq",
            bodied(r#"{"version":1,"run_id":"r","step_id":0,"payload":{"type":"display_reset"}}"#)?,
        ),
        (
            "body-negative-seq",
            bodied(r#"{"version":1,"run_id":"r","step_id":0,"seq":-1,"payload":{"type":"display_reset"}}"#)?,
        ),
        (
            "body-control-on-display",
            bodied(r#"{"version":1,"run_id":"r","step_id":0,"seq":0,"payload":{"type":"step_started"}}"#)?,
        ),
    ];
    Ok(table
        .into_iter()
        .map(|(name, bytes)| Case {
            name: format!("damaged-{name}"),
            kind: Kind::Frame,
            bytes,
            opens_to: None,
        })
        .collect())
}

/// The three messages under a fixed key and nonces, and damaged ones.
fn handshake() -> Result<Vec<Case>> {
    let key: Vec<u8> = (0..32).collect();
    let key = Key::new(&key)?;
    let id = DaemonId(std::array::from_fn(|at| u8::try_from(at).unwrap_or(0)));
    let mut client = ClientHandshake::new(&key, id, [0xab; 32]);
    let mut server = ServerHandshake::new(&key, id, [0xcd; 32], "golden-1")?;
    let hello = client.hello().to_vec();
    let ServerStep::Prove(proof) = server.receive(&hello)?.step else { anyhow::bail!("no proof") };
    let proof = proof.to_vec();
    let ClientStep::Authenticated { auth } = client.receive(&proof)?.step else { anyhow::bail!("no auth") };
    let auth = auth.to_vec();
    let text = |json: &str| -> Result<Vec<u8>> {
        Ok([&u32::try_from(json.len())?.to_le_bytes()[..], json.as_bytes()].concat())
    };
    let cut = hello.get(..100).unwrap_or_default().to_vec();
    let table = vec![
        ("hello", Stage::ClientHello, hello),
        ("proof", Stage::ServerProof, proof),
        ("auth", Stage::ClientAuth, auth),
        ("hello-cut", Stage::ClientHello, cut),
        ("hello-without-nonce", Stage::ClientHello, text(r#"{"role":"client"}"#)?),
        ("hello-too-long", Stage::ClientHello, 4097_u32.to_le_bytes().to_vec()),
        ("auth-not-json", Stage::ClientAuth, text("{\"client_auth\":[1,]}")?),
    ];
    Ok(table
        .into_iter()
        .map(|(name, stage, bytes)| Case {
            name: format!("handshake-{name}"),
            kind: Kind::Handshake(stage),
            bytes,
            opens_to: None,
        })
        .collect())
}
