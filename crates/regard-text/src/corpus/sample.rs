//! A part of a text that is spread evenly over it.

/// Keeps at most so many of the items that pass, every n-th of them: n doubles whenever the limit is reached, so at least
/// half of the limit is kept where there are enough.
///
/// ```
/// use regard_text::EvenSample;
/// let mut sample = EvenSample::new(4);
/// (0..11).for_each(|item| sample.push(item));
/// assert_eq!(sample.into_items(), [0, 4, 8]);
/// ```
#[derive(Clone, Debug)]
pub struct EvenSample<T> {
    limit: usize,
    stride: usize,
    seen: usize,
    items: Vec<T>,
}

impl<T> EvenSample<T> {
    /// An empty sample of at most so many items; at least one is kept.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), stride: 1, seen: 0, items: Vec::new() }
    }

    /// The next item.
    pub fn push(&mut self, item: T) {
        if self.seen.is_multiple_of(self.stride) {
            if self.items.len() == self.limit {
                self.thin();
            }
            if self.seen.is_multiple_of(self.stride) {
                self.items.push(item);
            }
        }
        self.seen += 1;
    }

    fn thin(&mut self) {
        let mut place = 0;
        self.items.retain(|_| {
            place += 1;
            place % 2 == 1
        });
        self.stride = self.stride.saturating_mul(2);
    }

    /// What was kept, in order.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}
