//! Loops that gcc 12 miscompiles with vectors of 512 bits.
//!
//! In: a function's statements. Out: whether a loop writes rows of a few columns, element by element.
//!
//!     for (i …) { out[i * 3] = a * b; out[i * 3 + 1] = b * b; out[i * 3 + 2] = a * c; }      yes
//!
//! gcc permutes the loads and stores of such an iteration. gcc 12.2 selects `vpermilpd`, which permutes within pairs of lanes only, for
//! some permutations of eight doubles, and stores wrong numbers; the C is correct. With vectors of four doubles it does not. So
//! these functions ask for 256 bits.

use crate::loops::program::{Block, Id, Lanes, Place, Stmt, Value};
use crate::loops::visit::each_local;

/// Whether some loop writes two elements of one array in each iteration, in places that follow its variable.
pub fn writes_narrow_rows(block: &Block) -> bool {
    block.iter().any(|stmt| {
        let here = match stmt {
            Stmt::For { lanes: Lanes::Tile(_), .. } => return false,
            Stmt::For { i, body, .. } => is_innermost(body) && writes_twice(body, &mut vec![*i], &mut Vec::new()),
            _ => false,
        };
        here || stmt.blocks().any(writes_narrow_rows)
    })
}

/// Only such loops run in lanes of their own.
fn is_innermost(block: &Block) -> bool {
    block.iter().all(|stmt| !matches!(stmt, Stmt::For { .. }) && stmt.blocks().all(is_innermost))
}

/// Whether two statements, also in branches, write one of the arrays, of which `written` are those so far. `indexes`: the
/// loop's variable and what is made of it.
fn writes_twice(block: &Block, indexes: &mut Vec<Id>, written: &mut Vec<Id>) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Declare { id, init: Some(value) } if mentions(value, indexes) => {
            indexes.push(*id);
            false
        }
        Stmt::Assign { place: Place::Element { base, offset: Some(offset) }, .. } if mentions(offset, indexes) => {
            let again = written.contains(base);
            written.push(*base);
            again
        }
        Stmt::If { then, otherwise, .. } => writes_twice(then, indexes, written) || writes_twice(otherwise, indexes, written),
        Stmt::Scope(body) => writes_twice(body, indexes, written),
        _ => false,
    })
}

fn mentions(offset: &Value, indexes: &[Id]) -> bool {
    let mut found = false;
    each_local(offset, &mut |id| found |= indexes.contains(&id));
    found
}
