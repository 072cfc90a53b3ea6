//! Vocabularies: what is in them, and to which model they belong.

use std::fs;

use crate::common::{Place, attention_model, edit_config, regard, sha256, train, translate};

/// Replaces a file of a model by one that `config.json` is made to agree with.
fn replace_with_digest(model: &str, name: &str, text: &str) {
    fs::write(format!("{model}/{name}"), text).unwrap();
    let record = serde_json::json!({ "bytes": text.len(), "sha256": sha256(text) });
    edit_config(model, &|config| config["files"][name] = record.clone());
}

#[test]
fn p12_doubled_and_reserved_entries() {
    let place = Place::new();
    let recipe = place.recipe();
    // Text that holds the reserved names does not add them a second time: typed names are text, marked as such.
    let reserved = place.write("train.en", "<unk> <s> </s> cat dog cat </s>\nthe <pad> dog\n");
    fs::copy(&reserved, place.at("train.fr")).unwrap();
    train(&recipe, &place.at("run"), &["training.updates=1"]);
    let vocabulary = fs::read_to_string(place.at("run/target.vocab.txt")).unwrap();
    assert_eq!(vocabulary, "<pad>\n<unk>\n<s>\n</s>\n\\</s>\ncat\ndog\n\\<pad>\n\\<s>\n\\<unk>\nthe\n");
    assert_eq!(translate(&place.at("run"), &[], "</s> cat\n").lines().count(), 1);

    // The report's vocabulary in a model.
    let good = "<pad>\n<unk>\n<s>\n</s>\n";
    for (text, line, token) in [
        ("<unk>\n<s>\n</s>\ncat\ndog\ncat\n</s>\n", 1, "<unk>"),
        (&format!("{good}cat\ndog\ncat\n"), 7, "cat"),
        (&format!("{good}cat\ndog\n</s>\n"), 7, "</s>"),
    ] {
        replace_with_digest(&place.at("run"), "source.vocab.txt", text);
        let message = regard(&["translate", &place.at("run")]).fails(1);
        assert!(message.contains(&format!("source.vocab.txt:{line}: entry `{token}` ")), "{message}");
    }
}

#[test]
fn p14_a_vocabulary_of_another_model_is_refused() {
    let place = Place::new();
    let model = place.copy_of(attention_model(), "model");
    let file = format!("{model}/target.vocab.txt");
    let whole = fs::read_to_string(&file).unwrap();
    let calls: [&[&str]; 3] = [&["translate", &model], &["info", &model], &["look", &model, "the cat"]];

    // One entry more: other sizes, and the other file is named.
    let more = whole.clone() + "zebra\n";
    fs::write(&file, &more).unwrap();
    let sizes = [format!("has {} bytes", more.len()), format!("says {}", whole.len())];
    for args in calls {
        regard(args).fails_with(1, &["target.vocab.txt", &sizes[0], &sizes[1], "another model"]);
    }
    // Two entries swapped: other digests.
    let mut entries: Vec<&str> = whole.lines().collect();
    entries.swap(10, 20);
    let swapped = entries.join("\n") + "\n";
    fs::write(&file, &swapped).unwrap();
    for args in calls {
        regard(args).fails_with(1, &["target.vocab.txt", &sha256(&swapped), &sha256(&whole)]);
    }
    // Sizes are compared even where the digest was made to agree: 70 entries, 71 in the file.
    replace_with_digest(&model, "target.vocab.txt", &more);
    for args in calls {
        regard(args).fails_with(1, &["config.json", "70 target entries", "71"]);
    }
}

#[test]
fn p15_ties_do_not_make_it_random() {
    let text = "b a\nd c\nb a\nd c\n";
    let place = Place::new();
    let recipe = place.recipe();
    let file = place.write("train.en", text);
    place.write("train.fr", text);
    // Two merges are equally frequent, and one is wanted.
    let pairs = place.write("pairs", text.replace(' ', ""));
    let codes = place.at("codes");
    for run in 0..20 {
        let threads = ["1", "2"][run % 2];
        let input = if run % 4 < 2 { pairs.as_str() } else { "-" };
        let args =
            ["tokenizer", "train", input, "--merges", "1", "-o", &codes, "--threads", threads, "--quiet"];
        crate::common::regard_reading(&args, text.replace(' ', "")).ok();
        assert_eq!(fs::read_to_string(&codes).unwrap(), "#version: 0.2\nd c</w>\n");
        // Of four words that are equally frequent there is room for two: the smallest by their bytes.
        let out = place.at(&format!("run-{run}"));
        let changes = ["--set", "training.updates=1", "--set", "tokenizer.vocabulary_size=6"];
        let args = ["train", &recipe, "--out", &out, "--threads", threads, "--quiet"];
        regard(&[args.as_slice(), &changes].concat()).ok();
        let vocabulary = fs::read_to_string(format!("{out}/source.vocab.txt")).unwrap();
        assert_eq!(vocabulary, "<pad>\n<unk>\n<s>\n</s>\na\nb\n");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), text);
}
