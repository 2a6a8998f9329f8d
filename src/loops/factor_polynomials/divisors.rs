//! What several polynomials have in common, computed once: products of two variables, and sums of two terms whatever they are
//! multiplied by.
//!
//! In: polynomials by the variables that they define. Out: the same with further variables, the divisors, in fewer operations.
//!
//!     p = a * b * x + a * c * x, q = b * y + c * y   →   d = b + c, p = a * d * x, q = d * y
//!
//! The divisor that saves most comes first, and its sum becomes a term like any other, so that longer sums grow of it. This is
//! the extraction of double-cube and single-cube divisors of logic synthesis (Rajski and Vasudevamurthy), over numbers.

use std::collections::{BTreeMap, BinaryHeap};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::polynomial::{Polynomial, Term, cost, like_terms};

/// Terms before this many others of a polynomial are not paired.
const NEIGHBOURS: usize = 48;
/// Of a product only so many factors are paired.
const FACTORS: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Product(usize, usize),
    /// Two products without a common factor: how many factors the first has, the factors of both, and the bits of their numbers,
    /// of which one is one.
    Sum(usize, Vec<usize>, [u64; 2]),
}

#[derive(Default)]
struct Divisor {
    /// The terms, or pairs of terms, that it divides, and the lengths of what takes their places.
    found: Vec<([usize; 2], usize)>,
    /// Not less than what it saves.
    bound: isize,
    /// The variable that is it, or its negation.
    variable: Option<(usize, f64)>,
    /// What it costs to compute, once that was asked for.
    cost: Option<usize>,
}

impl Divisor {
    /// Whether a polynomial is the one that defines it.
    fn is_defined_by(&self, polynomial: &(usize, Vec<usize>)) -> bool {
        self.variable.is_some_and(|(variable, _)| polynomial.0 == variable)
    }
}

/// A term with the polynomial that it is in.
struct Place {
    term: Term,
    of: usize,
    gone: bool,
    /// The last question for which it was counted.
    counted: usize,
}

struct Search {
    /// The variable that each polynomial defines, and its terms.
    polynomials: Vec<(usize, Vec<usize>)>,
    places: Vec<Place>,
    keys: IndexSet<Key, FxBuildHasher>,
    divisors: Vec<Divisor>,
    queue: BinaryHeap<(isize, std::cmp::Reverse<usize>)>,
    touched: Vec<usize>,
    /// How often it was asked what a divisor saves.
    asked: usize,
    /// New variables count down from here.
    next: usize,
}

/// The polynomials over common divisors, and the next free variable. The roots are defined; other variables only where they are
/// used.
pub fn divided(polynomials: BTreeMap<usize, Polynomial>, roots: &[usize], next: usize) -> (BTreeMap<usize, Polynomial>, usize) {
    let mut search = Search {
        polynomials: Vec::new(),
        places: Vec::new(),
        keys: IndexSet::default(),
        divisors: Vec::new(),
        queue: BinaryHeap::new(),
        touched: Vec::new(),
        asked: 0,
        next,
    };
    for (variable, terms) in polynomials {
        search.define(variable, terms);
    }
    search.enqueue();
    while let Some((bound, std::cmp::Reverse(divisor))) = search.queue.pop() {
        if bound != search.divisors[divisor].bound {
            continue;
        }
        let saved = search.saved(divisor);
        search.divisors[divisor].bound = saved;
        if saved == bound {
            search.extract(divisor);
            search.enqueue();
        } else if saved > 0 {
            search.queue.push((saved, std::cmp::Reverse(divisor)));
        }
    }
    let next = search.next;
    (search.finish(roots), next)
}

impl Search {
    fn finish(self, roots: &[usize]) -> BTreeMap<usize, Polynomial> {
        let places = self.places;
        let terms = |terms: Vec<usize>| terms.iter().map(|&term| places[term].term.clone()).collect();
        let all = self.polynomials.into_iter().map(|(variable, list)| (variable, terms(list))).collect();
        written_out(all, roots)
    }

    fn define(&mut self, variable: usize, terms: Polynomial) {
        self.polynomials.push((variable, Vec::new()));
        for term in terms {
            self.add(self.polynomials.len() - 1, term);
        }
    }

