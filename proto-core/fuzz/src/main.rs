//! Runs targets on any compiler: every seed as it is, then changed ones, each input from a number of its own.
//!
//! ```text
//! twolane-fuzz [--seconds N] [--from N] [TARGET..]   run; N seconds for each target
//! twolane-fuzz --list                                name the targets
//! twolane-fuzz --corpus FOLDER                       write the seeds, for libFuzzer
//! twolane-fuzz --input FILE TARGET                   run one input again
//! ```
#![forbid(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, io};

use twolane_fuzz::generator::Generator;
use twolane_fuzz::seeds::Seeds;
use twolane_fuzz::{TARGETS, Target};

const SECONDS: u64 = 5;

struct Options {
    list: bool,
    seconds: u64,
    from: u64,
    corpus: Option<PathBuf>,
    input: Option<PathBuf>,
    targets: Vec<Target>,
}

fn main() -> ExitCode {
    let done = options().and_then(|options| match (&options.corpus, &options.input) {
        (Some(folder), _) => write_corpus(folder, &options.targets).map_err(|error| error.to_string()),
        (_, Some(file)) => fs::read(file)
            .map(|bytes| options.targets.iter().for_each(|target| (target.run)(&bytes)))
            .map_err(|error| format!("{}: {error}", file.display())),
        _ => run(&options),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options =
        Options { list: false, seconds: SECONDS, from: 0, corpus: None, input: None, targets: Vec::new() };
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        let number = |text: String| text.parse::<u64>().map_err(|_| format!("{text:?} is no number"));
        match argument.as_str() {
            "--list" => options.list = true,
            "--seconds" => options.seconds = number(value()?)?,
            "--from" => options.from = number(value()?)?,
            "--corpus" => options.corpus = Some(value()?.into()),
            "--input" => options.input = Some(value()?.into()),
            name => options.targets.push(named(name)?),
        }
    }
    if options.targets.is_empty() {
        options.targets = TARGETS.to_vec();
    }
    Ok(options)
}

fn named(name: &str) -> Result<Target, String> {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.ok_or(format!("no target is named {name:?}; there are {}", names.join(", ")))
}

fn run(options: &Options) -> Result<(), String> {
    if options.list {
        options.targets.iter().for_each(|target| println!("{}", target.name));
        return Ok(());
    }
    let seeds = Seeds::read();
    let started = Instant::now();
    for target in &options.targets {
        let own = (target.seeds)(&seeds);
        let begun = started.elapsed();
        for seed in &own {
            attempt(target, seed, None)?;
        }
        let mut number = options.from;
        while started.elapsed() - begun < Duration::from_secs(options.seconds) {
            let input = Generator::new(number).input(&own);
            attempt(target, &input, Some(number))?;
            number += 1;
        }
        println!("  {:16} {:4} seeds, {:9} inputs", target.name, own.len(), number - options.from);
    }
    Ok(())
}

/// Runs one input; where it breaks a law, keeps it and says how to run it again.
fn attempt(target: &Target, input: &[u8], number: Option<u64>) -> Result<(), String> {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_ok() {
        return Ok(());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.name);
    let file = folder.join(number.map_or("seed".to_owned(), |number| format!("stable-{number}")));
    let kept = fs::create_dir_all(&folder).and_then(|()| fs::write(&file, input));
    kept.map_err(|error| format!("{}: {error}", file.display()))?;
    let file = file.display();
    Err(format!(
        "an input of {} breaks a law; again: twolane-fuzz --input {file} {}",
        target.name, target.name
    ))
}

fn write_corpus(folder: &Path, targets: &[Target]) -> io::Result<()> {
    let seeds = Seeds::read();
    for target in targets {
        let own = folder.join(target.name);
        fs::create_dir_all(&own)?;
        for (place, seed) in (target.seeds)(&seeds).iter().enumerate() {
            fs::write(own.join(format!("seed-{place}")), seed)?;
        }
    }
    Ok(())
}
