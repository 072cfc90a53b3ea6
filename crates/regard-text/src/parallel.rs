//! Work in pieces, on several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The results of `work(0)` to `work(tasks - 1)`, in this order. One thread works without another being started.
pub(crate) fn map<T: Send>(threads: usize, tasks: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(tasks);
    if threads <= 1 {
        return (0..tasks).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(tasks));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let task = next.fetch_add(1, Ordering::Relaxed);
                    if task >= tasks {
                        break;
                    }
                    let result = work(task);
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((task, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|&(task, _)| task);
    results.into_iter().map(|(_, result)| result).collect()
}