    /// Adds a term to a polynomial, and finds what divides it.
    fn add(&mut self, of: usize, mut term: Term) {
        let equal = self.polynomials[of].1.iter().copied().find(|&other| self.places[other].term.factors == term.factors);
        if let Some(other) = equal {
            term.number += self.places[other].term.number;
            self.places[other].gone = true;
            self.polynomials[of].1.retain(|&term| term != other);
            if term.number == 0.0 {
                term.factors.clear();
                if !self.polynomials[of].1.is_empty() {
                    return;
                }
            }
        }
        let number = self.places.len();
        for (i, &a) in term.factors.iter().enumerate().take(FACTORS) {
            for (j, &b) in term.factors.iter().enumerate().take(FACTORS).skip(i + 1) {
                let again = (i > 0 && term.factors[i - 1] == a) || (j > i + 1 && term.factors[j - 1] == b);
                if !again {
                    let after = (term.length() - 1).max(1);
                    self.note(Key::Product(a, b), [number, number], after, 2);
                }
            }
        }
        let others: Vec<usize> = self.polynomials[of].1.iter().rev().take(NEIGHBOURS).copied().collect();
        for other in others {
            let Some((key, common, factor)) = sum_of(&self.places[other].term, &term) else { continue };
            let before = self.places[other].term.cost() + term.cost();
            let after = common + 1 + usize::from(factor.abs() != 1.0);
            self.note(key, [other, number], after, before as isize - (after - 1).max(1) as isize + 1);
        }
        self.polynomials[of].1.push(number);
        self.places.push(Place { term, of, gone: false, counted: 0 });
    }

    fn note(&mut self, key: Key, places: [usize; 2], after: usize, bound: isize) {
        let (number, is_new) = self.keys.insert_full(key);
        if is_new {
            self.divisors.push(Divisor::default());
        }
        self.touched.push(number);
        let divisor = &mut self.divisors[number];
        divisor.found.push((places, after));
        divisor.bound += bound;
    }

    fn enqueue(&mut self) {
        self.touched.sort_unstable();
        self.touched.dedup();
        for number in std::mem::take(&mut self.touched) {
            let (key, divisor) = (&self.keys[number], &self.divisors[number]);
            if divisor.bound > 0 && (divisor.found.len() > 1 || divisor.variable.is_some() || matches!(key, Key::Sum(..))) {
                self.queue.push((divisor.bound, std::cmp::Reverse(number)));
            }
        }
    }

    /// What taking a divisor out saves, of places that do not overlap.
    fn saved(&mut self, divisor: usize) -> isize {
        self.asked += 1;
        let (key, places) = (&self.keys[divisor], &mut self.places);
        let divisor = &mut self.divisors[divisor];
        divisor.found.retain(|&([a, b], _)| !places[a].gone && !places[b].gone);
        let mut saved = match divisor.variable {
            Some(_) => 0,
            None => -(*divisor.cost.get_or_insert_with(|| cost(&definition(key))) as isize),
        };
        for &([a, b], after) in &divisor.found {
            let is_counted = [a, b].iter().any(|&term| places[term].counted == self.asked);
            if is_counted || divisor.is_defined_by(&self.polynomials[places[a].of]) {
                continue;
            }
            [a, b].iter().for_each(|&term| places[term].counted = self.asked);
            let before = places[a].term.cost() + if a == b { 0 } else { places[b].term.cost() };
            saved += before as isize - (after - 1).max(1) as isize;
            // a term that is one variable takes no instruction where it is the first
            let lone = |term: &&usize| places[**term].term.length() == 1;
            let terms = &self.polynomials[places[a].of].1;
            let before = terms.iter().any(|term| lone(&term));
            let now = after == 1 || terms.iter().filter(|&&term| term != a && term != b).any(|term| lone(&term));
            saved += isize::from(now) - isize::from(before);
        }
        saved
    }

    /// What takes the place of one or two terms, over the variable that is the divisor.
    fn over(&self, key: &Key, a: usize, b: usize, variable: usize) -> Term {
        let mut term = self.places[a].term.clone();
        match key {
            Key::Product(x, y) => {
                for factor in [x, y] {
                    if let Some(place) = term.factors.iter().position(|other| other == factor) {
                        term.factors.remove(place);
                    }
                }
            }
            Key::Sum(..) => {
                let mut others = self.places[b].term.factors.as_slice();
                term.factors.retain(|factor| {
                    others = &others[others.partition_point(|other| other < factor)..];
                    let is_common = others.first() == Some(factor);
                    others = &others[usize::from(is_common)..];
                    is_common
                });
                term.number = sum_of(&self.places[a].term, &self.places[b].term).map_or(0.0, |(_, _, number)| number);
            }
        }
        let place = term.factors.partition_point(|factor| *factor < variable);
        term.factors.insert(place, variable);
        term
    }

    fn extract(&mut self, number: usize) {
        if self.divisors[number].variable.is_none() {
            // a polynomial that is the divisor defines it
            let whole = self.divisors[number].found.iter().find_map(|&([a, b], after)| {
                let (variable, terms) = &self.polynomials[self.places[a].of];
                let is_all = terms.len() == if a == b { 1 } else { 2 };
                (is_all && after == 1).then(|| (*variable, self.over(&self.keys[number], a, b, 0).number))
            });
            let variable = whole.unwrap_or((self.next, 1.0));
            self.divisors[number].variable = Some(variable);
            if whole.is_none() {
                self.next -= 1;
                self.define(variable.0, definition(&self.keys[number]));
            }
        }
        let Some((variable, sign)) = self.divisors[number].variable else { return };
        let places = std::mem::take(&mut self.divisors[number].found);
        self.divisors[number].bound = 0;
        let mut products = Vec::new();
        for ([a, b], _) in places {
            if self.places[a].gone || self.places[b].gone || self.divisors[number].is_defined_by(&self.polynomials[self.places[a].of]) {
                continue;
            }
            let mut term = self.over(&self.keys[number], a, b, variable);
            term.number *= sign;
            let of = self.places[a].of;
            self.places[a].gone = true;
            self.places[b].gone = true;
            self.polynomials[of].1.retain(|&term| term != a && term != b);
            self.add(of, term);
            if a != b && self.polynomials[of].1.len() == 1 {
                products.push(of);
            }
        }
        products.into_iter().for_each(|of| self.substitute(of));
    }

