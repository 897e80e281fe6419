//! One hunt: draws, admits, runs, judges, writes.

use std::fs;
use std::path::Path;
use std::time::Instant;

use hunt::{Board, Drive, Plan, Random, Record, arm, generate, harms, hash, minimise, tighten, victims};

use crate::cli::Options;

/// Draws for one system until one is admitted.
const DRAWS: usize = 40;
/// How often one that is refused is made smaller.
const SHRINKS: usize = 6;
/// Of a hundred systems, so many are to be tight, and all with a long window: only there does what adds up in it show.
const TIGHT_PERCENT: u64 = 50;

/// Figures of a hunt.
#[derive(Default)]
struct Tally {
    ran: u64,
    known: u64,
    failed: u64,
    minimised: u64,
    with: [u64; 5],
    seconds: f64,
    /// Longest response over bound, of every victim, and of the tight system's tightest.
    ratios: Vec<f64>,
    tight: Vec<f64>,
}

/// Runs the hunt; how many systems failed.
///
/// # Errors
/// The reason why it cannot run.
pub fn hunt(options: &Options) -> Result<u64, String> {
    let (mut drive, began) = (Board::new(&options.board, options.lane, options.adverse)?, Instant::now());
    let out = options.out.join(&options.board);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    println!(
        "hunt on {}: seed {}, systems {} to {}",
        options.board,
        options.seed,
        options.first,
        options.first + options.systems
    );
    let mut tally = Tally::default();
    for number in options.first..options.first + options.systems {
        let Some((plan, tight)) = draw(&drive, options.seed, number) else {
            println!("{number:5}  nothing that is admitted in {DRAWS} draws");
            continue;
        };
        let record = one(&mut drive, options, &out, number, &plan, tight, &mut tally)?;
        tell(&record);
        count(&record, &mut tally);
        if options.until_harmed && tally.failed > 0 {
            break;
        }
        if !record.harms.is_empty() && tally.minimised < options.minimise {
            tally.minimised += 1;
            take_apart(&mut drive, &out, &record)?;
        }
    }
    summarise(&tally, began.elapsed().as_secs_f64());
    Ok(tally.failed)
}

/// The system with a number: the first that is admitted, made tight perhaps.
fn draw(drive: &dyn Drive, seed: u64, number: u64) -> Option<(Plan, bool)> {
    let mut random = Random::of(seed, number);
    for _ in 0..DRAWS {
        let drawn = generate(&mut random, drive.has_handlers());
        let Some((mut plan, _)) = admitted(drive, drawn) else { continue };
        arm(&mut random, &mut plan);
        // Rights that its acts need can cost more than was admitted.
        let Some((plan, bounds)) = admitted(drive, plan) else { continue };
        if !(random.percent(TIGHT_PERCENT) || plan.has_long_window()) {
            return Some((plan, false));
        }
        // The computation of the least important victim delays nobody else, so that it can grow
        // until its deadline stops it.
        let any = random.within(0, bounds.len() as u64 - 1) as usize;
        let victim = if random.percent(75) { plan.least_important().unwrap_or(any) } else { any };
        return Some(tighten(drive, &plan, victim).map_or((plan, false), |plan| (plan, true)));
    }
    None
}

/// A plan with so much less to do for everybody that it is admitted, and its bounds over deadlines.
fn admitted(drive: &dyn Drive, mut plan: Plan) -> Option<(Plan, Vec<f64>)> {
    let mut shrinks = 0;
    while shrinks <= SHRINKS {
        match drive.admit(&plan) {
            Ok(bounds) => return Some((plan, bounds)),
            // A budget that cannot pay for an activation gets just enough for one.
            Err(codes) if codes.iter().any(|code| code == "CF0416") && plan != plan.at_least(drive.least_us()) => {
                plan = plan.at_least(drive.least_us());
            }
            Err(_) => {
                plan = plan.shrunk();
                shrinks += 1;
            }
        }
    }
    None
}

