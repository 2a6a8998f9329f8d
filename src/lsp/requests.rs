//! The questions of an editor, one arm each.
//!
//! In: a method and its parameters. Out: an [`Answer`], now or by the worker; or why there is none.
//!
//!     textDocument/hover at a name   →   its type in Markdown; of an entry, by the worker, with its cost

use std::collections::{BTreeSet, HashMap};

use lsp_server::{ErrorCode, Message, Request, RequestId, Response};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CodeLensOptions, CodeLensParams, CompletionOptions, CompletionParams, DocumentFormattingParams, DocumentHighlightParams,
    DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandOptions, ExecuteCommandParams, GotoDefinitionParams, Hover, HoverContents,
    HoverParams, HoverProviderCapability, InitializeResult, Location, MarkupContent, MarkupKind, OneOf, PositionEncodingKind, Range,
    ReferenceParams, RenameOptions, RenameParams, ServerCapabilities, ServerInfo, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, TextEdit, Url, WorkspaceEdit,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::analysis::{Analysis, MAIN};
use super::documents::{self, Document, Files};
use super::names::{Occurrence, What};
use super::position::Lines;
use super::worker::Job;
use super::workspace::Workspace;
use super::{complete, hover, lens, outline, rename, report};
use crate::source::Span;
use crate::syntax::ast::OpenWhat;
use crate::types::{LIBRARY, LINALG};

/// What a request gets.
pub enum Answer {
    Now(Value),
    Later(Job),
    Error(ErrorCode, String),
}

/// What the server can do.
pub fn capabilities() -> Value {
    let sync = TextDocumentSyncOptions { open_close: Some(true), change: Some(TextDocumentSyncKind::INCREMENTAL), ..Default::default() };
    let rename = RenameOptions { prepare_provider: Some(true), work_done_progress_options: Default::default() };
    let commands = vec![lens::SHOW_DERIVATIVE.to_string(), lens::SHOW_OPTIMISED.to_string()];
    let capabilities = ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(rename)),
        completion_provider: Some(CompletionOptions { trigger_characters: Some(vec![".".to_string()]), ..Default::default() }),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions { commands, ..Default::default() }),
        ..Default::default()
    };
    let info = ServerInfo { name: "smoothc".to_string(), version: Some(env!("CARGO_PKG_VERSION").to_string()) };
    json!(InitializeResult { capabilities, server_info: Some(info) })
}