    /// A sum that became a product is that product wherever it is used.
    fn substitute(&mut self, of: usize) {
        let (variable, ref terms) = self.polynomials[of];
        let &[product] = terms.as_slice() else { return };
        let product = self.places[product].term.clone();
        for number in 0..self.places.len() {
            let place = &mut self.places[number];
            if place.gone || !place.term.factors.contains(&variable) {
                continue;
            }
            place.gone = true;
            let mut term = Term { number: place.term.number, factors: Vec::new() };
            for &factor in &place.term.factors {
                if factor == variable {
                    term.number *= product.number;
                    term.factors.extend(&product.factors);
                } else {
                    term.factors.push(factor);
                }
            }
            term.factors.sort_unstable();
            let of = place.of;
            self.polynomials[of].1.retain(|&term| term != number);
            self.add(of, term);
        }
    }
}

/// Two terms as a multiple of a sum: the sum, how many factors it is multiplied by, and the number.
fn sum_of(a: &Term, b: &Term) -> Option<(Key, usize, f64)> {
    let (mut i, mut j, mut common) = (0, 0, 0);
    let (mut first, mut second) = (Vec::with_capacity(a.factors.len() + b.factors.len()), Vec::with_capacity(b.factors.len()));
    while let (Some(x), Some(y)) = (a.factors.get(i), b.factors.get(j)) {
        if x == y {
            common += 1;
        } else if x < y {
            first.push(*x);
        } else {
            second.push(*y);
        }
        (i, j) = (i + usize::from(x <= y), j + usize::from(y <= x));
    }
    first.extend(&a.factors[i..]);
    second.extend(&b.factors[j..]);
    let (mut first, mut second) = ((first, a.number), (second, b.number));
    if first.0 > second.0 {
        std::mem::swap(&mut first, &mut second);
    }
    let number = if first.1.abs() <= second.1.abs() { first.1 } else { second.1 };
    let (x, y) = (first.1 / number, second.1 / number);
    let exact = x * number == first.1 && y * number == second.1 && first.0 != second.0;
    let (length, mut factors) = (first.0.len(), first.0);
    factors.extend(second.0);
    exact.then(|| (Key::Sum(length, factors, [x.to_bits(), y.to_bits()]), common, number))
}

/// The polynomials with each variable that is used once, as a term by itself or as a factor of one and a product itself, in its
/// place.
fn written_out(mut all: BTreeMap<usize, Polynomial>, roots: &[usize]) -> BTreeMap<usize, Polynomial> {
    let mut uses: FxHashMap<usize, usize> = FxHashMap::default();
    all.values().flatten().flat_map(|term| &term.factors).for_each(|&factor| *uses.entry(factor).or_default() += 1);
    roots.iter().for_each(|&root| *uses.entry(root).or_default() += 2);
    let variables: Vec<usize> = all.keys().copied().collect();
    for variable in variables {
        let Some(mut terms) = all.remove(&variable) else { continue };
        let before = terms.len();
        let mut k = 0;
        while k < terms.len() {
            let term = &terms[k];
            let once = term.factors.iter().position(|factor| uses.get(factor) == Some(&1) && all.contains_key(factor));
            let found = once.and_then(|place| Some((place, all.get(&term.factors[place])?)));
            match found {
                Some((place, inner)) if inner.len() == 1 || (term.factors.len() == 1 && term.number.abs() == 1.0) => {
                    let inner = inner.clone();
                    let mut outer = terms.remove(k);
                    all.remove(&outer.factors.remove(place));
                    terms.extend(inner.into_iter().map(|inner| {
                        let mut factors = [outer.factors.as_slice(), &inner.factors].concat();
                        factors.sort_unstable();
                        Term { number: outer.number * inner.number, factors }
                    }));
                }
                _ => k += 1,
            }
        }
        if terms.len() > before {
            terms = like_terms(terms.clone()).unwrap_or(terms);
        }
        all.insert(variable, terms);
    }
    all
}

fn definition(key: &Key) -> Polynomial {
    match key {
        Key::Product(a, b) => vec![Term { number: 1.0, factors: vec![*a, *b] }],
        Key::Sum(first, factors, numbers) => {
            let (first, second) = factors.split_at(*first);
            let term = |factors: &[usize], bits| Term { number: f64::from_bits(bits), factors: factors.to_vec() };
            vec![term(first, numbers[0]), term(second, numbers[1])]
        }
    }
}
