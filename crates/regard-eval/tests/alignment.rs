//! Alignments against published scores, published symmetrisations and `atools`, and laws that always hold.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::float_cmp, reason = "0 and 1 are exact")]

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use regard_eval::{
    AlignmentCounts, AlignmentFile, AlignmentScore, GoldLinks, Links, Symmetrization, alignment_counts,
    transpose,
};
use std::path::{Path, PathBuf};

const METHODS: [Symmetrization; 7] = [
    Symmetrization::Intersection,
    Symmetrization::Union,
    Symmetrization::GrowDiag,
    Symmetrization::GrowDiagFinal,
    Symmetrization::GrowDiagFinalAnd,
    Symmetrization::GrowDiagonal,
    Symmetrization::GrowDiagonalFinal,
];

/// The folder of alignments, or none with a line that says which test is skipped.
fn data(test: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REGARD_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = root.join("alignment");
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: no data ({test})");
    None
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_owned).collect()
}

fn parsed(path: &Path, base: usize) -> AlignmentFile {
    AlignmentFile::parse(&path.display().to_string(), &lines(path), Some(base)).unwrap()
}

/// The links of a file; one in the other direction is turned round.
fn links(path: &Path) -> Vec<Links> {
    let links = parsed(path, 0).links();
    let reverse = path.to_string_lossy().contains(".reverse.");
    if reverse { links.iter().map(transpose).collect() } else { links }
}

fn corpus_score(hypotheses: &[Links], gold: &[GoldLinks]) -> AlignmentScore {
    alignment_counts(hypotheses, gold).unwrap().into_iter().sum::<AlignmentCounts>().score()
}

