//! What a provider is asked: `gamecult.model.provider_request.v3`.

use core::num::NonZeroU32;

use heapless::Vec;

use super::fault::{DocumentFault, DocumentReason, Path};
use super::list::{Element, ReadList};
use super::read::Fields;
use super::valid::{Document, SchemaId, Schemas, Valid, sealed};
use super::variant::variants;
use super::write::{list, option, text};
use crate::connector::text::{CacheKey, CallId, Content, Id, JsonObject, Name};
use crate::limits::{INPUT_ITEMS_MAX, TOOLS_MAX};
use crate::scan::msgpack::{Full, Output, Reader, Writer};

/// Names the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSchema {}

impl Schemas for RequestSchema {
    const ID: &'static str = "gamecult.model.provider_request.v3";
}

/// Names the document in faults.
const DOCUMENT: &str = "provider_request";

/// Fields of the document.
const FIELDS: u32 = 17;

/// One model turn. `I` is a list of [`InputItem`], `T` a list of [`Tool`].
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::{
///     InputItem, OwnedRequest, ProviderRequest, ReadRequest, RequestParts, RequestSchema, SchemaId, Tool, ToolChoice,
///     Valid,
/// };
/// use twolane_core::connector::text::{Rule, Text};
///
/// fn t<R: Rule>(text: &str) -> Text<R, &str> {
///     Text::new(text).unwrap()
/// }
///
/// let input = [InputItem::UserText { text: t("Which day is it?") }];
/// let tools = [Tool { name: t("today"), description: t("Names the day."), parameters_json: t("{}") }];
/// let parts: RequestParts<'_> = ProviderRequest {
///     schema_id: SchemaId::<RequestSchema>::NEW,
///     request_id: t("request-1"),
///     conversation_id: t("talk-1"),
///     model: t("model-a"),
///     instructions: t("Be brief."),
///     input: &input,
///     reasoning_effort: None,
///     reasoning_summary: None,
///     service_tier: None,
///     output_format_name: None,
///     previous_response_id: None,
///     tools: &tools,
///     tool_choice: ToolChoice::Required,
///     parallel_tool_calls: false,
///     output_schema_json: None,
///     max_output_tokens: None,
///     prompt_cache_key: None,
/// };
/// // A tool is required, so that there has to be one.
/// assert!(Valid::new(RequestParts { tools: &[], ..parts }).is_err());
///
/// // There and back: borrowed from the bytes, then with storage of its own.
/// let bytes = Valid::new(parts).unwrap().to_vec().unwrap();
/// let read = Valid::<ReadRequest<'_>>::read(&bytes).unwrap();
/// let owned: Valid<OwnedRequest> = read.to_owned();
/// assert_eq!((&owned.input[0], &owned.tools[0]), (&input[0].to_owned(), &tools[0].to_owned()));
/// assert_eq!(owned.to_vec().unwrap(), bytes);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(
    feature = "std",
    serde(bound(
        deserialize = "S: AsRef<str> + serde::Deserialize<'de>, I: serde::Deserialize<'de>, T: serde::Deserialize<'de>"
    ))
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "provider_request"))]
pub struct ProviderRequest<S, I, T> {
    /// The document's name.
    pub schema_id: SchemaId<RequestSchema>,
    /// The caller's own name of the request; a retry has the same.
    pub request_id: Id<S>,
    /// What the turn belongs to.
    pub conversation_id: Id<S>,
    /// The model asked.
    pub model: Id<S>,
    /// The system prompt.
    pub instructions: Content<S>,
    /// The conversation so far, at most 4,096 items.
    pub input: I,
    /// How much the model should reason, in the provider's words.
    pub reasoning_effort: Option<Id<S>>,
    /// Which summary of the reasoning is wanted, in the provider's words.
    pub reasoning_summary: Option<Id<S>>,
    /// The provider's class of service.
    pub service_tier: Option<Id<S>>,
    /// Name of the output's schema.
    pub output_format_name: Option<Name<S>>,
    /// The provider's id of an earlier response to go on from.
    pub previous_response_id: Option<Id<S>>,
    /// The tools that may be called, at most 256, no two of one name.
    pub tools: T,
    /// Whether one must be called.
    pub tool_choice: ToolChoice,
    /// Whether several may be called at once.
    pub parallel_tool_calls: bool,
    /// JSON Schema that the output has to keep.
    pub output_schema_json: Option<JsonObject<S>>,
    /// The most tokens to write.
    pub max_output_tokens: Option<NonZeroU32>,
    /// What the provider may share its cache under.
    pub prompt_cache_key: Option<CacheKey<S>>,
}

