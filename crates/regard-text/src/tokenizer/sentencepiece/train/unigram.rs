//! Unigram training: from too many pieces to few, by expectation maximisation and pruning.
//!
//! Kudo, "Subword Regularization", ACL 2018, section 3.2; the M-step is that of a sparse prior, exp(digamma), after Liang
//! and Klein, "Structured Bayesian Nonparametric Models with Variational Inference", ACL tutorial 2007. Sums are made in
//! f64, in shards whose number does not depend on the threads.

use std::collections::HashSet;

use super::super::double_array::DoubleArray;
use super::corpus::Corpus;
use super::{Scored, SentencePieceProgress, seed};
use crate::parallel;

/// Parts of the text whose sums are made apart.
const SHARDS: usize = 16;
/// Rounds of expectation maximisation between two prunings.
const SUB_ITERATIONS: usize = 2;
/// What a pruning leaves.
const SHRINKING: f64 = 0.75;
/// Pruning ends at this many times the vocabulary; the best pieces of these are taken.
const SURPLUS: f64 = 1.1;
/// Pieces that are expected less often go.
const MIN_EXPECTED: f64 = 0.5;
/// How much less than the worst piece an unknown character scores.
const UNKNOWN_PENALTY: f64 = 10.0;
/// The difference of scores between characters that must have one though none was learned.
const CHARACTER_STEP: f64 = 0.0001;

type Piece = (String, f64);

/// Pieces with their scores, and how to find them.
struct Model {
    pieces: Vec<Piece>,
    trie: DoubleArray,
    unknown_score: f64,
}

/// A piece at a place of a text, in bytes; no id for an unknown character.
struct Edge {
    start: usize,
    end: usize,
    id: Option<usize>,
    score: f64,
}

/// The learned pieces, best first: at most `goal`.
pub(super) fn learn(
    corpus: &Corpus,
    goal: usize,
    threads: usize,
    progress: &mut dyn FnMut(SentencePieceProgress),
) -> Vec<Scored> {
    let texts = corpus.texts();
    let wanted = (goal as f64 * SURPLUS) as usize;
    let seeds = seed::seeds(corpus);
    let total: f64 = seeds.iter().map(|&(_, covered)| covered as f64).sum();
    let log_share = |(piece, covered): (String, u64)| (piece, (covered as f64).ln() - total.ln());
    let mut model = Model::new(seeds.into_iter().map(log_share).collect());
    loop {
        for _ in 0..SUB_ITERATIONS {
            let expected = expectations(&model, &texts, threads);
            model = Model::new(maximise(model.pieces, &expected));
        }
        progress(SentencePieceProgress { pieces: model.pieces.len(), goal });
        if model.pieces.len() <= wanted {
            return finish(model, corpus, goal);
        }
        let kept = prune(&model, &texts, wanted, threads);
        // Where nothing can be spared, the best pieces are taken as they are.
        if kept.len() == model.pieces.len() {
            return finish(model, corpus, goal);
        }
        model = Model::new(kept);
    }
}

impl Model {
    fn new(pieces: Vec<Piece>) -> Self {
        let mut keys: Vec<(&[u8], u32)> =
            (0..).zip(&pieces).map(|(id, (piece, _))| (piece.as_bytes(), id)).collect();
        keys.sort_unstable();
        let trie = DoubleArray::build(&keys);
        let worst = pieces.iter().map(|&(_, score)| score).fold(f64::INFINITY, f64::min);
        Self { pieces, trie, unknown_score: worst - UNKNOWN_PENALTY }
    }

    /// All pieces at all places of a text, by their start.
    fn edges(&self, text: &str, edges: &mut Vec<Edge>) {
        edges.clear();
        for (start, character) in text.char_indices() {
            let single = start + character.len_utf8();
            let mut covered = false;
            let mut node = self.trie.root();
            for (end, &byte) in (start + 1..).zip(text.as_bytes().iter().skip(start)) {
                let Some((next, id)) = self.trie.step(node, byte) else { break };
                node = next;
                if let Some((id, &(_, score))) =
                    id.and_then(|id| Some((id as usize, self.pieces.get(id as usize)?)))
                {
                    edges.push(Edge { start, end, id: Some(id), score });
                    covered |= end == single;
                }
            }
            if !covered {
                edges.push(Edge { start, end: single, id: None, score: self.unknown_score });
            }
        }
    }
}

// The places of edges are inside their text, and ids inside the pieces: both come from `Model::edges`.

