//! The step request that `attach` sends.

use std::io::Read as _;
use std::path::Path;

use twolane_core::body::{Body, Payload, ProviderControl};
use twolane_core::envelope::{Generation, Version};
use twolane_core::lanes::outbox::{Budget, Outbox, Place};
use twolane_core::limits::CONTROL_BODY_MAX;

use super::{Exit, Failure};

/// A checked step request and its place.
pub(super) struct Request {
    payload: Vec<u8>,
    generation: Generation,
    corr: u64,
}

/// What `--step` asks for.
const STEP: &str = "{\"model\":\"any\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Go on.\"}]}]}";

impl Request {
    /// The request that the command line asks for, if any.
    pub(super) fn from_options(
        file: Option<&Path>,
        step: bool,
        generation: Generation,
        corr: u64,
    ) -> Result<Option<Self>, Failure> {
        let (request, name) = match file {
            Some(path) => (read(path)?, path.display().to_string()),
            None if step => (STEP.to_owned(), "--step".to_owned()),
            None => return Ok(None),
        };
        let payload = format!("{{\"type\":\"step_request\",\"request\":{}}}", request.trim()).into_bytes();
        let refused = |reason: String| {
            let expected = "expected an object with a text `model` and an array `messages`";
            Failure::new(Exit::Usage, format!("{name} is no StepRequest: {reason}; {expected}"))
        };
        Payload::parse(&payload)
            .and_then(|payload| ProviderControl::from_runner(&payload))
            .map_err(|fault| refused(format!("in the payload around it, {fault}")))?;
        let read: serde_json::Value =
            serde_json::from_str(&request).map_err(|fault| refused(fault.to_string()))?;
        for (member, is_right) in
            [("model", read["model"].is_string()), ("messages", read["messages"].is_array())]
        {
            if !is_right {
                return Err(refused(format!("`{member}` is missing or of another kind")));
            }
        }
        Ok(Some(Self { payload, generation, corr }))
    }

    /// The frame that carries it.
    pub(super) fn frame(&self, version: Version) -> Result<Vec<u8>, Failure> {
        let run_id = run_id();
        let place =
            Place { generation: self.generation, corr: self.corr, run_id: &run_id, step_id: self.corr };
        let mut outbox = Outbox::new(version, Budget::default());
        let mut frame = Vec::new();
        outbox
            .push_control(0, place, &self.payload, false)
            .map_err(|fault| Failure::new(Exit::Usage, fault))?;
        outbox.take_frame(0, &mut frame);
        Ok(frame)
    }
}

/// Whether this frame's body belongs to the run that a request of ours began. A run that somebody else began may be
/// live on the same generation, even under the same correlation.
pub(super) fn is_of_our_run(body: &[u8]) -> bool {
    Body::parse(body).is_ok_and(|body| body.run_id.chars().eq(run_id().chars()))
}

fn run_id() -> String {
    format!("run_attach_{}", std::process::id())
}

fn read(path: &Path) -> Result<String, Failure> {
    let mut text = String::new();
    let limit = u64::from(CONTROL_BODY_MAX);
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(limit).read_to_string(&mut text))
    };
    match read {
        Ok(_) => Ok(text),
        Err(fault) => Err(Failure::new(Exit::Usage, format!("cannot read {}: {fault}", path.display()))),
    }
}
