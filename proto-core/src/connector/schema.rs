//! JSON Schemas of the documents, with the rules of their texts.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::digest::Digest;
use super::document::{
    OwnedInvocation, OwnedRequest, OwnedResult, SchemaId, Schemas, TransportReceipt, Valid,
};
use super::envelope::{Ciphertext, EnvelopeSchema, Nonce, TransportEnvelope};
use super::text::{Rule, Text};

/// Each document's id with the JSON text of its schema, for fixtures and other languages.
///
/// ```
/// use twolane_core::connector::schema::schemas;
///
/// let all = schemas();
/// assert_eq!(all.len(), 5);
/// let (id, text) = &all[0];
/// assert_eq!(*id, "gamecult.model.provider_request.v3");
/// assert!(text.contains("\"parallel_tool_calls\"") && text.ends_with("}\n"));
/// ```
pub fn schemas() -> Vec<(&'static str, String)> {
    use super::document::{InvocationSchema, ReceiptSchema, RequestSchema, ResultSchema};
    alloc::vec![
        (RequestSchema::ID, schema_of::<OwnedRequest>()),
        (InvocationSchema::ID, schema_of::<OwnedInvocation>()),
        (ResultSchema::ID, schema_of::<OwnedResult>()),
        (EnvelopeSchema::ID, schema_of::<TransportEnvelope>()),
        (ReceiptSchema::ID, schema_of::<TransportReceipt<Box<str>>>()),
    ]
}

fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(first_paragraph));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    alloc::format!("{:#}\n", schema.as_value())
}

/// What follows it in the documentation is an example in Rust, which other languages have no use for.
fn first_paragraph(schema: &mut Schema) {
    let first = schema
        .get("description")
        .and_then(|description| description.as_str()?.split_once("\n\n"))
        .map(|(first, _)| String::from(first));
    if let Some(first) = first {
        schema.insert("description".into(), first.into());
    }
}

impl<R: Rule, S> JsonSchema for Text<R, S> {
    fn schema_name() -> Cow<'static, str> {
        R::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "description": R::EXPECTED })
    }
}

impl JsonSchema for Digest {
    fn schema_name() -> Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "32 bytes of MessagePack bin: a SHA-256 digest", "x-messagepack": "bin" })
    }
}

impl JsonSchema for Nonce {
    fn schema_name() -> Cow<'static, str> {
        "Nonce".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "12 bytes of MessagePack bin", "x-messagepack": "bin" })
    }
}

impl JsonSchema for Ciphertext {
    fn schema_name() -> Cow<'static, str> {
        "Ciphertext".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "16 bytes or more of MessagePack bin", "x-messagepack": "bin" })
    }
}

impl<D: Schemas> JsonSchema for SchemaId<D> {
    fn schema_name() -> Cow<'static, str> {
        D::ID.into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "const": D::ID })
    }
}

impl<T: JsonSchema> JsonSchema for Valid<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
