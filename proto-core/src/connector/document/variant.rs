//! Enums whose variants are their names.

/// An enum of unit variants: each is written as its name, which stands in one place.
macro_rules! variants {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[cfg_attr(feature = "std", serde(rename = $text))] $variant,)*
        }

        impl $name {
            /// Every variant.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The variant of a name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(in crate::connector) use variants;
