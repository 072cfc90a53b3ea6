//! Work that takes minutes: it is begun by one request, asked about and cancelled by others.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::audience::Page;
use crate::desk::{Ticket, Work};
use crate::error::{ApiError, Result};

/// Jobs that are remembered; the oldest that are over are forgotten first.
const REMEMBERED: usize = 32;
/// Jobs under way, one of a page: fewer than the seats of a model, so that requests have theirs.
const UNDER_WAY: usize = 2;

/// The jobs of a server.
#[derive(Default)]
pub struct Jobs(Mutex<Book>);

#[derive(Default)]
struct Book {
    begun: u64,
    /// Its keys are secret: who does not know them cannot tell the numbers of jobs.
    hash: RandomState,
    /// The oldest first.
    jobs: VecDeque<Arc<Job>>,
}

struct Job {
    number: u64,
    /// The page that may see and end it; who knows the number may where this process began it.
    owner: Option<Page>,
    ticket: Arc<Ticket>,
    done: AtomicUsize,
    total: AtomicUsize,
    /// From the beginning to the end of its work; a job that was cancelled still works until it asks.
    works: AtomicBool,
    state: Mutex<State>,
}

enum State {
    Waiting,
    Running,
    Done(Value),
    Failed(String),
    Cancelled,
}

/// How far a job is, for the job itself: it reports here, and asks whether to go on.
pub struct Progress<'a> {
    job: &'a Job,
    work: &'a Work<'a>,
}

/// How far a job is, as its askers see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobStatus {
    /// Steps that are done.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
    /// `waiting`, `running`, `done`, `failed` or `cancelled`.
    pub state: &'static str,
    /// What came out, where it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// Why it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Progress<'_> {
    /// Whether to stop: asked before every step.
    #[must_use]
    pub fn stop(&self) -> bool {
        self.work.stop()
    }

    /// Reports that so many steps of so many are done.
    pub fn report(&self, done: usize, total: usize) {
        self.job.done.store(done, Relaxed);
        self.job.total.store(total, Relaxed);
    }
}

impl Jobs {
    /// Begins a job with the model of that name: its number. The work is done beside the requests, and is expected to
    /// return soon after [`Progress::stop`] says so; what it returns then is not kept.
    ///
    /// # Errors
    /// In words: where there is no such model, or too many jobs are under way.
    pub fn begin(
        &self,
        app: &App,
        model: &str,
        work: impl FnOnce(&Progress) -> std::result::Result<Value, String> + Send + 'static,
    ) -> std::result::Result<u64, String> {
        self.start(app, model, None, work).map_err(|error| error.to_string())
    }

    pub(crate) fn start(
        &self,
        app: &App,
        model: &str,
        owner: Option<Page>,
        work: impl FnOnce(&Progress) -> std::result::Result<Value, String> + Send + 'static,
    ) -> Result<u64> {
        let desk = &app.model(model)?.desk;
        let mut book = self.book();
        book.make_place(owner.as_ref())?;
        let number = book.number();
        let ticket = desk.ticket(Some(Instant::now() + app.limits().job_time));
        let job = Arc::new(Job {
            number,
            owner,
            ticket: Arc::clone(&ticket),
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            works: AtomicBool::new(false),
            state: Mutex::new(State::Waiting),
        });
        let page = Page::new(None, &format!("job {number}"));
        let entered = Arc::clone(&job);
        desk.enter(page, ticket, move |work_at| entered.run(&work_at, work))?;
        book.jobs.push_back(job);
        Ok(number)
    }

    /// How far a job is; none where there is no such job.
    #[must_use]
    pub fn status(&self, number: u64) -> Option<JobStatus> {
        self.find(number).map(|job| job.status())
    }

    /// Ends a job before its time; how far it was, or none where there is no such job.
    pub fn cancel(&self, number: u64) -> Option<JobStatus> {
        self.find(number).map(|job| job.cancel())
    }

