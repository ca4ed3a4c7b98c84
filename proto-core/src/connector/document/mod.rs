//! The documents of a turn: one struct each, generic in where its texts and lists are.
//!
//! - *Parts* borrow from the caller: what one would like to say, without a heap.
//! - *Owned* (`alloc`) hold their own.
//! - *Read* borrow from canonical bytes and read their lists as they are asked for.
//!
//! Only a [`Valid`] document is known to keep every rule, and only that is written. There is one encoding of each:
//! a map with its fields in their order, `nil` for what is not there, every header in its shortest form.

mod fault;
mod invocation;
mod list;
mod read;
mod receipt;
mod request;
mod result;
mod valid;
mod variant;
mod write;

pub use fault::{DocumentFault, DocumentReason, Path};
#[cfg(feature = "alloc")]
pub use invocation::OwnedInvocation;
pub use invocation::{
    InvocationFields, InvocationParts, InvocationSchema, ReadInvocation, TransportInvocation, claimed_digests,
};
pub use list::{ReadElements, ReadList};
pub use receipt::{Completed, Failed, FailureKind, Outcome, ReceiptSchema, StopReason, TransportReceipt};
#[cfg(feature = "alloc")]
pub use request::OwnedRequest;
pub use request::{InputItem, ProviderRequest, ReadRequest, RequestParts, RequestSchema, Tool, ToolChoice};
#[cfg(feature = "alloc")]
pub use result::OwnedResult;
pub use result::{
    Disposition, Event, EventPayload, ReadResult, Refusal, ResultParts, ResultSchema, TransportResult,
    Transported, write_malformed,
};
pub use valid::{Document, SchemaId, Schemas, Valid};

pub(super) use read::Fields;
pub(super) use variant::variants;
