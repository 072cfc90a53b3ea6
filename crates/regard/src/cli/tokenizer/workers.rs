//! Threads that take turns.

use std::sync::mpsc::{Receiver, SyncSender};

use anyhow::{Context, Result};

/// Threads that are given work in turn and asked for results in turn, so that the results are in the order of the work.
pub(super) struct Workers<W, R> {
    channels: Vec<(SyncSender<W>, Receiver<R>)>,
    given: usize,
    taken: usize,
}

impl<W, R> Workers<W, R> {
    /// Threads by their channels: where work goes in, and where the result of each comes out.
    pub(super) fn new(channels: impl IntoIterator<Item = (SyncSender<W>, Receiver<R>)>) -> Self {
        Self { channels: channels.into_iter().collect(), given: 0, taken: 0 }
    }

    /// Results that have not been taken.
    pub(super) fn busy(&self) -> usize {
        self.given - self.taken
    }

    /// Gives work to the next thread. Each keeps one piece beside the one that it works on.
    pub(super) fn give(&mut self, work: W) -> Result<()> {
        let (sender, _) = &self.channels[self.given % self.channels.len()];
        self.given += 1;
        sender.send(work).ok().context("a thread has ended")
    }

    /// The result of the work that was given first, once it is there.
    pub(super) fn take(&mut self) -> Result<R> {
        let (_, receiver) = &self.channels[self.taken % self.channels.len()];
        self.taken += 1;
        receiver.recv().context("a thread has ended")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_work() {
        std::thread::scope(|scope| {
            let mut workers = Workers::new((0..3).map(|_| {
                let (give, given) = sync_channel::<u64>(1);
                let (done, results) = sync_channel(1);
                scope.spawn(move || {
                    for number in given {
                        std::thread::sleep(std::time::Duration::from_millis(number % 4));
                        if done.send(number * number).is_err() {
                            return;
                        }
                    }
                });
                (give, results)
            }));
            let mut results = Vec::new();
            for number in 0..40 {
                if workers.busy() == 6 {
                    results.push(workers.take().unwrap());
                }
                workers.give(number).unwrap();
            }
            while workers.busy() > 0 {
                results.push(workers.take().unwrap());
            }
            assert_eq!(results, (0..40).map(|number| number * number).collect::<Vec<_>>());
        });
    }
}
