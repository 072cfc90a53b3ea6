//! Buffers that are used again: training asks for the same sizes at every step, and fresh memory costs page faults.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::recycle;

/// Buffers up to this length are kept by the thread that drops them.
const SMALL: usize = 1024;

/// Four size classes for each power of two.
const CLASSES: usize = 4 * usize::BITS as usize;

/// What buffers are made of: numbers, and words of several small numbers.
pub trait Pooled: Copy + Default + Debug + Send + Sync + 'static {
    /// The process's free buffers of this type.
    fn free_lists() -> &'static FreeLists<Self>;
}

/// The free buffers of one element type. Of buffers that came from here, in use or waiting, there are at most an eighth more
/// bytes than were ever in use at once, whatever sizes the work goes through. Work that comes again may need more, as its sizes are not all in use at once:
/// where it asks for what was freed, so much more may be there from then on, up to half more than was ever in use.
#[derive(Debug)]
pub struct FreeLists<T> {
    lists: Mutex<Lists<T>>,
}

#[derive(Debug)]
struct Lists<T> {
    /// By the number of the size class: buffers of at least that capacity.
    free: [FreeList<T>; CLASSES],
    /// Bytes that wait.
    waiting: usize,
    /// Bytes that may be there.
    allowed: usize,
    /// Bytes that were taken and not given back.
    in_use: usize,
    /// The largest `in_use` so far.
    most_in_use: usize,
    /// Counts what is given, to know what has waited longest.
    clock: u64,
}

#[derive(Debug)]
struct FreeList<T> {
    buffers: Vec<Vec<T>>,
    /// Buffers that were freed because too much waited.
    freed: usize,
    /// The clock when a buffer was last given.
    given: u64,
}

impl<T: Pooled> FreeLists<T> {
    /// Empty lists.
    #[must_use]
    pub const fn new() -> Self {
        let free = [const { FreeList { buffers: Vec::new(), freed: 0, given: 0 } }; CLASSES];
        let lists = Lists { free, waiting: 0, allowed: 0, in_use: 0, most_in_use: 0, clock: 0 };
        Self { lists: Mutex::new(lists) }
    }

    /// A buffer for `len` elements: the smallest that waits and is at most twice as large as it must be, or a fresh one.
    fn take(&self, len: usize) -> Vec<T> {
        let buffer = self.locked().take(len);
        // Fresh memory comes zeroed from the system, so asking for zeros costs less than writing them.
        buffer.unwrap_or_else(|| vec![T::default(); class_above(len)])
    }

    fn give(&self, buffer: Vec<T>) {
        // What is freed is freed after the lock.
        let _freed = self.locked().give(buffer);
    }

    fn locked(&self) -> MutexGuard<'_, Lists<T>> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Lists<T> {
    fn take(&mut self, len: usize) -> Option<Vec<T>> {
        let least = class_above(len);
        let found =
            self.free[number(least)..=number(2 * least)].iter_mut().find_map(|list| list.buffers.pop());
        self.waiting -= found.as_ref().map_or(0, bytes);
        let size = found.as_ref().map_or(least * size_of::<T>(), bytes);
        self.in_use += size;
        self.most_in_use = self.most_in_use.max(self.in_use);
        if found.is_none() && self.free[number(least)].freed > 0 {
            self.free[number(least)].freed -= 1;
            self.allowed += size;
        }
        let [least, most] = allowed(self.most_in_use);
        self.allowed = self.allowed.clamp(least, most);
        found
    }

    /// Keeps a buffer, and returns those that have waited longest and are too much.
    fn give(&mut self, buffer: Vec<T>) -> Vec<Vec<T>> {
        self.in_use = self.in_use.saturating_sub(bytes(&buffer));
        self.waiting += bytes(&buffer);
        self.clock += 1;
        let list = &mut self.free[number(class_below(buffer.capacity()))];
        list.buffers.push(buffer);
        list.given = self.clock;
        let mut freed = Vec::new();
        while self.in_use + self.waiting > self.allowed {
            let kept = self.free.iter_mut().filter(|list| !list.buffers.is_empty());
            let Some(list) = kept.min_by_key(|list| list.given) else { break };
            freed.extend(list.buffers.pop());
            list.freed += 1;
            self.waiting -= freed.last().map_or(0, bytes);
        }
        freed
    }
}

/// How many bytes may be there at first and in the end, where so many were in use at once.
fn allowed(most_in_use: usize) -> [usize; 2] {
    [most_in_use + most_in_use / 8, most_in_use + most_in_use / 2]
}

fn bytes<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity() * size_of::<T>()
}

impl<T: Pooled> Default for FreeLists<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The smallest size class that holds `len`: classes are 4, 5, 6 and 7 times a power of two.
fn class_above(len: usize) -> usize {
    let step = step(len);
    len.div_ceil(step) * step
}

/// The largest size class within `capacity`.
fn class_below(capacity: usize) -> usize {
    let step = step(capacity);
    capacity / step * step
}

/// The number of a size class.
fn number(class: usize) -> usize {
    let step = step(class);
    4 * step.ilog2() as usize + class / step
}

