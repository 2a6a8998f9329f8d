//! What smoothc is worth beside Futhark, in two parts.
//!
//!     FUTHARK=… cargo bench --bench futhark [-- sum | vjp]
//!
//! `sum` is the experiment of "Using Rewrite Strategies for Efficient Functional AD" (2023): the gradient of a vector's sum
//! through `futhark c`, as emitted without optimisation, as emitted with it, and as written by hand with dual numbers. Out:
//! `docs/futhark-vector-sum.md` with a table and the three programs, and `docs/futhark-vector-sum.svg`. Each time is the median
//! of calls from outside, in one thread, copying the vector in and the gradient out included. `vjp` is in `vjp.rs`.

// shared with the other benchmark, which uses more of them
#[allow(dead_code)]
#[path = "../ratios/compiled.rs"]
mod compiled;
#[allow(dead_code)]
#[path = "../ratios/inputs.rs"]
mod inputs;
#[allow(dead_code)]
#[path = "../ratios/timing.rs"]
mod timing;
mod vjp;
#[allow(dead_code)]
#[path = "../ratios/workloads.rs"]
mod workloads;

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use smoothc::driver::{Options, Schedule, Session, Target};
use smoothc::toolchain::compiler::Arithmetic;
use smoothc::toolchain::flat::{Column, Flat, Shape};
use smoothc::toolchain::futhark::call::{self, Loaded};
use smoothc::toolchain::futhark::compiler::{self, Limits};
use smoothc::toolchain::futhark::shim::Interface;
use smoothc::toolchain::sizes::Bindings;

const SIZES: [usize; 7] = [2_500, 5_000, 10_000, 20_000, 30_000, 40_000, 50_000];
const NAMES: [&str; 3] = ["emitted, `--schedule none`", "dual numbers by hand", "emitted, optimised"];
const COLOURS: [&str; 3] = ["#b2182b", "#8c6d31", "#2166ac"];

