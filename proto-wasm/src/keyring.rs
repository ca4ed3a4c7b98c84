//! The keys that open the connector's seals, and what they open.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use twolane_core::connector::open::NotOpened;
use twolane_core::connector::outside::Outside;
use twolane_core::connector::seal::SealKey;
use twolane_core::dissect::Tree;
use twolane_core::limits::CONNECTOR_PREFIX_LEN;
use wasm_bindgen::prelude::wasm_bindgen;
use zeroize::Zeroizing;

use crate::detail::Detail;

/// Keys in the order in which they were given. They are overwritten when they are forgotten.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Keyring {
    keys: Vec<SealKey>,
}

/// What is under the seal of one message, or why it stays there.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Opened {
    document: Vec<u8>,
    key_id: String,
    fault: Option<String>,
}

#[wasm_bindgen]
impl Keyring {
    /// No key yet.
    #[wasm_bindgen(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the text of a key file and overwrites it; gives why it is none.
    pub fn add(&mut self, secret: Vec<u8>) -> Option<String> {
        let secret = Zeroizing::new(secret);
        match SealKey::from_file(&secret) {
            Ok(key) => {
                if self.keys.iter().all(|known| known.id() != key.id()) {
                    self.keys.push(key);
                }
                None
            }
            Err(fault) => Some(fault.to_string()),
        }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.keys = Vec::new();
    }

    /// How many there are.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "the page compares the number")]
    pub fn len(&self) -> u32 {
        u32::try_from(self.keys.len()).unwrap_or(u32::MAX)
    }

    /// Tries the keys on one message, its length prefix first.
    #[must_use]
    pub fn open(&self, message: &[u8]) -> Opened {
        match self.document(message.get(CONNECTOR_PREFIX_LEN..).unwrap_or_default()) {
            Ok((key, document)) => Opened { document, key_id: key.id().to_string(), fault: None },
            Err(fault) => {
                Opened { document: Vec::new(), key_id: String::new(), fault: Some(fault.to_string()) }
            }
        }
    }
}

impl Keyring {
    /// The key that opens it and the document; else the fault that says most.
    fn document(&self, body: &[u8]) -> Result<(&SealKey, Vec<u8>), NotOpened> {
        let outside = Outside::read(body).map_err(NotOpened::Carriage)?;
        outside.sealed()?;
        let mut fault = NotOpened::OtherKey;
        for key in &self.keys {
            match outside.open(key) {
                Ok(document) => return Ok((key, document)),
                Err(NotOpened::OtherKey) => {}
                Err(found) => fault = found,
            }
        }
        Err(fault)
    }
}

#[wasm_bindgen]
impl Opened {
    /// The document taken apart.
    #[must_use]
    pub fn detail(&self) -> Detail {
        Detail::of_bytes(&Tree::document(&self.document))
    }

    /// The bytes of the document.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.document.clone()
    }

    /// The id of the key that opened it, which tells nothing of the key.
    #[must_use]
    pub fn key_id(&self) -> String {
        self.key_id.clone()
    }

    /// Why it stays closed, as one sentence without a full stop.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.clone()
    }
}
