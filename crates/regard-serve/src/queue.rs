//! Tasks that wait, a lane for each page: the pages take turns, and each has one task under way at most. The pages of an
//! address have only so many, so that others find a seat.

use std::collections::{HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::audience::Page;
use crate::desk::{Ticket, Work};
use crate::error::{ApiError, Result};
use axum::http::StatusCode;

/// Something to compute for a page.
pub(crate) struct Task {
    pub(crate) page: Page,
    pub(crate) ticket: Arc<Ticket>,
    /// Whether it takes turns with the others under way.
    pub(crate) in_turns: bool,
    pub(crate) work: Box<dyn FnOnce(Work) + Send>,
}

/// Tasks of all pages.
pub(crate) struct Queue {
    most: usize,
    most_of_a_page: usize,
    /// Tasks that the pages of one address may have under way.
    seats_of_an_address: usize,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// The page whose turn it is comes first; no lane is empty.
    lanes: VecDeque<(Page, VecDeque<Task>)>,
    /// Pages with a task under way.
    busy: HashSet<Page>,
    closed: bool,
}

impl Queue {
    pub(crate) fn new(most: usize, most_of_a_page: usize, seats_of_an_address: usize) -> Self {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        Self { most, most_of_a_page, seats_of_an_address, waiting, changed }
    }

    /// Tasks that wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().lanes.iter().map(|(_, lane)| lane.len()).sum()
    }

    /// Adds a task.
    ///
    /// # Errors
    /// 503 where too many wait, 429 where too many of this page do.
    pub(crate) fn push(&self, task: Task) -> Result<()> {
        let mut waiting = self.lock();
        // Nobody waits for these any more.
        waiting.lanes.iter_mut().for_each(|(_, lane)| lane.retain(|task| !task.ticket.is_gone()));
        waiting.lanes.retain(|(_, lane)| !lane.is_empty());
        if waiting.lanes.iter().map(|(_, lane)| lane.len()).sum::<usize>() >= self.most {
            let reason = format!("{} requests wait for this model: ask again later", self.most);
            return Err(ApiError::busy(reason));
        }
        match waiting.lanes.iter_mut().find(|(page, _)| *page == task.page) {
            Some((_, lane)) if lane.len() >= self.most_of_a_page => {
                let reason = format!("Slowdown: {} requests of this page wait already", self.most_of_a_page);
                return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "slow_down", reason));
            }
            Some((_, lane)) => lane.push_back(task),
            None => waiting.lanes.push_back((task.page.clone(), VecDeque::from([task]))),
        }
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next task of a page that has none under way, at an address that may have one more; `None` once the queue
    /// is closed. Who takes it says [`done`](Self::done).
    pub(crate) fn next(&self) -> Option<Task> {
        let mut waiting = self.lock();
        loop {
            if waiting.closed {
                return None;
            }
            if let Some(task) = waiting.take(self.seats_of_an_address) {
                return Some(task);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The page's task is over.
    pub(crate) fn done(&self, page: &Page) {
        self.lock().busy.remove(page);
        self.changed.notify_one();
    }

    /// Nobody is given a task any more.
    pub(crate) fn close(&self) {
        let mut waiting = self.lock();
        waiting.closed = true;
        waiting.lanes.clear();
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self, seats_of_an_address: usize) -> Option<Task> {
        let under_way =
            |address: IpAddr| self.busy.iter().filter(|page| page.address() == Some(address)).count();
        let is_free = |page: &Page| {
            let has_seat = page.address().is_none_or(|address| under_way(address) < seats_of_an_address);
            has_seat && !self.busy.contains(page)
        };
        let place = self.lanes.iter().position(|(page, _)| is_free(page))?;
        let (page, mut lane) = self.lanes.remove(place)?;
        let task = lane.pop_front()?;
        self.busy.insert(page.clone());
        if !lane.is_empty() {
            self.lanes.push_back((page, lane));
        }
        Some(task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(page: &str) -> Task {
        Task { page: Page::new(None, page), ticket: Arc::default(), in_turns: true, work: Box::new(|_| ()) }
    }

    #[test]
    fn pages_take_turns_and_have_one_task_each() {
        let queue = Queue::new(4, 3, 2);
        for page in ["a", "a", "a", "b"] {
            queue.push(task(page)).unwrap();
        }
        assert_eq!(queue.len(), 4);
        assert!(queue.push(task("c")).unwrap_err().to_string().contains("4 requests wait"));
        let first = queue.next().unwrap();
        assert_eq!(first.page, Page::new(None, "a"));
        assert_eq!(queue.next().unwrap().page, Page::new(None, "b"), "a has one under way");
        queue.done(&first.page);
        assert_eq!(queue.next().unwrap().page, Page::new(None, "a"));
        queue.push(task("a")).unwrap();
        queue.push(task("a")).unwrap();
        let refused = queue.push(task("a")).unwrap_err().to_string();
        assert!(refused.contains("3 requests of this page"), "{refused}");
        queue.close();
        assert!(queue.next().is_none());
    }

    #[test]
    fn an_address_leaves_seats_to_others() {
        let queue = Queue::new(9, 9, 2);
        let (one, other) = (IpAddr::from([192, 0, 2, 3]), IpAddr::from([192, 0, 2, 5]));
        let at = |address, page| Task { page: Page::new(Some(address), page), ..task("") };
        for page in ["a", "b", "c"] {
            queue.push(at(one, page)).unwrap();
        }
        queue.push(at(other, "d")).unwrap();
        let taken: Vec<Page> = (0..3).map(|_| queue.next().unwrap().page).collect();
        let expected = [(one, "a"), (one, "b"), (other, "d")];
        assert_eq!(taken, expected.map(|(address, page)| Page::new(Some(address), page)));
        queue.done(&taken[1]);
        assert_eq!(queue.next().unwrap().page, Page::new(Some(one), "c"));
    }

    #[test]
    fn what_nobody_waits_for_makes_place() {
        let queue = Queue::new(1, 1, 1);
        let gone = task("a");
        gone.ticket.go();
        queue.push(gone).unwrap();
        queue.push(task("b")).unwrap();
        assert_eq!(queue.next().unwrap().page, Page::new(None, "b"));
    }
}
