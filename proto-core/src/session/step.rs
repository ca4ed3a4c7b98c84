//! What a runner asks of a provider.

use alloc::string::String;
use alloc::vec::Vec;

use super::content::Message;
use super::json::Json;
use super::mode::{OpenState, words};
use super::scalar::Number;
use super::wire::object;

object! {
    /// A model of a provider.
    ///
    /// ```
    /// use twolane_core::session::{Model, Wire};
    ///
    /// let model = Model { provider: "acme".to_owned(), model: "small".to_owned() };
    /// assert_eq!(model.to_json(), r#"{"provider":"acme","model":"small"}"#);
    /// ```
    pub Model {
        /// The provider.
        need provider: String,
        /// Its model.
        need model: String,
    }
}

object! {
    /// How a model generates.
    #[derive(Default)]
    pub Generation is strict {
        /// Tokens at most.
        may max_output_tokens: Option<u64>,
        /// Of the sampling.
        may temperature: Option<Number>,
        /// Of the sampling.
        may top_p: Option<Number>,
        /// Texts at which it stops.
        may stop_sequences: Option<Vec<String>>,
    }
}

object! {
    /// A tool that a model may call.
    pub Tool {
        /// Its name.
        need name: String,
        /// What it is for, in words.
        need description: String,
        /// JSON Schema of its input.
        need input_schema: Json,
    }
}

words! {
    /// Whether the model has to call a tool.
    pub ToolChoice {
        /// It may.
        Auto = "auto",
        /// It may not.
        None = "none",
        /// It has to.
        Required = "required",
    }
}

object! {
    /// One step of a model. A store and a writer know it whole; a provider that reads passes over what it does not.
    ///
    /// ```
    /// use twolane_core::session::{Closed, Generation, OpenState, StepRequest, Tool, ToolChoice, Wire};
    ///
    /// let request = StepRequest::<Closed> {
    ///     model: "small".to_owned(),
    ///     system: Some("Be brief.".to_owned()),
    ///     messages: Vec::new(),
    ///     tools: Vec::<Tool>::new(),
    ///     tool_choice: OpenState::Known(ToolChoice::None),
    ///     generation: Generation::default(),
    /// };
    /// let text = request.to_json();
    /// assert!(text.ends_with(r#""tools":[],"tool_choice":"none","generation":{}}"#));
    /// assert_eq!(StepRequest::parse(text.as_bytes()), Ok(request));
    /// ```
    pub StepRequest<M> {
        /// Who answers.
        need model: String,
        /// Instructions.
        may system: Option<String>,
        /// The conversation.
        need messages: Vec<Message<M>>,
        /// What it may call.
        need tools: Vec<Tool>,
        /// Whether it has to.
        need tool_choice: OpenState<ToolChoice, M>,
        /// How it generates.
        need generation: Generation,
    }
}
