//! One alignment out of two: that of an aligner that reads source to target, and that of one that reads target to source.
//!
//! The heuristics begin with the links that both have and add links that one of them has (Och and Ney 2003, 4.3; Koehn,
//! Och and Marcu 2003, <https://aclanthology.org/N03-1017>). Which are added depends on the order in which they are visited,
//! since each takes words that another would need; so a name here stands for the program whose order it is.

use super::links::Links;
use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Unbounded};

/// How two alignments become one. A word is free while it has no link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symmetrization {
    /// The links that both have.
    Intersection,
    /// The links that at least one has.
    Union,
    /// `grow-diag` of `fast_align`'s `atools`: the intersection; then, in passes over the rest of the union until one adds none,
    /// each link that touches a link in one of eight directions and of whose words one is free. Moses' `symal` has
    /// the same rule in another order, and so other links in some sentences.
    GrowDiag,
    /// `grow-diag-final` of `atools`: [`GrowDiag`](Self::GrowDiag), then each link of either alignment of whose words one is
    /// free.
    GrowDiagFinal,
    /// `grow-diag-final-and` of `atools`: [`GrowDiag`](Self::GrowDiag), then each link of either alignment of whose words both
    /// are free.
    GrowDiagFinalAnd,
    /// `grow-diagonal` of the alignment scripts of Zenkel et al. (2019, <https://arxiv.org/abs/1901.11359>): as
    /// [`GrowDiag`](Self::GrowDiag), but both words of a link must be free, which makes it far more careful.
    GrowDiagonal,
    /// `grow-diagonal-final` of the same scripts: [`GrowDiagonal`](Self::GrowDiagonal), then each link of either alignment of
    /// whose words both are free.
    GrowDiagonalFinal,
}

impl Symmetrization {
    /// Joins the links of two aligners, both as `(source, target)`. The result lies between intersection and union.
    ///
    /// ```
    /// use regard_eval::{Links, Symmetrization};
    /// let forward = Links::from([(0, 0), (1, 1), (2, 1)]);
    /// let reverse = Links::from([(0, 0), (1, 1), (3, 3)]);
    /// let both = Symmetrization::GrowDiag.combine(&forward, &reverse);
    /// assert_eq!(both, Links::from([(0, 0), (1, 1), (2, 1)]));
    /// ```
    #[must_use]
    pub fn combine(self, forward: &Links, reverse: &Links) -> Links {
        let union = forward | reverse;
        let mut growth = Growth::default();
        for link in forward & reverse {
            growth.add(link);
        }
        let last = match self {
            Self::Intersection => return growth.links,
            Self::Union => return union,
            Self::GrowDiag | Self::GrowDiagFinal | Self::GrowDiagFinalAnd => {
                growth.take_touching(&union);
                match self {
                    Self::GrowDiagFinal => Some(Free::Either),
                    Self::GrowDiagFinalAnd => Some(Free::Both),
                    _ => None,
                }
            }
            Self::GrowDiagonal | Self::GrowDiagonalFinal => {
                growth.spread(&union);
                (self == Self::GrowDiagonalFinal).then_some(Free::Both)
            }
        };
        if let Some(free) = last {
            growth.take_free(forward, free);
            growth.take_free(reverse, free);
        }
        growth.links
    }
}

/// Which words of a link must be free for it to be added.
#[derive(Clone, Copy)]
enum Free {
    Either,
    Both,
}

/// An alignment that grows, with the words that have a link.
#[derive(Default)]
struct Growth {
    links: Links,
    sources: BTreeSet<usize>,
    targets: BTreeSet<usize>,
}

impl Growth {
    fn add(&mut self, (source, target): (usize, usize)) {
        self.links.insert((source, target));
        self.sources.insert(source);
        self.targets.insert(target);
    }

    fn is_free(&self, (source, target): (usize, usize), free: Free) -> bool {
        let (source, target) = (!self.sources.contains(&source), !self.targets.contains(&target));
        match free {
            Free::Either => source || target,
            Free::Both => source && target,
        }
    }

    fn touches(&self, link: (usize, usize)) -> bool {
        let steps = (-1..=1).flat_map(|source| (-1..=1).map(move |target| (source, target)));
        steps.filter_map(|step| neighbour(link, step)).any(|next| self.links.contains(&next))
    }

