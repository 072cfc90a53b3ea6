//! The search against a list of everything that can be written.

mod common;

use common::FakeModel;
use proptest::prelude::*;
use regard_decode::{Cut, LengthPenalty, MaxLength, SearchOptions};
use regard_text::special_tokens::EOS;

const WORDS: [u32; 3] = [4, 5, 6];
const SOURCE: [u32; 4] = [4, 6, 5, EOS];

/// All translations of at most `most` tokens, the end symbol included: (score, ids without it), best first; what is cut
/// there among them where it `competes`.
fn everything(
    model: &FakeModel,
    penalty: LengthPenalty,
    most: usize,
    competes: bool,
) -> Vec<(f64, Vec<u32>)> {
    let mut prefixes = vec![(0.0, Vec::new())];
    let mut ended = Vec::new();
    for n in 1..=most {
        let mut longer = Vec::new();
        for (sum, prefix) in prefixes {
            let log_probs = model.at(&SOURCE, &prefix);
            let with = |id: u32| sum + f64::from(log_probs[id as usize]);
            ended.push((penalty.score(with(EOS), n), prefix.clone()));
            longer.extend(WORDS.iter().map(|&id| (with(id), [prefix.as_slice(), &[id]].concat())));
        }
        prefixes = longer;
    }
    if competes {
        ended.extend(prefixes.into_iter().map(|(sum, prefix)| (penalty.score(sum, most), prefix)));
    }
    ended.sort_by(|a, b| b.0.total_cmp(&a.0));
    ended
}

fn penalties() -> impl Strategy<Value = LengthPenalty> {
    prop_oneof![
        Just(LengthPenalty::None),
        (0.0..2.0_f64).prop_map(|alpha| LengthPenalty::Average { alpha }),
        (0.0..2.0_f64).prop_map(|alpha| LengthPenalty::Gnmt { alpha }),
        (0.0..2.0_f64, -1.0..1.0_f64)
            .prop_map(|(alpha, word_penalty)| LengthPenalty::Marian { alpha, word_penalty }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A beam that holds everything finds the true list, in its order, however early it may stop.
    #[test]
    fn a_wide_beam_finds_the_true_list(
        seed in any::<u64>(), penalty in penalties(), most in 1..5_usize, n_best in 1..50_usize, competes in any::<bool>(),
    ) {
        let model = FakeModel::random(7, seed);
        let options = SearchOptions {
            beam_size: 200,
            n_best,
            max_length: MaxLength::Fixed(most),
            length_penalty: penalty,
            cut: if competes { Cut::Competes } else { Cut::Last },
            allow_unk: false,
            ..SearchOptions::default()
        };
        let found = model.search(&[SOURCE[..3].to_vec()], &options).unwrap().remove(0);
        let found: Vec<_> = found.into_iter().map(|hypothesis| (hypothesis.score, hypothesis.tokens)).collect();
        let mut expected = everything(&model, penalty, most, competes);
        expected.truncate(n_best);
        prop_assert_eq!(found, expected);
    }

    /// A beam of one takes the most probable token until that is the end symbol.
    #[test]
    fn a_beam_of_one_is_greedy(seed in any::<u64>(), most in 1..9_usize, penalty in penalties()) {
        let model = FakeModel::random(9, seed);
        let (mut tokens, mut log_prob, mut finished) = (Vec::new(), 0.0, false);
        for _ in 0..most {
            let row = model.at(&SOURCE, &tokens);
            let allowed = (0..9_u32).filter(|id| ![0, 2].contains(id));
            let best = allowed.max_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize])).unwrap();
            log_prob += f64::from(row[best as usize]);
            finished = best == EOS;
            if finished {
                break;
            }
            tokens.push(best);
        }
        let options = SearchOptions {
            max_length: MaxLength::Fixed(most), length_penalty: penalty, ..SearchOptions::greedy()
        };
        let found = model.search(&[SOURCE[..3].to_vec()], &options).unwrap().remove(0).remove(0);
        prop_assert_eq!((found.tokens, found.log_prob, found.finished), (tokens, log_prob, finished));
    }
}
