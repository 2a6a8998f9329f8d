//! The declarations of a text, its formatted form, and the places of a name.
//!
//! In: an analysis, or a text. Out: what the protocol calls symbols, edits and highlights.

use lsp_types::{DocumentHighlight, DocumentHighlightKind, DocumentSymbol, Position, Range, SymbolKind, TextEdit};

use super::analysis::{Analysis, MAIN};
use super::names::Occurrence;
use super::position::Lines;
use crate::syntax;

/// The declarations in their order.
pub fn symbols(analysis: &Analysis) -> Vec<DocumentSymbol> {
    let types = analysis.modules.types.iter().map(|declared| &declared.decl).map(|decl| (&decl.name, decl.name.span, SymbolKind::STRUCT));
    let globals = analysis.modules.globals.iter().map(|global| &global.decl).map(|decl| {
        let kind = if decl.params.is_empty() { SymbolKind::CONSTANT } else { SymbolKind::FUNCTION };
        (&decl.name, decl.span, kind)
    });
    let mut all: Vec<_> = types.chain(globals).filter(|(name, ..)| name.span.file == MAIN).collect();
    all.sort_by_key(|(name, ..)| name.span.start);
    let symbol = |(name, span, kind): (&syntax::ast::Name, _, _)| {
        #[allow(deprecated, reason = "the field that `tags` replaces has to be given")]
        DocumentSymbol {
            name: name.text.to_string(),
            detail: analysis.signature(&name.text).map(|signature| signature.text.clone()),
            kind,
            tags: None,
            deprecated: None,
            range: analysis.range(name.span.to(span)),
            selection_range: analysis.range(name.span),
            children: None,
        }
    };
    all.into_iter().map(symbol).collect()
}

/// The places of a name in its own file.
pub fn highlights(analysis: &Analysis, found: Occurrence) -> Vec<DocumentHighlight> {
    let own = analysis.names.places(found.definition).filter(|place| place.file == MAIN);
    own.map(|place| DocumentHighlight { range: analysis.range(place), kind: Some(DocumentHighlightKind::TEXT) }).collect()
}

/// The edit that formats a text: nothing where it is formatted, or does not parse.
pub fn formatted(text: &str, lines: &Lines) -> Vec<TextEdit> {
    match syntax::format(text, MAIN) {
        Ok(new) if new != text => {
            let end = lines.position(text, text.len());
            vec![TextEdit { range: Range::new(Position::new(0, 0), end), new_text: new }]
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}
