//! A list that is read element by element out of canonical bytes.

use core::fmt;
use core::marker::PhantomData;

use super::fault::DocumentFault;
use super::read::Fields;

/// What can be an element of a [`ReadList`].
pub(crate) trait Element<'a>: Sized {
    fn read(fields: &mut Fields<'a>) -> Result<Self, DocumentFault>;
}

/// A list in canonical bytes, all of whose elements were read once before it was made. Each iteration reads them
/// again; nothing is held.
///
/// ```
/// # #[cfg(feature = "alloc")] {
/// use twolane_core::connector::document::{InputItem, ReadElements, ReadList, ReadRequest, Valid};
///
/// /// What the user said, out of the bytes of a request; nothing is held but the place.
/// fn words<'a>(request: &Valid<ReadRequest<'a>>) -> Vec<&'a str> {
///     let input: ReadList<'a, InputItem<&'a str>> = request.input;
///     let items: ReadElements<'a, InputItem<&'a str>> = input.iter();
///     items.filter_map(|item| if let InputItem::UserText { text } = item { Some(text.text()) } else { None }).collect()
/// }
/// # use twolane_core::connector::document::{ProviderRequest, SchemaId, ToolChoice};
/// # use twolane_core::connector::text::{Rule, Text};
/// # fn t<R: Rule>(text: &str) -> Text<R, &str> {
/// #     Text::new(text).unwrap()
/// # }
/// # let items = [InputItem::UserText { text: t("Which day?") }, InputItem::AssistantText { text: t("Tuesday.") }];
/// # let parts = ProviderRequest {
/// #     schema_id: SchemaId::NEW,
/// #     request_id: t("request-1"),
/// #     conversation_id: t("talk-1"),
/// #     model: t("model-a"),
/// #     instructions: t("Be brief."),
/// #     input: &items[..],
/// #     reasoning_effort: None,
/// #     reasoning_summary: None,
/// #     service_tier: None,
/// #     output_format_name: None,
/// #     previous_response_id: None,
/// #     tools: &[][..],
/// #     tool_choice: ToolChoice::Auto,
/// #     parallel_tool_calls: false,
/// #     output_schema_json: None,
/// #     max_output_tokens: None,
/// #     prompt_cache_key: None,
/// # };
/// # let bytes = Valid::new(parts).unwrap().to_vec().unwrap();
///
/// // One question and one answer.
/// let request = Valid::<ReadRequest<'_>>::read(&bytes).unwrap();
/// assert_eq!((request.input.len(), request.tools.is_empty()), (2, true));
/// assert_eq!(words(&request), ["Which day?"]);
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct ReadList<'a, T> {
    first: Fields<'a>,
    count: u32,
    element: PhantomData<T>,
}

impl<'a, T> ReadList<'a, T> {
    /// How many elements there are.
    pub const fn len(&self) -> u32 {
        self.count
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[expect(private_bounds, reason = "elements are those of the documents, and no one else's")]
impl<'a, T: Element<'a>> ReadList<'a, T> {
    /// The elements in order.
    pub fn iter(&self) -> ReadElements<'a, T> {
        ReadElements { fields: self.first, left: self.count, element: PhantomData }
    }

    /// Reads a list of at most `max` elements and hands each to `see`.
    pub(crate) fn read(
        fields: &mut Fields<'a>,
        max: u32,
        mut see: impl FnMut(usize, &Fields<'a>, &T) -> Result<(), DocumentFault>,
    ) -> Result<Self, DocumentFault> {
        let count = fields.list(max)?;
        let first = *fields;
        for _ in 0..count {
            let start = fields.position();
            let element = T::read(fields)?;
            see(start, fields, &element)?;
        }
        Ok(Self { first, count, element: PhantomData })
    }
}

/// It names the count alone: what is inside may be long and is not for logs.
impl<T> fmt::Debug for ReadList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReadList({})", self.count)
    }
}

/// The elements of a [`ReadList`].
#[derive(Clone, Copy, Debug)]
pub struct ReadElements<'a, T> {
    fields: Fields<'a>,
    left: u32,
    element: PhantomData<T>,
}

impl<'a, T: Element<'a>> Iterator for ReadElements<'a, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // What was read once is read again without a fault.
        T::read(&mut self.fields).ok()
    }
}