/// A request to write, borrowed from the caller.
pub type RequestParts<'a> = ProviderRequest<&'a str, &'a [InputItem<&'a str>], &'a [Tool<&'a str>]>;

/// A request in canonical bytes.
pub type ReadRequest<'a> =
    ProviderRequest<&'a str, ReadList<'a, InputItem<&'a str>>, ReadList<'a, Tool<&'a str>>>;

/// A request that holds its own.
#[cfg(feature = "alloc")]
pub type OwnedRequest = ProviderRequest<
    alloc::boxed::Box<str>,
    alloc::vec::Vec<InputItem<alloc::boxed::Box<str>>>,
    alloc::vec::Vec<Tool<alloc::boxed::Box<str>>>,
>;

/// One item of a conversation.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::InputItem;
/// use twolane_core::connector::text::{CallId, Content};
///
/// let (call_id, output) = (CallId::new("call_1").unwrap(), Content::new("Tuesday").unwrap());
/// let item = InputItem::ToolResult { call_id, output };
/// let InputItem::ToolResult { output, .. } = item.to_owned() else { panic!("the same item") };
/// assert_eq!(output.as_str(), "Tuesday");
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "input_item"))]
pub enum InputItem<S> {
    /// What the user said.
    UserText {
        /// The words.
        text: Content<S>,
    },
    /// What the model said.
    AssistantText {
        /// The words.
        text: Content<S>,
    },
    /// A tool that the model called.
    ToolCall {
        /// The call, by the provider's id.
        call_id: CallId<S>,
        /// The tool.
        name: Name<S>,
        /// What it was called with.
        arguments: Content<S>,
    },
    /// What a tool gave.
    ToolResult {
        /// The call it belongs to.
        call_id: CallId<S>,
        /// What the tool gave.
        output: Content<S>,
    },
}

/// A tool that may be called.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::Tool;
/// use twolane_core::connector::text::{Content, JsonObject, Name};
///
/// let tool = Tool {
///     name: Name::new("today").unwrap(),
///     description: Content::new("Names the day.").unwrap(),
///     parameters_json: JsonObject::new(r#"{"type":"object"}"#).unwrap(),
/// };
/// assert_eq!(tool.to_owned().parameters_json.borrow(), tool.parameters_json);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "std", serde(deny_unknown_fields))]
#[cfg_attr(feature = "std", serde(bound(deserialize = "S: AsRef<str> + serde::Deserialize<'de>")))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "tool"))]
pub struct Tool<S> {
    /// Its name.
    pub name: Name<S>,
    /// What it does.
    pub description: Content<S>,
    /// JSON Schema of its arguments.
    pub parameters_json: JsonObject<S>,
}

variants! {
    /// Whether a tool must be called.
    ///
    /// ```
    /// use twolane_core::connector::document::ToolChoice;
    ///
    /// assert_eq!(ToolChoice::from_name("required"), Some(ToolChoice::Required));
    /// ```
    ToolChoice {
        /// The model chooses.
        Auto = "auto",
        /// At least one.
        Required = "required",
    }
}

const fn at(field: &'static str, reason: DocumentReason) -> DocumentFault {
    DocumentFault { offset: None, path: Path { document: DOCUMENT, group: "", field }, reason }
}

impl<S, I, T> ProviderRequest<S, I, T> {
    /// The rules between fields; `tools` is their number.
    fn check_fields(&self, tools: usize) -> Result<(), DocumentFault> {
        if self.tool_choice == ToolChoice::Required && tools == 0 {
            return Err(at("tool_choice", DocumentReason::RequiredWithoutTool));
        }
        if self.output_schema_json.is_some() != self.output_format_name.is_some() {
            return Err(at("output_schema_json", DocumentReason::OutputFormat));
        }
        Ok(())
    }
}