fn one(
    drive: &mut Board,
    options: &Options,
    out: &Path,
    number: u64,
    plan: &Plan,
    tight: bool,
    tally: &mut Tally,
) -> Result<Record, String> {
    let (manifest, rows) = (drive.manifest(plan), drive.rows(plan));
    let hash = hash(&[options.board.as_bytes(), manifest.as_bytes(), rows.as_bytes(), drive.programs()]);
    let path = out.join(format!("{hash}.json"));
    let known = fs::read_to_string(&path).ok().filter(|_| options.resume);
    if let Some(known) = known.and_then(|text| serde_json::from_str::<Record>(&text).ok()) {
        tally.known += 1;
        return Ok(Record { seed: options.seed, number, ..known });
    }
    let ran = drive.run(plan).map_err(|what| format!("system {number} of seed {}: {what}", options.seed))?;
    let record = Record {
        hash,
        board: options.board.clone(),
        seed: options.seed,
        number,
        tight,
        has: Record::features(plan),
        plan: plan.clone(),
        manifest,
        rows,
        victims: victims(&ran.report),
        harms: harms(&ran.report),
        modelled_seconds: ran.report.run.seconds,
        seconds: ran.seconds,
    };
    write(&path, &serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?)?;
    tally.ran += 1;
    tally.seconds += ran.seconds;
    Ok(record)
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn tell(record: &Record) {
    let ratio = record.victims.iter().filter_map(|victim| victim.ratio()).fold(0.0, f64::max);
    let tightness = record.victims.iter().filter_map(|victim| victim.tightness()).fold(0.0, f64::max);
    let letters = Record::FEATURES.iter().zip(record.has);
    let has: String = letters.map(|((letter, _), has)| if has { *letter } else { '-' }).collect();
    let word = if record.harms.is_empty() { "kept" } else { "HARM" };
    println!(
        "{:5}  {word}  {has}  response/bound {ratio:5.2}  bound/deadline {tightness:4.2}{}  {:4.1} s  {}",
        record.number,
        if record.tight { " tight" } else { "      " },
        record.seconds,
        &record.hash[..12]
    );
    for harm in &record.harms {
        println!("       {}: {} ({})", harm.kind, harm.text, harm.domain);
    }
}

fn count(record: &Record, tally: &mut Tally) {
    tally.failed += u64::from(!record.harms.is_empty());
    for (with, has) in tally.with.iter_mut().zip(record.has) {
        *with += u64::from(has);
    }
    tally.ratios.extend(record.victims.iter().filter_map(|victim| victim.ratio()));
    let is_tight = |ratio: f64| record.tight && ratio >= hunt::TIGHT;
    let tight = record.victims.iter().filter(|victim| victim.tightness().is_some_and(is_tight));
    tally.tight.extend(tight.filter_map(|victim| victim.ratio()));
}

/// Minimises a failing system, and writes what is left of it beside its record as a system that `cofferdam run` takes.
fn take_apart(drive: &mut Board, out: &Path, record: &Record) -> Result<(), String> {
    println!("       minimising");
    let least = minimise(drive, &record.plan, &mut |what| println!("       {what}"));
    let Some((plan, harms)) = least else { return Ok(()) };
    let directory = out.join(format!("least-{}", &record.hash[..12]));
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut text = format!("# Minimised from system {} of seed {}.\n", record.number, record.seed);
    for harm in &harms {
        text.push_str(&format!("# {}: {}\n", harm.kind, harm.text));
    }
    text.push_str(&drive.manifest(&plan));
    write(&directory.join("system.toml"), &text)?;
    write(&directory.join("acts.txt"), &drive.rows(&plan))?;
    println!("       least: {}", directory.join("system.toml").display());
    Ok(())
}

fn median(ratios: &mut [f64]) -> Option<f64> {
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}

fn summarise(tally: &Tally, seconds: f64) {
    let shown = |ratio: Option<f64>| ratio.map_or("none".to_owned(), |ratio| format!("{ratio:.2}"));
    let max = |ratios: &[f64]| ratios.iter().copied().reduce(f64::max);
    let with = Record::FEATURES.iter().zip(tally.with).map(|((_, name), count)| format!("{name} {count}"));
    let with: Vec<String> = with.collect();
    println!(
        "{} systems run, {} known, in {seconds:.0} s ({:.2} s for a run)",
        tally.ran,
        tally.known,
        tally.seconds / tally.ran.max(1) as f64
    );
    println!("with {}; {} victims, {} of them tight", with.join(", "), tally.ratios.len(), tally.tight.len());
    println!(
        "response/bound: all: max {}, median {}",
        shown(max(&tally.ratios)),
        shown(median(&mut tally.ratios.clone()))
    );
    println!(
        "response/bound: tight: max {}, median {}",
        shown(max(&tally.tight)),
        shown(median(&mut tally.tight.clone()))
    );
    println!("{} systems failed", tally.failed);
}