/// The answer to a question about a text that is open; an `Err` is an error for the editor to show.
pub fn answer(workspace: &mut Workspace, id: &RequestId, method: &str, params: Value) -> Result<Answer, Answer> {
    let now = |value: Value| Ok(Answer::Now(value));
    match method {
        ask::HoverRequest::METHOD => {
            let HoverParams { text_document_position_params: at, .. } = read(params)?;
            hovered(workspace, id, &at)
        }
        ask::GotoDefinition::METHOD => {
            let GotoDefinitionParams { text_document_position_params: at, .. } = read(params)?;
            now(json!(definition(workspace, &at)?))
        }
        ask::References::METHOD => {
            let ReferenceParams { text_document_position: at, context, .. } = read(params)?;
            let Some((analysis, found)) = name_at(workspace, &at)? else { return now(json!([])) };
            let declared = declaration(analysis, found);
            let places: BTreeSet<(String, Span)> = uses(workspace, &at.text_document.uri, analysis, found)
                .into_iter()
                .flat_map(|(analysis, found)| analysis.names.places(found.definition).filter_map(|place| in_file(analysis, place)))
                .filter(|place| context.include_declaration || Some(place) != declared.as_ref())
                .collect();
            let files = workspace.files();
            let located = |(file, place): (String, Span)| located(workspace, &files, &file, place).ok();
            now(json!(places.into_iter().filter_map(located).collect::<Vec<_>>()))
        }
        ask::DocumentHighlightRequest::METHOD => {
            let DocumentHighlightParams { text_document_position_params: at, .. } = read(params)?;
            let Some((analysis, found)) = name_at(workspace, &at)? else { return now(json!([])) };
            now(json!(outline::highlights(analysis, found)))
        }
        ask::DocumentSymbolRequest::METHOD => {
            let DocumentSymbolParams { text_document, .. } = read(params)?;
            let (_, analysis) = text(workspace, &text_document.uri)?;
            now(json!(DocumentSymbolResponse::Nested(outline::symbols(analysis))))
        }
        ask::Formatting::METHOD => {
            let DocumentFormattingParams { text_document, .. } = read(params)?;
            let (document, _) = text(workspace, &text_document.uri)?;
            now(json!(outline::formatted(&document.text, &document.lines)))
        }
        ask::PrepareRenameRequest::METHOD => {
            let at: TextDocumentPositionParams = read(params)?;
            let Some((analysis, found)) = name_at(workspace, &at)? else { return now(Value::Null) };
            let place = rename::prepare(analysis, found).map_err(|why| Answer::Error(ErrorCode::RequestFailed, why))?;
            now(json!(analysis.range(place)))
        }
        ask::Rename::METHOD => {
            let RenameParams { text_document_position: at, new_name, .. } = read(params)?;
            now(json!(renamed(workspace, &at, &new_name).map_err(|why| Answer::Error(ErrorCode::RequestFailed, why))?))
        }
        ask::Completion::METHOD => {
            let CompletionParams { text_document_position: at, .. } = read(params)?;
            let (_, analysis) = text(workspace, &at.text_document.uri)?;
            now(json!(complete::complete(analysis, at.position, workspace.library(), workspace.built_in(), &workspace.files())))
        }
        ask::CodeLensRequest::METHOD => {
            let CodeLensParams { text_document, .. } = read(params)?;
            let (_, analysis) = text(workspace, &text_document.uri)?;
            now(json!(lens::lenses(analysis, &text_document.uri, &workspace.files())))
        }
        ask::ExecuteCommand::METHOD => shown(workspace, id, read(params)?),
        _ => Err(Answer::Error(ErrorCode::MethodNotFound, format!("`{method}` is not known"))),
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, Answer> {
    serde_json::from_value(params).map_err(|problem| Answer::Error(ErrorCode::InvalidParams, problem.to_string()))
}

/// A text that is open, with what is known of it.
fn text<'s>(workspace: &'s Workspace, uri: &Url) -> Result<(&'s Document, &'s Analysis), Answer> {
    let known = workspace.documents.get(uri).zip(workspace.analyses.get(uri));
    known.ok_or_else(|| Answer::Error(ErrorCode::InvalidParams, format!("{uri} is not open")))
}

fn name_at<'s>(workspace: &'s Workspace, at: &TextDocumentPositionParams) -> Result<Option<(&'s Analysis, Occurrence)>, Answer> {
    let (_, analysis) = text(workspace, &at.text_document.uri)?;
    Ok(analysis.name_at(at.position).map(|found| (analysis, found)))
}

fn hovered(workspace: &Workspace, id: &RequestId, at: &TextDocumentPositionParams) -> Result<Answer, Answer> {
    let uri = &at.text_document.uri;
    let Some((analysis, found)) = name_at(workspace, at)? else {
        let (_, analysis) = text(workspace, uri)?;
        let described = hover::built_in_type(analysis, analysis.offset(at.position));
        return Ok(Answer::Now(described.map_or(Value::Null, |(place, text)| shown_at(analysis.range(place), text))));
    };
    let files = workspace.files();
    let Some(hover) = hover::hover(analysis, found, workspace.library(), workspace.built_in(), &files) else {
        return Ok(Answer::Now(Value::Null));
    };
    let range = analysis.range(found.span);
    let shown = move |text: String| shown_at(range, text);
    let Some(entry) = hover.entry else { return Ok(Answer::Now(shown(hover.text))) };
    let (name, text, costs) = (documents::name(uri), analysis.sound(&files).text().to_string(), workspace.costs.clone());
    let with_cost = move |cost: &str| format!("{}\n\ncost after all rules: {cost}", hover.text);
    let key = (name.clone(), entry.clone());
    if let Some(cost) = costs.lock().unwrap_or_else(|failed| failed.into_inner()).get(&key) {
        return Ok(Answer::Now(shown(with_cost(cost))));
    }
    let id = id.clone();
    Ok(Answer::Later(Box::new(move || {
        let cost = lens::entry_cost(&name, &text, &entry, &files).unwrap_or_else(|why| format!("not known ({why})"));
        let answer = Response { id, result: Some(shown(with_cost(&cost))), error: None };
        costs.lock().unwrap_or_else(|failed| failed.into_inner()).insert(key, cost);
        vec![Message::Response(answer)]
    })))
}

