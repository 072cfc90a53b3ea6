//! The worker threads behind [`Threads`](super::Threads).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Spins of a waiting thread before it sleeps: about 40 µs on current processors.
const SPINS: usize = 1500;

/// Worker threads and the slot through which they get work.
#[derive(Debug)]
pub(super) struct Workers {
    slot: Arc<Slot>,
    handles: Vec<JoinHandle<()>>,
}

/// One job at a time. `state` holds the job's number (high half) and how many of its tasks are unclaimed (low half).
///
/// A thread reads `state`, then the job's fields, then claims a task by compare-and-swap on `state`. If that succeeds,
/// the job still had an unclaimed task, so it was the current one during the reads and its caller still waits: the
/// fields belong together and the closure is alive.
#[derive(Debug, Default)]
struct Slot {
    state: AtomicU64,
    tasks: AtomicUsize,
    closure: AtomicPtr<()>,
    call: AtomicPtr<()>,
    /// Tasks of the current job that have not ended.
    pending: AtomicUsize,
    busy: AtomicBool,
    stop: AtomicBool,
    /// Threads that sleep, or are about to.
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

type Call = unsafe fn(*const (), usize);

/// Calls the closure at `f` with `i`.
///
/// # Safety
/// `f` must point at a live `F`.
unsafe fn call<F: Fn(usize) + Sync>(f: *const (), i: usize) {
    // SAFETY: the caller promises it.
    unsafe { (*f.cast::<F>())(i) }
}

impl Workers {
    /// Starts up to `n` workers; fewer if the system refuses.
    pub(super) fn spawn(n: usize) -> Self {
        let slot = Arc::new(Slot::default());
        let start = |i| {
            let slot = Arc::clone(&slot);
            Builder::new().name(format!("regard-{i}")).spawn(move || slot.work()).ok()
        };
        let handles = (1..=n).map_while(start).collect();
        Self { slot, handles }
    }

    /// Worker threads, the callers not counted.
    pub(super) fn count(&self) -> usize {
        self.handles.len()
    }

    /// Runs `f(0)` … `f(tasks - 1)`. False, with nothing run, if the pool is in use.
    pub(super) fn run<F: Fn(usize) + Sync>(&self, tasks: usize, f: &F) -> bool {
        let slot = &*self.slot;
        let Ok(count) = u32::try_from(tasks) else { return false };
        if slot.busy.swap(true, Acquire) {
            return false;
        }
        slot.tasks.store(tasks, Relaxed);
        slot.closure.store(std::ptr::from_ref(f).cast_mut().cast(), Relaxed);
        slot.call.store(call::<F> as *mut (), Relaxed);
        slot.pending.store(tasks, Relaxed);
        let job = (slot.state.load(Relaxed) >> 32).wrapping_add(1);
        slot.state.store(job << 32 | u64::from(count), SeqCst);
        slot.wake();
        while slot.claim_and_run() {}
        slot.wait_until(|| slot.pending.load(SeqCst) == 0);
        let panic = lock(&slot.panic).take();
        slot.busy.store(false, Release);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        true
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.slot.stop.store(true, SeqCst);
        self.slot.wake();
        for handle in self.handles.drain(..) {
            // A worker catches the panics of its tasks, so there is nothing to learn from the result.
            let _ = handle.join();
        }
    }
}

impl Slot {
    /// A worker's life.
    fn work(&self) {
        loop {
            self.wait_until(|| self.stop.load(SeqCst) || self.state.load(SeqCst) as u32 > 0);
            if self.stop.load(SeqCst) {
                return;
            }
            while self.claim_and_run() {}
        }
    }

    /// Takes the next task, if any is left, and runs it.
    fn claim_and_run(&self) -> bool {
        let mut state = self.state.load(Acquire);
        loop {
            let left = state as u32 as usize;
            if left == 0 {
                return false;
            }
            let tasks = self.tasks.load(Relaxed);
            let closure = self.closure.load(Relaxed);
            let call = self.call.load(Relaxed);
            // AcqRel: the reads above cannot move below the claim, nor the task's work above it.
            match self.state.compare_exchange_weak(state, state - 1, AcqRel, Acquire) {
                Ok(_) => {
                    self.run_task(closure, call, tasks - left);
                    return true;
                }
                Err(now) => state = now,
            }
        }
    }

    fn run_task(&self, closure: *const (), call: *mut (), task: usize) {
        // SAFETY: the claim succeeded, so `call` is the function that `run` stored beside `closure`, and `run` keeps
        // the closure alive until `pending` is 0, which this task still counts in.
        let run = || unsafe { std::mem::transmute::<*mut (), Call>(call)(closure, task) };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
            lock(&self.panic).get_or_insert(payload);
        }
        if self.pending.fetch_sub(1, SeqCst) == 1 {
            self.wake();
        }
    }

    /// Spins, then sleeps, until `ready`. What makes `ready` true must be stored `SeqCst` and followed by `wake`.
    fn wait_until(&self, ready: impl Fn() -> bool) {
        for _ in 0..SPINS {
            if ready() {
                return;
            }
            std::hint::spin_loop();
        }
        let mut guard = lock(&self.lock);
        self.sleepers.fetch_add(1, SeqCst);
        while !ready() {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, SeqCst);
    }

    /// Wakes all that sleep. A sleeper counts itself before it looks at `ready` and holds the lock until it sleeps, so
    /// none is missed.
    fn wake(&self) {
        if self.sleepers.load(SeqCst) > 0 {
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
