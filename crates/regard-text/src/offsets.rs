//! Where a changed text comes from: stretches of it and the bytes of the text before the change.

use std::ops::Range;

/// A stretch of the changed text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stretch {
    /// Its bytes.
    changed: Range<usize>,
    /// The bytes that it was made of.
    original: Range<usize>,
    /// Whether the two are the same byte for byte, so that a part of one is a part of the other.
    verbatim: bool,
}

/// Maps bytes of a changed text to bytes of the original.
///
/// Stretches are in order and cover the changed text, but for what was put in (a space between tokens).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OffsetMap(Vec<Stretch>);

impl OffsetMap {
    /// Nothing was changed in a text of so many bytes.
    pub(crate) fn identity(length: usize) -> Self {
        let mut map = Self::default();
        map.push(0..length, 0..length, true);
        map
    }

    /// Adds the next stretch.
    pub(crate) fn push(&mut self, changed: Range<usize>, original: Range<usize>, verbatim: bool) {
        if changed.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last)
                if verbatim
                    && last.verbatim
                    && last.changed.end == changed.start
                    && last.original.end == original.start =>
            {
                last.changed.end = changed.end;
                last.original.end = original.end;
            }
            _ => self.0.push(Stretch { changed, original, verbatim }),
        }
    }

    /// The bytes of the original that a range of the changed text comes from. A part of a stretch that was changed as a
    /// whole comes from all of its original; what was put in is an empty range behind what is before it.
    pub(crate) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let first = self.0.partition_point(|stretch| stretch.changed.end <= range.start);
        let behind = self.0.partition_point(|stretch| stretch.changed.start < range.end).max(first);
        let touched = self.0.get(first..behind).unwrap_or_default();
        let (Some(head), Some(tail)) = (touched.first(), touched.last()) else {
            let end = self.0.get(..first).and_then(<[_]>::last).map_or(0, |stretch| stretch.original.end);
            return end..end;
        };
        let inside = |stretch: &Stretch, at: usize| at.saturating_sub(stretch.changed.start);
        let start =
            if head.verbatim { head.original.start + inside(head, range.start) } else { head.original.start };
        let end = if tail.verbatim {
            tail.original.start + inside(tail, range.end.min(tail.changed.end))
        } else {
            tail.original.end
        };
        start..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_whole_parts_and_gaps() {
        // "ab" + U+00E9 made of three bytes + a space put in + "cd".
        let mut map = OffsetMap::default();
        map.push(0..1, 0..1, true);
        map.push(1..2, 1..2, true);
        map.push(2..4, 2..5, false);
        map.push(5..7, 6..8, true);
        assert_eq!(map.0.len(), 3);
        for (range, original) in [
            (0..1, 0..1),
            (1..4, 1..5),
            (3..4, 2..5),
            (4..5, 5..5),
            (3..6, 2..7),
            (6..7, 7..8),
            (7..7, 8..8),
            (0..0, 0..0),
        ] {
            assert_eq!(map.original(&range), original, "{range:?}");
        }
        assert_eq!(OffsetMap::identity(3).original(&(1..3)), 1..3);
        assert_eq!(OffsetMap::identity(0).original(&(0..0)), 0..0);
    }
}