/// How often each piece is expected in the text.
fn expectations(model: &Model, texts: &[(&str, u64)], threads: usize) -> Vec<f64> {
    let shards = parallel::map(threads, SHARDS, |shard| {
        let mut expected = vec![0.0; model.pieces.len()];
        let (mut edges, mut forward, mut backward) = (Vec::new(), Vec::new(), Vec::new());
        for (text, count) in texts.iter().skip(shard).step_by(SHARDS) {
            model.edges(text, &mut edges);
            sum_paths(&edges, text.len(), &mut forward, &mut backward);
            for edge in &edges {
                if let Some(id) = edge.id {
                    let log = forward[edge.start] + edge.score + backward[edge.end] - forward[text.len()];
                    expected[id] += *count as f64 * log.exp();
                }
            }
        }
        expected
    });
    sum_shards(shards)
}

/// The logs of the sums over all paths from the beginning to each place, and from there to the end.
fn sum_paths(edges: &[Edge], length: usize, forward: &mut Vec<f64>, backward: &mut Vec<f64>) {
    for sums in [&mut *forward, &mut *backward] {
        sums.clear();
        sums.resize(length + 1, f64::NEG_INFINITY);
    }
    forward[0] = 0.0;
    for edge in edges {
        forward[edge.end] = log_sum_exp(forward[edge.end], forward[edge.start] + edge.score);
    }
    backward[length] = 0.0;
    for edge in edges.iter().rev() {
        backward[edge.start] = log_sum_exp(backward[edge.start], backward[edge.end] + edge.score);
    }
}

fn log_sum_exp(x: f64, y: f64) -> f64 {
    let (low, high) = (x.min(y), x.max(y));
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

fn sum_shards(shards: Vec<Vec<f64>>) -> Vec<f64> {
    let mut shards = shards.into_iter();
    let mut sum = shards.next().unwrap_or_default();
    for shard in shards {
        for (total, part) in sum.iter_mut().zip(shard) {
            *total += part;
        }
    }
    sum
}

/// New scores from expected counts, without the pieces that are hardly expected.
fn maximise(pieces: Vec<Piece>, expected: &[f64]) -> Vec<Piece> {
    let kept = || expected.iter().copied().filter(|&count| count >= MIN_EXPECTED);
    let log_total = digamma(kept().sum());
    let scored = pieces.into_iter().zip(expected).filter(|&(_, &count)| count >= MIN_EXPECTED);
    scored.map(|((piece, _), &count)| (piece, digamma(count) - log_total)).collect()
}

/// The derivative of ln Γ: upwards by its recurrence, then its asymptotic series.
fn digamma(mut x: f64) -> f64 {
    let mut result = 0.0;
    while x < 10.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * (1.0 / 252.0 - square / 240.0)));
    result + x.ln() - 0.5 / x - series
}

/// The best path; with `parts` not in one piece. `None` where there is none.
fn best_path(edges: &[Edge], length: usize, parts: bool) -> Option<Vec<&Edge>> {
    let mut best: Vec<Option<(f64, &Edge)>> = vec![None; length + 1];
    for edge in edges.iter().filter(|edge| !parts || edge.end - edge.start < length) {
        let before = match edge.start {
            0 => 0.0,
            start => match best[start] {
                Some((score, _)) => score,
                None => continue,
            },
        };
        let score = before + edge.score;
        if best[edge.end].is_none_or(|(old, _)| score > old) {
            best[edge.end] = Some((score, edge));
        }
    }
    let mut path = Vec::new();
    let mut end = length;
    while end > 0 {
        let (_, edge) = best[end]?;
        path.push(edge);
        end = edge.start;
    }
    path.reverse();
    Some(path)
}

/// What becomes of a piece where it is taken away.
enum Without {
    /// Nothing: it is not the best segmentation of itself.
    NotMissed,
    /// There is no other way to write it.
    Needed,
    /// These pieces come in its place.
    Pieces(Vec<usize>),
}

fn without(model: &Model, piece: &str, edges: &mut Vec<Edge>) -> Without {
    model.edges(piece, edges);
    if best_path(edges, piece.len(), false).is_some_and(|path| path.len() > 1) {
        return Without::NotMissed;
    }
    match best_path(edges, piece.len(), true) {
        None => Without::Needed,
        Some(path) => match path.iter().map(|edge| edge.id).collect() {
            Some(ids) => Without::Pieces(ids),
            None => Without::Needed,
        },
    }
}