    /// Passes over the links that are left, by source and then target, each seeing what those before it have added.
    fn take_touching(&mut self, union: &Links) {
        let mut left: Vec<_> = union.difference(&self.links).copied().collect();
        loop {
            let before = left.len();
            left.retain(|&link| {
                let taken = self.is_free(link, Free::Either) && self.touches(link);
                if taken {
                    self.add(link);
                }
                !taken
            });
            if left.len() == before {
                return;
            }
        }
    }

    /// Passes over the links that are there, by source and then target, those included that a pass adds ahead of itself; each
    /// takes its neighbours. Only those at the corners can have two free words. Their order is that in which the
    /// scripts' set of directions was iterated by the Python (before 3.8) that made the published alignments.
    fn spread(&mut self, union: &Links) {
        loop {
            let before = self.links.len();
            let mut at = self.links.first().copied();
            while let Some(link) = at {
                for step in [(-1, 1), (-1, -1), (1, -1), (1, 1)] {
                    let next = neighbour(link, step).filter(|next| union.contains(next));
                    if let Some(next) = next.filter(|&next| self.is_free(next, Free::Both)) {
                        self.add(next);
                    }
                }
                at = self.links.range((Excluded(link), Unbounded)).next().copied();
            }
            if self.links.len() == before {
                return;
            }
        }
    }

    fn take_free(&mut self, direction: &Links, free: Free) {
        for &link in direction {
            if self.is_free(link, free) {
                self.add(link);
            }
        }
    }
}

fn neighbour((source, target): (usize, usize), step: (isize, isize)) -> Option<(usize, usize)> {
    source.checked_add_signed(step.0).zip(target.checked_add_signed(step.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(
        method: Symmetrization,
        forward: &[(usize, usize)],
        reverse: &[(usize, usize)],
    ) -> Vec<(usize, usize)> {
        let [forward, reverse] = [forward, reverse].map(|links| links.iter().copied().collect());
        method.combine(&forward, &reverse).into_iter().collect()
    }

    #[test]
    fn what_each_step_adds() {
        // 1-1 is common, 2-1 touches it with one free word, 2-2 with two; 5-1 and 4-6 touch nothing.
        let forward = [(1, 1), (2, 1), (5, 1)];
        let reverse = [(1, 1), (2, 2), (4, 6)];
        let with = |more: &[(usize, usize)]| [[(1, 1)].as_slice(), more].concat();
        for (method, more) in [
            (Symmetrization::Intersection, [].as_slice()),
            (Symmetrization::Union, &[(2, 1), (2, 2), (4, 6), (5, 1)]),
            (Symmetrization::GrowDiag, &[(2, 1), (2, 2)]),
            (Symmetrization::GrowDiagFinal, &[(2, 1), (2, 2), (4, 6), (5, 1)]),
            (Symmetrization::GrowDiagFinalAnd, &[(2, 1), (2, 2), (4, 6)]),
            (Symmetrization::GrowDiagonal, &[(2, 2)]),
            (Symmetrization::GrowDiagonalFinal, &[(2, 2), (4, 6)]),
        ] {
            assert_eq!(combined(method, &forward, &reverse), with(more), "{method:?}");
        }
    }

    #[test]
    fn the_first_visited_takes_the_word() {
        // Two corners of 3-3 want source 2, two want target 4.
        let corners = [(3, 3), (2, 2), (2, 4), (4, 4)];
        assert_eq!(combined(Symmetrization::GrowDiagonal, &corners, &[(3, 3)]), [(2, 4), (3, 3)]);
        // Of two links that share both of their free words with others, the one with the smaller source is first.
        let forward = [(1, 1), (0, 2), (2, 2)];
        assert_eq!(combined(Symmetrization::GrowDiagonalFinal, &forward, &[(1, 1)]), [(0, 2), (1, 1)]);
        assert_eq!(combined(Symmetrization::GrowDiag, &forward, &[(1, 1)]), [(0, 2), (1, 1), (2, 2)]);
    }

    #[test]
    fn the_largest_positions() {
        let far = [(usize::MAX, usize::MAX), (usize::MAX - 1, usize::MAX - 1)];
        assert_eq!(combined(Symmetrization::GrowDiag, &far, &far[..1]), [far[1], far[0]]);
    }
}
