//! Storage that is used again: the lists, boxes and shared nodes that a pass makes and drops by the thousand.
//!
//! Each thread has shelves of its own for what it dropped, one for each type and size, so that nothing is locked. What one
//! thread makes and another one drops is no loss: no more of a kind waits on a thread than it had in use at once (what others
//! dropped for it counts as in use), and no more than 16 MiB; a thread that only drops keeps nothing.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// No more bytes of a kind wait on a thread, whatever it had in use.
const MOST_BYTES: usize = 1 << 24;

/// The least capacity of a list that holds anything.
const LEAST: usize = 4;

/// The shelves of a thread: for each type of storage a `Vec<Shelf<_>>` by size class.
type Shelves = HashMap<TypeId, Box<dyn Any>, BuildHasherDefault<AsItIs>>;

thread_local! {
    static SHELVES: RefCell<Shelves> = const { RefCell::new(HashMap::with_hasher(BuildHasherDefault::new())) };
}

/// The hash of what is a hash already.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, bits: u64) {
        self.0 ^= bits;
    }
}

/// Empty storage of one type and size class.
struct Shelf<X> {
    waiting: Vec<X>,
    /// What was taken and not given back.
    in_use: usize,
    most_in_use: usize,
}

impl<X> Default for Shelf<X> {
    fn default() -> Self {
        Self { waiting: Vec::new(), in_use: 0, most_in_use: 0 }
    }
}

impl<X> Shelf<X> {
    fn take(&mut self) -> Option<X> {
        self.in_use += 1;
        self.most_in_use = self.most_in_use.max(self.in_use);
        self.waiting.pop()
    }

    /// Keeps a piece of so many bytes.
    fn give(&mut self, empty: X, bytes: usize) {
        self.in_use = self.in_use.saturating_sub(1);
        if self.waiting.len() < self.most_in_use.min(MOST_BYTES / bytes.max(1)) {
            self.waiting.push(empty);
        }
    }
}

/// Lets `work` use a shelf; `None` where the thread is about to end. What is dropped meanwhile must be empty: the drop of a
/// value may need the shelves itself.
fn on_shelf<X: 'static, R>(class: usize, work: impl FnOnce(&mut Shelf<X>) -> R) -> Option<R> {
    let find = |shelves: &RefCell<Shelves>| {
        let mut shelves = shelves.borrow_mut();
        let of_type = shelves.entry(TypeId::of::<X>()).or_insert_with(|| Box::new(Vec::<Shelf<X>>::new()));
        let of_type = of_type.downcast_mut::<Vec<Shelf<X>>>()?;
        if of_type.len() <= class {
            of_type.resize_with(class + 1, Shelf::default);
        }
        Some(work(&mut of_type[class]))
    };
    SHELVES.try_with(find).ok().flatten()
}

/// An empty vector with room for `least` items.
pub(crate) fn take_vec<T: 'static>(least: usize) -> Vec<T> {
    if least == 0 {
        return Vec::new();
    }
    let capacity = least.next_power_of_two().max(LEAST);
    let waiting = on_shelf(capacity.ilog2() as usize, Shelf::take).flatten();
    waiting.unwrap_or_else(|| Vec::with_capacity(capacity))
}

/// Hands a vector back for the next [`take_vec`].
pub(crate) fn give_vec<T: 'static>(mut items: Vec<T>) {
    items.clear();
    if items.capacity() > 0 {
        let bytes = items.capacity() * size_of::<T>();
        on_shelf(items.capacity().ilog2() as usize, |shelf| shelf.give(items, bytes));
    }
}

/// A box with a value in it.
pub(crate) fn boxed<X: 'static>(value: X) -> Box<Option<X>> {
    let mut place = on_shelf(0, Shelf::take).flatten().unwrap_or_else(|| Box::new(None));
    *place = Some(value);
    place
}

/// Takes the value out of a box and hands the box back for the next [`boxed`].
pub(crate) fn unboxed<X: 'static>(mut place: Box<Option<X>>) -> Option<X> {
    let value = place.take();
    on_shelf(0, |shelf| shelf.give(place, size_of::<Option<X>>()));
    value
}

