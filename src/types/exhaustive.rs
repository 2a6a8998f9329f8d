//! Whether the rows of a `match` take every value, and whether a value comes to each of them.
//!
//! In: patterns, one a row. Out: a value that no row takes; the rows that no value comes to. After L. Maranget, Warnings for pattern
//! matching (2007): a matrix of patterns is taken apart column by column, by the heads that stand in its first one. What is counted is
//! how many rows are looked at, since the worst case is exponential.
//!
//!     | Circle _ | Box (0.0, _)   →   missing: `Box _`      | _ | Circle r   →   unreachable: the second

use std::fmt;
use std::rc::Rc;

use super::ty::Record;

/// What a pattern matches.
#[derive(Clone, Debug)]
pub enum Pat {
    Any,
    Of(Head, Vec<Pat>),
}

/// What a value is made by.
#[derive(Clone, Debug)]
pub enum Head {
    /// A case of a sum type, by its number.
    Case(Rc<Record>, usize),
    Record(Rc<Record>),
    Tuple(usize),
    Bool(bool),
    Int(i64),
}

/// The rows that were looked at.
#[derive(Default)]
pub struct Steps(usize);

/// More rows than this are not looked at.
const STEPS: usize = 2_000_000;

/// The patterns take too long to compare.
#[derive(Debug)]
pub struct TooMany;

impl Steps {
    fn take(&mut self, rows: usize) -> Result<(), TooMany> {
        self.0 = self.0.saturating_add(rows + 1);
        if self.0 > STEPS { Err(TooMany) } else { Ok(()) }
    }
}

type Matrix<'a> = Vec<Vec<&'a Pat>>;

/// A value that no row takes.
pub fn missing(rows: &[Pat], steps: &mut Steps) -> Result<Option<Pat>, TooMany> {
    let matrix = rows.iter().map(|row| vec![row]).collect();
    Ok(uncovered(matrix, 1, steps)?.and_then(|mut found| found.pop()))
}

/// The rows that no value comes to; none further where it takes too long.
pub fn unreachable(rows: &[Pat]) -> Vec<usize> {
    let mut steps = Steps::default();
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let above = rows.iter().take(at).map(|row| vec![row]).collect();
        match is_useful(above, vec![row], &mut steps) {
            Ok(true) => {}
            Ok(false) => found.push(at),
            Err(TooMany) => break,
        }
    }
    found
}

impl Head {
    fn arity(&self) -> usize {
        match self {
            Head::Case(sum, case) => sum.cases.get(*case).map_or(0, |case| usize::from(case.data.is_some())),
            Head::Record(record) => record.fields.len(),
            Head::Tuple(parts) => *parts,
            Head::Bool(_) | Head::Int(_) => 0,
        }
    }

    fn is(&self, other: &Head) -> bool {
        match (self, other) {
            (Head::Case(_, a), Head::Case(_, b)) => a == b,
            (Head::Bool(a), Head::Bool(b)) => a == b,
            (Head::Int(a), Head::Int(b)) => a == b,
            (Head::Record(_), Head::Record(_)) | (Head::Tuple(_), Head::Tuple(_)) => true,
            (Head::Case(..) | Head::Bool(_) | Head::Int(_) | Head::Record(_) | Head::Tuple(_), _) => false,
        }
    }

    /// All heads of values of the type; `None` for the Indexes.
    fn all(&self) -> Option<Vec<Head>> {
        Some(match self {
            Head::Case(sum, _) => (0..sum.cases.len()).map(|case| Head::Case(sum.clone(), case)).collect(),
            Head::Bool(_) => vec![Head::Bool(true), Head::Bool(false)],
            Head::Record(_) | Head::Tuple(_) => vec![self.clone()],
            Head::Int(_) => return None,
        })
    }
}

/// The different heads in the first column.
fn heads<'a>(rows: &Matrix<'a>) -> Vec<&'a Head> {
    let mut found: Vec<&Head> = Vec::new();
    let mut literals = std::collections::HashSet::new();
    for row in rows {
        let Some(Pat::Of(head, _)) = row.first() else { continue };
        let is_new = match head {
            Head::Int(value) => literals.insert(*value),
            Head::Case(..) | Head::Record(_) | Head::Tuple(_) | Head::Bool(_) => !found.iter().any(|known| known.is(head)),
        };
        if is_new {
            found.push(head);
        }
    }
    found
}

/// The rows for values that begin with this head, their first column replaced by the head's parts.
fn specialised<'a>(rows: &Matrix<'a>, head: &Head) -> Matrix<'a> {
    rows.iter().filter_map(|row| of_head(row, head)).collect()
}

