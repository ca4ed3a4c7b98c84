//! What a whole capture came to, and the exit code that says so.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Write as _, stderr};

use twolane_capture::row::{Kind, mark};
use twolane_capture::summary::Counted;
use twolane_capture::units::{Unit, UnitFault};
use twolane_capture::{Direction, Opening, Source, SourceFault};
use twolane_core::handshake::Stage;

use super::super::Exit;
use super::printer::Printer;

/// What is wrong beyond the counts of the totals.
#[derive(Debug, Default)]
pub(super) struct Damage {
    joined: BTreeSet<(u32, Direction)>,
    /// Units that the input does not hold whole.
    incomplete: u64,
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
                | UnitFault::Body(_),
            ) => self.broken += 1,
            Some(_) => self.incomplete += 1,
        }
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
    let _ = write!(line, ", {}", Counted(totals.messages, "handshake message"));
    if has_key {
        let (verified, refuted, unjudged) = (totals.verified, totals.refuted, damage.unjudged);
        let _ = write!(line, " ({verified} verified, {refuted} refuted, {unjudged} without what they prove)");
    }
    line
}

/// Writes the summary to standard error and gives the exit code.
pub(super) fn report(printer: &Printer, source: &Source, fault: Option<SourceFault>, has_key: bool) -> Exit {
    let Printer { totals, damage, .. } = printer;
    let mut line = tally(printer, has_key);
    let ignored = source.ignored_packets().total();
    if ignored > 0 {
        let _ = write!(line, ", {} of something else", Counted(ignored, "packet"));
    }
    // Where standard error is gone, the exit code still says it.
    let _ = writeln!(stderr(), "{line}");
    if let Some(fault) = fault {
        let _ = writeln!(stderr(), "twolane: the input is damaged {fault}; what comes before was decoded");
        let _ =
            writeln!(stderr(), "  another format? --input says what it is: pcap, pcapng, raw, hex or base64");
    }
    let is_damaged = fault.is_some() || damage.incomplete > 0;
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