fn main() -> ExitCode {
    // `cargo test --benches` only asks whether this runs
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    if !compiler::is_there() {
        println!("skipped: there is no Futhark compiler (FUTHARK, or `futhark` on the path)");
        return ExitCode::SUCCESS;
    }
    let wanted = |part: &str| words.iter().all(|word| word.starts_with('-') || word == part);
    if wanted("sum") {
        smoothc::stack::with_large_stack(measure);
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    match if wanted("vjp") { smoothc::stack::with_large_stack(|| vjp::measure(&docs)) } else { Ok(()) } {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn measure() {
    let by_hand = include_str!("dual_numbers.fut");
    let sessions = [session("none"), session("default")];
    let texts = [source(&sessions[0]), by_hand, source(&sessions[1])];
    let mut rows = vec![Vec::new(); SIZES.len()];
    for text in texts {
        let function = sessions[0].entry("totalGradient").expect("an entry");
        let interface = Interface::new("totalGradient", function);
        let loaded = call::load(text, "c", Arithmetic::Fast, vec![interface], Limits::default())
            .unwrap_or_else(|problem| panic!("{}", problem.message));
        for (row, size) in rows.iter_mut().zip(SIZES) {
            let mut bindings = Bindings::default();
            bindings.bind(&function.sizes[0], size as i64);
            row.push(median(&loaded, size, &bindings));
            println!("{size:>6} {:>12.1} µs", row.last().expect("a time") * 1e6);
        }
    }
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    std::fs::create_dir_all(&docs).expect("a folder");
    std::fs::write(docs.join("futhark-vector-sum.md"), page(&rows, texts)).expect("writes");
    std::fs::write(docs.join("futhark-vector-sum.svg"), plot(&rows)).expect("writes");
}

/// The example with only this entry.
fn session(schedule: &str) -> Session {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/vector_sum.smooth");
    let text = std::fs::read_to_string(path).expect("UTF-8");
    let only = Some("totalGradient".to_string());
    let options = Options { schedule: Schedule::Named(schedule.into()), target: Target::Futhark, only, ..Options::default() };
    let mut session = Session::new("vector_sum.smooth", &text, options);
    session.run_to("emit", &mut |_, _| Err("no files".into())).expect("an example compiles");
    session
}

fn source(session: &Session) -> &str {
    &session.emitted_futhark().expect("it was emitted").source
}

/// The median time of a call in seconds: three calls at least, and a quarter of a second.
fn median(loaded: &Loaded, size: usize, bindings: &Bindings) -> f64 {
    let items = (0..size).map(|i| i as f64 * 1e-3).collect();
    let arguments = [Flat { shape: Shape::Array(size, Box::new(Shape::Double)), columns: vec![Column::Double(items)] }];
    let call = || loaded.try_call(0, &arguments, bindings).unwrap_or_else(|failure| panic!("{failure:?}"));
    assert_eq!(call().columns, [Column::Double(vec![1.0; size])], "the gradient of a sum is one everywhere");
    let (mut times, start) = (Vec::new(), Instant::now());
    while times.len() < 3 || start.elapsed().as_secs_f64() < 0.25 {
        let before = Instant::now();
        call();
        times.push(before.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-5 => format!("{:.2} µs", s * 1e6),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn page(rows: &[Vec<f64>], texts: [&str; 3]) -> String {
    let mut text = String::from(
        "# The gradient of a vector's sum, through Futhark\n\n\
         The experiment of *Using Rewrite Strategies for Efficient Functional AD*. Forward mode computes one sum for each element of\n\
         the gradient, as dual numbers by hand do; the rules make it an array of ones. All three programs go through the same\n\
         `futhark c`. A time is the median of calls in one thread, copying the vector in and the gradient out included. Made by\n\
         `cargo bench --bench futhark`.\n\n![times](futhark-vector-sum.svg)\n\n",
    );
    writeln!(text, "| n | {} | by hand / optimised |\n| ---: | ---: | ---: | ---: | ---: |", NAMES.join(" | ")).expect("memory");
    for (row, size) in rows.iter().zip(SIZES) {
        let times: Vec<String> = row.iter().map(|time| duration(*time)).collect();
        writeln!(text, "| {size} | {} | {:.0} |", times.join(" | "), row[1] / row[2]).expect("memory");
    }
    for (name, program) in NAMES.iter().zip(texts) {
        let heading = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        write!(text, "\n## {heading}\n\n```futhark\n{}\n```\n", program.trim_end()).expect("memory");
    }
    text
}

/// Both axes logarithmic: a slope of one is linear, of two quadratic.
fn plot(rows: &[Vec<f64>]) -> String {
    let (left, right, top, bottom) = (70.0, 560.0, 20.0, 340.0);
    let x = |size: f64| left + (size.ln() - 2_500f64.ln()) / (50_000f64.ln() - 2_500f64.ln()) * (right - left);
    let all = || rows.iter().flatten().copied();
    let low = all().fold(f64::INFINITY, f64::min).log10().floor();
    let high = all().fold(0.0, f64::max).log10().ceil();
    let y = |time: f64| bottom - (time.log10() - low) / (high - low) * (bottom - top);
    let mut text = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 390\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>Time of the gradient of a vector's sum by its length</title>\n<rect width=\"760\" height=\"390\" fill=\"white\"/>\n",
    );
    for power in low as i32..=high as i32 {
        let at = y(10f64.powi(power));
        let label = duration(10f64.powi(power)).replace(".0 ", " ").replace(".00 ", " ");
        writeln!(
            text,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left - 8.0,
            at + 4.0
        )
        .expect("memory");
    }
    for size in SIZES {
        let at = x(size as f64);
        writeln!(
            text,
            "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#eee\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{size}</text>",
            bottom + 18.0
        )
        .expect("memory");
    }
    for (series, (name, colour)) in NAMES.iter().zip(COLOURS).enumerate() {
        let points: Vec<String> =
            rows.iter().zip(SIZES).map(|(row, size)| format!("{:.1},{:.1}", x(size as f64), y(row[series]))).collect();
        writeln!(text, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>", points.join(" ")).expect("memory");
        let end = rows.last().map_or(bottom, |row| y(row[series]));
        let name = name.replace('`', "");
        writeln!(
            text,
            "<text x=\"{}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            right + 8.0,
            end + 4.0 + 14.0 * (series == 1) as i32 as f64
        )
        .expect("memory");
    }
    writeln!(
        text,
        "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">length of the vector</text>\n</svg>",
        (left + right) / 2.0,
        bottom + 38.0
    )
    .expect("memory");
    text
}
