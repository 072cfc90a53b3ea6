//! A small pool of compute threads, owned by whoever computes: there is no global pool.
//!
//! A training step forks and joins about a thousand times, so a fork must cost microseconds. The pool keeps one job
//! slot; threads claim task numbers from one atomic word, spin for a moment between jobs and then sleep. The thread
//! that calls takes part, so a sleeping worker delays nobody.
//!
//! Which thread runs a task is not fixed. Results are the same bits for any number of threads because a task writes
//! only what belongs to its number and sums nothing across tasks.

#![allow(unsafe_code, reason = "tasks on other threads borrow from the caller")]

#[cfg(feature = "threads")]
mod workers;

/// Work below about this many element operations belongs on the calling thread: a fork would cost more than it saves.
pub(crate) const SMALL_WORK: usize = 1 << 14;

/// A handle to a pool of compute threads; clones share the pool.
///
/// ```
/// use regard_tensor::Threads;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// let sum = AtomicUsize::new(0);
/// Threads::new(2).for_each(10, |i| { sum.fetch_add(i, Ordering::Relaxed); });
/// assert_eq!(sum.into_inner(), 45);
/// ```
#[derive(Clone, Debug)]
pub struct Threads {
    #[cfg(feature = "threads")]
    workers: Option<std::sync::Arc<workers::Workers>>,
}

impl Threads {
    /// A pool of `n` threads, the calling thread included (0 counts as 1). With one thread, or without the feature
    /// `threads`, everything runs inline. If the system grants fewer threads, the pool is smaller.
    #[must_use]
    pub fn new(n: usize) -> Self {
        #[cfg(feature = "threads")]
        {
            let workers = workers::Workers::spawn(n.saturating_sub(1));
            Self { workers: (workers.count() > 0).then(|| std::sync::Arc::new(workers)) }
        }
        #[cfg(not(feature = "threads"))]
        {
            let _ = n;
            Self::single()
        }
    }

    /// The calling thread alone.
    #[must_use]
    pub fn single() -> Self {
        Self {
            #[cfg(feature = "threads")]
            workers: None,
        }
    }

    /// As many threads as the process may use cores.
    #[must_use]
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The number of threads that work on a call, the calling one included.
    #[must_use]
    pub fn count(&self) -> usize {
        #[cfg(feature = "threads")]
        {
            1 + self.workers.as_ref().map_or(0, |w| w.count())
        }
        #[cfg(not(feature = "threads"))]
        {
            1
        }
    }

    /// Runs `f(0)` … `f(tasks - 1)`, each once, and returns when all have ended. A call from inside a task, or while
    /// another thread uses the pool, runs inline. A panic in a task is raised again here.
    pub fn for_each(&self, tasks: usize, f: impl Fn(usize) + Sync) {
        #[cfg(feature = "threads")]
        if tasks > 1
            && let Some(workers) = &self.workers
            && workers.run(tasks, &f)
        {
            return;
        }
        (0..tasks).for_each(f);
    }

    /// Runs `f(index, chunk)` for the chunks of `chunk_len` elements of `data` (the last may be shorter), each a task of
    /// its own: a chunk should hold enough work to be worth some microseconds.
    pub fn chunks_mut<T: Send>(&self, data: &mut [T], chunk_len: usize, f: impl Fn(usize, &mut [T]) + Sync) {
        let chunk_len = chunk_len.max(1);
        let shared = SharedMut::new(data);
        self.for_each(shared.len().div_ceil(chunk_len), |i| {
            let from = i * chunk_len;
            // SAFETY: chunk `i` is visited once, chunks do not overlap, and `data` is borrowed for the whole call.
            f(i, unsafe { shared.slice(from, chunk_len.min(shared.len() - from)) });
        });
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::single()
    }
}

/// A mutable slice that several tasks write in disjoint places.
pub(crate) struct SharedMut<'a, T> {
    start: *mut T,
    len: usize,
    lifetime: std::marker::PhantomData<&'a mut [T]>,
}

// SAFETY: it stands for `&mut [T]`, which is `Send` when `T` is; all access is through `slice`, whose caller keeps the
// parts disjoint.
unsafe impl<T: Send> Sync for SharedMut<'_, T> {}

impl<'a, T> SharedMut<'a, T> {
    /// Takes the slice for the lifetime of the value.
    pub(crate) fn new(data: &'a mut [T]) -> Self {
        Self { start: data.as_mut_ptr(), len: data.len(), lifetime: std::marker::PhantomData }
    }

    /// Elements in the whole slice.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address of element `at`, which must exist: all use of it is unsafe.
    pub(crate) fn ptr(&self, at: usize) -> *mut T {
        assert!(at < self.len);
        self.start.wrapping_add(at)
    }

    /// The part `from..from + len`.
    ///
    /// # Safety
    /// No other task may touch that part while the result lives.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn slice(&self, from: usize, len: usize) -> &mut [T] {
        assert!(from <= self.len && len <= self.len - from);
        // SAFETY: in bounds (checked above), and the caller promises that nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(from), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::Threads;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_task_runs_once() {
        for count in [1, 2, 3, 7] {
            let threads = Threads::new(count);
            for tasks in [0, 1, 2, 3, 17, 1000] {
                let runs: Vec<_> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
                threads.for_each(tasks, |i| _ = runs[i].fetch_add(1, Ordering::Relaxed));
                assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
            }
        }
    }

    #[test]
    fn many_short_jobs_in_a_row_and_after_a_sleep() {
        let (threads, sum) = (Threads::new(3), AtomicUsize::new(0));
        for round in 0..5000 {
            if round % 1000 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            threads.for_each(5, |i| _ = sum.fetch_add(i, Ordering::Relaxed));
        }
        assert_eq!(sum.into_inner(), 50_000);
    }

    #[test]
    fn chunks_are_cut_as_chunks_mut_does() {
        for count in [1, 2] {
            let mut data = vec![0; 103];
            Threads::new(count).chunks_mut(&mut data, 10, |i, chunk| {
                assert_eq!(chunk.len(), if i == 10 { 3 } else { 10 });
                chunk.fill(i);
            });
            assert!(data.iter().enumerate().all(|(at, &i)| i == at / 10));
            Threads::new(count).chunks_mut(&mut [0; 0], 0, |_, _| unreachable!("no chunks"));
        }
    }

    #[test]
    fn nested_and_concurrent_calls_end() {
        let (threads, sum) = (Threads::new(2), AtomicUsize::new(0));
        let add = |_| _ = sum.fetch_add(1, Ordering::Relaxed);
        threads.for_each(3, |_| threads.for_each(5, add));
        assert_eq!(sum.load(Ordering::Relaxed), 15);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..200).for_each(|_| threads.for_each(10, add)));
            }
        });
        assert_eq!(sum.into_inner(), 15 + 4 * 200 * 10);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_lives_on() {
        let threads = Threads::new(2);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            threads.for_each(8, |i| assert!(i != 5, "task five"));
        }));
        let payload = caught.expect_err("a task panicked");
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"task five"));
        let sum = AtomicUsize::new(0);
        threads.for_each(4, |i| _ = sum.fetch_add(i, Ordering::Relaxed));
        assert_eq!(sum.into_inner(), 6);
    }

    #[test]
    fn counts() {
        assert_eq!((Threads::single().count(), Threads::new(0).count(), Threads::new(1).count()), (1, 1, 1));
        assert_eq!(Threads::new(3).count(), if cfg!(feature = "threads") { 3 } else { 1 });
        assert!(Threads::all().count() >= 1);
    }
}
