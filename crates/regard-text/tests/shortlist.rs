//! Shortlists: what is learned, the file, and what is wrong with files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use regard_text::{Pair, Shortlist, Vocabulary};

fn vocabulary(tokens: &[&str]) -> Vocabulary {
    Vocabulary::from_counts(tokens.iter().map(|&token| (token, 1)), None, 1)
}

/// Ids from 4 on are words: `a b c` and `p q r s t`.
fn vocabularies() -> (Vocabulary, Vocabulary) {
    (vocabulary(&["a", "b", "c"]), vocabulary(&["p", "q", "r", "s", "t"]))
}

fn learned(best: usize, frequent: usize) -> Shortlist {
    let (source, target) = vocabularies();
    // a is q, b is p, and c, which comes with b only, is r; s stands wherever a is not.
    let pairs = [(&[4][..], &[5][..]), (&[4, 5], &[5, 4]), (&[5], &[4, 7]), (&[5, 6], &[4, 6, 7])];
    let pairs = pairs.map(|(source, target)| Pair { source: source.to_vec(), target: target.to_vec() });
    Shortlist::learn(&pairs, &source, &target, best, frequent)
}

#[test]
fn lists_of_sentences() {
    let (source, target) = vocabularies();
    let unknown = Pair { source: vec![1, 4], target: vec![1, 5, 1] };
    assert_eq!(Shortlist::learn(&[unknown], &source, &target, 1, 1).words(&[1, 4]), [5], "control symbols");
    let shortlist = learned(1, 1);
    // p is the most frequent one: it is always there.
    assert_eq!(shortlist.words(&[]), [4]);
    assert_eq!(shortlist.words(&[4]), [4, 5]);
    assert_eq!(shortlist.words(&[6, 4, 6]), [4, 5, 6]);
    assert_eq!(shortlist.words(&[0, 3, 999]), [4], "what has no row adds nothing");
    assert_eq!(learned(9, 0).words(&[6]), [4, 6, 7], "what stands beside it, without padding of the list");
    assert_eq!(learned(0, 9).words(&[6]), [4, 5, 6, 7], "t is in no pair");
}

const FILE: &str =
    "regard shortlist 1\nsource 7 2919e2ba\ntarget 9 4a973c76\nalways 4 5\n4 5\n5 4\n6 6\nend\n";

#[test]
fn the_file_is_the_documented_one() {
    let (source, target) = vocabularies();
    let shortlist = learned(1, 2);
    assert_eq!(shortlist.to_text(), FILE);
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("list");
    fs::write(&path, FILE).unwrap();
    assert_eq!(Shortlist::read(&path, &source, &target).unwrap(), shortlist);
    let text = vocabulary(&["a", "b", "c"]).tokens().fold(String::new(), |text, token| text + token + "\n");
    assert_eq!(format!("{:08x}", crc32c::crc32c(text.as_bytes())), "2919e2ba", "the checksum of *.vocab.txt");
}

#[test]
fn damage_is_named_with_its_line() {
    let (source, target) = vocabularies();
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("list");
    let cases = [
        (FILE.replace("list 1", "list 2"), 1, "must begin with `regard shortlist 1`"),
        (String::new(), 0, "the file ends here"),
        (FILE.replace("source 7", "source 8"), 2, "a source vocabulary of 8 entries, and the model's has 7"),
        (FILE.replace("2919e2ba", "2919e2bb"), 2, "another source vocabulary of 7 entries"),
        (FILE.replace("target 9", "goal 9"), 3, "expected `target ENTRIES CHECKSUM`"),
        (FILE.replace("target 9", "target x"), 3, "expected `target ENTRIES CHECKSUM`"),
        (FILE.replace("always", "never"), 4, "expected `always`"),
        (FILE.replace("always 4", "always4"), 4, "expected a space before the ids"),
        (FILE.replace("always 4 5", "always 4 9"), 4, "target id 9 is outside of the vocabulary of 9"),
        (FILE.replace("\n5 4", "\n4 4"), 6, "source ids must ascend, up to 6; found 4"),
        (FILE.replace("\n6 6", "\n7 6"), 7, "source ids must ascend, up to 6; found 7"),
        (FILE.replace("\n6 6", "\n6 six"), 7, "expected an id, found `six`"),
        (FILE.replace("\n6 6", "\n6 6 "), 7, "expected an id, found ``"),
        (FILE.replace("end\n", ""), 7, "the file ends here"),
        (format!("{FILE}more\n"), 9, "nothing may follow `end`"),
    ];
    for (text, line, problem) in cases {
        fs::write(&path, &text).unwrap();
        let error = Shortlist::read(&path, &source, &target).unwrap_err().to_string();
        let place = format!("{}:{line}: ", path.display());
        assert!(error.starts_with(&place) && error.contains(problem), "{error}\nfor {text}");
    }
}
