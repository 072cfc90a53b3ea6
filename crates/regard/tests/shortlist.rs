//! `regard shortlist` and `translate --shortlist`, as users call them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;
use std::fs;

use common::{Place, attention_model, regard, transformer_model};

#[test]
fn a_search_within_a_list() {
    let place = Place::new();
    let [source, target] = common::corpus(7, 500, (3, 7));
    let (src, tgt, list) = (place.write("src", &source), place.write("tgt", &target), place.at("list"));
    let [sentences, _] = common::corpus(8, 60, (3, 7));
    let text = place.write("text", &sentences);
    for model in [attention_model(), transformer_model()] {
        let learn = ["shortlist", model, "--src", &src, "--tgt", &tgt, "--best", "3", "--frequent", "4"];
        let printed = regard(&learn).ok();
        assert!(regard(&[&learn[..], &["-o", &list]].concat()).ok().is_empty());
        assert_eq!(fs::read_to_string(&list).unwrap(), printed);
        assert!(printed.starts_with("regard shortlist 1\nsource ") && printed.ends_with("\nend\n"));

        let translate = ["translate", model, "-i", &text, "--shortlist", &list, "--beam-size", "3"];
        let found = regard(&[&translate[..], &["--threads", "1"]].concat()).ok();
        let again = [&translate[..], &["--threads", "2", "--batch-size", "1"]].concat();
        assert_eq!(regard(&again).ok(), found);
        let plain = regard(&["translate", model, "-i", &text, "--beam-size", "3"]).ok();
        assert_ne!(plain, found, "the list is felt");
        let listed = Listed::read(model, &printed);
        for (source, target) in sentences.lines().zip(found.lines()) {
            let words = listed.words(source);
            assert!(target.split_whitespace().all(|word| words.contains(&word)), "{source}: {target}");
        }
    }
}

/// A shortlist, read by its documentation: words in place of ids.
struct Listed {
    source: Vec<String>,
    target: Vec<String>,
    lists: HashMap<String, Vec<usize>>,
}

impl Listed {
    fn read(model: &str, text: &str) -> Self {
        let vocabulary = |side: &str| {
            let text = fs::read_to_string(format!("{model}/{side}.vocab.txt")).unwrap();
            text.lines().map(str::to_owned).collect()
        };
        let list = |line: &str| {
            let (id, ids) = line.split_once(' ').unwrap_or((line, ""));
            (id.to_owned(), ids.split_whitespace().map(|id| id.parse().unwrap()).collect())
        };
        let lists = text.lines().skip(3).filter(|&line| line != "end").map(list).collect();
        Self { source: vocabulary("source"), target: vocabulary("target"), lists }
    }

    /// What a line may be translated with.
    fn words(&self, line: &str) -> Vec<&str> {
        let id = |word: &str| self.source.iter().position(|other| other == word).map(|id| id.to_string());
        let keys = line.split(' ').filter_map(id).chain(["always".to_owned()]);
        let ids = keys.filter_map(|key| self.lists.get(&key)).flatten();
        ids.map(|&id| self.target[id].as_str()).chain(["<unk>"]).collect()
    }
}

#[test]
fn what_is_wrong_is_named() {
    let place = Place::new();
    let model = attention_model();
    let [source, target] = common::corpus(7, 5, (3, 7));
    let (src, tgt) = (place.write("src", &source), place.write("tgt", &target));
    let text = regard(&["shortlist", model, "--src", &src, "--tgt", &tgt]).ok();
    let entries = text.lines().nth(1).unwrap().split(' ').nth(1).unwrap();
    let other = place.write("other", text.replacen(&format!("source {entries} "), "source 9999 ", 1));
    let cut = place.write("cut", text.strip_suffix("end\n").unwrap());
    let translate = |list: &str| regard(&["translate", model, "-i", &src, "--shortlist", list]);
    translate(&other).fails_with(1, &[&format!("{other}:2: "), "9999 entries", "`regard shortlist`"]);
    translate(&cut).fails_with(1, &[&format!("{cut}:"), "the file ends here"]);
    translate(&src).fails_with(1, &[&format!("{src}:1: "), "must begin with `regard shortlist 1`"]);
    translate(&place.at("gone")).fails_with(1, &[&place.at("gone"), "No such file or directory"]);
    let blank = place.write("blank", "\n\n\n\n\n");
    regard(&["shortlist", model, "--src", &blank, "--tgt", &tgt])
        .fails_with(1, &[&blank, "no pair with text on both sides"]);
}
