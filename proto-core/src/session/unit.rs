//! What a runner tells its callers, in order and for good.

use alloc::vec::Vec;

use super::content::{AssistantMessage, ToolCall, ToolResult};
use super::failure::{Failure, FinishReason, Usage};
use super::mode::{OpenState, words};
use super::scalar::Id;
use super::wire::union;

words! {
    /// Why a run ended.
    pub RunReason {
        /// The model was done.
        Completed = "completed",
        /// It had as many steps as it may have.
        MaxSteps = "max_steps",
        /// Somebody asked for it.
        Cancelled = "cancelled",
        /// The process ended under it.
        Interrupted = "interrupted",
        /// It failed.
        Error = "error",
    }
}

words! {
    /// Why a run waits.
    pub PauseReason {
        /// The provider refused the credential.
        AuthRequired = "auth_required",
        /// The server was stopped.
        Restart = "restart",
    }
}

union! {
    /// One control unit of a session.
    ///
    /// ```
    /// use twolane_core::session::{Closed, ControlUnit, Open, OpenState, PauseReason, RunReason, Wire};
    ///
    /// let unit = ControlUnit::<Closed>::StepStarted { step_id: 3 };
    /// assert_eq!(unit.to_json(), r#"{"type":"step_started","step_id":3}"#);
    ///
    /// // A run that paused for a reason of a later schema did pause; why is unknown.
    /// let text = br#"{"type":"paused","run_id":"r","reason":"full_moon"}"#;
    /// let Ok(ControlUnit::<Open>::Paused { reason, .. }) = Wire::parse(text) else { panic!("a pause") };
    /// assert_ne!(reason, OpenState::Known(PauseReason::AuthRequired));
    /// let text = br#"{"type":"run_finished","run_id":"r","reason":"completed","retries_used":0}"#;
    /// let Ok(ControlUnit::<Open>::RunFinished { reason, .. }) = Wire::parse(text) else { panic!("an end") };
    /// assert_eq!(reason, OpenState::Known(RunReason::Completed));
    /// ```
    pub ControlUnit by "type" {
        /// A run begins.
        RunStarted = "run_started" {
            /// The run.
            need run_id: Id,
            /// What it was while it waited.
            may submission_id: Option<Id>,
        },
        /// A step begins.
        StepStarted = "step_started" {
            /// The step.
            need step_id: u64,
        },
        /// The model's message, whole.
        AssistantMessage = "assistant_message" {
            /// The message.
            need message: AssistantMessage<M>,
        },
        /// A tool is called.
        ToolCall = "tool_call" {
            /// The call.
            need call: ToolCall,
        },
        /// A tool answered.
        ToolResult = "tool_result" {
            /// The answer.
            need result: ToolResult<M>,
        },
        /// A step ended.
        StepFinished = "step_finished" {
            /// Why.
            need finish_reason: FinishReason,
            /// Tokens used.
            may usage: Option<Usage>,
        },
        /// A call waits for somebody's answer.
        ApprovalRequest = "approval_request" {
            /// The step.
            need step_id: u64,
            /// The call.
            need call: ToolCall,
        },
        /// What was shown in part is void.
        DisplayReset = "display_reset" {},
        /// The provider failed.
        Error = "error" {
            /// How.
            need error: Failure<M>,
        },
        /// The run waits until it is resumed.
        Paused = "paused" {
            /// The run.
            need run_id: Id,
            /// For what.
            need reason: OpenState<PauseReason, M>,
        },
        /// The run ended.
        RunFinished = "run_finished" {
            /// The run.
            need run_id: Id,
            /// Why.
            need reason: OpenState<RunReason, M>,
            /// Tokens of all its steps.
            may usage: Option<Usage>,
            /// How often a step was tried again.
            need retries_used: u64,
            /// Why its last step ended.
            may final_step_finish_reason: Option<FinishReason>,
            /// Calls that were started and have no result: nobody knows what they did.
            may indeterminate_tool_calls: Option<Vec<Id>>,
            /// How it failed.
            may error: Option<Failure<M>>,
        },
    }
}