/// The distance of the size classes around `len`: a quarter of the power of two below it.
fn step(len: usize) -> usize {
    1 << len.max(4).ilog2().saturating_sub(2)
}

/// A buffer of `len` elements whose values are unspecified (old results, or zeros): for what is written before it is
/// read.
#[must_use]
pub fn take<T: Pooled>(len: usize) -> Vec<T> {
    let mut buffer = if len <= SMALL { recycle::take_vec(len) } else { T::free_lists().take(len) };
    buffer.resize(len, T::default());
    buffer
}

/// A buffer of `len` zeros.
#[must_use]
pub fn take_zeroed<T: Pooled>(len: usize) -> Vec<T> {
    let mut buffer = take(len);
    buffer.fill(T::default());
    buffer
}

/// Hands a buffer back for the next [`take`].
pub fn give<T: Pooled>(buffer: Vec<T>) {
    if buffer.capacity() <= SMALL { recycle::give_vec(buffer) } else { T::free_lists().give(buffer) }
}

#[cfg(test)]
mod tests {
    use super::{FreeLists, allowed, class_above, class_below, give, number, take, take_zeroed};

    #[test]
    fn classes_hold_what_they_are_asked_for() {
        for len in [1, 4, 5, 7, 1024, 1025, 1281, 5000, 1 << 20, (1 << 20) + 1] {
            let class = class_above(len);
            assert!(class >= len && class <= len + len / 4 + 1, "{len}: {class}");
            assert_eq!(class_below(class), class);
            assert_eq!(number(class_above(class + 1)), number(class) + 1);
            assert!(class_below(len) <= len && class_above(class_below(len)) <= len);
        }
    }

    #[test]
    fn a_buffer_comes_back() {
        let lists = FreeLists::<f32>::new();
        let buffer = lists.take(5000);
        let address = buffer.as_ptr();
        lists.give(buffer);
        let again = lists.take(4900);
        assert_eq!(again.as_ptr(), address);
        lists.give(again);
        // A buffer is lent for half of its size, and not for less.
        let half = lists.take(2600);
        assert_eq!(half.as_ptr(), address);
        lists.give(half);
        let other = lists.take(2000);
        assert_ne!(other.as_ptr(), address);
    }

    #[test]
    fn no_more_waits_than_is_allowed() {
        let lists = FreeLists::<f32>::new();
        // Two buffers at a time, of ever other sizes.
        for len in (2000..200_000).step_by(5000) {
            let pair = [lists.take(len), lists.take(len)];
            for buffer in pair {
                lists.give(buffer);
            }
            let lists = lists.locked();
            assert_eq!(lists.in_use, 0);
            assert!(lists.waiting <= allowed(lists.most_in_use)[1]);
            assert!(lists.most_in_use <= 2 * 2 * 4 * class_above(len));
            let counted: usize = lists.free.iter().flat_map(|list| &list.buffers).map(super::bytes).sum();
            assert_eq!(counted, lists.waiting);
        }
        // What has waited longest has gone.
        let lists = lists.locked();
        assert!(lists.free.iter().flat_map(|list| &list.buffers).all(|buffer| buffer.capacity() > 100_000));
    }

    #[test]
    fn work_that_comes_again_finds_its_buffers() {
        let lists = FreeLists::<f32>::new();
        // One at a time, and together more than the largest.
        let misses = |len: usize| {
            let found = lists.locked().take(len);
            let missed = found.is_none();
            lists.give(found.unwrap_or_else(|| vec![0.0; class_above(len)]));
            usize::from(missed)
        };
        let rounds: Vec<usize> = (0..6).map(|_| [4000, 9000].into_iter().map(misses).sum()).collect();
        assert!(rounds[1] > 0 && rounds[4..] == [0, 0], "{rounds:?}");
        let lists = lists.locked();
        assert!(lists.waiting > lists.most_in_use && lists.waiting <= allowed(lists.most_in_use)[1]);
    }

    #[test]
    fn what_never_was_taken_is_freed_where_nothing_was() {
        let lists = FreeLists::<f64>::new();
        lists.give(Vec::with_capacity(4096));
        assert!(lists.locked().free.iter().all(|list| list.buffers.is_empty()));
    }

    #[test]
    fn lengths_are_exact_and_zeros_are_zeros() {
        for len in [0, 3, 1023, 1024, 5000, 5001, 6000] {
            let mut buffer = take::<f64>(len);
            assert_eq!(buffer.len(), len);
            buffer.fill(3.0);
            give(buffer);
            assert!(take_zeroed::<f64>(len).iter().all(|&x| x == 0.0));
        }
    }

    #[test]
    fn threads_share_it() {
        std::thread::scope(|scope| {
            for id in 0..4 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let mut buffer = take::<f32>(2000 + 13 * round);
                        buffer.fill(id as f32);
                        assert!(buffer.iter().all(|x| x.to_bits() == (id as f32).to_bits()));
                        give(buffer);
                    }
                });
            }
        });
    }
}