fn of_head<'a>(row: &[&'a Pat], head: &Head) -> Option<Vec<&'a Pat>> {
    let (first, rest) = row.split_first()?;
    let parts: Vec<&Pat> = match first {
        // its parts are as little known as it is
        Pat::Any => vec![*first; head.arity()],
        Pat::Of(own, parts) if own.is(head) => parts.iter().collect(),
        Pat::Of(..) => return None,
    };
    Some(parts.into_iter().chain(rest.iter().copied()).collect())
}

/// The rows that take every first component, without it.
fn rest<'a>(rows: &Matrix<'a>) -> Matrix<'a> {
    let any = |row: &&Vec<&'a Pat>| matches!(row.first(), Some(Pat::Any));
    rows.iter().filter(any).map(|row| row.iter().skip(1).copied().collect()).collect()
}

/// Patterns of values that no row takes, one for each of `width` columns.
fn uncovered(rows: Matrix, width: usize, steps: &mut Steps) -> Result<Option<Vec<Pat>>, TooMany> {
    steps.take(rows.len())?;
    if width == 0 {
        return Ok(rows.is_empty().then(Vec::new));
    }
    let heads = heads(&rows);
    let all = heads.first().and_then(|head| head.all());
    let lacking = all.as_ref().and_then(|all| all.iter().find(|head| !heads.iter().any(|known| known.is(head))));
    if let (Some(all), None) = (&all, lacking) {
        for head in all {
            let arity = head.arity();
            if let Some(mut found) = uncovered(specialised(&rows, head), arity + width - 1, steps)? {
                let after = found.split_off(arity.min(found.len()));
                return Ok(Some(std::iter::once(Pat::Of(head.clone(), found)).chain(after).collect()));
            }
        }
        return Ok(None);
    }
    let Some(found) = uncovered(rest(&rows), width - 1, steps)? else { return Ok(None) };
    let first = match (lacking, heads.first()) {
        (Some(head), _) => Pat::Of(head.clone(), vec![Pat::Any; head.arity()]),
        (None, Some(Head::Int(_))) => {
            let is_there = |value: i64| heads.iter().any(|head| matches!(head, Head::Int(known) if *known == value));
            (0..i64::MAX).find(|value| !is_there(*value)).map_or(Pat::Any, |value| Pat::Of(Head::Int(value), Vec::new()))
        }
        (None, _) => Pat::Any,
    };
    Ok(Some(std::iter::once(first).chain(found).collect()))
}

/// Whether some value comes to the row that none of those above takes.
fn is_useful(above: Matrix, row: Vec<&Pat>, steps: &mut Steps) -> Result<bool, TooMany> {
    steps.take(above.len())?;
    let Some(first) = row.first() else { return Ok(above.is_empty()) };
    if let Pat::Of(head, _) = first {
        let Some(inside) = of_head(&row, head) else { return Ok(true) };
        return is_useful(specialised(&above, head), inside, steps);
    }
    let heads = heads(&above);
    match heads.first().and_then(|head| head.all()) {
        Some(all) if all.iter().all(|head| heads.iter().any(|known| known.is(head))) => {
            for head in &all {
                let Some(inside) = of_head(&row, head) else { continue };
                if is_useful(specialised(&above, head), inside, steps)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Some(_) | None => is_useful(rest(&above), row.into_iter().skip(1).collect(), steps),
    }
}

/// As a pattern is written.
impl fmt::Display for Pat {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Pat::Of(head, parts) = self else { return write!(f, "_") };
        match head {
            Head::Case(sum, case) => {
                write!(f, "{}", sum.cases.get(*case).map_or("_", |case| &case.name.text))?;
                match parts.first() {
                    Some(data @ Pat::Of(Head::Case(_, _) | Head::Int(_), _)) if data.has_parts() => write!(f, " ({data})"),
                    Some(data) => write!(f, " {data}"),
                    None => Ok(()),
                }
            }
            Head::Tuple(_) => {
                let parts: Vec<String> = parts.iter().map(Pat::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
            Head::Record(record) => {
                let fields = record.fields.iter().zip(parts).filter(|(_, part)| matches!(part, Pat::Of(..)));
                let fields: Vec<String> = fields.map(|(field, part)| format!("{field} = {part}")).collect();
                if fields.is_empty() { write!(f, "_") } else { write!(f, "{{ {} }}", fields.join("; ")) }
            }
            Head::Bool(value) => write!(f, "{value}"),
            Head::Int(value) => write!(f, "{value}"),
        }
    }
}

impl Pat {
    fn has_parts(&self) -> bool {
        matches!(self, Pat::Of(_, parts) if !parts.is_empty())
    }
}
