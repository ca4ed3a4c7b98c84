//! One capture, held for the page.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use twolane_capture::filter::{Filter, FilterFault as Unreadable};
use twolane_capture::row::{CONNECTOR_TAG, HANDSHAKE_TAG};
use twolane_capture::summary;
use twolane_capture::units::{Options, UnitFault};
use twolane_capture::{Format, Index};
use twolane_core::body::Tag;
use twolane_core::connector::outside::Sort;
use twolane_core::envelope::FrameType;
use twolane_core::handshake::Key;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::STAGES;
use crate::column::Column;
use crate::detail::Detail;

/// Characters of a summary; no screen shows more.
const LINE_MAX: usize = 240;

/// A capture as it is read, with the filter that the page shows it through.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Inspector {
    index: Index,
    /// `None` lets everything pass.
    filter: Option<Filter>,
}

/// Where and why a filter cannot be read.
#[wasm_bindgen]
#[derive(Debug)]
pub struct FilterFault {
    /// Offset in the expression's UTF-8 bytes.
    pub offset: u32,
    reason: String,
}

impl From<Unreadable> for FilterFault {
    fn from(fault: Unreadable) -> Self {
        Self { offset: u32::try_from(fault.offset).unwrap_or(u32::MAX), reason: fault.reason.to_string() }
    }
}

#[wasm_bindgen]
impl FilterFault {
    /// One sentence.
    #[must_use]
    pub fn reason(&self) -> String {
        self.reason.clone()
    }
}

#[wasm_bindgen]
impl Inspector {
    /// Nothing read yet. `resync`: search for a frame boundary after a fault, as a guess, instead of
    /// giving the direction up.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new(resync: bool) -> Self {
        Self { index: Index::new(Options { resync, ..Options::default() }), filter: None }
    }

    /// Makes room for a source of about so many bytes.
    pub fn reserve(&mut self, bytes: u32) {
        self.index.reserve_bytes(bytes as usize);
    }

    /// Reads the next bytes of the source; gives why it cannot be read on.
    pub fn push(&mut self, bytes: &[u8]) -> Option<String> {
        self.index.push(bytes).err().map(|fault| fault.to_string())
    }

    /// Says that the source ended; gives what its end lacks.
    pub fn finish(&mut self) -> Option<String> {
        self.index.finish().err().map(|fault| fault.to_string())
    }

    /// Units so far.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the page compares the number")]
    pub fn len(&self) -> u32 {
        u32::try_from(self.index.len()).unwrap_or(u32::MAX)
    }

    /// Where a column begins in the module's memory. Good until the next push.
    #[must_use]
    pub fn column(&self, column: Column) -> *const u8 {
        column.address(self.index.columns())
    }

    /// Nanoseconds since 1970 of the first unit that has a time.
    #[must_use]
    pub fn base_ns(&self) -> Option<u64> {
        self.index.columns().base_ns()
    }

    /// What the source was found to be; empty until it is known.
    #[must_use]
    pub fn format(&self) -> String {
        let name = match self.index.format() {
            None => "",
            Some(Format::Pcap) => "pcap",
            Some(Format::PcapNg) => "pcapng",
            Some(Format::Hex) => "hex",
            Some(Format::Base64) => "base64",
            Some(Format::Raw) => "raw stream",
        };
        name.to_owned()
    }

    /// The bytes of unit `unit`.
    #[must_use]
    pub fn unit_bytes(&self, unit: u32) -> Vec<u8> {
        self.index.columns().bytes(unit as usize).unwrap_or_default().to_vec()
    }

    /// What a table says of the unit's content.
    #[must_use]
    pub fn summary(&self, unit: u32) -> String {
        self.index.unit(unit as usize).map(|unit| summary::line(&unit, LINE_MAX)).unwrap_or_default()
    }

    /// The unit taken apart.
    #[must_use]
    pub fn detail(&self, unit: u32) -> Detail {
        self.index.unit(unit as usize).map(|unit| Detail::of(&unit)).unwrap_or_default()
    }

    /// Reads a filter for [`Inspector::matching`]; an empty one lets everything pass. Gives where it
    /// cannot be read, and keeps the one before then.
    pub fn set_filter(&mut self, text: &str) -> Option<FilterFault> {
        match Filter::parse(text) {
            Ok(filter) => {
                self.filter = Some(filter);
                None
            }
            Err(fault) => Some(fault.into()),
        }
    }

    /// The units of `from..to` that pass the filter.
    #[must_use]
    pub fn matching(&self, from: u32, to: u32) -> Vec<u32> {
        let passes = |unit: &u32| {
            let Some(row) = self.index.columns().row(*unit as usize) else { return false };
            self.filter.as_ref().is_none_or(|filter| filter.matches(&row))
        };
        (from..to.min(self.len())).filter(passes).collect()
    }

    /// Takes the key that handshakes are judged under, as the text of a key file; an empty text
    /// forgets it. Gives why the text is no key, and keeps the one before then.
    pub fn set_key(&mut self, text: &str) -> Option<String> {
        if text.is_empty() {
            self.index.set_key(None);
            return None;
        }
        match Key::from_text(text.as_bytes()) {
            Ok(key) => {
                self.index.set_key(Some(&key));
                None
            }
            Err(fault) => Some(fault.to_string()),
        }
    }

    /// Proofs that are right under the key.
    #[must_use]
    pub fn verified(&self) -> f64 {
        figure(self.index.totals().verified)
    }

    /// Proofs that are wrong under the key.
    #[must_use]
    pub fn refuted(&self) -> f64 {
        figure(self.index.totals().refuted)
    }
}

/// A count as the page's kind of number; exact below 2^53, which no capture reaches.
#[allow(clippy::cast_precision_loss, reason = "counts of units stay below 2^53")]
fn figure(count: u64) -> f64 {
    count as f64
}

/// The words for the codes in three columns, one line each: frame types; payload tags, handshake and
/// connector messages; faults. Separated by spaces; an unused code's word is empty.
#[wasm_bindgen]
#[must_use]
pub fn names() -> String {
    let mut text = String::new();
    let columns: [fn(u8) -> &'static str; 3] = [
        |code| FrameType::from_code(code).map_or("", FrameType::name),
        tag_name,
        |code| UnitFault::name_of(code).unwrap_or_default(),
    ];
    for name_of in columns {
        for code in 0..=u8::MAX {
            text.push_str(name_of(code));
            text.push(if code == u8::MAX { '\n' } else { ' ' });
        }
    }
    text
}

fn tag_name(code: u8) -> &'static str {
    let place = |first: u8| code.checked_sub(first).map(usize::from);
    let stage = place(HANDSHAKE_TAG).and_then(|place| STAGES.get(place)).map(|stage| stage.name());
    let sort = place(CONNECTOR_TAG).and_then(|place| Sort::ALL.get(place)).map(|sort| sort.name());
    stage.or(sort).or_else(|| Tag::from_code(code).map(Tag::name)).unwrap_or_default()
}
