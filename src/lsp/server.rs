//! The server's loop: messages in their order, each text analysed once for all the changes that have arrived.
//!
//! In: an editor's messages. Out: its answers, and the status to end with: 0 after `shutdown` and `exit`, 1 after `exit` alone or where
//! the stream ends. A question that the server does not know is answered with an error, one that fails too; a notification that it does
//! not know is dropped.
//!
//!     initialize → capabilities; didOpen, didChange, … → publishDiagnostics; hover → Markdown; shutdown, exit → status 0

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as note, Notification as _};
use lsp_types::request::{self as ask, Request as _};
use lsp_types::{
    CancelParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams, NumberOrString,
    PublishDiagnosticsParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::analysis::analyse;
use super::documents::{self, Document};
use super::requests::{self, Answer};
use super::transport::{self, Incoming, Outgoing};
use super::worker::Worker;
use super::workspace::Workspace;
use super::{Host, report};
use crate::types::LINALG;

/// Answers an editor until it says `exit`, and gives the exit status.
pub fn serve(mut input: impl BufRead + Send + 'static, mut output: impl Write + Send + 'static, host: Host) -> u8 {
    let (arrived, incoming) = channel();
    thread::spawn(move || {
        // an unreadable stream has ended
        while let Ok(Some(message)) = transport::read(&mut input) {
            if arrived.send(message).is_err() {
                break;
            }
        }
    });
    let (out, outgoing) = channel::<Outgoing>();
    let writer = thread::spawn(move || {
        for message in outgoing {
            if matches!(message, Outgoing::End) || transport::write(&mut output, &message).is_err() {
                break;
            }
        }
    });
    let mut server = Server::new(host, out.clone());
    let status = server.run(&incoming);
    // what was answered is written before the process ends; a writer that is gone has nobody to write to
    let _ = out.send(Outgoing::End);
    let _ = writer.join();
    status
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before `initialize`.
    Fresh,
    Running,
    /// After `shutdown`.
    ShutDown,
}

struct Server {
    workspace: Workspace,
    out: Sender<Outgoing>,
    worker: Worker,
    state: State,
}

impl Server {
    fn new(host: Host, out: Sender<Outgoing>) -> Server {
        Server { workspace: Workspace::new(host), worker: Worker::start(out.clone()), out, state: State::Fresh }
    }

    fn run(&mut self, incoming: &Receiver<Incoming>) -> u8 {
        while let Ok(first) = incoming.recv() {
            let mut next = Some(first);
            while let Some(message) = next {
                if let Some(status) = self.message(message) {
                    return status;
                }
                next = incoming.try_recv().ok();
            }
            self.refresh();
        }
        u8::from(self.state != State::ShutDown)
    }

    /// Handles a message; the exit status, where it ends the server.
    fn message(&mut self, message: Incoming) -> Option<u8> {
        match message {
            Incoming::Broken(code, why) => self.send(Outgoing::Broken(code, why)),
            // the server asks for nothing whose answer it needs
            Incoming::Message(Message::Response(_)) => {}
            Incoming::Message(Message::Request(request)) => {
                let (id, method) = (request.id.clone(), request.method.clone());
                let done = catch_unwind(AssertUnwindSafe(|| self.request(request)));
                if done.is_err() {
                    let message = format!("internal error: `{method}` failed; please report it with the file");
                    self.reply(Response::new_err(id, ErrorCode::InternalError as i32, message));
                }
            }
            Incoming::Message(Message::Notification(notification)) => {
                if notification.method == note::Exit::METHOD {
                    return Some(u8::from(self.state != State::ShutDown));
                }
                if self.state == State::Running {
                    self.notification(notification);
                }
            }
        }
        None
    }

    fn send(&self, message: Outgoing) {
        // where nobody reads any more the stream that comes in ends too
        let _ = self.out.send(message);
    }

    fn reply(&self, response: Response) {
        self.send(Outgoing::Message(Message::Response(response)));
    }

    fn request(&mut self, request: Request) {
        let Request { id, method, params } = request;
        let answer = match (self.state, method.as_str()) {
            (State::Fresh, ask::Initialize::METHOD) => {
                self.state = State::Running;
                self.workspace.shows_documents =
                    params.pointer("/capabilities/window/showDocument/support").and_then(Value::as_bool) == Some(true);
                Answer::Now(requests::capabilities())
            }
            (State::Fresh, _) => Answer::Error(ErrorCode::ServerNotInitialized, "`initialize` comes first".into()),
            (State::ShutDown, _) => Answer::Error(ErrorCode::InvalidRequest, "the server was shut down".into()),
            (State::Running, ask::Initialize::METHOD) => Answer::Error(ErrorCode::InvalidRequest, "`initialize` comes only once".into()),
            (State::Running, ask::Shutdown::METHOD) => {
                self.state = State::ShutDown;
                Answer::Now(Value::Null)
            }
            (State::Running, _) => {
                self.refresh();
                requests::answer(&mut self.workspace, &id, &method, params).unwrap_or_else(|refused| refused)
            }
        };
        match answer {
            Answer::Now(result) => self.reply(Response { id, result: Some(result), error: None }),
            Answer::Later(job) => self.worker.add(id, job),
            Answer::Error(code, message) => self.reply(Response::new_err(id, code as i32, message)),
        }
    }

    fn notification(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        fn read<P: DeserializeOwned>(params: Value) -> Option<P> {
            serde_json::from_value(params).ok()
        }
        match method.as_str() {
            note::DidOpenTextDocument::METHOD => {
                if let Some(DidOpenTextDocumentParams { text_document: opened }) = read(params) {
                    self.workspace.open(opened.uri, Document::new(opened.version, &opened.text));
                }
            }
            note::DidChangeTextDocument::METHOD => {
                if let Some(DidChangeTextDocumentParams { text_document, content_changes }) = read(params) {
                    self.workspace.edit(text_document.uri, text_document.version, content_changes);
                }
            }
            note::DidCloseTextDocument::METHOD => {
                if let Some(DidCloseTextDocumentParams { text_document }) = read(params)
                    && self.workspace.close(&text_document.uri)
                {
                    self.publish(PublishDiagnosticsParams::new(text_document.uri, Vec::new(), None));
                }
            }
            note::DidChangeWatchedFiles::METHOD => self.workspace.change_all(),
            note::Cancel::METHOD => {
                let Some(CancelParams { id }) = read(params) else { return };
                let id = match id {
                    NumberOrString::Number(number) => RequestId::from(number),
                    NumberOrString::String(text) => RequestId::from(text),
                };
                if self.worker.waiting.take(&id) {
                    self.reply(Response::new_err(id, ErrorCode::RequestCanceled as i32, "cancelled".into()));
                }
            }
            _ => {}
        }
    }

    /// Analyses what has changed, and says what is wrong with it.
    fn refresh(&mut self) {
        let changed = self.workspace.take_changed();
        if changed.is_empty() {
            return;
        }
        let files = self.workspace.files();
        for uri in changed {
            let Some(document) = self.workspace.documents.get(&uri) else { continue };
            let analysis = analyse(&documents::name(&uri), &document.text, &files);
            // the library's own text, shown where a definition is asked for, hides itself
            let found = if *document.text == *LINALG { Vec::new() } else { report::diagnostics(&analysis, &uri) };
            let params = PublishDiagnosticsParams::new(uri.clone(), found, Some(document.version));
            self.publish(params);
            self.workspace.analyses.insert(uri, analysis);
        }
    }

    fn publish(&self, params: PublishDiagnosticsParams) {
        let notification = Notification { method: note::PublishDiagnostics::METHOD.to_string(), params: json!(params) };
        self.send(Outgoing::Message(Message::Notification(notification)));
    }
}