    /// [`status`](Self::status) of a job that this page may see.
    pub(crate) fn status_for(&self, page: &Page, number: u64) -> Option<JobStatus> {
        self.find(number).filter(|job| job.is_open_to(page)).map(|job| job.status())
    }

    /// [`cancel`](Self::cancel) of a job that this page may see.
    pub(crate) fn cancel_for(&self, page: &Page, number: u64) -> Option<JobStatus> {
        self.find(number).filter(|job| job.is_open_to(page)).map(|job| job.cancel())
    }

    fn find(&self, number: u64) -> Option<Arc<Job>> {
        self.book().jobs.iter().find(|job| job.number == number).cloned()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Makes place for one more, of this page where it has one.
    fn make_place(&mut self, owner: Option<&Page>) -> Result<()> {
        let slow_down = |reason: String| {
            Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "slow_down", format!("Slowdown: {reason}")))
        };
        let under_way: Vec<&Arc<Job>> = self.jobs.iter().filter(|job| job.is_under_way()).collect();
        if owner.is_some() && under_way.iter().any(|job| job.owner.as_ref() == owner) {
            return slow_down("a job of this page is under way; cancel it or wait".to_owned());
        }
        if under_way.len() >= UNDER_WAY {
            return slow_down(format!("{UNDER_WAY} jobs are under way; wait"));
        }
        if self.jobs.len() >= REMEMBERED {
            let over = self.jobs.iter().position(|job| job.is_over());
            over.and_then(|place| self.jobs.remove(place));
        }
        Ok(())
    }

    /// The number of the next job: a hash of how many there were, of 53 bits so that JavaScript can hold it.
    fn number(&mut self) -> u64 {
        self.begun += 1;
        self.hash.hash_one(self.begun) >> 11
    }
}

impl Job {
    fn run(&self, work_at: &Work, work: impl FnOnce(&Progress) -> std::result::Result<Value, String>) {
        let mut state = self.state();
        if !matches!(*state, State::Waiting) {
            return;
        }
        *state = State::Running;
        drop(state);
        self.works.store(true, Relaxed);
        let end = Unfinished(self);
        let result = work(&Progress { job: self, work: work_at });
        std::mem::forget(end);
        self.works.store(false, Relaxed);
        let mut state = self.state();
        // Who was cancelled stays so, whatever came out.
        if matches!(*state, State::Running) {
            *state = match (work_at.check(), result) {
                (Err(_), _) if self.ticket.is_late() => {
                    State::Failed("the time of the job is over: send fewer or shorter lines".to_owned())
                }
                (Err(_), _) => State::Cancelled,
                (Ok(()), Ok(value)) => State::Done(value),
                (Ok(()), Err(reason)) => State::Failed(reason),
            };
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) -> JobStatus {
        self.ticket.go();
        let mut state = self.state();
        if matches!(*state, State::Waiting | State::Running) {
            *state = State::Cancelled;
        }
        drop(state);
        self.status()
    }

    fn is_open_to(&self, page: &Page) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == page)
    }

    fn is_under_way(&self) -> bool {
        !self.is_over() || self.works.load(Relaxed)
    }

    fn is_over(&self) -> bool {
        !matches!(*self.state(), State::Waiting | State::Running)
    }

    fn status(&self) -> JobStatus {
        let state = self.state();
        let (name, result, error) = match &*state {
            State::Waiting => ("waiting", None, None),
            State::Running => ("running", None, None),
            State::Done(value) => ("done", Some(value.clone()), None),
            State::Failed(reason) => ("failed", None, Some(reason.clone())),
            State::Cancelled => ("cancelled", None, None),
        };
        JobStatus {
            done: self.done.load(Relaxed),
            total: self.total.load(Relaxed),
            state: name,
            result,
            error,
        }
    }
}

/// A job that has panicked, unless it is forgotten.
struct Unfinished<'a>(&'a Job);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.works.store(false, Relaxed);
        *self.0.state() = State::Failed("the computation failed; the log says why".to_owned());
    }
}