impl<S, I, T> sealed::Sealed for ProviderRequest<S, I, T> {}

impl<S: AsRef<str>, I: AsRef<[InputItem<S>]>, T: AsRef<[Tool<S>]>> Document for ProviderRequest<S, I, T> {
    fn check(&self) -> Result<(), DocumentFault> {
        let (input, tools) = (self.input.as_ref(), self.tools.as_ref());
        for (field, len, max) in [("input", input.len(), INPUT_ITEMS_MAX), ("tools", tools.len(), TOOLS_MAX)]
        {
            let found = u64::try_from(len).unwrap_or(u64::MAX);
            if found > u64::from(max) {
                return Err(at(field, DocumentReason::TooMany { max, found }));
            }
        }
        for (place, tool) in tools.iter().enumerate() {
            let name = tool.name.as_str();
            if tools.iter().take(place).any(|earlier| earlier.name.as_str() == name) {
                return Err(at("tools", DocumentReason::DuplicateTool));
            }
        }
        self.check_fields(tools.len())
    }

    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(FIELDS)?;
        text(w, "schema_id", RequestSchema::ID)?;
        text(w, "request_id", self.request_id.as_str())?;
        text(w, "conversation_id", self.conversation_id.as_str())?;
        text(w, "model", self.model.as_str())?;
        text(w, "instructions", self.instructions.as_str())?;
        list(w, "input", self.input.as_ref(), InputItem::write)?;
        option(w, "reasoning_effort", self.reasoning_effort.as_ref().map(Id::as_str))?;
        option(w, "reasoning_summary", self.reasoning_summary.as_ref().map(Id::as_str))?;
        option(w, "service_tier", self.service_tier.as_ref().map(Id::as_str))?;
        option(w, "output_format_name", self.output_format_name.as_ref().map(Name::as_str))?;
        option(w, "previous_response_id", self.previous_response_id.as_ref().map(Id::as_str))?;
        list(w, "tools", self.tools.as_ref(), Tool::write)?;
        text(w, "tool_choice", self.tool_choice.name())?;
        w.str("parallel_tool_calls")?;
        w.bool(self.parallel_tool_calls)?;
        option(w, "output_schema_json", self.output_schema_json.as_ref().map(JsonObject::as_str))?;
        w.str("max_output_tokens")?;
        match self.max_output_tokens {
            Some(tokens) => w.unsigned(u64::from(tokens.get()))?,
            None => w.nil()?,
        }
        option(w, "prompt_cache_key", self.prompt_cache_key.as_ref().map(CacheKey::as_str))
    }
}

impl<S: AsRef<str>> InputItem<S> {
    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(1)?;
        match self {
            Self::UserText { text: words } | Self::AssistantText { text: words } => {
                let user = matches!(self, Self::UserText { .. });
                w.str(if user { "UserText" } else { "AssistantText" })?;
                w.map(1)?;
                text(w, "text", words.as_str())
            }
            Self::ToolCall { call_id, name, arguments } => {
                w.str("ToolCall")?;
                w.map(3)?;
                text(w, "call_id", call_id.as_str())?;
                text(w, "name", name.as_str())?;
                text(w, "arguments", arguments.as_str())
            }
            Self::ToolResult { call_id, output } => {
                w.str("ToolResult")?;
                w.map(2)?;
                text(w, "call_id", call_id.as_str())?;
                text(w, "output", output.as_str())
            }
        }
    }
}

impl<S: AsRef<str>> Tool<S> {
    fn write<O: Output>(&self, w: &mut Writer<'_, O>) -> Result<(), Full> {
        w.map(3)?;
        text(w, "name", self.name.as_str())?;
        text(w, "description", self.description.as_str())?;
        text(w, "parameters_json", self.parameters_json.as_str())
    }
}

