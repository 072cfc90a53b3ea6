//! Where the computation of one model is done: a queue, and seats that take from it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Instant;

use axum::http::StatusCode;
use tokio::sync::oneshot;

use crate::audience::Page;
use crate::error::{ApiError, Result};
use crate::limits::Limits;
use crate::queue::{Queue, Task};
use crate::turns::{Turn, Turns};

/// Requests that are under way at once in one model, each on a thread of its own; one of them computes.
const SEATS: usize = 8;

/// Whether the result of a task is still wanted.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    gone: AtomicBool,
    deadline: Option<Instant>,
    stopping: Arc<AtomicBool>,
}

/// What a task is given while it computes.
pub(crate) struct Work<'a> {
    ticket: &'a Ticket,
    /// None for a job: it computes beside those who take turns.
    turn: Option<Turn<'a>>,
    was_stopped: AtomicBool,
}

/// The queue and the seats of one model.
pub(crate) struct Desk {
    queue: Arc<Queue>,
    limits: Limits,
    stopping: Arc<AtomicBool>,
}

/// Says that nobody waits any more, when the handler that waits goes away.
struct GoneOnDrop(Arc<Ticket>);

impl Drop for GoneOnDrop {
    fn drop(&mut self) {
        self.0.go();
    }
}

impl Ticket {
    /// The result is not wanted any more.
    pub(crate) fn go(&self) {
        self.gone.store(true, Relaxed);
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone.load(Relaxed)
    }

    /// Why the task should end.
    fn reason(&self) -> Option<ApiError> {
        if self.stopping.load(Relaxed) {
            return Some(ApiError::busy("the server stops"));
        }
        if self.is_gone() {
            return Some(ApiError::busy("cancelled"));
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        late.then(|| {
            let reason = "the time of the request is over: shorten the text, or ask for a smaller beam";
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "deadline", reason)
        })
    }
}

impl Work<'_> {
    /// Whether to stop; asked before every step. Others have their turn meanwhile.
    pub(crate) fn stop(&self) -> bool {
        if let Some(turn) = &self.turn {
            turn.pass();
        }
        let stop = self.ticket.reason().is_some();
        if stop {
            self.was_stopped.store(true, Relaxed);
        }
        stop
    }

    /// The error where the task was told to stop.
    pub(crate) fn check(&self) -> Result<()> {
        let stopped = self.was_stopped.load(Relaxed);
        self.ticket.reason().filter(|_| stopped).map_or(Ok(()), Err)
    }
}

impl Desk {
    /// Opens the seats. They stay until the desk is dropped.
    pub(crate) fn open(limits: &Limits, stopping: &Arc<AtomicBool>) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::new(limits.waiting, limits.waiting_of_a_page));
        let desk = Self { queue, limits: limits.clone(), stopping: Arc::clone(stopping) };
        let turns = Arc::new(Turns::default());
        for _ in 0..SEATS {
            let (queue, turns) = (Arc::clone(&desk.queue), Arc::clone(&turns));
            thread::Builder::new().name("seat".to_owned()).spawn(move || sit(&queue, &turns))?;
        }
        Ok(desk)
    }

    /// Tasks that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Does some work for a page and waits for the result. Where the waiting is given up, so is the work.
    ///
    /// # Errors
    /// Those of the work; 503 and 429 where there is too much to do, or where it takes too long.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        page: Page,
        work: impl FnOnce(&Work) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let deadline = Instant::now() + self.limits.time;
        let ticket = self.ticket(Some(deadline));
        let _gone = GoneOnDrop(Arc::clone(&ticket));
        let (give, wait) = oneshot::channel();
        let work = Box::new(move |work_at: &Work| {
            let wanted = work_at.ticket.reason().map_or(Ok(()), Err);
            let result = wanted.and_then(|()| work(work_at));
            let result = work_at.check().and(result);
            // Where nobody waits any more there is nobody to tell.
            let _ = give.send(result);
        });
        self.queue.push(Task { page, ticket, in_turns: true, work })?;
        wait.await.unwrap_or_else(|_| Err(ApiError::internal("the computation failed; the log says why")))
    }

    pub(crate) fn ticket(&self, deadline: Option<Instant>) -> Arc<Ticket> {
        Arc::new(Ticket { gone: AtomicBool::new(false), deadline, stopping: Arc::clone(&self.stopping) })
    }

    /// Has a job done without waiting for it: beside the requests, since its steps may be long. It asks its [`Work`] whether
    /// to stop.
    ///
    /// # Errors
    /// 503 and 429 where too much waits already.
    pub(crate) fn enter(
        &self,
        page: Page,
        ticket: Arc<Ticket>,
        work: impl FnOnce(&Work) + Send + 'static,
    ) -> Result<()> {
        self.queue.push(Task { page, ticket, in_turns: false, work: Box::new(work) })
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Works on tasks until the queue is closed.
fn sit(queue: &Queue, turns: &Turns) {
    while let Some(Task { page, ticket, in_turns, work }) = queue.next() {
        let turn = in_turns.then(|| turns.take());
        let work_at = Work { ticket: &ticket, turn, was_stopped: AtomicBool::new(false) };
        // A panic is a fault of ours: its message is on standard error, its client is told, and the seat goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| work(&work_at)));
        drop(work_at);
        queue.done(&page);
    }
}
