//! Types as a user writes them.
//!
//!     Array(Array(Double, n), m)   →   Matrix<m, n>

use super::holes::Holes;
use super::ty::Ty;
use crate::ir::{Atom, Size, Type, Var};

/// A type as a user writes it; open holes are `'a`, `'b`, … in order of appearance.
pub fn show(holes: &Holes, ty: &Ty, names: &mut Vec<u32>) -> String {
    match holes.head(ty) {
        Ty::Double => "Double".into(),
        Ty::Bool => "Bool".into(),
        Ty::Index(None) => "Index".into(),
        Ty::Index(Some(size)) => format!("Index<{}>", show_size(holes, &size)),
        Ty::Array(element, size) => {
            let size = show_size(holes, &size);
            match holes.head(&element) {
                Ty::Double if size == "_" => "Vector".into(),
                Ty::Double => format!("Vector<{size}>"),
                Ty::Array(inner, columns) if matches!(holes.head(&inner), Ty::Double) => {
                    match (size.as_str(), show_size(holes, &columns).as_str()) {
                        ("_", "_") => "Matrix".into(),
                        (rows, columns) => format!("Matrix<{rows}, {columns}>"),
                    }
                }
                other if size == "_" => format!("Array<{}>", show(holes, &other, names)),
                other => format!("Array<{}, {size}>", show(holes, &other, names)),
            }
        }
        Ty::Record(record, parts) => {
            let sizes: Vec<String> =
                record.arguments(&parts).iter().map(|size| size.as_ref().map_or("_".into(), |size| show_size(holes, size))).collect();
            if sizes.is_empty() { record.name.text.to_string() } else { format!("{}<{}>", record.name.text, sizes.join(", ")) }
        }
        Ty::Rec(of) => of.name().to_string(),
        Ty::Tuple(parts) if parts.is_empty() => "Unit".into(),
        Ty::Tuple(parts) => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| match holes.head(part) {
                    Ty::Tuple(_) | Ty::Fun(..) => format!("({})", show(holes, part, names)),
                    Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Record(..) | Ty::Rec(_) | Ty::Hole(_) => {
                        show(holes, part, names)
                    }
                })
                .collect();
            parts.join(" * ")
        }
        Ty::Fun(params, result) => {
            let mut text = String::new();
            for param in params.iter() {
                match holes.head(param) {
                    Ty::Fun(..) => text += &format!("({}) => ", show(holes, param, names)),
                    Ty::Double | Ty::Bool | Ty::Index(_) | Ty::Array(..) | Ty::Tuple(_) | Ty::Record(..) | Ty::Rec(_) | Ty::Hole(_) => {
                        text += &format!("{} => ", show(holes, param, names))
                    }
                }
            }
            text + &show(holes, &result, names)
        }
        Ty::Hole(id) => {
            let at = names.iter().position(|name| *name == id).unwrap_or_else(|| {
                names.push(id);
                names.len() - 1
            });
            match at {
                0..26 => format!("'{}", (b'a' + at as u8) as char),
                _ => format!("'t{at}"),
            }
        }
    }
}

fn show_size(holes: &Holes, size: &Size) -> String {
    let size = holes.resolve_size(size);
    if size.has_unknown() { "_".into() } else { size.to_string() }
}

/// The names of sizes that may be any.
const ANY: [&str; 6] = ["'n", "'m", "'k", "'l", "'p", "'q"];

/// A type as it is shown alone, with names for the sizes that it is polymorphic in: `Vector<'n> => Vector<'n>`.
pub fn show_any_sizes(holes: &Holes, ty: &Ty) -> String {
    let mut any: Vec<(u32, Size)> = Vec::new();
    let named = holes.resolve(ty).map(
        &mut |size| {
            let known = |unknown: u32, any: &mut Vec<(u32, Size)>| {
                holes.open_size(&Size::atom(Atom::Unknown(unknown)))?;
                if !any.iter().any(|(id, _)| *id == unknown) {
                    let name = ANY.get(any.len()).map_or_else(|| format!("'n{}", any.len()), |name| (*name).to_string());
                    any.push((unknown, Size::var(&Var::fresh(&name, Type::INDEX))));
                }
                any.iter().find(|(id, _)| *id == unknown).map(|(_, size)| size.clone())
            };
            size.substitute(&mut |atom| match atom {
                Atom::Unknown(unknown) => known(*unknown, &mut any),
                Atom::Var(_) | Atom::Term(_) => None,
            })
        },
        &mut Ty::Hole,
    );
    show(holes, &named, &mut Vec::new())
}
