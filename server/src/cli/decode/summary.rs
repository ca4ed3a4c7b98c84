//! What a whole capture came to, and the exit code that says so.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Write as _, stderr};
use std::path::Path;

use twolane_capture::row::{Kind, mark};
use twolane_capture::summary::Counted;
use twolane_capture::units::{Unit, UnitFault};
use twolane_capture::{Direction, Format, Opening, Source, SourceFault};
use twolane_core::handshake::Stage;

use super::super::Exit;
use super::looks::{HEAD_LEN, Looks};
use super::printer::Printer;

/// What is wrong beyond the counts of the totals.
#[derive(Debug, Default)]
pub(super) struct Damage {
    joined: BTreeSet<(u32, Direction)>,
    /// Units that the input does not hold whole.
    incomplete: u64,
    /// Those of them in which the input, or the stream, ends.
    cut: u64,
    /// Whether the input's first bytes are no unit.
    begins_with_none: bool,
    /// Rules that a sender broke, the seq law aside.
    broken: u64,
    /// Proofs that nothing could be said about.
    unjudged: u64,
}

impl Damage {
    /// Notes how a direction begins: one joined in the middle is not damaged for that.
    pub(super) fn open(&mut self, connection: u32, direction: Direction, how: Opening) {
        if how == Opening::Joined {
            self.joined.insert((connection, direction));
        }
    }

    pub(super) fn add(&mut self, unit: &Unit<'_>) {
        let row = &unit.row;
        let is_joined = row.offset == 0 && self.joined.contains(&(row.connection, row.direction));
        match unit.fault {
            None | Some(UnitFault::Oversize { .. }) => {}
            Some(UnitFault::Passed { .. }) if is_joined => {}
            Some(
                UnitFault::Handshake(_)
                | UnitFault::OutOfPlace { .. }
                | UnitFault::Lane(_)
                | UnitFault::Body(_)
                | UnitFault::Carriage(_),
            ) => self.broken += 1,
            Some(fault) => {
                self.incomplete += 1;
                self.cut += u64::from(matches!(fault, UnitFault::End { .. }));
            }
        }
        self.begins_with_none |= unit.index == 0 && row.offset == 0 && row.kind == Kind::Fault;
        // A tap that was joined in the middle is not damaged for that either.
        self.incomplete += u64::from(row.kind == Kind::Gap && !row.is_marked(mark::EARLIER));
        let has_proof = matches!(unit.stage(), Some(Stage::ServerProof | Stage::ClientAuth));
        self.unjudged += u64::from(has_proof && unit.verified().is_none());
    }
}

/// What was read, in one line.
pub(in crate::cli) fn tally(printer: &Printer, has_key: bool) -> String {
    let Printer { totals, damage, units, shown, connections, .. } = printer;
    let mut line =
        format!("{} in {}", Counted(*units, "unit"), Counted(connections.len() as u64, "connection"));
    let _ = write!(line, ": {}", Counted(totals.frames, "frame"));
    if shown != units {
        let _ = write!(line, ", {shown} shown");
    }
    let _ = write!(
        line,
        ", {}, {} missing, {}",
        Counted(totals.faults, "fault"),
        Counted(totals.missing, "byte"),
        breaches(totals.breaches),
    );
    for (count, what) in
        [(totals.lost, "lost by the tap"), (totals.earlier, "passed before the tap was joined")]
    {
        if count > 0 {
            let _ = write!(line, ", {} {what}", Counted(count, "unit"));
        }
    }
    if totals.unruled > 0 {
        let _ = write!(line, ", {} on a lane without a seq", Counted(totals.unruled, "frame"));
    }
    if totals.sealed > 0 {
        let _ = write!(line, ", {}", Counted(totals.sealed, "connector message"));
    }
    let _ = write!(line, ", {}", Counted(totals.messages, "handshake message"));
    if has_key {
        let (verified, refuted, unjudged) = (totals.verified, totals.refuted, damage.unjudged);
        let _ = write!(line, " ({verified} verified, {refuted} refuted, {unjudged} without what they prove)");
    }
    line
}

/// How much was read, of what.
#[derive(Debug)]
pub(super) struct Extent {
    name: String,
    bytes: u64,
    head: Vec<u8>,
    /// The signal that ended reading, and the cut units before it.
    interrupted: Option<(&'static str, u64)>,
}

impl Extent {
    /// Nothing yet of the file at `path`.
    pub(super) fn of(path: &Path) -> Self {
        Self { name: path.display().to_string(), bytes: 0, head: Vec::new(), interrupted: None }
    }

    /// Notes the next bytes.
    pub(super) fn add(&mut self, chunk: &[u8]) {
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let room = HEAD_LEN.saturating_sub(self.head.len());
        self.head.extend(chunk.iter().take(room));
    }

    /// Notes that a signal ended reading: a unit that is cut off there is not damaged for that.
    pub(super) fn interrupt(&mut self, name: &'static str, printer: &Printer) {
        self.interrupted = Some((name, printer.damage.cut));
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some()
    }
}

/// Writes the summary to standard error and gives the exit code.
pub(super) fn report(
    printer: &Printer,
    source: &Source,
    extent: &Extent,
    fault: Option<SourceFault>,
    has_key: bool,
) -> Exit {
    let Printer { totals, damage, .. } = printer;
    let mut line = tally(printer, has_key);
    let ignored = source.ignored_packets().total();
    if ignored > 0 {
        let _ = write!(line, ", {} of something else", Counted(ignored, "packet"));
    }
    // Where standard error is gone, the exit code still says it.
    let _ = writeln!(stderr(), "{line}");
    let is_capture = matches!(source.format(), Some(Format::Pcap | Format::PcapNg));
    let is_empty = printer.units == 0 && extent.interrupted.is_none();
    let forgiven = match extent.interrupted {
        Some((name, cut)) => {
            let _ = writeln!(stderr(), "twolane: {name}: what followed was not read");
            damage.cut.saturating_sub(cut)
        }
        None => 0,
    };
    if is_empty && (fault.is_none() || extent.bytes == 0) {
        let bytes = Counted(extent.bytes, "byte");
        let _ = writeln!(stderr(), "twolane: nothing to decode: the input has {bytes} and no unit");
    } else if let Some(fault) = fault {
        let _ = writeln!(stderr(), "twolane: the input is damaged {fault}; what comes before was decoded");
        let _ =
            writeln!(stderr(), "  another format? --input says what it is: pcap, pcapng, raw, hex or base64");
    } else if damage.begins_with_none && source.format() == Some(Format::Raw) {
        let _ = writeln!(stderr(), "twolane: {}", Looks::of(&extent.head).advice(&extent.name));
    }
    // A whole capture of nothing that concerns us is not damaged.
    let is_damaged = fault.is_some() || damage.incomplete > forgiven || (is_empty && !is_capture);
    let is_refused = has_key && (totals.refuted > 0 || damage.unjudged > 0);
    if is_damaged {
        Exit::Damaged
    } else if totals.breaches > 0 || damage.broken > 0 || is_refused {
        Exit::Failed
    } else {
        Exit::Done
    }
}

fn breaches(count: u64) -> String {
    match count {
        1 => "1 breach of the seq law".to_owned(),
        count => format!("{} of the seq law", Counted(count, "breache")),
    }
}
