//! Which candidates live on where phrases are wished for.
//!
//! Post and Vilar, "Fast Lexically Constrained Decoding with Dynamic Beam Allocation for Neural Machine Translation", NAACL
//! 2018: candidates that have met as many tokens of the wishes form a bank, and the beam is shared out among the banks.

use super::candidates::Candidate;

/// The candidates that the beam takes, best first; `met` says how many tokens of the wishes one has.
pub(super) fn allot(
    candidates: Vec<Candidate>,
    met: impl Fn(&Candidate) -> usize,
    beam_size: usize,
    wished: usize,
) -> Vec<Candidate> {
    let mut banks: Vec<Vec<Candidate>> = vec![Vec::new(); wished + 1];
    for candidate in ranked(candidates) {
        banks[met(&candidate).min(wished)].push(candidate);
    }
    let mut taken = vec![0; banks.len()];
    let mut left = beam_size;
    // Round by round each bank gives its next best, those that are furthest first.
    while left > 0 && taken.iter().zip(&banks).any(|(&taken, bank)| taken < bank.len()) {
        for (taken, bank) in taken.iter_mut().zip(&banks).rev() {
            if left > 0 && *taken < bank.len() {
                *taken += 1;
                left -= 1;
            }
        }
    }
    let chosen = banks.iter().zip(taken).flat_map(|(bank, taken)| bank.iter().take(taken));
    ranked(chosen.copied().collect())
}

/// The candidates, best first, each once.
pub(super) fn ranked(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates
        .sort_by(|a, b| b.sum.total_cmp(&a.sum).then(a.parent.cmp(&b.parent)).then(a.token.cmp(&b.token)));
    candidates.dedup_by_key(|candidate| (candidate.parent, candidate.token));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_has_its_share() {
        let candidate = |token, sum| Candidate { sum, parent: 0, token, log_prob: 0.0 };
        let candidates = vec![
            candidate(4, -1.0),
            candidate(5, -2.0),
            candidate(6, -3.0),
            candidate(7, -9.0),
            candidate(4, -1.0),
        ];
        let met = |candidate: &Candidate| if candidate.token == 7 { 2 } else { 0 };
        let tokens = |beam_size| -> Vec<u32> {
            allot(candidates.clone(), met, beam_size, 2).iter().map(|candidate| candidate.token).collect()
        };
        assert_eq!(tokens(1), [7]);
        assert_eq!(tokens(2), [4, 7]);
        assert_eq!(tokens(3), [4, 5, 7]);
        assert_eq!(tokens(9), [4, 5, 6, 7]);
    }
}
