//! `twolane generate`: completions and manual pages.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Subcommand};
use clap_complete::Shell;

use super::{Cli, Exit, Failure, written};

/// What to generate.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    twolane generate completions bash > /etc/bash_completion.d/twolane\n  \
    twolane generate man --out-dir man/man1")]
pub(super) struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Completions of a shell, to standard output
    Completions {
        /// The shell
        shell: Shell,
    },
    /// The manual page of the program to standard output, or one of each command into a directory
    Man {
        /// Directory for twolane.1, twolane-serve.1, ...
        #[arg(long, value_name = "DIR")]
        out_dir: Option<PathBuf>,
    },
}

/// Writes what was asked for.
pub(super) fn run(options: Options) -> Result<Exit, Failure> {
    let mut out = Vec::new();
    let failed = |fault: std::io::Error| Failure::new(Exit::Failed, fault);
    match options.what {
        What::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "twolane", &mut out);
        }
        What::Man { out_dir: None } => {
            clap_mangen::Man::new(Cli::command()).render(&mut out).map_err(failed)?;
        }
        What::Man { out_dir: Some(directory) } => {
            std::fs::create_dir_all(&directory).map_err(failed)?;
            clap_mangen::generate_to(Cli::command(), &directory).map_err(failed)?;
        }
    }
    written(std::io::stdout().lock().write_all(&out))?;
    Ok(Exit::Done)
}
