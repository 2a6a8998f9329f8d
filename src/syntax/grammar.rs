//! The grammar of the language, `grammar.pest`, as a parser.

#[derive(pest_derive::Parser)]
#[grammar = "syntax/grammar.pest"]
pub(super) struct Grammar;
