//! Who computes: of several threads one at a time, each in its turn.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// The threads that want to compute, in the order of their turns: the first one does.
#[derive(Default)]
pub(crate) struct Turns {
    order: Mutex<VecDeque<ThreadId>>,
    moved: Condvar,
}

/// The right to compute. It belongs to the thread that took it, and is given back when it goes out of scope.
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    thread: ThreadId,
}

impl Turns {
    /// Waits for the turn of this thread, which must not have one already.
    pub(crate) fn take(&self) -> Turn<'_> {
        let thread = thread::current().id();
        let mut order = self.lock();
        order.push_back(thread);
        drop(self.wait(order, thread));
        Turn { turns: self, thread }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<ThreadId>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        mut order: MutexGuard<'a, VecDeque<ThreadId>>,
        thread: ThreadId,
    ) -> MutexGuard<'a, VecDeque<ThreadId>> {
        while order.front() != Some(&thread) {
            order = self.moved.wait(order).unwrap_or_else(PoisonError::into_inner);
        }
        order
    }
}

impl Turn<'_> {
    /// Lets the others have their turns and waits for the next one. Other threads that help with the computation may call
    /// it too: they pass nothing on.
    pub(crate) fn pass(&self) {
        if thread::current().id() != self.thread {
            return;
        }
        let mut order = self.turns.lock();
        if order.len() > 1 {
            order.rotate_left(1);
            self.turns.moved.notify_all();
            drop(self.turns.wait(order, self.thread));
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().retain(|&thread| thread != self.thread);
        self.turns.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_turns() {
        let (turns, log) = (Turns::default(), Mutex::new(Vec::new()));
        let first = turns.take();
        thread::scope(|scope| {
            for name in ["a", "b"] {
                let (turns, log) = (&turns, &log);
                scope.spawn(move || {
                    let turn = turns.take();
                    for _ in 0..3 {
                        log.lock().unwrap().push(name);
                        turn.pass();
                    }
                });
                while turns.lock().len() < if name == "a" { 2 } else { 3 } {
                    thread::yield_now();
                }
            }
            assert!(log.lock().unwrap().is_empty(), "the first one computes");
            drop(first);
        });
        assert_eq!(*log.lock().unwrap(), ["a", "b", "a", "b", "a", "b"]);
        assert!(turns.lock().is_empty());
    }
}
