//! What the numbers say, and what they do not.

use super::rival_measures::{JSD, JSD_OVER_SEED, LOG_PROBABILITY, TVD, TVD_OVER_SEED};
use super::{Measure, RivalKind};

/// Fewer sentences are too few for a verdict.
pub(super) const FEWEST: usize = 20;

/// The strongest column has to do more than another by this total variation.
const MARGIN: f64 = 0.02;

/// A shuffle of the weights that moves the distribution by less leaves it alone, for the purposes of a verdict.
const MOVED: f64 = 0.1;

/// Words that are further from a model's than another seed's by less than this total variation are the same words.
const SAME: f64 = 0.05;

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
    let verdict = format!(
        "{word}: shuffling its weights moves the next-token distribution by a total variation of {:.3} [{:.3}, {:.3}], masking the \
         strongest column by {:.3} more than masking another one [{:.3}, {:.3}]; without any source it moves by {:.3}.",
        number(permutation.value),
        number(permutation.low),
        number(permutation.high),
        number(margin.value),
        number(margin.low),
        number(margin.high),
        number(source.value),
    );
    [Some(verdict), adversary(tests), uniform(tests)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// A measure of a rival.
fn of(tests: &[Measure], name: &str, kind: RivalKind) -> Option<(f64, f64)> {
    let test = tests.iter().find(|test| test.name == name && test.site == kind.name())?;
    Some((test.value?, test.baseline.unwrap_or(0.0)))
}

/// What a trained adversary says, where there is one: something only where it looks further away than another seed.
fn adversary(tests: &[Measure]) -> Option<String> {
    let (jsd, seeds_jsd) = of(tests, JSD, RivalKind::Adversary)?;
    let (tvd, seeds_tvd) = of(tests, TVD, RivalKind::Adversary)?;
    let looks_away = find(tests, JSD_OVER_SEED)?.low? > 0.0;
    let over_seed = find(tests, TVD_OVER_SEED)?;
    let says = match (over_seed.low?, over_seed.high?) {
        _ if !looks_away => "no further with 95 % confidence, so it says nothing about this attention",
        (_, high) if high < SAME => {
            "so another attention does as well, and this one is not the only account of the words"
        }
        (low, _) if low > 0.0 => "so it looks elsewhere, but does not say the same",
        _ => "so it looks elsewhere; whether it says the same is not decided by so few steps",
    };
    Some(format!(
        "A trained adversary's attention is {jsd:.3} nats away where another seed's is {seeds_jsd:.3}, its distribution {tvd:.3} in \
         total variation where that seed's is {seeds_tvd:.3}: {says}."
    ))
}

/// What the same recipe loses by frozen uniform attention, where it was trained. What two seeds differ by is no loss.
fn uniform(tests: &[Measure]) -> Option<String> {
    let (uniform, own) = of(tests, LOG_PROBABILITY, RivalKind::Uniform)?;
    let (seed, _) = of(tests, LOG_PROBABILITY, RivalKind::Seed)?;
    let says = if uniform < own.min(seed) - (own - seed).abs() {
        "learned attention is worth having here"
    } else {
        "between these models learned attention makes no more difference than a seed"
    };
    Some(format!(
        "With attention frozen uniform the same recipe gives a token of the reference {uniform:.3} nats of log p, this model \
         {own:.3}, another seed {seed:.3}: {says}."
    ))
}

/// What an audit does not show.
pub(super) fn limits(unknown: f64, rivals: bool) -> Vec<String> {
    let unknown = (unknown > 0.05).then(|| {
        let percent = 100.0 * unknown;
        format!("{percent:.0} % of the source tokens are unknown to the model: this may not be the text it was made for.")
    });
    let trained = rivals.then(|| {
        "One adversary, one uniform model and one other seed were trained: another lambda or seed may look further away or cost fewer \
         words. The adversary learned against every head, and is measured by the mean of the heads of the last layer."
            .to_owned()
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
    unknown.into_iter().chain(always.map(str::to_owned)).chain(trained).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(name: &str, site: RivalKind, value: f64, low: f64, baseline: f64) -> Measure {
        Measure {
            name: name.to_owned(),
            site: site.name().to_owned(),
            value: Some(value),
            low: Some(low),
            high: Some(2.0 * value - low),
            baseline: Some(baseline),
            steps: 80,
            definition: String::new(),
        }
    }

    /// An adversary that is no further than another seed says nothing, one that says something else little.
    #[test]
    fn another_seed_decides_what_an_adversary_says() {
        let says = |jsd_low: f64, (low, high): (f64, f64)| {
            let kind = RivalKind::Adversary;
            adversary(&[
                measure(JSD, kind, 0.3, 0.2, 0.1),
                measure(TVD, kind, 0.04, 0.02, 0.05),
                measure(JSD_OVER_SEED, kind, 0.2, jsd_low, 0.0),
                measure(TVD_OVER_SEED, kind, f64::midpoint(low, high), low, 0.0),
            ])
        };
        let ends = |jsd_low, tvd, end: &str| {
            let said = says(jsd_low, tvd).unwrap_or_default();
            assert!(
                said.contains("0.300 nats away where another seed's is 0.100, its distribution 0.040"),
                "{said}"
            );
            assert!(said.ends_with(end), "{said}");
        };
        ends(0.1, (-0.02, 0.0), "is not the only account of the words.");
        ends(0.1, (0.01, 0.03), "is not the only account of the words.");
        ends(0.1, (0.06, 0.1), "but does not say the same.");
        ends(0.1, (-0.1, 0.2), "is not decided by so few steps.");
        ends(-0.1, (-0.02, 0.0), "so it says nothing about this attention.");
        assert_eq!(adversary(&[]), None);
    }

    #[test]
    fn uniform_attention_loses_what_two_seeds_do_not() {
        let says = |of_uniform: f64| {
            uniform(&[
                measure(LOG_PROBABILITY, RivalKind::Uniform, of_uniform, -2.0, -1.0),
                measure(LOG_PROBABILITY, RivalKind::Seed, -1.25, -2.0, -1.0),
            ])
            .unwrap_or_default()
        };
        // The seeds differ by 0.25, the worse one has -1.25.
        assert!(says(-1.51).ends_with("uniform the same recipe gives a token of the reference -1.510 nats of log p, this model -1.000, another seed -1.250: learned attention is worth having here."));
        assert!(says(-1.49).ends_with("learned attention makes no more difference than a seed."));
    }
}
