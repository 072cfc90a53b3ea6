//! What a word's absence changes.

use regard_model::Place;

use super::gradient::plain_vectors;
use super::integrated::unknown;
use super::subject::{Rows, Subject};
use super::words::{Vectors, WORDS};
use crate::error::Result;

/// log p minus log p with the word replaced by `<unk>`. Start and end symbols stay, and have 0.
pub(super) fn occlusion(subject: &Subject) -> Result<(Rows, Rows)> {
    let all = subject.log_probs(&subject.pair(), None)?.remove(0);
    let (source, target) = (unknown(subject.source), unknown(subject.target));
    let baseline = plain_vectors(&Subject { source: &source, target: &target, ..*subject })?;
    let table = |place: Place, count: usize| -> Result<Rows> {
        // Copy i of the pair lacks word i.
        let without = Vectors::changed(WORDS, |at, row, vector| {
            if at == place && row.position == row.sentence {
                let unknown = baseline.vector(place, row.position);
                vector.iter_mut().zip(unknown).for_each(|(value, unknown)| *value = *unknown);
            }
        });
        let lacking = subject.log_probs(&subject.copies(count), Some(&without))?;
        let change = |token: usize, word: usize| all[token] - lacking[word][token];
        Ok((0..all.len()).map(|token| (0..count).map(|word| change(token, word)).collect()).collect())
    };
    Ok((table(Place::SourceWords, subject.source.len())?, table(Place::TargetWords, subject.target.len())?))
}
