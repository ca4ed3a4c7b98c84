//! Byte 6 of a header.

use core::fmt;

use super::Version;

/// Bits 1-2 of the flags; 3 is illegal.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Legal in the envelope, but no lane.
    Passive,
    /// The control lane's.
    Interactive,
    /// The display lane's.
    Background,
}

/// Bits 4-5 of version 2 flags; 3 is illegal.
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    /// No wish; the only value of version 1.
    Normal,
    /// Shown, without effect here.
    Expedite,
    /// May be shed; only on Push and StreamData.
    Sheddable,
}

/// Byte 6 of a header. Which bits are legal depends on version and type: [`Header::new`](super::Header::new) says.
///
/// ```
/// use twolane_core::envelope::{Admission, Flags, Priority, Version};
///
/// assert_eq!(Flags::CONTROL.with_last(), Flags::CONTROL_LAST);
/// assert_eq!(Flags::NONE.priority(), Some(Priority::Passive));
///
/// // A display frame is Background; version 2 says beside it that it may be shed.
/// assert_eq!(Flags::display(Version::V1).bits(), 0x04);
/// let display = Flags::display(Version::V2);
/// assert_eq!(display.priority(), Some(Priority::Background));
/// assert_eq!(display.admission(), Some(Admission::Sheddable));
///
/// // Priority 3 is illegal, which Header::new refuses by name.
/// let flags = Flags::from_bits(Flags::PRIORITY);
/// assert_eq!(flags.priority(), None);
/// assert!(!flags.is_last() && !flags.is_binary());
/// ```
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Bit 0: the body is not text.
    ///
    /// ```
    /// use twolane_core::envelope::Flags;
    ///
    /// let flags = Flags::from_bits(Flags::BINARY | Flags::LAST | Flags::DAEMON_ORIGIN | Flags::SUBSCRIPTION);
    /// assert!(flags.is_binary() && flags.is_last() && flags.is_daemon_origin() && flags.is_subscription());
    /// // Version 1 knows the low half alone.
    /// assert_eq!(Flags::RESERVED_V1, Flags::ADMISSION | Flags::DAEMON_ORIGIN | Flags::SUBSCRIPTION);
    /// ```
    pub const BINARY: u8 = 0x01;
    /// Bits 1-2: [`Priority`].
    pub const PRIORITY: u8 = 0x06;
    /// Bit 3: the last frame of its stream.
    pub const LAST: u8 = 0x08;
    /// Bits 4-5 in version 2: [`Admission`].
    pub const ADMISSION: u8 = 0x30;
    /// The admission bits of [`Admission::Sheddable`].
    pub(super) const SHEDDABLE: u8 = 0x20;
    /// Bit 6 in version 2: sent by a daemon unasked. Shown, without effect here.
    pub const DAEMON_ORIGIN: u8 = 0x40;
    /// Bit 7 in version 2: belongs to a subscription. Shown, without effect here.
    pub const SUBSCRIPTION: u8 = 0x80;
    /// Bits that must be 0 in version 1.
    pub const RESERVED_V1: u8 = 0xf0;

    /// No flag set, priority Passive.
    pub const NONE: Self = Self(0);
    /// StreamData on the control lane.
    pub const CONTROL: Self = Self(0x02);
    /// StreamData on the control lane that ends its generation.
    pub const CONTROL_LAST: Self = Self(0x0a);

    /// StreamData on the display lane as a writer of `version` puts it.
    pub const fn display(version: Version) -> Self {
        match version {
            Version::V1 => Self(0x04),
            Version::V2 => Self(0x24),
        }
    }

    /// Flags from the bits of byte 6, legal or not.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Byte 6 as written.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The same with LAST set.
    #[must_use]
    pub const fn with_last(self) -> Self {
        Self(self.0 | Self::LAST)
    }

    /// Whether the body is not text.
    pub const fn is_binary(self) -> bool {
        self.0 & Self::BINARY != 0
    }

    /// Whether this is the last frame of its stream.
    pub const fn is_last(self) -> bool {
        self.0 & Self::LAST != 0
    }

    /// The priority; `None` for the illegal value 3.
    pub const fn priority(self) -> Option<Priority> {
        match (self.0 & Self::PRIORITY) >> 1 {
            0 => Some(Priority::Passive),
            1 => Some(Priority::Interactive),
            2 => Some(Priority::Background),
            _ => None,
        }
    }

    /// The admission bits; `None` for the illegal value 3. Always Normal in a legal version 1 header.
    pub const fn admission(self) -> Option<Admission> {
        match (self.0 & Self::ADMISSION) >> 4 {
            0 => Some(Admission::Normal),
            1 => Some(Admission::Expedite),
            2 => Some(Admission::Sheddable),
            _ => None,
        }
    }

    /// Whether DAEMON_ORIGIN is set.
    pub const fn is_daemon_origin(self) -> bool {
        self.0 & Self::DAEMON_ORIGIN != 0
    }

    /// Whether SUBSCRIPTION is set.
    pub const fn is_subscription(self) -> bool {
        self.0 & Self::SUBSCRIPTION != 0
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flags(0x{:02x})", self.0)
    }
}
