//! Messages: what a model reads and writes.

use alloc::string::String;
use alloc::vec::Vec;

use super::json::Json;
use super::mode::{OpenState, words};
use super::scalar::Id;
use super::wire::{object, union};

words! {
    /// Who said a message.
    pub Role {
        /// Instructions.
        System = "system",
        /// The caller.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// Results of tools.
        Tool = "tool",
    }
}

object! {
    /// One message of a conversation.
    ///
    /// ```
    /// use twolane_core::session::{Block, Closed, Message, OpenState, Role, Wire};
    ///
    /// let message = Message::<Closed> {
    ///     role: OpenState::Known(Role::User),
    ///     content: vec![Block::Text { text: "Hi".to_owned() }],
    /// };
    /// assert_eq!(message.to_json(), r#"{"role":"user","content":[{"type":"text","text":"Hi"}]}"#);
    /// ```
    pub Message<M> {
        /// Who said it.
        need role: OpenState<Role, M>,
        /// What.
        need content: Vec<Block<M>>,
    }
}

object! {
    /// A message of the model, assembled.
    ///
    /// ```
    /// use twolane_core::session::{AssistantMessage, Closed, ToolCall, Wire};
    ///
    /// let message = br#"{"message_id":"m","content":[{"type":"text","text":"Let me look."},{"type":"tool_call","tool_call_id":"c","tool_name":"ls","input":{}}]}"#;
    /// let message = AssistantMessage::<Closed>::parse(message).unwrap();
    /// let calls: Vec<ToolCall> = message.tool_calls().collect();
    /// assert_eq!(message.text(), "Let me look.");
    /// assert_eq!(calls[0].to_json(), r#"{"tool_call_id":"c","tool_name":"ls","input":{}}"#);
    /// ```
    pub AssistantMessage<M> {
        /// The id that its deltas had.
        need message_id: Id,
        /// What it says; the tools it calls are blocks of it.
        need content: Vec<Block<M>>,
    }
}

union! {
    /// One part of a message.
    ///
    /// ```
    /// use twolane_core::session::{Block, Closed, Open, ProviderState, Wire};
    ///
    /// let block = Block::<Closed>::parse(br#"{"type":"reasoning","text":"Hm.","signature":"c2ln"}"#).unwrap();
    /// assert_eq!(block, Block::Reasoning { text: "Hm.".into(), signature: Some("c2ln".into()) });
    /// // What a store keeps, and what callers see of it by default.
    /// let stored = br#"{"type":"text_with_state","text":"A","provider_state":{"format":"f","data":"d"}}"#;
    /// let Ok(Block::<Closed>::TextWithState { text, provider_state: ProviderState { .. } }) = Wire::parse(stored) else {
    ///     panic!("a text with state")
    /// };
    /// assert_eq!(Block::<Closed>::parse(stored).unwrap().for_callers().to_json(), r#"{"type":"text","text":"A"}"#);
    /// // A block of a later schema.
    /// assert!(matches!(Block::<Open>::parse(br#"{"type":"image"}"#), Ok(Block::Unfamiliar(_))));
    /// assert!(Block::<Closed>::parse(br#"{"type":"image"}"#).is_err());
    /// ```
    pub Block by "type" {
        /// Text.
        Text = "text" {
            /// The text.
            need text: String,
        },
        /// What the model thought.
        Reasoning = "reasoning" {
            /// The text.
            need text: String,
            /// The provider's, to be given back to it unchanged.
            may signature: Option<String>,
        },
        /// What the model thought, for the provider's eyes alone.
        RedactedReasoning = "redacted_reasoning" {
            /// The provider's, to be given back to it unchanged.
            need data: String,
            /// Its format.
            may provider_format: Option<String>,
        },
        /// The model calls a tool.
        ToolCall = "tool_call" {
            /// The call, one of the step's.
            need tool_call_id: Id,
            /// The tool.
            need tool_name: String,
            /// What it is called with.
            need input: Json,
            /// The provider's, to be given back to it unchanged.
            may thought_signature: Option<String>,
        },
        /// What a tool answered.
        ToolResult = "tool_result" {
            /// The call.
            need tool_call_id: Id,
            /// The answer.
            need output: ToolOutput<M>,
            /// Whether the model should take it as a failure.
            need is_error: bool,
        },
        /// Text with what its provider wants back. Stored, and never sent to callers in the default view.
        TextWithState = "text_with_state" {
            /// The text.
            need text: String,
            /// The provider's.
            need provider_state: ProviderState,
        },
    }
}

impl<M: super::Mode> Block<M> {
    /// The block in the default view of callers: without what only its provider reads.
    #[must_use]
    pub fn for_callers(self) -> Self {
        match self {
            Self::TextWithState { text, .. } => Self::Text { text },
            other => other,
        }
    }
}

object! {
    /// What a provider wants back with a text.
    pub ProviderState {
        /// Its format.
        need format: String,
        /// Its bytes, as the provider spelled them.
        need data: String,
    }
}

object! {
    /// A tool call by itself.
    pub ToolCall {
        /// The call, one of the step's.
        need tool_call_id: Id,
        /// The tool.
        need tool_name: String,
        /// What it is called with.
        need input: Json,
        /// The provider's, to be given back to it unchanged.
        may thought_signature: Option<String>,
    }
}

impl<M: super::Mode> AssistantMessage<M> {
    /// The tools that it calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall { tool_call_id, tool_name, input, thought_signature } => Some(ToolCall {
                tool_call_id: tool_call_id.clone(),
                tool_name: tool_name.clone(),
                input: input.clone(),
                thought_signature: thought_signature.clone(),
            }),
            _ => None,
        })
    }

    /// Its text, without reasoning.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            Block::Text { text } | Block::TextWithState { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

object! {
    /// What a tool answered to a call.
    ///
    /// ```
    /// use twolane_core::session::{Closed, ToolOutput, ToolResult, Wire};
    ///
    /// let text = br#"{"tool_call_id":"c","output":{"kind":"json","value":[1, 2]},"is_error":false}"#;
    /// let result = ToolResult::<Closed>::parse(text).unwrap();
    /// assert!(matches!(&result.output, ToolOutput::Json { value } if value.as_str() == "[1, 2]"));
    /// assert_eq!(result.to_json().as_bytes(), text);
    /// ```
    pub ToolResult<M> {
        /// The call.
        need tool_call_id: Id,
        /// The answer.
        need output: ToolOutput<M>,
        /// Whether the model should take it as a failure.
        need is_error: bool,
    }
}

union! {
    /// A tool's answer.
    pub ToolOutput by "kind" {
        /// Text.
        Text = "text" {
            /// The text.
            need text: String,
        },
        /// Any JSON.
        Json = "json" {
            /// The value.
            need value: Json,
        },
        /// It was not allowed to run.
        Denied = "denied" {
            /// Why.
            need reason: String,
        },
        /// It failed.
        Error = "error" {
            /// For the model and for people.
            need message: String,
            /// For programs.
            may code: Option<String>,
            /// More of it.
            may detail: Option<Json>,
        },
    }
}