impl<'a> Valid<ReadRequest<'a>> {
    /// Reads a request that is all of `bytes`.
    ///
    /// ```
    /// use twolane_core::connector::document::{DocumentReason, ReadRequest, Valid};
    ///
    /// let fault = Valid::<ReadRequest<'_>>::read(b"\x80").unwrap_err();
    /// assert_eq!(fault.reason, DocumentReason::FieldCount { expected: 17, found: 0 });
    /// ```
    pub fn read(bytes: &'a [u8]) -> Result<Self, DocumentFault> {
        let mut fields = Fields::new(Reader::new(bytes), DOCUMENT);
        let request = Self::read_next(&mut fields)?;
        fields.end()?;
        Ok(request)
    }

    /// Reads the request that is next.
    pub(super) fn read_next(f: &mut Fields<'a>) -> Result<Self, DocumentFault> {
        f.document(DOCUMENT);
        let start = f.position();
        f.map(FIELDS)?;
        f.schema_id(RequestSchema::ID)?;
        let request = ProviderRequest {
            schema_id: SchemaId::NEW,
            request_id: f.key("request_id")?.text()?,
            conversation_id: f.key("conversation_id")?.text()?,
            model: f.key("model")?.text()?,
            instructions: f.key("instructions")?.text()?,
            input: read_input(f)?,
            reasoning_effort: f.key("reasoning_effort")?.option(Fields::text)?,
            reasoning_summary: f.key("reasoning_summary")?.option(Fields::text)?,
            service_tier: f.key("service_tier")?.option(Fields::text)?,
            output_format_name: f.key("output_format_name")?.option(Fields::text)?,
            previous_response_id: f.key("previous_response_id")?.option(Fields::text)?,
            tools: read_tools(f)?,
            tool_choice: f.key("tool_choice")?.named(ToolChoice::from_name)?,
            parallel_tool_calls: f.key("parallel_tool_calls")?.bool()?,
            output_schema_json: f.key("output_schema_json")?.option(Fields::text)?,
            max_output_tokens: f.key("max_output_tokens")?.option(read_tokens)?,
            prompt_cache_key: f.key("prompt_cache_key")?.option(Fields::text)?,
        };
        let tools = usize::try_from(request.tools.len()).unwrap_or(usize::MAX);
        request.check_fields(tools).map_err(|fault| DocumentFault { offset: Some(start), ..fault })?;
        Ok(Self::from_read(request))
    }
}

fn read_tokens(f: &mut Fields<'_>) -> Result<NonZeroU32, DocumentFault> {
    let start = f.position();
    NonZeroU32::new(f.u32()?).ok_or(f.fault(start, DocumentReason::ZeroTokens))
}

fn read_input<'a>(f: &mut Fields<'a>) -> Result<ReadList<'a, InputItem<&'a str>>, DocumentFault> {
    f.key("input")?;
    f.group("input");
    let input = ReadList::read(f, INPUT_ITEMS_MAX, |_, _, _| Ok(()))?;
    f.group("");
    Ok(input)
}

/// The names are kept as the offsets of their tools, the fewest bytes that find two of one name without a heap.
fn read_tools<'a>(f: &mut Fields<'a>) -> Result<ReadList<'a, Tool<&'a str>>, DocumentFault> {
    f.key("tools")?;
    f.group("tools");
    let mut earlier: Vec<u32, { TOOLS_MAX as usize }> = Vec::new();
    let tools = ReadList::read(f, TOOLS_MAX, |start, f, tool: &Tool<&'a str>| {
        let name = tool.name.text();
        let bytes = f.reader().bytes();
        if earlier.iter().any(|offset| name_at(bytes, *offset) == Some(name)) {
            return Err(f.fault(start, DocumentReason::DuplicateTool));
        }
        // A frame has at most 2^32-1 bytes, and the list at most as many elements as there is room for.
        let _ = earlier.push(u32::try_from(start).unwrap_or(u32::MAX));
        Ok(())
    })?;
    f.group("");
    Ok(tools)
}

