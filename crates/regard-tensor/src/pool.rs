//! Buffers that are used again: training asks for the same sizes at every step, and fresh memory costs page faults.

use crate::element::Number;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Bytes that wait in the free lists at most, for each element type; what is given beyond is freed.
pub const MOST_BYTES: usize = 1 << 30;

/// Smaller buffers go to the allocator, which is as fast for them.
const LEAST_LEN: usize = 1024;

/// The free buffers of one element type.
#[derive(Debug)]
pub struct FreeLists<T> {
    lists: Mutex<Lists<T>>,
}

#[derive(Debug)]
struct Lists<T> {
    /// Size class → buffers of at least that capacity.
    free: BTreeMap<usize, Vec<Vec<T>>>,
    bytes: usize,
}

impl<T: Number> FreeLists<T> {
    /// Empty lists.
    #[must_use]
    pub const fn new() -> Self {
        Self { lists: Mutex::new(Lists { free: BTreeMap::new(), bytes: 0 }) }
    }

    fn take(&self, len: usize) -> Option<Vec<T>> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = lists.free.get_mut(&class_above(len))?.pop()?;
        lists.bytes -= buffer.capacity() * size_of::<T>();
        Some(buffer)
    }

    fn give(&self, buffer: Vec<T>) {
        let bytes = buffer.capacity() * size_of::<T>();
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.bytes + bytes <= MOST_BYTES {
            lists.bytes += bytes;
            lists.free.entry(class_below(buffer.capacity())).or_default().push(buffer);
        }
    }

    /// Bytes that wait in the lists.
    pub fn bytes(&self) -> usize {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}

impl<T: Number> Default for FreeLists<T> {
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

/// The distance of the size classes around `len`: a quarter of the power of two below it.
fn step(len: usize) -> usize {
    1 << len.max(4).ilog2().saturating_sub(2)
}

/// A buffer of `len` elements whose values are unspecified (old results, or zeros): for what is written before it is
/// read.
#[must_use]
pub fn take<T: Number>(len: usize) -> Vec<T> {
    let pooled = if len < LEAST_LEN { None } else { T::free_lists().take(len) };
    // Fresh memory comes zeroed from the system, so asking for zeros costs less than writing them.
    let mut buffer =
        pooled.unwrap_or_else(|| vec![T::ZERO; if len < LEAST_LEN { len } else { class_above(len) }]);
    buffer.resize(len, T::ZERO);
    buffer
}

/// A buffer of `len` zeros.
#[must_use]
pub fn take_zeroed<T: Number>(len: usize) -> Vec<T> {
    let mut buffer = take(len);
    buffer.fill(T::ZERO);
    buffer
}

/// Hands a buffer back for the next [`take`].
pub fn give<T: Number>(buffer: Vec<T>) {
    if buffer.capacity() >= LEAST_LEN {
        T::free_lists().give(buffer);
    }
}
