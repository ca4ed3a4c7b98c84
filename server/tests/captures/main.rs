//! Captures as tcpdump makes them, of a real server on loopback: what is decoded is what its peer received.

#![cfg(target_os = "linux")]

mod damage;
mod links;
mod pcap;
mod peer;
mod reading;
mod recording;
mod sealed;
mod wireshark;
