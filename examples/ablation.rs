//! Writes `docs/ablation.md`: what each group of rules is worth, in work and in time.
//!
//!     cargo run --release --example ablation
//!
//! Work is counted by the interpreter, and each program is compiled as `smoothc run` does and called until a fifth of a
//! second is over; the best call counts.

use std::time::{Duration, Instant};

use smoothc::cli::args;
use smoothc::source::Span;
use smoothc::stack::with_large_stack;
use smoothc::toolchain::call;

#[path = "../tests/suite/support/ablation.rs"]
mod ablation;
#[path = "../benches/ratios/machine.rs"]
mod machine;

use ablation::{EXAMPLES, Example};

const HEAD: &str = "# What each group of rules is worth

After the ablation study of 001 Figures 12 and 13 ([the papers](papers.md)): the schedule `default` without the rules of one group (`--disable fusion`), of two, or of
all three. `fusion` is 001 Figure 8c, `normalisation` 8f and 8g, `motion` hoisting out of loops. The cost is the polynomial that `smoothc explain`
prints, the count what `smoothc eval --count` adds up to, and the time that of the compiled C (one call, the best of many; another machine
has other times; ratios of a thousand depend on its caches, others are much the same). MACHINE.

This page is written by `cargo run --release --example ablation`; a test holds costs and counts against the program.
";

fn main() {
    let page = with_large_stack(|| {
        let mut page = HEAD.replace("MACHINE", &machine::described());
        for example in &EXAMPLES {
            page += &table(example);
        }
        page
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/ablation.md");
    match std::fs::write(path, page) {
        Ok(()) => println!("{path}"),
        Err(error) => println!("cannot write {path}: {error}"),
    }
}

fn table(example: &Example) -> String {
    let (counted, timed, sizes) = (example.counted, example.timed, example.sizes);
    let mut text = format!(
        "\n## {}\n\n`{}` of `{}`\n\n| left out | cost | counted, {sizes} = {counted} | time, {sizes} = {timed} | |\n| --- | --- | ---: | ---: | ---: |\n",
        example.name, example.entry, example.path
    );
    let mut best = None;
    for left_out in ablation::sets() {
        let time = time(example, &left_out);
        let ratio = time.as_secs_f64() / best.get_or_insert(time).as_secs_f64();
        let row = ablation::row(example, left_out);
        println!("{} {time:?}", ablation::cells(&row));
        text += &format!("{} {} | ×{ratio:.1} |\n", ablation::cells(&row), shown(time));
    }
    text
}

fn shown(time: Duration) -> String {
    let micro = time.as_secs_f64() * 1e6;
    if micro < 1000.0 { format!("{micro:.1} µs") } else { format!("{:.1} ms", micro / 1000.0) }
}

/// The best of many calls of the compiled entry.
fn time(example: &Example, left_out: &[String]) -> Duration {
    let session = ablation::compiled(example, left_out, "emit");
    let function = session.entry(example.entry).expect("an entry");
    let arguments = args::read(function, &(example.arguments)(example.timed)).expect("arguments");
    let interface = session.interface(example.entry).expect("an interface");
    let loaded = call::load(&session.emitted().expect("C").source, smoothc::toolchain::compiler::Arithmetic::Fast, interface, Span::NONE)
        .expect("a C compiler");
    let mut prepared = loaded.prepare(&arguments.values, &arguments.bindings).expect("memory");
    let (begin, mut best) = (Instant::now(), Duration::MAX);
    while begin.elapsed() < Duration::from_millis(200) || best == Duration::MAX {
        let start = Instant::now();
        prepared.call().expect("a value");
        best = best.min(start.elapsed());
    }
    best
}
