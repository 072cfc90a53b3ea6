//! Two files of links, judged against each other and joined.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regard_eval::{AlignmentCounts, AlignmentFile, Symmetrization, alignment_counts, transpose};
use regard_fuzz::parts;

const WAYS: [Symmetrization; 7] = [
    Symmetrization::Intersection,
    Symmetrization::Union,
    Symmetrization::GrowDiag,
    Symmetrization::GrowDiagFinal,
    Symmetrization::GrowDiagFinalAnd,
    Symmetrization::GrowDiagonal,
    Symmetrization::GrowDiagonalFinal,
];

fn read(bytes: &[u8], base: Option<usize>) -> Option<AlignmentFile> {
    let text = String::from_utf8_lossy(bytes);
    AlignmentFile::parse("fuzz", &text.split('\n').collect::<Vec<_>>(), base).ok()
}

fuzz_target!(|data: &[u8]| {
    let [base, links, gold] = parts(data);
    let base = [None, Some(0), Some(1)][base.len() % 3];
    let (Some(mut links), Some(mut gold)) = (read(links, base), read(gold, base)) else { return };
    links.extend_to(gold.sentences.len());
    gold.extend_to(links.sentences.len());
    for (one, other) in links.links().iter().zip(&gold.links()).take(100) {
        let union = one | other;
        for way in WAYS {
            let joined = way.combine(one, other);
            assert!(joined.is_subset(&union) && joined.is_superset(&(one & other)));
            assert_eq!(transpose(&transpose(&joined)), joined);
        }
    }
    if let Ok(counts) = alignment_counts(&links.links(), &gold.sentences) {
        let score = counts.into_iter().sum::<AlignmentCounts>().score();
        for share in [score.aer, score.precision, score.recall, score.f1] {
            assert!((0.0..=1.0).contains(&share), "{score:?}");
        }
    }
});
