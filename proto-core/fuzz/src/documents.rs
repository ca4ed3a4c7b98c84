//! The strict readers of the documents against serde's, whose output is compared with what it read.

use serde::Serialize;
use serde::de::DeserializeOwned;
use twolane_core::connector::document::{
    DocumentFault, OwnedInvocation, OwnedRequest, OwnedResult, ReadInvocation, ReadRequest, ReadResult,
    Valid, claimed_digests,
};
use twolane_core::connector::over_serde;
use twolane_core::dissect::Tree;

use crate::dissect::keeps_the_laws;

/// The bytes are one document.
pub fn run(bytes: &[u8]) {
    keeps_the_laws(&Tree::document(bytes), bytes.len());
    same(
        bytes,
        Valid::<ReadRequest<'_>>::read(bytes).map(|read| read.to_owned()),
        |owned: &Valid<OwnedRequest>| owned.to_vec().expect("a vector takes all"),
    );
    same(
        bytes,
        Valid::<ReadResult<'_>>::read(bytes).map(|read| read.to_owned()),
        |owned: &Valid<OwnedResult>| owned.to_vec().expect("a vector takes all"),
    );
    let invocation = ReadInvocation::read(bytes);
    if let Ok(read) = &invocation {
        let fields = read.fields();
        let claimed = (fields.native_request_sha256, fields.provider_request_sha256);
        assert_eq!(claimed_digests(bytes), Some(claimed));
        assert_eq!(read.request_sha256(), read.to_owned().request.sha256().expect("it is short"));
    }
    same(bytes, invocation.map(|read| read.to_owned()), |owned: &Valid<OwnedInvocation>| {
        owned.to_vec().expect("a vector takes all")
    });
}

/// Both readers give the same verdict and document, and it has one form.
fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    ours: Result<T, DocumentFault>,
    write: impl Fn(&T) -> Vec<u8>,
) {
    let theirs = over_serde::read::<T>(bytes);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(ours, theirs);
            assert_eq!(write(&ours), bytes, "a document has one form");
        }
        (Ok(_), Err(fault)) => panic!("refused there alone: {fault}"),
        (Err(fault), Ok(_)) => panic!("refused here alone: {fault}"),
        (Err(fault), Err(_)) => assert!(fault.offset.is_some_and(|offset| offset <= bytes.len())),
    }
}