/// The name of the tool that starts at `offset` and was read before.
fn name_at(bytes: &[u8], offset: u32) -> Option<&str> {
    let mut reader = Reader::at(bytes, usize::try_from(offset).ok()?);
    reader.map().ok()?;
    reader.str().ok()?;
    reader.str().ok()
}

impl<'a> Element<'a> for InputItem<&'a str> {
    fn read(f: &mut Fields<'a>) -> Result<Self, DocumentFault> {
        let start = f.position();
        let (variant, has_value) = f.variant()?;
        match variant {
            "UserText" if has_value => {
                f.map(1)?;
                Ok(Self::UserText { text: f.key("text")?.text()? })
            }
            "AssistantText" if has_value => {
                f.map(1)?;
                Ok(Self::AssistantText { text: f.key("text")?.text()? })
            }
            "ToolCall" if has_value => {
                f.map(3)?;
                Ok(Self::ToolCall {
                    call_id: f.key("call_id")?.text()?,
                    name: f.key("name")?.text()?,
                    arguments: f.key("arguments")?.text()?,
                })
            }
            "ToolResult" if has_value => {
                f.map(2)?;
                Ok(Self::ToolResult { call_id: f.key("call_id")?.text()?, output: f.key("output")?.text()? })
            }
            _ => Err(f.fault(start, DocumentReason::Variant)),
        }
    }
}

impl<'a> Element<'a> for Tool<&'a str> {
    fn read(f: &mut Fields<'a>) -> Result<Self, DocumentFault> {
        f.map(3)?;
        Ok(Self {
            name: f.key("name")?.text()?,
            description: f.key("description")?.text()?,
            parameters_json: f.key("parameters_json")?.text()?,
        })
    }
}

#[cfg(feature = "alloc")]
mod owned {
    use super::{InputItem, OwnedRequest, ProviderRequest, ReadRequest, SchemaId, Tool, Valid};
    use alloc::boxed::Box;

    impl InputItem<&str> {
        /// The same with storage of its own.
        pub fn to_owned(&self) -> InputItem<Box<str>> {
            match self {
                Self::UserText { text } => InputItem::UserText { text: text.to_owned() },
                Self::AssistantText { text } => InputItem::AssistantText { text: text.to_owned() },
                Self::ToolCall { call_id, name, arguments } => InputItem::ToolCall {
                    call_id: call_id.to_owned(),
                    name: name.to_owned(),
                    arguments: arguments.to_owned(),
                },
                Self::ToolResult { call_id, output } => {
                    InputItem::ToolResult { call_id: call_id.to_owned(), output: output.to_owned() }
                }
            }
        }
    }

    impl Tool<&str> {
        /// The same with storage of its own.
        pub fn to_owned(&self) -> Tool<Box<str>> {
            Tool {
                name: self.name.to_owned(),
                description: self.description.to_owned(),
                parameters_json: self.parameters_json.to_owned(),
            }
        }
    }

    impl Valid<ReadRequest<'_>> {
        /// The same with storage of its own.
        pub fn to_owned(&self) -> Valid<OwnedRequest> {
            Valid::from_read(ProviderRequest {
                schema_id: SchemaId::NEW,
                request_id: self.request_id.to_owned(),
                conversation_id: self.conversation_id.to_owned(),
                model: self.model.to_owned(),
                instructions: self.instructions.to_owned(),
                input: self.input.iter().map(|item| item.to_owned()).collect(),
                reasoning_effort: self.reasoning_effort.map(|text| text.to_owned()),
                reasoning_summary: self.reasoning_summary.map(|text| text.to_owned()),
                service_tier: self.service_tier.map(|text| text.to_owned()),
                output_format_name: self.output_format_name.map(|text| text.to_owned()),
                previous_response_id: self.previous_response_id.map(|text| text.to_owned()),
                tools: self.tools.iter().map(|tool| tool.to_owned()).collect(),
                tool_choice: self.tool_choice,
                parallel_tool_calls: self.parallel_tool_calls,
                output_schema_json: self.output_schema_json.map(|text| text.to_owned()),
                max_output_tokens: self.max_output_tokens,
                prompt_cache_key: self.prompt_cache_key.map(|text| text.to_owned()),
            })
        }
    }
}
