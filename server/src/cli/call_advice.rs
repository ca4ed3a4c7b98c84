//! What each end of a call means, what to do about it, and the command's exit code.

use twolane_client::{Again, CallFault, Refusal, SendFault};

use super::Exit;

/// A refusal in words: what it means, and what to do.
pub(super) const fn refused(refusal: Refusal) -> (&'static str, &'static str) {
    match refusal {
        Refusal::Expired => (
            "it may not begin any more, or its date lies further ahead than the server allows; nothing ran",
            "ask anew under another request id; where the server allows less time, with a shorter --expires-in",
        ),
        Refusal::IdentitySubstitution => (
            "the ids inside of the seal are not those outside; nothing ran",
            "something changes requests on their way: find it before you ask anew",
        ),
        Refusal::ProviderDigestSubstitution => (
            "the request has not the digest that it claims; nothing ran",
            "the stored invocation was changed: ask anew under another request id",
        ),
        Refusal::Policy => (
            "this caller may not ask for this model, or not for so many tokens; nothing ran",
            "try another --model or a smaller --max-output-tokens, or change the caller in the server's callers file",
        ),
        Refusal::Capacity => (
            "the server has no room for it now; nothing ran",
            "go on with the stored invocation later, before it expires",
        ),
        Refusal::InFlight => {
            ("it is still running", "go on with the stored invocation: its answer will be there")
        }
        Refusal::Indeterminate => (
            "it was begun and nobody saw its end; it is never begun again",
            "look at the provider's own records, end it with `twolane replay resolve`; asking anew under another \
             request id may be paid twice",
        ),
        Refusal::ReplayConflict => (
            "this request id was used for another request; nothing ran for this one",
            "ask under another --request-id",
        ),
        Refusal::Retired => (
            "it was answered, and the answer is gone or sealed under a key that is no longer configured",
            "look for it where you kept it; asking anew under another request id is paid again",
        ),
        Refusal::Malformed => (
            "the server does not understand the request; nothing ran",
            "use one version of twolane on both sides",
        ),
    }
}

/// Where a call had no answer: what to do, and how the command ends.
pub(super) fn failed(fault: &CallFault) -> (&'static str, Exit) {
    match fault {
        CallFault::OutOfTime { last: Again::InFlight, .. } => (refused(Refusal::InFlight).1, Exit::Failed),
        CallFault::OutOfTime { last: Again::Capacity, .. } => (refused(Refusal::Capacity).1, Exit::Failed),
        CallFault::OutOfTime { last: Again::Lost(_), .. } => (
            "is `twolane serve --connector` running there, and its frame bound not below the request? Go on with \
             the stored invocation",
            Exit::Unreachable,
        ),
        CallFault::Stopped(SendFault::Hint(hint)) if hint.code == "not-admitted" => (
            "caller and key have to be those of the server's callers file, and the request within the caller's \
             bound; anyone at that address may have said this",
            Exit::Unreachable,
        ),
        CallFault::Stopped(SendFault::Hint(_)) => (
            "something else than `twolane serve --connector` may listen there; nothing of it is sealed",
            Exit::Unreachable,
        ),
        CallFault::Stopped(SendFault::OtherCaller) => ("name the caller that prepared it", Exit::Usage),
        CallFault::Stopped(SendFault::RequestTooLong { .. }) => ("ask for less", Exit::Usage),
        CallFault::Stopped(SendFault::Seals(_)) => ("nothing was sent", Exit::Failed),
        CallFault::Stopped(_) => {
            ("do not trust what listens at that address; the stored invocation stays good", Exit::Unreachable)
        }
    }
}