/// What is shown of a name at its place.
fn shown_at(range: Range, text: String) -> Value {
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    json!(Hover { contents, range: Some(range) })
}

fn definition(workspace: &Workspace, at: &TextDocumentPositionParams) -> Result<Option<Location>, Answer> {
    let uri = &at.text_document.uri;
    let Some((analysis, found)) = name_at(workspace, at)? else { return opened(workspace, at) };
    let Some(definition) = analysis.names.definition(found.definition) else { return Ok(None) };
    let Some(place) = definition.place else { return Ok(None) };
    match definition.what {
        What::Library(_) => in_library(workspace, place),
        What::Local | What::Size | What::Global(_) | What::BuiltIn | What::Type(_) | What::Field => {
            Ok(report::location(analysis, place, Some(uri)))
        }
    }
}

/// The beginning of the file whose `open` is at a place, if it can be read.
fn opened(workspace: &Workspace, at: &TextDocumentPositionParams) -> Result<Option<Location>, Answer> {
    let uri = &at.text_document.uri;
    let (_, analysis) = text(workspace, uri)?;
    let Some(open) = analysis.open_at(at.position) else { return Ok(None) };
    let start = Span::new(MAIN, 0, 0);
    match &open.what {
        OpenWhat::Library(name) if &**name == LIBRARY => in_library(workspace, start),
        OpenWhat::Library(_) => Ok(None),
        OpenWhat::File(path) => {
            let files = workspace.files();
            let loaded = files.load(path, &documents::name(uri)).ok();
            Ok(loaded.and_then(|(file, _)| located(workspace, &files, &file, start).ok()))
        }
    }
}

/// A place of the library, whose source is kept in a file for it.
fn in_library(workspace: &Workspace, place: Span) -> Result<Option<Location>, Answer> {
    let kept = (workspace.host.keep)("linalg.smooth", LINALG).map_err(|why| Answer::Error(ErrorCode::RequestFailed, why))?;
    let range = Lines::new(LINALG).range(LINALG, place.start as usize, place.end as usize);
    Ok(Url::from_file_path(kept).ok().map(|uri| Location { uri, range }))
}

/// The edits of a renaming: in the text, in the files that it opens, and in the open texts that use the declaration.
fn renamed(workspace: &Workspace, at: &TextDocumentPositionParams, name: &str) -> Result<WorkspaceEdit, String> {
    let uri = &at.text_document.uri;
    let analysis = workspace.analyses.get(uri).ok_or("the text is not open")?;
    let found = analysis.name_at(at.position).ok_or("there is no name here")?;
    let files = workspace.files();
    rename::possible(analysis, found, name)?;
    if let Some(definition) = analysis.names.definition(found.definition) {
        let declared = declaration(analysis, found).map(|(file, _)| file);
        let reads = |(_, other): &(&Url, &Analysis)| other.sources.files.iter().any(|file| declared.as_deref() == Some(&*file.name));
        let mut readers: Vec<(&Url, &Analysis)> = workspace.analyses.iter().filter(reads).collect();
        readers.sort_by_key(|(other, _)| (*other != uri, other.as_str()));
        for (_, other) in readers {
            rename::all_known(other, definition, name, &documents::name(uri))?;
        }
    }
    let mut places: BTreeSet<(String, Span)> = BTreeSet::new();
    for (analysis, found) in uses(workspace, uri, analysis, found) {
        for place in rename::rename(analysis, found, name, &files)? {
            places.insert(in_file(analysis, place).ok_or("a place is in no file")?);
        }
    }
    let mut changes: HashMap<Url, Vec<TextEdit>> = HashMap::new();
    for (file, place) in places {
        let Location { uri, range } = located(workspace, &files, &file, place)?;
        changes.entry(uri).or_default().push(TextEdit { range, new_text: name.to_string() });
    }
    Ok(WorkspaceEdit { changes: Some(changes), ..Default::default() })
}

