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
/// Of these, those that all pages of one address may have at once.
const SEATS_OF_AN_ADDRESS: usize = SEATS / 2;

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
    /// None for what computes beside those who take turns: a job, and what writes an answer.
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

    /// Whether its time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Why the task should end.
    fn reason(&self) -> Option<ApiError> {
        if self.stopping.load(Relaxed) {
            return Some(ApiError::busy("the server stops"));
        }
        if self.is_gone() {
            return Some(ApiError::busy("cancelled"));
        }
        self.is_late().then(|| {
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

    /// From here on the others have all the turns.
    fn leave(&mut self) {
        self.turn = None;
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
        let queue = Arc::new(Queue::new(limits.waiting, limits.waiting_of_a_page, SEATS_OF_AN_ADDRESS));
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

    /// Does some work for a page in its turns, then writes the answer beside the turns of the others, and waits for it. Where
    /// the waiting is given up, so is the work; writing does not begin then.
    ///
    /// # Errors
    /// Those of the work and of the writing; 503 and 429 where there is too much to do, or where it takes too long.
    pub(crate) async fn run<T, A: Send + 'static>(
        &self,
        page: Page,
        work: impl FnOnce(&Work) -> Result<T> + Send + 'static,
        write: impl FnOnce(T) -> Result<A> + Send + 'static,
    ) -> Result<A> {
        let deadline = Instant::now() + self.limits.time;
        let ticket = self.ticket(Some(deadline));
        let _gone = GoneOnDrop(Arc::clone(&ticket));
        let (give, wait) = oneshot::channel();
        let work = Box::new(move |mut work_at: Work| {
            let wanted = |work_at: &Work| work_at.ticket.reason().map_or(Ok(()), Err);
            let result = wanted(&work_at).and_then(|()| work(&work_at));
            let result = work_at.check().and(result);
            work_at.leave();
            let result = result.and_then(|done| wanted(&work_at).and_then(|()| write(done)));
            let result = result.and_then(|answer| wanted(&work_at).map(|()| answer));
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
        work: impl FnOnce(Work) + Send + 'static,
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
        let _ = catch_unwind(AssertUnwindSafe(|| work(work_at)));
        queue.done(&page);
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn desk() -> Desk {
        Desk::open(&Limits::default(), &Arc::default()).unwrap()
    }

    /// Twelve pages of one address compute without end; a page of another one still has every fifth turn.
    #[tokio::test]
    async fn short_work_is_not_behind_the_seats() {
        let (desk, turns, begun) =
            (Arc::new(desk()), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let heavy = (0..12).map(|number| {
            let (desk, turns, begun) = (Arc::clone(&desk), Arc::clone(&turns), Arc::clone(&begun));
            let page = Page::new(Some(IpAddr::from([192, 0, 2, 3])), &number.to_string());
            tokio::spawn(async move {
                let work = move |work: &Work| {
                    begun.fetch_add(1, Relaxed);
                    while !work.stop() {
                        turns.fetch_add(1, Relaxed);
                        thread::yield_now();
                    }
                    Ok(())
                };
                desk.run(page, work, Ok).await
            })
        });
        let heavy: Vec<_> = heavy.collect();
        while begun.load(Relaxed) < SEATS_OF_AN_ADDRESS {
            tokio::task::yield_now().await;
        }
        let small = move |work: &Work| {
            let before = turns.load(Relaxed);
            for _ in 0..7 {
                assert!(!work.stop());
            }
            Ok(turns.load(Relaxed) - before)
        };
        let others = desk.run(Page::new(Some(IpAddr::from([192, 0, 2, 5])), ""), small, Ok).await.unwrap();
        assert!(others <= 7 * SEATS_OF_AN_ADDRESS, "{others}");
        assert_eq!(begun.load(Relaxed), SEATS_OF_AN_ADDRESS);
        assert_eq!(desk.waiting(), 12 - SEATS_OF_AN_ADDRESS);
        heavy.iter().for_each(tokio::task::JoinHandle::abort);
    }

    /// What is written takes no turn, and is not written for who has gone.
    #[tokio::test]
    async fn answers_are_written_beside_the_turns() {
        let desk = Arc::new(desk());
        let (begun, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let slow = {
            let (desk, begun, over) = (Arc::clone(&desk), Arc::clone(&begun), Arc::clone(&over));
            let write = move |()| {
                begun.store(true, Relaxed);
                while !over.load(Relaxed) {
                    thread::yield_now();
                }
                Ok("written")
            };
            tokio::spawn(async move { desk.run(Page::new(None, "a"), |_| Ok(()), write).await })
        };
        while !begun.load(Relaxed) {
            tokio::task::yield_now().await;
        }
        let turns = |work: &Work| Ok((0..3).filter(|_| !work.stop()).count());
        assert_eq!(desk.run(Page::new(None, "b"), turns, Ok).await.unwrap(), 3);
        over.store(true, Relaxed);
        assert_eq!(slow.await.unwrap().unwrap(), "written");
        let written = Arc::new(Mutex::new(false));
        let flag = Arc::clone(&written);
        let gone = |work: &Work| {
            work.ticket.go();
            Ok(())
        };
        let write = move |()| {
            *flag.lock().unwrap() = true;
            Ok(())
        };
        assert!(
            desk.run(Page::new(None, "c"), gone, write).await.unwrap_err().to_string().contains("cancelled")
        );
        assert!(!*written.lock().unwrap());
    }
}
