//! The law of cheap gradients (docs/language.md), at two sizes, for every entry of the examples and for generated programs.
//!
//! What is compared is in `tests/suite/generator/law.rs`. The worst ratio is printed. What is known to cost more is named here, with
//! why; a name whose gradient is cheap fails the test too. `SMOOTHC_CASES=n`, `SMOOTHC_SEED=n` for other programs;
//! the text of a single one is printed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use smoothc::driver::{Options, Session};
use smoothc::ir::{Program, Type};

use crate::generator::law::{Cost, Pair};
use crate::generator::{asked, grow};
use crate::support::{sources, tools};

/// What was compared, by name.
#[derive(Default)]
struct Found {
    costs: BTreeMap<String, Cost>,
    /// With why.
    uncalled: BTreeMap<String, String>,
}

fn typed(path: &str, text: &str) -> Result<Program, String> {
    let mut session = Session::new(path, text, Options::default());
    session.run_to("types", &mut |path, from| sources::open(path, from)).map_err(|problems| problems[0].message.clone())?;
    Ok(session.program)
}

impl Found {
    fn add(found: &Mutex<Found>, name: String, pair: Pair) {
        let cost = pair.cost();
        let mut found = found.lock().expect("no panic");
        match cost {
            Ok(cost) => drop(found.costs.insert(name, cost)),
            Err(said) => drop(found.uncalled.insert(name, said)),
        }
    }

    /// What is beyond the law is what is known to be, and why.
    fn check(&self, known: &BTreeMap<String, &str>) {
        let worst = self.costs.iter().filter(|(name, _)| !known.contains_key(*name)).max_by(|a, b| a.1.ratio().total_cmp(&b.1.ratio()));
        if let Some((name, cost)) = worst {
            let beyond = self.costs.values().filter(|cost| cost.is_beyond()).count();
            asked::say(&format!("{} gradients, {beyond} beyond the law", self.costs.len()));
            asked::say(&format!("the worst ratio of the others is {:.2}, of {name}: {}", cost.ratio(), cost.text()));
        }
        let mut said = Vec::new();
        for (name, cost) in self.costs.iter().filter(|(name, cost)| cost.is_beyond() != known.contains_key(*name)) {
            let how =
                known.get(name).map_or("costs more than the law allows".into(), |why| format!("is cheap now, no longer so that {why}"));
            said.push(format!("{name} {how}: {}", cost.text()));
        }
        said.extend(known.keys().filter(|name| !self.costs.contains_key(*name)).map(|name| format!("{name} is not there")));
        assert!(said.is_empty(), "\n{}", said.join("\n"));
    }
}

const COLLAPSES: &str = "a loop of the function collapses under the rules, the one in the backward pass does not";
const HANDED: &str = "whole arrays are handed on, which counts nothing; in the backward pass each is added to another";
const NESTED: &str = "the inner derivative is made forward, and the outer one of its columns before rules take them apart";
const GIVEN: &str = "the count of a loop is in the state of another: its steps are computed again on each level of its parts";
const POINT: &str = "forward asks for each Double of the point whether it is the one";

const AGAIN: &str = "each loop around an update goes forward once more and keeps what is overwritten: a constant more";

/// Entries of files, and the gradient forms in them, that cost more.
const BEYOND: [(&str, &str); 9] = [
    ("tests/reverse/counts.smooth c15, form 1", POINT),
    ("tests/reverse/counts.smooth c8, form 1", GIVEN),
    ("tests/reverse/steps.smooth countOfState, form 1", GIVEN),
    ("tests/reverse/steps.smooth neverBegun, form 1", AGAIN),
    ("tests/reverse/values.smooth g63, form 1", HANDED),
    ("tests/reverse/values.smooth g66, form 1", AGAIN),
    ("tests/reverse/values.smooth g75, form 1", AGAIN),
    ("tests/reverse/values.smooth g81, form 1", AGAIN),
    ("tests/reverse/values.smooth s22, form 1", AGAIN),
];

