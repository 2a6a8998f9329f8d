//! The thread that computes what may take long: costs and derivatives.
//!
//! In: jobs with all that they need. Out: the answers, in the order of the jobs. The server goes on in the meantime; a job that is
//! cancelled before its turn is not computed, and its answer is dropped if it is under way.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use lsp_server::{ErrorCode, Message, RequestId, Response};

use super::transport::Outgoing;
use crate::stack::with_large_stack;

/// What a job gives: messages of its own, the last of them its answer.
pub type Job = Box<dyn FnOnce() -> Vec<Message> + Send>;

/// The requests that wait for the worker.
#[derive(Clone, Default)]
pub struct Waiting(Arc<Mutex<HashSet<RequestId>>>);

impl Waiting {
    fn with<T>(&self, f: impl FnOnce(&mut HashSet<RequestId>) -> T) -> T {
        // a thread that failed while it had the set left it whole
        f(&mut self.0.lock().unwrap_or_else(|failed| failed.into_inner()))
    }

    /// Whether this request waited; it does not any more.
    pub fn take(&self, id: &RequestId) -> bool {
        self.with(|waiting| waiting.remove(id))
    }
}

/// The worker, seen from the server.
pub struct Worker {
    jobs: Sender<(RequestId, Job)>,
    pub waiting: Waiting,
}

impl Worker {
    pub fn start(out: Sender<Outgoing>) -> Worker {
        let (jobs, queue) = channel();
        let waiting = Waiting::default();
        let known = waiting.clone();
        std::thread::spawn(move || with_large_stack(move || work(&queue, &known, &out)));
        Worker { jobs, waiting }
    }

    /// Queues a job that answers a request.
    pub fn add(&self, id: RequestId, job: Job) {
        self.waiting.with(|waiting| waiting.insert(id.clone()));
        // the worker ends with the server only
        let _ = self.jobs.send((id, job));
    }
}

fn work(queue: &Receiver<(RequestId, Job)>, waiting: &Waiting, out: &Sender<Outgoing>) {
    while let Ok((id, job)) = queue.recv() {
        if !waiting.with(|waiting| waiting.contains(&id)) {
            continue;
        }
        let failed = |_| {
            let message = "internal error: this could not be computed; please report it with the file".to_string();
            vec![Message::Response(Response::new_err(id.clone(), ErrorCode::InternalError as i32, message))]
        };
        let messages = catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(failed);
        if waiting.take(&id) {
            // nobody reads any more
            let _ = messages.into_iter().try_for_each(|message| out.send(Outgoing::Message(message)));
        }
    }
}
