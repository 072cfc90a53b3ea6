//! What the numbers say, and what they do not.

use super::Measure;

/// Fewer sentences are too few for a verdict.
pub(super) const FEWEST: usize = 20;

/// The strongest column has to do more than another by this total variation.
const MARGIN: f64 = 0.02;

/// A shuffle of the weights that moves the distribution by less leaves it alone, for the purposes of a verdict.
const MOVED: f64 = 0.1;

/// A measure by its name.
pub(super) fn find<'a>(tests: &'a [Measure], name: &str) -> Option<&'a Measure> {
    tests.iter().find(|test| test.name == name)
}

/// The verdict: load-bearing, not load-bearing, or in between, with its numbers.
///
/// Load-bearing: shuffling the weights moves the distribution by a total variation of at least 0.1, and masking the strongest
/// column does more than masking another one by at least 0.02; both with 95 % confidence. Not load-bearing: shuffling moves it by less, with
/// the same confidence.
pub(super) fn verdict(tests: &[Measure], sentences: usize) -> String {
    if sentences < FEWEST {
        return format!("No verdict: {sentences} sentences are too few, at least {FEWEST} are needed");
    }
    let (Some(permutation), Some(margin), Some(source)) =
        (find(tests, "permutation"), find(tests, "strongest-over-random"), find(tests, "source-removed"))
    else {
        return "no steps, no verdict".to_owned();
    };
    let number = |value: Option<f64>| value.unwrap_or(0.0);
    let moves = number(permutation.low) >= MOVED;
    let points = number(margin.low) >= MARGIN;
    let word = match (moves, points) {
        (true, true) => "The attention is load-bearing",
        _ if number(permutation.high) < MOVED => "The attention is not load-bearing",
        (true, false) => "The attention is needed as a whole, but its strongest weight is not what matters",
        (false, _) => "The attention is partly load-bearing",
    };
    format!(
        "{word}: shuffling its weights moves the next-token distribution by a total variation of {:.3} [{:.3}, {:.3}], masking the \
         strongest column by {:.3} more than masking another one [{:.3}, {:.3}]; without any source it moves by {:.3}.",
        number(permutation.value),
        number(permutation.low),
        number(permutation.high),
        number(margin.value),
        number(margin.low),
        number(margin.high),
        number(source.value),
    )
}

/// What an audit does not show.
pub(super) fn limits(unknown: f64) -> Vec<String> {
    let unknown = (unknown > 0.05).then(|| {
        let percent = 100.0 * unknown;
        format!("{percent:.0} % of the source tokens are unknown to the model: this may not be the text it was made for.")
    });
    let always = [
        "Every step is judged under teacher forcing on the reference, one step at a time: what a change does to the rest of a \
         translation is not in these numbers, but for BLEU without a head.",
        "That a change of the attention changes the output shows that the attention is used, not that its picture is the reason for a word: \
         other attentions may give the same words (see the adversary).",
        "Gradients, occlusion and norms are explanations with faults of their own; agreement with them is no proof.",
        "Encoder states mix words: a weight on a position is not a weight on its word alone.",
        "The thresholds of the verdict (0.1, and 0.02 more than another column) are a convention of this program.",
    ];
    unknown.into_iter().chain(always.map(str::to_owned)).collect()
}
