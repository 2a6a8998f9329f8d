//! Transposition (003 Figure 5): each operation becomes its counterpart, compositions change their order.
//!
//! In: a map m : S ⊸ T. Out: mᵀ : T ⊸ S, with (mᵀ ⊙ t) · s = t · (m ⊙ s).
//!
//!     (S(y) ⋈ S(x)) ∘ m   →   mᵀ ∘ (S(y) × S(x))

use super::map::{Form, Map};

/// The transpose.
pub fn transposed(map: &Map) -> Map {
    let (from, to) = (map.to(), map.from());
    let all = |maps: &[Map]| maps.iter().map(transposed).collect::<Vec<Map>>();
    match map.form() {
        Form::Zero => Map::zero(from, to),
        Form::One | Form::Scale(_) => map.clone(),
        Form::Compose(after, before) => Map::compose(transposed(before), transposed(after)),
        Form::Sum(maps) => Map::sum(from, to, all(maps)),
        Form::VCat(maps) => Map::hcat(to, all(maps)),
        Form::HCat(maps) => Map::vcat(from, all(maps)),
        Form::VBuild(n, i, body) => Map::hbuild(n.clone(), i.clone(), transposed(body), from),
        Form::HBuild(n, i, body) => Map::vbuild(n.clone(), i.clone(), transposed(body), to),
        Form::SumBuild(n, i, body) => Map::sum_build(n.clone(), i.clone(), transposed(body)),
        Form::VList(maps) => Map::hlist(from, to, all(maps)),
        Form::HList(maps) => Map::vlist(from, to, all(maps)),
        Form::At(index) => Map::hot(to, index.clone()),
        Form::Hot(index) => Map::at(from, index.clone()),
        Form::If(cond, then, otherwise) => Map::if_(cond.clone(), transposed(then), transposed(otherwise)),
        Form::Let(var, value, body) => Map::let_(var.clone(), value.clone(), transposed(body)),
        Form::Check(cond, status, span, body) => Map::check(cond.clone(), *status, *span, transposed(body)),
        Form::Fold(fold) => Map::fold_back(fold.clone()),
        Form::FoldBack(fold) => Map::fold_of(fold.clone()),
    }
}