/// A list whose storage is used again when it is dropped.
///
/// ```
/// use regard_tensor::List;
/// let mut squares: List<usize> = (0..3).map(|i| i * i).collect();
/// squares.push(9);
/// assert_eq!(squares[..], [0, 1, 4, 9]);
/// ```
pub struct List<T: 'static> {
    items: Vec<T>,
}

impl<T> List<T> {
    /// An empty list with room for `count` items.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self { items: take_vec(count) }
    }

    /// Puts an item at the end.
    pub fn push(&mut self, item: T) {
        if self.items.len() == self.items.capacity() {
            self.reserve(1);
        }
        self.items.push(item);
    }

    /// Takes the last item out.
    pub fn pop(&mut self) -> Option<T> {
        self.items.pop()
    }

    /// Takes all items out.
    pub fn clear(&mut self) {
        self.items.clear();
    }

    fn reserve(&mut self, more: usize) {
        let wanted = self.items.len() + more;
        if wanted > self.items.capacity() {
            let mut larger = take_vec(wanted);
            larger.append(&mut self.items);
            give_vec(std::mem::replace(&mut self.items, larger));
        }
    }
}

impl<T: Clone> List<T> {
    /// The items so many times over.
    #[must_use]
    pub fn repeat(&self, times: usize) -> Self {
        let mut repeated = Self::with_capacity(times * self.len());
        (0..times).for_each(|_| repeated.extend(self.iter().cloned()));
        repeated
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        give_vec(std::mem::take(&mut self.items));
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self { items: Vec::new() }
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<T> Extend<T> for List<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let items = items.into_iter();
        let (least, most) = items.size_hint();
        self.reserve(least);
        if most == Some(least) {
            self.items.extend(items);
        } else {
            items.for_each(|item| self.push(item));
        }
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut list = Self::default();
        list.extend(items);
        list
    }
}

impl<T: Clone> From<&[T]> for List<T> {
    fn from(items: &[T]) -> Self {
        items.iter().cloned().collect()
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut List<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// The items of a [`List`], one after the other.
pub struct IntoIter<T: 'static> {
    /// The last one first.
    left: List<T>,
}

impl<T> IntoIterator for List<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(mut self) -> IntoIter<T> {
        self.reverse();
        IntoIter { left: self }
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left.pop()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl<T: Clone> Clone for List<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for List<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.items.fmt(f)
    }
}

/// A value with several holders, as an `Arc` has them, whose node is used again when the last one drops it.
pub(crate) struct Shared<X: 'static> {
    /// Both are there until the drop.
    node: Option<Arc<Option<X>>>,
}

impl<X> Shared<X> {
    pub(crate) fn new(value: X) -> Self {
        let mut node = on_shelf(0, Shelf::take).flatten().unwrap_or_else(|| Arc::new(None));
        match Arc::get_mut(&mut node) {
            Some(place) => *place = Some(value),
            None => node = Arc::new(Some(value)),
        }
        Self { node: Some(node) }
    }

    /// The value for writing, where nobody else holds it.
    pub(crate) fn get_mut(&mut self) -> Option<&mut X> {
        Arc::get_mut(self.node.as_mut()?)?.as_mut()
    }

    /// The value for writing; one that others hold too is copied first.
    pub(crate) fn make_mut(&mut self) -> &mut X
    where
        X: Clone,
    {
        if self.get_mut().is_none() {
            *self = Self::new((**self).clone());
        }
        self.get_mut().unwrap_or_else(|| unreachable!("a fresh node has one holder"))
    }
}

impl<X> Deref for Shared<X> {
    type Target = X;

    fn deref(&self) -> &X {
        let value = self.node.as_deref().and_then(Option::as_ref);
        value.unwrap_or_else(|| unreachable!("a shared value is there until the drop"))
    }
}

impl<X> Clone for Shared<X> {
    fn clone(&self) -> Self {
        Self { node: self.node.clone() }
    }
}