/// Leaves the pieces whose loss would cost the most likelihood.
fn prune(model: &Model, texts: &[(&str, u64)], wanted: usize, threads: usize) -> Vec<Piece> {
    let used = sum_shards(parallel::map(threads, SHARDS, |shard| {
        let mut used = vec![0.0; model.pieces.len()];
        let mut edges = Vec::new();
        for (text, count) in texts.iter().skip(shard).step_by(SHARDS) {
            model.edges(text, &mut edges);
            for id in best_path(&edges, text.len(), false).into_iter().flatten().filter_map(|edge| edge.id) {
                used[id] += *count as f64;
            }
        }
        used
    }));
    let total: f64 = used.iter().sum();
    let losses = parallel::map(threads, SHARDS, |shard| {
        let mut edges = Vec::new();
        let ids = (shard..model.pieces.len()).step_by(SHARDS).filter(|&id| used[id] > 0.0);
        let loss = |id: usize| match without(model, &model.pieces[id].0, &mut edges) {
            Without::NotMissed => None,
            Without::Needed => Some((f64::INFINITY, id)),
            Without::Pieces(others) => Some((loss_of(&used, total, id, &others), id)),
        };
        ids.filter_map(loss).collect::<Vec<_>>()
    });
    let mut losses: Vec<(f64, usize)> = losses.into_iter().flatten().collect();
    losses.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let needed = losses.iter().filter(|(loss, _)| *loss == f64::INFINITY).count();
    let room = wanted.max((SHRINKING * model.pieces.len() as f64) as usize);
    losses.truncate(room.max(needed));
    losses.iter().map(|&(_, id)| model.pieces[id].clone()).collect()
}

/// How much the log-likelihood falls when other pieces come in place of this one, everywhere.
fn loss_of(used: &[f64], total: f64, id: usize, others: &[usize]) -> f64 {
    let count = used[id];
    let new_total = total + count * (others.len() as f64 - 1.0);
    let after: f64 = others.iter().map(|&other| (used[other] + count).ln() - new_total.ln()).sum();
    count * (count.ln() - total.ln() - after)
}

/// The characters to cover, then the best pieces.
fn finish(model: Model, corpus: &Corpus, goal: usize) -> Vec<Scored> {
    let worst = model.unknown_score + UNKNOWN_PENALTY;
    let mut missing = 0.0;
    let mut chosen = Vec::new();
    for (character, _) in &corpus.characters {
        let text = character.to_string();
        let learned = model.trie.get(text.as_bytes()).and_then(|id| model.pieces.get(id as usize));
        let score = learned.map_or(worst + missing * CHARACTER_STEP, |&(_, score)| score);
        missing += f64::from(u8::from(learned.is_none()));
        chosen.push((text, score));
    }
    let characters: HashSet<String> = chosen.iter().map(|(text, _)| text.clone()).collect();
    let by_score = |a: &Piece, b: &Piece| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
    let mut others: Vec<Piece> =
        model.pieces.into_iter().filter(|(piece, _)| !characters.contains(piece)).collect();
    others.sort_by(by_score);
    chosen.extend(others.into_iter().take(goal.saturating_sub(characters.len())));
    chosen.sort_by(by_score);
    chosen.into_iter().map(|(piece, score)| (piece, score as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_values() {
        // Abramowitz and Stegun, table 6.1; ψ(1) = -γ.
        for (x, expected) in [
            (1.0, -0.577_215_664_9),
            (0.5, -1.963_510_026_0),
            (2.0, 0.422_784_335_1),
            (50.0, 3.901_989_673_4),
        ] {
            assert!((digamma(x) - expected).abs() < 1e-9, "{x}: {}", digamma(x));
        }
    }

    #[test]
    fn expected_counts_of_all_segmentations() {
        let pieces = [("a", 0.5f64), ("aa", 0.2), ("b", 0.3)].map(|(piece, p)| (piece.to_owned(), p.ln()));
        let model = Model::new(pieces.to_vec());
        // aab: a a b has 0.075, aa b has 0.06.
        let whole = 0.075 + 0.06;
        let expected = [2.0 * 0.075 / whole, 0.06 / whole, 1.0].map(|count| count * 4.0);
        for (found, expected) in expectations(&model, &[("aab", 4)], 1).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12);
        }
        let mut edges = Vec::new();
        assert!(matches!(without(&model, "aa", &mut edges), Without::NotMissed));
        assert!(matches!(without(&model, "b", &mut edges), Without::Needed));
    }
}
