//! The request that `twolane call` asks: a prompt, or a `provider_request` in JSON.

use std::fs::File;
use std::io::{self, Read as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;
use twolane_client::{Digest, OwnedRequest, Valid};
use twolane_core::connector::document::{InputItem, ProviderRequest, SchemaId, ToolChoice};
use twolane_core::connector::text::{Content, Id, Rule, Text};

use super::{Exit, Failure};

/// Bytes of the input.
const INPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What a model is told where nobody says else.
const INSTRUCTIONS: &str = "Answer the user.";

/// What to ask.
#[derive(Args, Debug)]
pub(super) struct Asked {
    /// What the user says
    #[arg(value_name = "PROMPT", conflicts_with_all = ["input", "resume"],
        required_unless_present_any = ["input", "resume"])]
    prompt: Option<String>,
    /// Read the prompt, or a provider_request as JSON, from a file; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    input: Option<PathBuf>,
    /// The model to ask
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    model: Option<String>,
    /// What the model is told beforehand [default: Answer the user.]
    #[arg(long, value_name = "TEXT", conflicts_with = "resume")]
    instructions: Option<String>,
    /// The most tokens to write [default: the server's bound of the caller]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    max_output_tokens: Option<NonZeroU32>,
    /// Name of the request, at most 256 bytes, used once for ever [default: a random one]
    #[arg(long, value_name = "ID", conflicts_with = "resume")]
    request_id: Option<String>,
}

impl Asked {
    /// The request, and the digest of the form in which it was given.
    pub(super) fn request(&self) -> Result<(Valid<OwnedRequest>, Digest), Failure> {
        let (text, named) = match (&self.prompt, &self.input) {
            (Some(prompt), _) => (prompt.clone(), "the prompt".to_owned()),
            (None, Some(path)) => (read(path)?, path.display().to_string()),
            (None, None) => {
                return Err(Failure::new(Exit::Usage, "nothing to ask: give a prompt or --input"));
            }
        };
        let document = self.input.is_some() && is_request(&text);
        let request = if document { self.changed(&text, &named)? } else { self.said(&text, &named)? };
        let request = Valid::new(request).map_err(|fault| Failure::new(Exit::Usage, fault))?;
        let native = if document { Ok(Digest::of(text.as_bytes())) } else { request.sha256() };
        let native = native.map_err(|_| Failure::new(Exit::Usage, "the request is longer than any frame"))?;
        Ok((request, native))
    }

    /// A document with what the flags say in its place.
    fn changed(&self, text: &str, named: &str) -> Result<OwnedRequest, Failure> {
        let read: Valid<OwnedRequest> = serde_json::from_str(text)
            .map_err(|fault| Failure::new(Exit::Usage, format!("{named} is no provider_request: {fault}")))?;
        let mut request = read.into_parts();
        if let Some(model) = &self.model {
            request.model = flag("--model", model)?;
        }
        if let Some(instructions) = &self.instructions {
            request.instructions = flag("--instructions", instructions)?;
        }
        if let Some(request_id) = &self.request_id {
            request.request_id = flag("--request-id", request_id)?;
        }
        request.max_output_tokens = self.max_output_tokens.or(request.max_output_tokens);
        Ok(request)
    }

    /// One thing that the user says.
    fn said(&self, text: &str, named: &str) -> Result<OwnedRequest, Failure> {
        let Some(model) = &self.model else {
            return Err(Failure::new(Exit::Usage, "which model? Name it with --model"));
        };
        let request_id: Id<Box<str>> = match &self.request_id {
            Some(request_id) => flag("--request-id", request_id)?,
            None => flag("--request-id", &random_id()?)?,
        };
        let text: Content<Box<str>> = flag(named, text)?;
        Ok(ProviderRequest {
            schema_id: SchemaId::NEW,
            conversation_id: request_id.clone(),
            request_id,
            model: flag("--model", model)?,
            instructions: flag("--instructions", self.instructions.as_deref().unwrap_or(INSTRUCTIONS))?,
            input: vec![InputItem::UserText { text }],
            reasoning_effort: None,
            reasoning_summary: None,
            service_tier: None,
            output_format_name: None,
            previous_response_id: None,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            parallel_tool_calls: false,
            output_schema_json: None,
            max_output_tokens: self.max_output_tokens,
            prompt_cache_key: None,
        })
    }
}

/// Only an object that names a schema is meant as a document; all else is what the user says.
fn is_request(text: &str) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    value.is_ok_and(|value| value.get("schema_id").is_some())
}

fn flag<R: Rule>(named: &str, text: &str) -> Result<Text<R, Box<str>>, Failure> {
    Text::new(text.into()).map_err(|fault| Failure::new(Exit::Usage, format!("{named}: {fault}")))
}

fn random_id() -> Result<String, Failure> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|fault| {
        Failure::new(Exit::Failed, format!("the system gives no random bytes for a request id: {fault}"))
    })?;
    Ok(format!("call-{:032x}", u128::from_be_bytes(random)))
}

fn read(path: &Path) -> Result<String, Failure> {
    let unreadable =
        |fault: io::Error| Failure::new(Exit::Usage, format!("cannot read {}: {fault}", path.display()));
    let mut text = String::new();
    let limit = INPUT_BYTES_MAX + 1;
    if path == Path::new("-") {
        io::stdin().lock().take(limit).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        File::open(path).and_then(|file| file.take(limit).read_to_string(&mut text)).map_err(unreadable)?;
    }
    if text.len() as u64 > INPUT_BYTES_MAX {
        let words = format!("{} has more than {INPUT_BYTES_MAX} bytes", path.display());
        return Err(Failure::new(Exit::Usage, words));
    }
    Ok(text)
}
