//! `twolane decode`: what a capture, a byte stream or a dump says, for people and programs.

pub(super) mod input;
mod json;
mod live;
mod looks;
mod printer;
mod progress;
mod summary;
mod table;
pub(super) mod text;
mod tree;

use std::io::{IsTerminal as _, stderr, stdout};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use twolane_capture::units::{Options as Reading, Units};
use twolane_capture::{Filter, Format as Capture, Source};
use twolane_core::handshake::Key;
use twolane_core::limits::CONNECTION_FILE_MAX;

use super::{Exit, Failure};
use crate::net::secret_file;
use input::{Input, Next};
pub(super) use printer::Printer;
use progress::Progress;
use summary::Extent;

/// What to decode, and how to print it.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane decode run.pcapng                 a table, one frame a line\n  \
    twolane tap -o - | twolane decode -       a running server, live\n  \
    tcpdump -i lo -U -w - port 7000 | twolane decode -\n  \
    twolane decode run.pcap --key-file providers.json\n  \
    twolane decode run.pcap --filter 'lane=control and gen=3' --format tree\n  \
    twolane decode run.pcap --json | jq 'select(.type == \"Ping\")'\n  \
    xxd frame.bin | twolane decode - --input hex\n\n\
    Filters: NAME OPERATOR VALUE, joined by and, or, not and parentheses\n  \
    kind lane type tag dir law fault verified       =  !=\n  \
    gen epoch corr seq dropped version flags        =  !=  <  <=  >  >=\n  \
    conn len offset                                 =  !=  <  <=  >  >=\n  \
    caller request                                  =  !=  ~  !~ with ids of the connector\n  \
    text                                            ~  !~ with a part of the body\n  \
    last guess cut                                  alone\n\n\
    Exit codes:\n  \
    0  all is well\n  \
    1  the law is broken, or a handshake is not verified under the key given\n  \
    2  wrong usage, a FILE that cannot be opened included\n  \
    4  the input is damaged, incomplete or empty (what could be read was printed)\n\n\
    Ctrl-C ends reading - and other pipes: what was read is printed and judged.\n\
    A second Ctrl-C ends at once.")]
pub(super) struct Options {
    /// Capture, byte stream or text to read; - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "table", conflicts_with = "json")]
    format: Format,
    /// One JSON object a line, as --format json
    #[arg(long)]
    json: bool,
    /// Print only what passes this filter, such as 'lane=display and seq>=10'
    #[arg(long, value_name = "EXPR", value_parser = Filter::parse)]
    filter: Option<Filter>,
    /// Verify handshakes under the key in this file: a connection file, 64 hexadecimal digits or a JSON array
    #[arg(long, value_name = "FILE", conflicts_with = "insecure_key_hex")]
    key_file: Option<PathBuf>,
    /// Verify handshakes under this test key; arguments are seen by every user of the machine
    #[arg(long, value_name = "HEX")]
    insecure_key_hex: Option<String>,
    /// What the input is, instead of finding it out
    #[arg(long, value_name = "KIND")]
    input: Option<InputKind>,
    /// Search for the next frame after a broken header, instead of giving the direction up
    #[arg(long)]
    resync: bool,
    /// Do not cut lines at the width of the terminal
    #[arg(long)]
    full: bool,
}

/// How units are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// One unit a line
    Table,
    /// Every field of every unit, with its bytes
    Tree,
    /// One JSON object a line
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum InputKind {
    /// A pcap file
    Pcap,
    /// A pcapng file, such as `twolane tap` writes
    Pcapng,
    /// The bytes of one direction of one connection
    Raw,
    /// Hexadecimal text, plain or as xxd and hexdump -C print it
    Hex,
    /// Base64 text
    Base64,
}

impl From<InputKind> for Capture {
    fn from(kind: InputKind) -> Self {
        match kind {
            InputKind::Pcap => Self::Pcap,
            InputKind::Pcapng => Self::PcapNg,
            InputKind::Raw => Self::Raw,
            InputKind::Hex => Self::Hex,
            InputKind::Base64 => Self::Base64,
        }
    }
}

/// Decodes and says whether all was well.
pub(super) fn run(options: Options) -> Result<Exit, Failure> {
    let key = options.key()?;
    let has_key = key.is_some();
    let mut input = Input::open(&options.file)?;
    let progress = input.len().filter(|_| stderr().is_terminal());
    let progress = progress.map(|total| Progress::new(total, stdout().is_terminal()));
    let format = if options.json { Format::Json } else { options.format };
    let printer = Printer::new(format, options.filter, options.full).with_progress(progress);
    let mut units = Units::new(printer, Reading { resync: options.resync, ..Reading::default() });
    units.set_key(key);
    let mut source = options.input.map_or_else(Source::new, |kind| Source::with_format(kind.into()));

    let mut extent = Extent::of(&options.file);
    let mut fault = None;
    while fault.is_none() {
        let chunk = match input.next()? {
            Next::Chunk(chunk) => chunk,
            Next::End => break,
            Next::Interrupted(name) => {
                extent.interrupt(name, units.sink());
                break;
            }
        };
        extent.add(chunk);
        fault = source.push(chunk, &mut units).err();
        if !units.sink_mut().flush()? {
            return Ok(Exit::Done);
        }
        units.sink_mut().advance(chunk.len());
    }
    let finished = source.finish(&mut units).err().filter(|_| !extent.is_interrupted());
    if !units.sink_mut().flush()? {
        return Ok(Exit::Done);
    }
    units.sink_mut().end_progress();
    Ok(summary::report(units.sink(), &source, &extent, fault.or(finished), has_key))
}

impl Options {
    fn key(&self) -> Result<Option<Key>, Failure> {
        let usage = |text: String| Failure::new(Exit::Usage, text);
        if let Some(path) = &self.key_file {
            let text = secret_file::read(path, CONNECTION_FILE_MAX)
                .map_err(|fault| usage(format!("key file: {fault}")))?;
            let key = Key::from_text(&text)
                .map_err(|fault| usage(format!("key file {}: {fault}", path.display())))?;
            return Ok(Some(key));
        }
        let Some(hex) = &self.insecure_key_hex else { return Ok(None) };
        match Key::from_text(hex.as_bytes()) {
            Ok(key) => Ok(Some(key)),
            Err(fault) => Err(usage(format!("--insecure-key-hex: {fault}"))),
        }
    }
}
