//! The columns that the page reads out of the module's memory.

use twolane_capture::Columns;
use wasm_bindgen::prelude::wasm_bindgen;

/// A column of [`Columns`]; each has one entry a unit, in the type stated there.
#[wasm_bindgen]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the columns, which are documented there")]
pub enum Column {
    Kinds,
    Types,
    Lanes,
    Tags,
    Directions,
    Faults,
    Laws,
    Marks,
    Channels,
    Epochs,
    Connections,
    Lens,
    Corrs,
    Seqs,
    Times,
    Offsets,
}

impl Column {
    /// Where the column begins in the module's memory. Good until the next unit is pushed.
    pub(crate) fn address(self, columns: &Columns) -> *const u8 {
        match self {
            Self::Kinds => columns.kinds().as_ptr(),
            Self::Types => columns.types().as_ptr(),
            Self::Lanes => columns.lanes().as_ptr(),
            Self::Tags => columns.tags().as_ptr(),
            Self::Directions => columns.directions().as_ptr(),
            Self::Faults => columns.faults().as_ptr(),
            Self::Laws => columns.laws().as_ptr(),
            Self::Marks => columns.marks().as_ptr(),
            Self::Channels => columns.channels().as_ptr().cast(),
            Self::Epochs => columns.epochs().as_ptr().cast(),
            Self::Connections => columns.connections().as_ptr().cast(),
            Self::Lens => columns.lens().as_ptr().cast(),
            Self::Corrs => columns.corrs().as_ptr().cast(),
            Self::Seqs => columns.seqs().as_ptr().cast(),
            Self::Times => columns.times().as_ptr().cast(),
            Self::Offsets => columns.offsets().as_ptr().cast(),
        }
    }
}
