#![no_std]
//! Every rule about the bytes of the Twolane wire.
