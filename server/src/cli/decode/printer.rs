//! Units to standard output.

use std::io::{self, IsTerminal as _, Stdout, Write as _, stderr, stdout};

use twolane_capture::row::Row;
use twolane_capture::summary::Counted;
use twolane_capture::units::{Note, Unit, UnitSink};
use twolane_capture::{Direction, Filter, Totals};

use super::super::{Exit, Failure};
use super::progress::Progress;
use super::summary::{self, Damage};
use super::table::Table;
use super::{Format, json, tree};

/// Held output is written at this size in bytes, and after each chunk of input.
const HELD_MAX: usize = 256 * 1024;

/// Columns of a line where standard output is no terminal.
const WIDTH_ELSEWHERE: usize = 200;

/// Prints what passes the filter, and counts all.
pub(in crate::cli) struct Printer {
    format: Format,
    filter: Option<Filter>,
    table: Table,
    held: String,
    out: Stdout,
    progress: Option<Progress>,
    /// Why writing ended.
    failed: Option<io::Error>,
    pub(in crate::cli) totals: Totals,
    pub(super) damage: Damage,
    pub(super) units: u64,
    pub(super) shown: u64,
    pub(super) connections: std::collections::BTreeSet<u32>,
}

impl Printer {
    pub(in crate::cli) fn new(format: Format, filter: Option<Filter>, full: bool) -> Self {
        let out = stdout();
        let is_terminal = out.is_terminal();
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = if full { usize::MAX } else { terminal_width(&out).unwrap_or(WIDTH_ELSEWHERE) };
        let table = Table::new(width, is_terminal && !no_color);
        Self {
            format,
            filter,
            table,
            held: String::new(),
            out,
            progress: None,
            failed: None,
            totals: Totals::default(),
            damage: Damage::default(),
            units: 0,
            shown: 0,
            connections: std::collections::BTreeSet::new(),
        }
    }

    /// The same with a line that says how far the input is read.
    pub(super) fn with_progress(self, progress: Option<Progress>) -> Self {
        Self { progress, ..self }
    }

    /// Says that a chunk of the input was read.
    pub(super) fn advance(&mut self, bytes: usize) {
        let units = self.units;
        if let Some(progress) = &mut self.progress {
            progress.advance(bytes, units);
        }
    }

    /// Takes the line about progress away.
    pub(super) fn end_progress(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.clear();
        }
    }

    /// Writes what is held. False where the reader is gone, which is no failure.
    pub(in crate::cli) fn flush(&mut self) -> Result<bool, Failure> {
        self.write();
        match self.failed.take() {
            None => Ok(true),
            Some(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Some(fault) => {
                Err(Failure::new(Exit::Failed, format!("cannot write to standard output: {fault}")))
            }
        }
    }

    /// Says whether the law was kept: a program reads it last, a person on standard error.
    pub(in crate::cli) fn conclude(&mut self) {
        if self.format == Format::Json {
            return json::law(&self.totals, &mut self.held);
        }
        let word = if self.totals.is_law_kept() { "law kept" } else { "law BROKEN" };
        let Totals { ended, dropped, .. } = self.totals;
        // Where standard error is gone, the exit code still says it.
        let _ = writeln!(
            stderr(),
            "{word}: {}; {}, {} dropped and accounted for",
            summary::tally(self, true),
            Counted(ended, "ended generation"),
            Counted(dropped, "display frame"),
        );
    }

    fn write(&mut self) {
        if self.failed.is_none() && !self.held.is_empty() {
            if let Some(progress) = &mut self.progress {
                progress.rows();
            }
            let written = self.out.write_all(self.held.as_bytes()).and_then(|()| self.out.flush());
            self.failed = written.err();
        }
        self.held.clear();
    }

    fn passes(&self, row: &Row<'_>) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.matches(row))
    }
}

impl UnitSink for Printer {
    fn unit(&mut self, unit: &Unit<'_>) {
        self.units += 1;
        self.totals.add(&unit.row);
        self.damage.add(unit);
        self.connections.insert(unit.row.connection);
        self.table.see_time(&unit.row);
        if self.failed.is_some() || !self.passes(&unit.row) {
            return;
        }
        self.shown += 1;
        match self.format {
            Format::Table => self.table.line(unit, &mut self.held),
            Format::Json => json::object(unit, &mut self.held),
            Format::Tree => {
                self.table.title(unit, &mut self.held);
                tree::fields(unit, &mut self.held);
            }
        }
        if self.held.len() >= HELD_MAX {
            self.write();
        }
    }

    fn note(&mut self, connection: u32, direction: Direction, note: Note<'_>) {
        if let Note::Opened { how, .. } = note {
            self.damage.open(connection, direction, how);
        }
    }
}

/// Columns of the terminal that `out` is, where it is one.
fn terminal_width(out: &Stdout) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}
