//! The sentence pairs of an audit and their sampled steps.

use regard_decode::Translator;
use regard_tensor::random;
use regard_text::special_tokens::{EOS, EOS_TOKEN, UNK};

use super::AuditOptions;
use super::words::{function_words, is_word};
use crate::draws::shuffle;

/// Longer pairs are left out: a step of an audit costs as much as a hundred translations of it.
pub(super) const MOST_TOKENS: usize = 100;

/// A pair as the model reads it.
pub(super) struct Pair {
    /// Which line it is.
    pub(super) line: usize,
    /// The source's tokens, the end symbol left out.
    pub(super) source_labels: Vec<String>,
    /// Source ids, the end symbol included.
    pub(super) source: Vec<u32>,
    /// Target ids, the end symbol included.
    pub(super) target: Vec<u32>,
    /// What the target's tokens are called.
    pub(super) labels: Vec<String>,
    /// Whether each belongs to a content word; the end symbol does not.
    pub(super) content: Vec<bool>,
    /// Sampled steps, in order.
    pub(super) steps: Vec<usize>,
    /// Those of them at which another attention is searched for.
    pub(super) adversaries: Vec<usize>,
}

/// Spreads the steps at which another attention is searched for evenly over all sampled ones.
pub(super) fn choose_adversaries(pairs: &mut [Pair], options: &AuditOptions) {
    let all: usize = pairs.iter().map(|pair| pair.steps.len()).sum();
    let wanted = options.adversary_steps.min(all);
    let mut number = 0;
    for pair in pairs {
        for &step in &pair.steps {
            // Step number n is chosen where n · wanted / all is a new whole number.
            if (number + 1) * wanted / all.max(1) > number * wanted / all.max(1) {
                pair.adversaries.push(step);
            }
            number += 1;
        }
    }
}

/// Target tokens of a line, and the word of each.
struct Target {
    tokens: Vec<String>,
    words: Vec<Option<String>>,
}

/// The first pairs that can be used, and how many lines before them could not.
pub(super) fn sample(
    translator: &Translator,
    lines: &[(String, String)],
    options: &AuditOptions,
) -> (Vec<Pair>, usize) {
    let targets: Vec<Target> = lines.iter().map(|(_, target)| read_target(translator, target)).collect();
    let all_words = targets.iter().flat_map(words_once);
    let function = function_words(all_words);
    let (mut pairs, mut left_out) = (Vec::new(), 0);
    for (line, ((source, _), target)) in lines.iter().zip(&targets).enumerate() {
        if pairs.len() == options.sentences {
            break;
        }
        let tokens: Vec<String> = translator.tokenize(source).into_iter().map(|token| token.text).collect();
        let fits = |count: usize| (1..=MOST_TOKENS).contains(&count);
        if !fits(tokens.len()) || !fits(target.tokens.len()) {
            left_out += 1;
            continue;
        }
        let with_end = |mut ids: Vec<u32>| {
            ids.push(EOS);
            ids
        };
        let is_content = |word: &Option<String>| {
            word.as_deref().is_some_and(|word| is_word(word) && !function.contains(word))
        };
        let mut labels = target.tokens.clone();
        labels.push(EOS_TOKEN.to_owned());
        let content = target.words.iter().map(is_content).chain([false]).collect();
        let mut steps: Vec<usize> = (0..labels.len()).collect();
        shuffle(&mut steps, random::mix(options.seed, line as u64));
        steps.truncate(options.steps_per_sentence);
        steps.sort_unstable();
        pairs.push(Pair {
            line,
            source: with_end(translator.source().ids(&tokens)),
            source_labels: tokens,
            target: with_end(translator.target().ids(&target.tokens)),
            labels,
            content,
            steps,
            adversaries: Vec::new(),
        });
    }
    (pairs, left_out)
}

/// The share of source tokens that are unknown.
pub(super) fn unknown_share(pairs: &[Pair]) -> f64 {
    let words = || pairs.iter().flat_map(|pair| pair.source.split_last().map_or(&[][..], |(_, words)| words));
    words().filter(|&&id| id == UNK).count() as f64 / words().count().max(1) as f64
}

fn read_target(translator: &Translator, line: &str) -> Target {
    let pipeline = translator.target();
    let tokens = pipeline.tokenize(line);
    let numbers = pipeline.words_of(&tokens);
    let word = |number: &Option<usize>| {
        let number = (*number)?;
        let pieces: Vec<&str> = tokens
            .iter()
            .zip(&numbers)
            .filter(|(_, of)| **of == Some(number))
            .map(|(t, _)| t.as_str())
            .collect();
        Some(pipeline.detokenize(&pieces))
    };
    let words = numbers.iter().map(word).collect();
    Target { tokens, words }
}

/// The words of a target, each once where it stands.
fn words_once(target: &Target) -> impl Iterator<Item = &str> {
    let mut before = None;
    target.words.iter().filter_map(move |word| {
        let word = word.as_deref()?;
        (before.replace(word) != Some(word)).then_some(word)
    })
}
