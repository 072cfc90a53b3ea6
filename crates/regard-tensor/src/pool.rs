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
    #[cfg(test)]
    fn bytes(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use super::{FreeLists, MOST_BYTES, class_above, class_below, give, take, take_zeroed};

    #[test]
    fn classes_hold_what_they_are_asked_for() {
        for len in [1, 4, 5, 7, 1024, 1025, 1281, 5000, 1 << 20, (1 << 20) + 1] {
            let class = class_above(len);
            assert!(class >= len && class <= len + len / 4 + 1, "{len}: {class}");
            assert_eq!(class_below(class), class);
            assert!(class_below(len) <= len && class_above(class_below(len)) <= len);
        }
    }

    #[test]
    fn a_buffer_comes_back() {
        let lists = FreeLists::<f32>::new();
        assert!(lists.take(5000).is_none());
        let buffer = vec![7.0; class_above(5000)];
        let (address, bytes) = (buffer.as_ptr(), buffer.capacity() * 4);
        lists.give(buffer);
        assert_eq!(lists.bytes(), bytes);
        let again = lists.take(4900).expect("same class");
        assert_eq!((again.as_ptr(), lists.bytes()), (address, 0));
    }

    #[test]
    fn what_is_too_much_is_freed() {
        let lists = FreeLists::<f64>::new();
        // Reserved, never touched: costs no memory.
        lists.give(Vec::with_capacity(MOST_BYTES / 8 + 1));
        assert_eq!(lists.bytes(), 0);
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
