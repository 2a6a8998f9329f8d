//! Common divisors of polynomials, and regions of graphs: on ones by hand, and on ones that chance made.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::divisors::divided;
use super::graph::{Graph, Head, Node, Ref, Style};
use super::polynomial::{Polynomial, Term, cost, polynomials};
use crate::ir::Prim;
use crate::loops::program::{Elem, Value};

const NEXT: usize = usize::MAX - 1;

/// `w: ax + by; u: 2awk - c`: a variable is a letter.
fn system(text: &str) -> BTreeMap<usize, Polynomial> {
    let term = |text: &str| {
        let (minus, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        let number: f64 = if digits.is_empty() { 1.0 } else { digits.parse().expect("a number") };
        let mut factors: Vec<usize> = text[digits.len()..].bytes().map(usize::from).collect();
        factors.sort();
        Term { number: if minus { -number } else { number }, factors }
    };
    let polynomial = |text: &str| {
        let (variable, terms) = text.split_once(": ").expect("a definition");
        let terms = terms.replace("- ", "+ -");
        (usize::from(variable.as_bytes()[0]), terms.split(" + ").map(term).collect())
    };
    text.split("; ").map(polynomial).collect()
}

/// Over common divisors, where every variable is a result.
fn over_divisors(system: &BTreeMap<usize, Polynomial>) -> (BTreeMap<usize, Polynomial>, usize) {
    divided(system.clone(), &system.keys().copied().collect::<Vec<_>>(), NEXT)
}

fn total(system: &BTreeMap<usize, Polynomial>) -> usize {
    system.values().map(|terms| cost(terms)).sum()
}

/// A variable's value, where those without a definition have some number or other.
fn value(system: &BTreeMap<usize, Polynomial>, variable: usize, seed: usize) -> f64 {
    match system.get(&variable) {
        Some(terms) => {
            let product = |term: &Term| term.factors.iter().map(|&factor| value(system, factor, seed)).product::<f64>();
            terms.iter().map(|term| term.number * product(term)).sum()
        }
        None => ((variable * 37 + seed * 11) % 29) as f64 / 13.0 - 1.0,
    }
}

fn agree(before: &BTreeMap<usize, Polynomial>, after: &BTreeMap<usize, Polynomial>, what: &str) {
    for seed in 0..3 {
        for &variable in before.keys() {
            let (a, b) = (value(before, variable, seed), value(after, variable, seed));
            assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{what}: {a} and {b} in {after:?}");
        }
    }
}

#[test]
fn divisors_are_taken_out() {
    for (text, before, after) in [
        // a sum with different factors
        ("p: abx + acx; q: by + cy", 6, 4),
        // up to a sign, and up to a number
        ("p: abx - acx; q: cy - by", 6, 4),
        ("p: 2ax + 4bx; q: 3ay + 6by", 8, 5),
        // a product of two factors
        ("p: abc; q: abd; r: abe + f", 6, 4),
        // of a product and its sum nothing is gained
        ("p: ab + ac", 2, 2),
        ("p: ab + cd; q: ac + bd", 4, 4),
        // a polynomial that is the divisor of others, though it is longer than two terms
        ("w: ax + by + cz; u: kx - aax - aby - acz; v: ky - bax - bby - bcz", 17, 7),
        // equal terms are added up, opposite ones are gone
        ("p: ax + by; q: kp + kax + kby; r: kp - kax - kby", 12, 4),
    ] {
        let written = system(text);
        assert_eq!(total(&written), before, "{text}");
        let (divided, _) = over_divisors(&written);
        assert_eq!(total(&divided), after, "{text}: {divided:?}");
        agree(&written, &divided, text);
    }
}

/// A number below a bound, by chance that is always the same.
struct Chance(usize);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = (self.0 * 1103515245 + 12345) % (1 << 31);
        (self.0 >> 12) % bound
    }
}