/// The open texts that use what is declared where `found` is: the text itself, then the others, each with an occurrence there.
fn uses<'s>(workspace: &'s Workspace, uri: &Url, analysis: &'s Analysis, found: Occurrence) -> Vec<(&'s Analysis, Occurrence)> {
    let mut all = vec![(analysis, found)];
    // what is declared in no file has no other texts to be looked for in
    if let Some(declared) = declaration(analysis, found) {
        for (_, other) in workspace.analyses.iter().filter(|(other, _)| *other != uri) {
            let same = |found: &&Occurrence| declaration(other, **found).as_ref() == Some(&declared);
            all.extend(other.names.occurrences.iter().find(same).map(|used| (other, *used)));
        }
    }
    all
}

/// Where it is declared what is written at a place.
fn declaration(analysis: &Analysis, found: Occurrence) -> Option<(String, Span)> {
    in_file(analysis, analysis.names.definition(found.definition)?.place?)
}

/// A place by the name of its file: the same in all analyses.
fn in_file(analysis: &Analysis, place: Span) -> Option<(String, Span)> {
    Some((analysis.sources.file(place)?.name.to_string(), Span { file: MAIN, ..place }))
}

/// A place of a file as editors name it.
fn located(workspace: &Workspace, files: &Files, file: &str, place: Span) -> Result<Location, String> {
    let open = workspace.documents.keys().find(|uri| documents::name(uri) == file).cloned();
    let uri = open.or_else(|| documents::uri(file)).ok_or("a file has no address")?;
    let text = files.open.get(file).cloned();
    let text = text.map_or_else(|| (workspace.host.read)(file.as_ref()).map(Into::into), Ok)?;
    Ok(Location { uri, range: Lines::new(&text).range(&text, place.start as usize, place.end as usize) })
}

/// Shows a derived or optimised program: answers with its text and where it is kept, and asks the editor to open that.
fn shown(workspace: &mut Workspace, id: &RequestId, command: ExecuteCommandParams) -> Result<Answer, Answer> {
    let invalid = |why: String| Answer::Error(ErrorCode::InvalidParams, why);
    let words: Option<(Url, String)> = match command.arguments.as_slice() {
        [uri, entry] => serde_json::from_value(uri.clone()).ok().zip(entry.as_str().map(str::to_string)),
        _ => None,
    };
    let (compute, suffix): (lens::Show, _) = match command.command.as_str() {
        lens::SHOW_DERIVATIVE => (lens::derivative, "derivative"),
        lens::SHOW_OPTIMISED => (lens::optimised_entry, "optimised"),
        other => return Err(invalid(format!("there is no command `{other}`"))),
    };
    let (uri, entry) = words.ok_or_else(|| invalid(format!("`{}` takes the address of a text and an entry", command.command)))?;
    let (_, analysis) = text(workspace, &uri)?;
    let files = workspace.files();
    let (name, text) = (documents::name(&uri), analysis.sound(&files).text().to_string());
    let kept_as = workspace.shown_as(&uri, &entry, suffix);
    let (id, keep, shows) = (id.clone(), workspace.host.keep.clone(), workspace.shows_documents);
    Ok(Answer::Later(Box::new(move || {
        let program = match compute(&name, &text, &entry, &files) {
            Ok(program) => program,
            Err(why) => return vec![Message::Response(Response::new_err(id, ErrorCode::RequestFailed as i32, why))],
        };
        // what cannot be kept is shown by whoever asked
        let kept = keep(&kept_as, &program).ok();
        let kept = kept.and_then(|path| Url::from_file_path(path).ok());
        let ask = kept.as_ref().filter(|_| shows).map(|uri| {
            let params = json!({ "uri": uri, "takeFocus": true });
            let id = RequestId::from(format!("show {id}"));
            Message::Request(Request { id, method: ask::ShowDocument::METHOD.to_string(), params })
        });
        let answer = Response { id, result: Some(json!({ "uri": kept, "text": program })), error: None };
        ask.into_iter().chain([Message::Response(answer)]).collect()
    })))
}