/// `16.4% (80.0%/90.1%/7313)`: AER, precision, recall and number of links, as published.
fn published(result: &str) -> [f64; 4] {
    let numbers = result.split([' ', '%', '(', '/', ')']).filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn published_error_rates() {
    let Some(root) = data("published_error_rates") else { return };
    let gold = parsed(&root.join("gold/enfr.gold"), 1).sentences;
    let mut checked = 0;
    for folder in ["lilt_fastalign", "lilt_giza"] {
        for row in lines(&root.join(folder).join("enfr-results.txt")) {
            let (name, result) = row.split_once(": ").unwrap();
            let path = root.join(folder).join(name);
            if !path.exists() {
                continue;
            }
            let score = corpus_score(&links(&path), &gold);
            let [aer, precision, recall, count] = published(result);
            assert!((100.0 * score.aer - aer).abs() < 0.1, "{folder}/{name}: {} {aer}", score.aer);
            // The published numbers of fast_align's symmetrisations come from a run that differed by a few links.
            for (found, expected) in [(score.precision, precision), (score.recall, recall)] {
                assert!((100.0 * found - expected).abs() < 0.15, "{folder}/{name}: {found} {expected}");
            }
            assert!((score.links as f64 - count).abs() <= 5.0, "{folder}/{name}: {} {count}", score.links);
            checked += 1;
        }
    }
    assert_eq!(checked, 12);
    let awesome = corpus_score(&links(&root.join("gold/enfr.awesome-align.out")), &gold);
    assert!((100.0 * awesome.aer - 4.07).abs() < 0.005, "{}", awesome.aer);
    assert_eq!((awesome.sure, awesome.possible), (4038, 17438));
}

#[test]
fn published_symmetrisations() {
    let Some(root) = data("published_symmetrisations") else { return };
    for folder in ["lilt_fastalign", "lilt_giza"] {
        let file = |name: &str| links(&root.join(folder).join(format!("test.enfr.{name}talp")));
        let (forward, reverse) = (file(""), file("reverse."));
        assert_eq!(forward.len(), 447);
        for (method, name) in [
            (Symmetrization::Intersection, "intersection."),
            (Symmetrization::Union, "union."),
            (Symmetrization::GrowDiagonal, "grow-diagonal."),
            (Symmetrization::GrowDiagonalFinal, "grow-diagonal-final."),
        ] {
            let pairs = forward.iter().zip(&reverse);
            let combined: Vec<_> = pairs.map(|(forward, reverse)| method.combine(forward, reverse)).collect();
            assert_eq!(combined, file(name), "{folder} {name}");
        }
    }
}

#[test]
fn symmetrisations_of_atools() {
    let rows = lines(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/symmetrization.tsv"));
    assert_eq!(rows.len(), 121);
    for row in &rows[1..] {
        let columns: Vec<&str> = row.split('\t').collect();
        let columns = AlignmentFile::parse("columns", &columns, None).unwrap().links();
        let (forward, reverse) = (&columns[0], &columns[1]);
        for (method, expected) in METHODS.iter().zip(&columns[2..7]) {
            assert_eq!(method.combine(forward, reverse), *expected, "{method:?}: {row}");
        }
    }
}

fn some_links() -> impl Strategy<Value = Links> {
    btree_set((0..7_usize, 0..5_usize), 0..20)
}

proptest! {
    #[test]
    fn between_intersection_and_union(forward in some_links(), reverse in some_links()) {
        for method in METHODS {
            let combined = method.combine(&forward, &reverse);
            prop_assert!(combined.is_superset(&(&forward & &reverse)), "{method:?}");
            prop_assert!(combined.is_subset(&(&forward | &reverse)), "{method:?}");
            prop_assert_eq!(&method.combine(&forward, &forward), &forward);
        }
    }

    /// What may still be added after the last step is never there.
    #[test]
    fn grown_to_the_end(forward in some_links(), reverse in some_links()) {
        let last = Symmetrization::GrowDiagFinal.combine(&forward, &reverse);
        let covered = |link: &(usize, usize)| {
            last.iter().any(|other| other.0 == link.0) && last.iter().any(|other| other.1 == link.1)
        };
        prop_assert!((&forward | &reverse).iter().all(covered));
        let last = Symmetrization::GrowDiagonalFinal.combine(&forward, &reverse);
        let touched = |link: &(usize, usize)| {
            last.iter().any(|other| other.0 == link.0) || last.iter().any(|other| other.1 == link.1)
        };
        prop_assert!((&forward | &reverse).iter().all(touched));
    }

    #[test]
    fn scores_are_fractions(links in some_links(), sure in some_links(), possible in some_links()) {
        let score = AlignmentCounts::of(&links, &GoldLinks::new(sure, possible)).score();
        for value in [score.aer, score.precision, score.recall, score.f1] {
            prop_assert!((0.0..=1.0).contains(&value), "{score:?}");
        }
    }

    #[test]
    fn every_alignment_between_sure_and_possible_is_perfect(
        sure in some_links(), possible in some_links(), keep in any::<u64>(),
    ) {
        let kept = possible.iter().zip(0..).filter(|(_, place)| keep >> place & 1 == 1).map(|(&link, _)| link);
        let links: Links = sure.iter().copied().chain(kept).collect();
        let score = AlignmentCounts::of(&links, &GoldLinks::new(sure, possible)).score();
        prop_assert_eq!([score.aer, score.precision, score.recall, score.f1], [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn anything_can_be_parsed(lines in vec("\\PC*|[0-9pSP \t-]{0,12}", 0..5), base in 0..2_usize) {
        let file = AlignmentFile::parse("file", &lines, Some(base));
        if let Err(error) = file {
            prop_assert!(error.to_string().starts_with("file:"), "{error}");
        }
    }

    #[test]
    fn pharaoh_and_naacl_say_the_same(sentences in vec((some_links(), some_links()), 1..6)) {
        let gold: Vec<_> =
            sentences.into_iter().map(|(sure, possible)| GoldLinks::new(sure, possible)).collect();
        let (mut pharaoh, mut naacl) = (Vec::new(), Vec::new());
        for (sentence, number) in gold.iter().zip(1..) {
            let kinds = sentence.possible().iter().map(|link| (link, sentence.sure().contains(link)));
            let token = |((source, target), sure): (&(usize, usize), bool)| {
                format!("{source}{}{target}", if sure { '-' } else { 'p' })
            };
            pharaoh.push(kinds.clone().map(token).collect::<Vec<_>>().join(" "));
            naacl.extend(kinds.map(|((source, target), sure)| {
                format!("{number:04} {} {} {}", source + 1, target + 1, if sure { 'S' } else { 'P' })
            }));
        }
        prop_assert_eq!(&AlignmentFile::parse("pharaoh", &pharaoh, None).unwrap().sentences, &gold);
        // A file without a single link has no format; then there is nothing to extend.
        if !naacl.is_empty() {
            let mut file = AlignmentFile::parse("naacl", &naacl, None).unwrap();
            file.extend_to(gold.len());
            prop_assert_eq!(&file.sentences, &gold);
        }
    }
}