#[test]
fn divisors_never_add_work() {
    let mut chance = Chance(7);
    let mut saved = 0;
    for _ in 0..400 {
        let mut text = String::new();
        for k in 0..1 + chance.below(5) {
            let mut terms = Vec::new();
            for _ in 0..1 + chance.below(7) {
                let number = ["", "", "", "2", "3", "-"][chance.below(6)];
                // those before it are variables too
                let letters = b"abcdxyz".iter().copied().chain((0..k).map(|k| b'A' + k as u8)).collect::<Vec<u8>>();
                let factors: String = (0..1 + chance.below(5)).map(|_| letters[chance.below(letters.len())] as char).collect();
                terms.push(format!("{number}{factors}"));
            }
            text += &format!("{}{}: {}", if k == 0 { "" } else { "; " }, (b'A' + k as u8) as char, terms.join(" + "));
        }
        let written = system(&text);
        let (once, next) = over_divisors(&written);
        assert!(total(&once) <= total(&written), "{text}: {once:?}");
        assert!(once.keys().all(|&variable| variable > next || written.contains_key(&variable)), "{text}");
        agree(&written, &once, &text);
        assert_eq!(once, over_divisors(&written).0, "{text}");
        saved += total(&written) - total(&once);
    }
    assert!(saved > 1000, "{saved}");
}

/// Leaves of the graph by their numbers.
fn leaves(graph: &mut Graph, count: usize) -> Vec<Ref> {
    (0..count).map(|id| graph.leaf(&Value::Local(id), false)).collect()
}

fn number(graph: &Graph, value: Ref, known: &mut FxHashMap<usize, f64>) -> f64 {
    let positive = match known.get(&value.node) {
        Some(known) => *known,
        None => {
            let result = match &graph.nodes[value.node] {
                Node::Leaf(leaf) => match &graph.leaves[*leaf] {
                    Value::Local(id) => ((id * 37) % 29) as f64 / 13.0 - 1.0,
                    Value::Double(number) => *number,
                    other => panic!("{other:?}"),
                },
                Node::Literal(bits) => f64::from_bits(*bits),
                Node::Product(factors) => factors.iter().map(|&factor| number(graph, factor.into(), known)).product(),
                Node::Sum(terms) => terms.iter().map(|term| number(graph, *term, known)).sum(),
                Node::Op(_, args) => number(graph, args[0], known) / number(graph, args[1], known),
            };
            known.insert(value.node, result);
            result
        }
    };
    if value.minus { -positive } else { positive }
}

#[test]
fn sums_are_multiplied_out_where_that_is_safe() {
    let mut graph = Graph::default();
    let [a, b, x, y] = leaves(&mut graph, 4)[..] else { unreachable!() };
    let xy = graph.product(&[x, y]);
    let sum = graph.sum(&[xy, b]);
    let difference = graph.sum(&[x, y.negated(true)]);
    let ab = graph.product(&[a, b]);
    for (factors, more, terms) in [
        ([a, sum], y, 3),
        // like terms are one
        ([a, sum], ab, 2),
        // of a square one sum stays, and so does a difference of values
        ([sum, sum], y, 3),
        ([a, difference], y, 2),
    ] {
        let product = graph.product(&factors);
        let root = graph.raw_sum(vec![product, more]);
        let uses = graph.uses(&[root]);
        let found = polynomials(&mut graph, &[root.node], &uses, true).expect("few terms");
        assert_eq!(found[&root.node].len(), terms, "{found:?}");
    }
}

#[test]
fn quotients_by_the_same_number_share_its_reciprocal() {
    let mut graph = Graph::default();
    let [a, b, x] = leaves(&mut graph, 3)[..] else { unreachable!() };
    let quotient = |graph: &mut Graph, over: Ref, under: Ref| graph.op(Head::Prim(Prim::Div, Elem::Double, false), vec![over, under]);
    let outputs = [quotient(&mut graph, a, x), quotient(&mut graph, b, x.negated(true)), quotient(&mut graph, a, b)];
    let shared = graph.share_reciprocals(&outputs);
    let divisions = graph.reachable(&shared).into_iter().filter(|&node| matches!(graph.nodes[node], Node::Op(..))).count();
    assert_eq!(divisions, 2);
    for (a, b) in outputs.iter().zip(&shared) {
        let (a, b) = (number(&graph, *a, &mut FxHashMap::default()), number(&graph, *b, &mut FxHashMap::default()));
        assert!((a - b).abs() <= 1e-12 * a.abs());
    }
}