impl<X> Drop for Shared<X> {
    fn drop(&mut self) {
        let Some(mut node) = self.node.take() else { return };
        if let Some(place) = Arc::get_mut(&mut node) {
            *place = None;
            on_shelf(0, |shelf| shelf.give(node, size_of::<Option<X>>()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{List, Shared, boxed, give_vec, take_vec, unboxed};

    #[test]
    fn storage_comes_back() {
        struct Mine([u64; 3]);
        let list: List<Mine> = (0..5).map(|i| Mine([i; 3])).collect();
        let address = list.as_ptr();
        drop(list);
        let again: List<Mine> = (0..6).map(|i| Mine([i; 3])).collect();
        assert_eq!((again.as_ptr(), again[5].0), (address, [5; 3]));

        let place = boxed(Mine([1; 3]));
        let address = std::ptr::from_ref(&*place);
        assert_eq!(unboxed(place).map(|mine| mine.0), Some([1; 3]));
        assert_eq!(std::ptr::from_ref(&*boxed(Mine([2; 3]))), address);

        let mut shared = Shared::new(Mine([1; 3]));
        let other = shared.clone();
        assert!(shared.get_mut().is_none());
        let address = std::ptr::from_ref(&*shared);
        drop((shared, other));
        let again = Shared::new(Mine([2; 3]));
        assert_eq!((std::ptr::from_ref(&*again), again.0), (address, [2; 3]));
    }

    #[test]
    fn a_shared_value_is_copied_for_writing() {
        let mut one = Shared::new(List::from(&[1, 2][..]));
        let other = one.clone();
        one.make_mut().push(3);
        assert_eq!((&one[..], &other[..]), (&[1, 2, 3][..], &[1, 2][..]));
    }

    #[test]
    fn lists_hold_what_they_are_given() {
        let mut list: List<String> = (0..100).filter(|i| i % 3 == 0).map(|i| i.to_string()).collect();
        assert_eq!((list.len(), list.pop().as_deref()), (34, Some("99")));
        assert_eq!(list.clone(), list);
        assert_eq!(List::from(&[1, 2][..]).repeat(2)[..], [1, 2, 1, 2]);
        assert_eq!(list.clone().into_iter().map(|item| item.len()).sum::<usize>(), 4 + 29 * 2);
        list.clear();
        assert!(list.is_empty());
    }

    #[test]
    fn a_value_may_hold_others_of_its_kind() {
        let nested: List<List<List<u8>>> =
            (0..3).map(|_| (0..3).map(|_| List::from(&[7][..])).collect()).collect();
        assert_eq!(nested[2][1][..], [7]);
        let shared: List<Shared<List<u8>>> = (0..3).map(|_| Shared::new(List::from(&[7][..]))).collect();
        assert_eq!(shared[2][..], [7]);
    }

    #[test]
    fn a_thread_that_only_drops_keeps_nothing() {
        struct Foreign;
        let made: Vec<_> = (0..10).map(|_| Shared::new(Foreign)).collect();
        let waiting =
            || super::on_shelf::<std::sync::Arc<Option<Foreign>>, _>(0, |shelf| shelf.waiting.len());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                drop(made);
                assert_eq!(waiting(), Some(0));
                // What it makes itself comes back.
                drop([Shared::new(Foreign), Shared::new(Foreign)]);
                assert_eq!(waiting(), Some(2));
            });
        });
        assert_eq!(waiting(), Some(0));
    }

    #[test]
    fn no_more_waits_than_sixteen_mebibytes() {
        let pieces: Vec<Vec<u64>> = (0..40).map(|_| take_vec(1 << 16)).collect();
        pieces.into_iter().for_each(give_vec);
        assert_eq!(super::on_shelf::<Vec<u64>, _>(16, |shelf| shelf.waiting.len()), Some(32));
    }

    #[test]
    fn nothing_takes_no_storage() {
        give_vec(take_vec::<u8>(0));
        assert_eq!(List::<u8>::default().items.capacity(), 0);
    }
}