/// Entries that fail for arguments whose sizes are all the same.
const UNCALLED: [(&str, &str); 3] = [
    ("tests/derivatives/put_together.smooth automatic, form 1", "`m + n = q` does not hold"),
    ("tests/reverse/values.smooth g28, form 1", "index 8 is out of bounds of an array of length 8"),
    ("tests/reverse/values.smooth g29, form 1", "`false` does not hold"),
];

#[test]
fn gradients_of_examples_are_cheap() {
    let mut files: Vec<String> = Vec::new();
    for folder in ["examples", "examples/tour", "examples/papers", "tests/derivatives", "tests/reverse"] {
        let folder_path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let names = std::fs::read_dir(folder_path).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let names = names.map(|name| name.into_string().expect("UTF-8")).filter(|name| name.ends_with(".smooth"));
        files.extend(names.map(|name| format!("{folder}/{name}")));
    }
    let found = Mutex::new(Found::default());
    tools::each(&files, |path| {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("UTF-8");
        let program = typed(path, &text)?;
        for function in program.functions.values().filter(|function| function.is_entry) {
            let whole = Some(function).filter(|function| function.result == Type::Double);
            let pairs = whole.and_then(|function| Pair::of(&program, function)).into_iter().chain(Pair::forms_of(&program, function));
            pairs.for_each(|pair| Found::add(&found, format!("{path} {}", pair.name), pair));
        }
        Ok(())
    });
    let found = found.into_inner().expect("no panic");
    let uncalled: Vec<String> = found.uncalled.iter().map(|(name, said)| format!("{name}: {said}")).collect();
    let known: Vec<String> = UNCALLED.iter().map(|(name, said)| format!("{name}: {said}")).collect();
    assert_eq!(uncalled, known, "\n{}", uncalled.join("\n"));
    assert!(found.costs.len() > 200, "{}", found.costs.len());
    found.check(&BEYOND.iter().map(|(name, why)| (name.to_string(), *why)).collect());
}

/// Generated programs whose gradients cost more, by seed. A seed grows the same program however it is spelled, by library functions or by
/// operators, slices and records (`tests/suite/generator/spelling.rs`); constructs that are drawn anew make other programs of all seeds,
/// and this list is then that of other programs.
const BEYOND_GENERATED: [(u64, &str); 10] = [
    (17, POINT),
    (67, POINT),
    (93, NESTED),
    (103, POINT),
    (145, POINT),
    (194, POINT),
    (211, COLLAPSES),
    (227, COLLAPSES),
    (259, POINT),
    (291, POINT),
];

#[test]
fn gradients_of_generated_programs_are_cheap() {
    let setting = |name, default| asked::number(name).unwrap_or(default);
    let (count, first) = (setting("SMOOTHC_CASES", 300), setting("SMOOTHC_SEED", 0));
    // a loop that data ends keeps a fixed number of states, and is no subject of the law
    let has_recursion = |seed: u64| grow::program(seed, "f", false).text().contains("let rec");
    let seeds: Vec<u64> = (first..first + count).filter(|seed| !has_recursion(*seed)).collect();
    let found = Mutex::new(Found::default());
    tools::each(&seeds, |seed| {
        let text = grow::program(*seed, "f", false).text();
        if count == 1 {
            asked::say(&text);
        }
        let program = typed("generated.smooth", &text)?;
        let function = &program.functions["f"];
        let pairs = Pair::of(&program, function).into_iter().chain(Pair::forms_of(&program, function));
        pairs.for_each(|pair| Found::add(&found, format!("seed {seed}, {}", pair.name), pair));
        Ok(())
    });
    let found = found.into_inner().expect("no panic");
    asked::say(&format!("{count} programs from SMOOTHC_SEED={first}, {} gradients without a value", found.uncalled.len()));
    assert!(found.uncalled.len() * 20 <= count.max(20) as usize, "{:?}", found.uncalled);
    let known = BEYOND_GENERATED.iter().filter(|(seed, _)| seeds.contains(seed));
    found.check(&known.map(|(seed, why)| (format!("seed {seed}, f"), *why)).collect());
}