/// Sums, products and quotients of six leaves and two numbers, the last four of them as outputs.
fn by_chance(graph: &mut Graph, chance: &mut Chance) -> Vec<Ref> {
    let mut values = leaves(graph, 6);
    values.extend([graph.literal(1.0), graph.literal(-2.0)]);
    for _ in 0..4 + chance.below(24) {
        let some: Vec<Ref> = (0..2 + chance.below(2)).map(|_| values[chance.below(values.len())].negated(chance.below(4) == 0)).collect();
        let value = match chance.below(9) {
            0 => graph.op(Head::Prim(Prim::Div, Elem::Double, false), some[..2].to_vec()),
            1..5 => graph.product(&some),
            _ => graph.sum(&some),
        };
        if chance.below(3) == 0 {
            graph.name(value);
        }
        values.push(value);
    }
    values.split_off(values.len() - 4)
}

fn same(before: (&Graph, &[Ref]), after: (&Graph, &[Ref]), case: usize) {
    for (a, b) in before.1.iter().zip(after.1) {
        let (a, b) = (number(before.0, *a, &mut FxHashMap::default()), number(after.0, *b, &mut FxHashMap::default()));
        // what divides by a difference of nothing has no value that rounding keeps
        let same = (a - b).abs() <= 1e-6 * a.abs().max(1.0);
        assert!(same || !a.is_finite() || a.abs() > 1e9, "{case}: {a} and {b}");
    }
}

#[test]
fn regions_keep_values() {
    let mut chance = Chance(3);
    let (mut before, mut after) = (0, 0);
    for case in 0..300 {
        let mut graph = Graph::default();
        let outputs = by_chance(&mut graph, &mut chance);
        let shared = graph.share_divisors(&outputs).expect("no variable defines itself");
        before += graph.cost(&outputs);
        after += graph.cost(&shared);
        same((&graph, &outputs), (&graph, &shared), case);
    }
    assert!(after * 10 < before * 9, "{before} {after}");
}

#[test]
fn numbers_inside_and_shared_sums_keep_values() {
    let (mut before, mut after) = (0, 0);
    for case in 0..300 {
        let mut written = Graph::new(Style::Written);
        let outputs = by_chance(&mut written, &mut Chance(case));
        let mut graph = Graph::new(Style::NumbersInside);
        let inside = by_chance(&mut graph, &mut Chance(case));
        same((&written, &outputs), (&graph, &inside), case);
        let products = graph.share_products(&inside);
        before += graph.cost(&products);
        let sums = graph.share_sums(&products);
        after += graph.cost(&sums);
        same((&written, &outputs), (&graph, &sums), case);
    }
    assert!(after < before, "{before} {after}");
}

#[test]
fn a_difference_and_its_negation_are_one_and_numbers_go_to_what_shares_them() {
    let mut graph = Graph::new(Style::NumbersInside);
    let [a, b, x, y, z] = leaves(&mut graph, 5)[..] else { unreachable!() };
    let two = graph.literal(2.0);
    // 2 (a y - b x), z + 2 (b x - a y), 2 a z: two doubled, one difference, one sum, one product
    let (ay, bx, az) = (graph.product(&[a, y]), graph.product(&[b, x]), graph.product(&[two, a, z]));
    let difference = graph.sum(&[ay, bx.negated(true)]);
    let opposite = graph.sum(&[bx, ay.negated(true)]);
    let first = graph.product(&[two, difference]);
    graph.name(first);
    let second = graph.product(&[two, opposite]);
    let second = graph.sum(&[z, second]);
    let outputs = graph.share_products(&[first, second, az]);
    let outputs = graph.share_sums(&outputs);
    assert_eq!(graph.cost(&outputs) / 16, 6);
}
