//! Recipes: what they mean, and what they refuse, with the place.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

use std::path::Path;

use regard_model::{ModelConfig, Positions, Preset, RecurrentConfig, StackConfig, TransformerConfig};
use regard_text::{BatchSize, CorpusFilters, CorpusSource, SentencePieceAlgorithm};
use regard_train::{
    Metric, OptimizerConfig, Recipe, SamplingConfig, ScheduleConfig, TokenizerKind, TrainingCorpus,
};

const DATA: &str = "[data]\nsource = \"a.en\"\ntarget = \"a.fr\"\n";

fn parse(text: &str, overrides: &[&str]) -> Result<Recipe, String> {
    let overrides: Vec<_> = overrides.iter().map(|text| (*text).to_owned()).collect();
    Recipe::parse(text, &overrides).map_err(|error| error.to_string())
}

fn error(rest: &str, overrides: &[&str]) -> String {
    parse(&format!("{DATA}{rest}"), overrides).unwrap_err()
}

#[test]
fn a_full_recipe() {
    let text = r#"
        seed = 9
        [data]
        pairs = "train.tsv"
        valid_source = "/data/valid.en"
        valid_target = "valid.fr"
        source_language = "en"
        target_language = "fr"
        max_length = 80
        [tokenizer]
        kind = "word"
        vocabulary_size = 5000
        normalizer = "nfc"
        [model]
        preset = "luong"
        dropout = 0
        encoder = { layers = 1, hidden = 64 }
        decoder.layers = 1
        decoder.hidden = 64
        [training]
        updates = 1000
        batch_sentences = 64
        clip_norm = 5
        [training.optimizer]
        kind = "adamw"
        beta2 = 0.98
        [training.schedule]
        kind = "inverse_square_root"
        learning_rate = 7e-4
        warmup = 400
        [training.sampling]
        kind = "inverse_sigmoid"
        k = 100
        [validation]
        metric = "exposure_gap"
        patience = 5
    "#;
    let mut recipe = parse(text, &[]).unwrap();
    recipe.resolve_paths(Path::new("/recipes"));
    let source = CorpusSource::tsv("/recipes/train.tsv");
    assert_eq!(recipe.data.training_corpora(), [TrainingCorpus { source, weight: 1.0, tags: Vec::new() }]);
    let filters = CorpusFilters { max_length: Some(80), ..CorpusFilters::default() };
    assert_eq!((recipe.data.filters(), recipe.sample_lines()), (filters, None));
    assert_eq!(
        recipe.data.validation_text(),
        Some(CorpusSource::files("/data/valid.en", "/recipes/valid.fr"))
    );
    let model = recurrent(&recipe);
    assert_eq!((recipe.model.preset, model.encoder.hidden, model.embedding), (Preset::Luong, 64, 256));
    assert!(model.dropout.abs() < f64::EPSILON && model.encoder.reverse_source);
    assert_eq!((recipe.tokenizer.kind, recipe.tokenizer.merges), (TokenizerKind::Word, 8000));
    assert_eq!(recipe.training.batch_size(), BatchSize::Sentences(64));
    let adamw = OptimizerConfig::AdamW { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weight_decay: 0.01 };
    assert_eq!(recipe.training.optimizer, adamw);
    let schedule = ScheduleConfig::InverseSquareRoot { learning_rate: 7e-4, warmup: 400 };
    assert_eq!(recipe.training.schedule, schedule);
    assert_eq!(recipe.training.sampling, SamplingConfig::InverseSigmoid { k: 100.0 });
    assert_eq!(
        (recipe.seed, recipe.validation.metric, recipe.validation.beam_size),
        (9, Metric::ExposureGap, 5)
    );
}

fn recurrent(recipe: &Recipe) -> RecurrentConfig {
    match recipe.model_config().unwrap() {
        ModelConfig::Recurrent(config) => config,
        other @ ModelConfig::Transformer(_) => panic!("{other:?}"),
    }
}

#[test]
fn a_transformer_by_its_preset() {
    let model = |keys: &str| {
        parse(&format!("{DATA}[model]\npreset = \"transformer_tiny\"\n{keys}\n[training]\nupdates = 1"), &[])
    };
    let recipe = model("encoder.layers = 2\npositions = \"rotary\"\nfamily = \"transformer\"").unwrap();
    let tiny = TransformerConfig::tiny();
    let encoder = StackConfig { layers: 2, ..tiny.encoder };
    let expected = TransformerConfig { encoder, positions: Positions::Rotary, ..tiny };
    assert_eq!(recipe.model_config().unwrap(), ModelConfig::Transformer(expected));
    for (keys, said) in [
        ("decoder.heads = 3", "model.decoder.heads: decoder.heads = 3 must divide d_model = 128"),
        ("dropout = 1.0", "model.dropout: dropout = 1 must be at least 0 and below 1"),
        ("positions = \"none\"", "model.positions: unknown variant `none`"),
        (
            "positions = \"rotary\"\nencoder.heads = 128",
            "needs heads of an even width, found encoder.heads = 128",
        ),
        (
            "d_model = 33\nencoder.heads = 3\ndecoder.heads = 1",
            "needs an even d_model of at least 2, found 33",
        ),
        ("embeding = 5", "unknown field `embeding`, expected one of `d_model`"),
        (
            "embedding = 5",
            "line 6: model.embedding: model.preset = \"transformer_tiny\" is one of Transformers, and this is a key of \
             recurrent models: leave it out, or choose another preset, such as \"transformer_reader\"",
        ),
        ("encoder.layers = 65", "model.encoder.layers: encoder.layers = 65 are too many"),
        ("d_ff = 0", "model.d_ff: d_ff = 0 must be from 1"),
        ("family = \"recurrent\"", "is not that of the preset, \"transformer\""),
    ] {
        let error = model(keys).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn a_key_of_the_other_family_is_called_so() {
    let text =
        format!("{DATA}[model]\npreset = \"transformer_tiny\"\nencoder.heads = 2\n[training]\nupdates = 1\n");
    assert!(parse(&text, &[]).is_ok());
    let error = parse(&text, &["model.preset=luong"]).unwrap_err();
    let said = "model.encoder.heads: model.preset = \"luong\" is one of recurrent models, and this is a key of Transformers: \
                leave it out, or choose another preset, such as \"transformer_base\"";
    assert!(error.ends_with(said), "{error}");
}

#[test]
fn a_reader_has_its_own_keys() {
    let model = |keys: &str| {
        let text = format!("{DATA}[model]\npreset = \"transformer_reader\"\n{keys}\n[training]\nupdates = 1");
        parse(&text, &[]).unwrap_err()
    };
    for (keys, said) in [
        ("embedding = 30\nreader.heads = 4", "reader.heads = 4 must divide embedding = 30"),
        ("reader.d_ff = 0", "model.reader.d_ff: reader.d_ff = 0 must be from 1 to 65536"),
        ("reader.layers = 65", "reader.layers = 65 are too many: at most 64"),
        ("reader.attention_dropout = 1.5", "reader.attention_dropout = 1.5 must be at least 0"),
        (
            "embedding = 33\nreader.heads = 3",
            "reader.positions = \"sinusoidal\" needs an even embedding of at least 2, found 33",
        ),
        (
            "embedding = 6\nreader.heads = 2\nreader.positions = \"rotary\"",
            "reader.positions = \"rotary\" needs heads of an even width, found reader.heads = 2 of embedding = 6",
        ),
    ] {
        let error = model(keys);
        assert!(error.ends_with(said) || error.contains(&format!("{said} ")), "{error}");
    }
}

#[test]
fn a_score_by_dot_is_called_by_its_name() {
    for score in ["dot", "scaled_dot"] {
        let text = format!("{DATA}[model]\nattention.score = \"{score}\"\n[training]\nupdates = 1");
        let error = parse(&text, &[]).unwrap_err();
        let said = format!("attention.score = \"{score}\" needs decoder.hidden = ");
        assert!(error.contains(&said) && error.ends_with("use \"general\""), "{error}");
    }
}

#[test]
fn a_recipe_is_the_same_after_it_was_written() {
    let text = r#"
        seed = 9
        [[data.corpora]]
        pairs = "b.tsv"
        weight = 2.5
        tags = ["<x>"]
        [data]
        valid_pairs = "c.tsv"
        [model]
        preset = "luong"
        attention.radius = 3
        dropout = 0.25
        [training]
        epochs = 2
        schedule = { kind = "plateau", learning_rate = 0.1 }
        [validation]
        max_lines = 7
    "#;
    let recipe = parse(text, &["training.clip_norm=5"]).unwrap();
    let written = recipe.to_toml().unwrap();
    assert_eq!(parse(&written, &[]).unwrap(), recipe, "{written}");
}

#[test]
fn a_transformer_does_not_sample() {
    let text = format!(
        "{DATA}[model]\npreset = \"transformer_base\"\n[training]\nupdates = 1\nsampling = {{ kind = \"exponential\", k = 0.9 }}"
    );
    let error = parse(&text, &[]).unwrap_err();
    assert!(error.contains("training.sampling.kind: needs a recurrent model"), "{error}");
}

#[test]
fn defaults() {
    let recipe = parse(&format!("{DATA}[training]\nepochs = 2"), &[]).unwrap();
    assert_eq!(recipe.model_config().unwrap(), Preset::Bahdanau.config());
    assert_eq!(recipe.training.batch_size(), BatchSize::Tokens(4096));
    assert_eq!(recipe.data.validation_text(), None);
    assert_eq!((recipe.seed, recipe.training.updates, recipe.training.epochs), (1, None, Some(2)));
}

#[test]
fn overrides() {
    let text =
        format!("{DATA}[training]\nupdates = 5\n[training.schedule]\nkind = \"constant\"\nlearning_rate = 1");
    let overrides = [
        "seed=7",
        "training.updates = 10",
        "training.schedule.learning_rate=1e-3",
        "data.source=b.en",
        "data.source_language=\"en\"",
        "model.preset=gnmt",
        "model.encoder.layers=9",
        "validation.beam_size=3",
    ];
    let recipe = parse(&text, &overrides).unwrap();
    assert_eq!((recipe.seed, recipe.training.updates), (7, Some(10)));
    assert_eq!(recipe.training.schedule, ScheduleConfig::Constant { learning_rate: 1e-3, warmup: 0 });
    assert_eq!(recipe.data.source.as_deref(), Some(Path::new("b.en")));
    assert_eq!(recipe.data.source_language.as_deref(), Some("en"));
    assert_eq!((recurrent(&recipe).encoder.layers, recipe.validation.beam_size), (9, 3));

    let message = parse(&text, &["training.updates.x=1"]).unwrap_err();
    assert_eq!(message, "training.updates.x=1: updates is a value and has no keys below it");
    assert!(parse(&text, &["training"]).unwrap_err().contains("write it as key=value"));
    assert!(parse(&text, &["training..x=1"]).unwrap_err().contains("an empty key"));
    assert!(parse(&text, &["training.speed=1"]).unwrap_err().contains("unknown field `speed`"));
    assert!(parse(&text, &["training.updates=many"]).unwrap_err().contains("training.updates"));
}

#[test]
fn errors_name_the_key_and_the_line() {
    let message = error("[training]\nupdates = 5\nclip = 1", &[]);
    assert!(message.contains("line 6") && message.contains("unknown field `clip`"), "{message}");
    let message = error("[training]\nupdates = -5", &[]);
    assert!(message.contains("line 5") && message.contains("-5"), "{message}");
    let message = error("[training]\nupdates = 5\n[training.optimizer]\nkind = \"adam\"\nbeta3 = 1", &[]);
    assert!(message.contains("line 6") && message.contains("unknown field `beta3`"), "{message}");
    let message = error("[training\n", &[]);
    assert!(message.contains("line 4"), "{message}");
    assert!(error("[training]\nupdates = 5\n[validation]\nmetric = \"loss", &[]).contains("line 7"));
    assert!(error("[training]\nupdates = 5\n[model]\nwidth = 3", &[]).contains("width"));
    assert!(
        error("[training]\nupdates = 5\n[model]\nencoder.hidden = 0", &[]).contains("encoder.hidden = 0")
    );
}

#[test]
fn impossible_values_are_refused_with_what_is_allowed() {
    let cases = [
        ("accumulate = 0", "line 6: training.accumulate: 0 must be at least 1"),
        ("batch_tokens = 0", "line 6: training.batch_tokens: 0 must be at least 1"),
        (
            "clip_norm = -1",
            "line 6: training.clip_norm: -1 must be a finite number above 0, or 0 for no clipping",
        ),
        ("label_smoothing = 1.0", "line 6: training.label_smoothing: 1 must be at least 0 and below 1"),
        ("ema = 1.5", "line 6: training.ema: 1.5 must be above 0 and below 1, or 0 for no average"),
        (
            "schedule = { kind = \"constant\", learning_rate = -0.1 }",
            "line 6: training.schedule.learning_rate: -0.1 must be a finite number above 0",
        ),
        (
            "[training.optimizer]\nkind = \"sgd\"\nmomentum = 1",
            "line 8: training.optimizer.momentum: 1 must be at least 0 and below 1",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(error(&format!("[training]\nupdates = 5\n{line}"), &[]), expected);
    }
    // What comes from the command line has no line.
    let text = "[training]\nupdates = 5";
    assert_eq!(error(text, &["training.report_every=0"]), "training.report_every: 0 must be at least 1");
    let message = error(text, &["data.pairs=x"]);
    assert!(
        message.ends_with("data.source: give source and target, or pairs alone, or [[data.corpora]]"),
        "{message}"
    );
    assert!(error("[training]\n", &[]).contains("give the length of the training, as updates or as epochs"));
    assert!(error(text, &["validation.patience=3"]).contains("needs a validation set"));
    let message = error(text, &["training.batch_tokens=5", "training.batch_sentences=5"]);
    assert!(message.contains("not both"), "{message}");
}

#[test]
fn sentencepiece() {
    let training = "[training]\nupdates = 5\n";
    let text = format!(
        "{DATA}{training}[tokenizer]\nkind = \"sentencepiece\"\nalgorithm = \"bpe\"\nsource_model = \"a.model\"\n\
         target_model = \"/m/b.spm\"\n"
    );
    let mut recipe = parse(&text, &["tokenizer.byte_fallback=true"]).unwrap();
    recipe.resolve_paths(Path::new("/recipes"));
    let tokenizer = recipe.tokenizer;
    assert_eq!(
        (tokenizer.kind, tokenizer.algorithm),
        (TokenizerKind::SentencePiece, SentencePieceAlgorithm::Bpe)
    );
    assert_eq!(tokenizer.source_model.as_deref(), Some(Path::new("/recipes/a.model")));
    assert_eq!(tokenizer.target_model.as_deref(), Some(Path::new("/m/b.spm")));
    assert!(tokenizer.byte_fallback && (tokenizer.character_coverage - 0.9995).abs() < 1e-12);
    let message =
        error(&format!("{training}[tokenizer]\nkind = \"sentencepiece\"\nsource_model = \"a\""), &[]);
    assert_eq!(
        message,
        "line 8: tokenizer.source_model: give source_model and target_model, or none of them"
    );
    let message = error(&format!("{training}[tokenizer]\nsource_model = \"a\"\ntarget_model = \"b\""), &[]);
    assert!(message.contains("tokenizer.source_model: needs kind = \"sentencepiece\""), "{message}");
    let message = error(&format!("{training}[tokenizer]\ncharacter_coverage = 0"), &[]);
    assert!(message.contains("tokenizer.character_coverage: 0 must be above 0 and at most 1"), "{message}");
}

const CORPORA: &str = r#"
    [data]
    fields = ["en", "fr"]
    valid_pairs = "valid.jsonl"
    valid_tags = ["<2fr>", "<clean>"]
    cache = "cache"
    [data.filters]
    max_length = 60
    max_ratio = 3
    duplicates = true
    [[data.corpora]]
    pairs = "europarl.tsv.gz"
    columns = [2, 0]
    [[data.corpora]]
    pairs = "/back/translated.jsonl"
    weight = 0.5
    tags = ["<2fr>", "<BT>"]
    [[data.corpora]]
    pairs = "opus.parquet"
    fields = ["translation.en", "translation.fr"]
    weight = 2
    [[data.corpora]]
    source = "a.en"
    target = "a.fr"
    [training]
    updates = 5
"#;

#[test]
fn several_corpora() {
    let mut recipe = parse(CORPORA, &[]).unwrap();
    recipe.resolve_paths(Path::new("/r"));
    let fields = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let sources = [
        CorpusSource::Tsv { path: "/r/europarl.tsv.gz".into(), source_column: 2, target_column: 0 },
        {
            let (source_field, target_field) = fields("en", "fr");
            CorpusSource::JsonLines { path: "/back/translated.jsonl".into(), source_field, target_field }
        },
        {
            let (source_field, target_field) = fields("translation.en", "translation.fr");
            CorpusSource::Parquet { path: "/r/opus.parquet".into(), source_field, target_field }
        },
        CorpusSource::files("/r/a.en", "/r/a.fr"),
    ];
    let corpora = recipe.data.training_corpora();
    assert_eq!(corpora.iter().map(|corpus| corpus.source.clone()).collect::<Vec<_>>(), sources);
    let weights: Vec<f64> = corpora.iter().map(|corpus| corpus.weight).collect();
    assert_eq!(weights, [1.0, 0.5, 2.0, 1.0]);
    assert_eq!(
        (corpora[0].tags.len(), corpora[1].tags.as_slice()),
        (0, &["<2fr>".to_owned(), "<BT>".to_owned()][..])
    );
    assert_eq!(recipe.data.tags(), ["<2fr>", "<BT>", "<clean>"]);
    let (source_field, target_field) = fields("en", "fr");
    let valid = CorpusSource::JsonLines { path: "/r/valid.jsonl".into(), source_field, target_field };
    assert_eq!(recipe.data.validation_text(), Some(valid));
    let filters =
        CorpusFilters { max_length: Some(60), max_ratio: Some(3.0), duplicates: true, identical: false };
    assert_eq!(recipe.data.filters(), filters);
    assert_eq!(recipe.data.cache.as_deref(), Some(Path::new("/r/cache")));
    assert_eq!(recipe.sample_lines(), Some(1_000_000));
    let recipe = parse(CORPORA, &["tokenizer.sample_lines=10"]).unwrap();
    assert_eq!(recipe.sample_lines(), Some(10));
}

#[test]
fn impossible_corpora_are_refused() {
    let cases = [
        (
            "[data]\npairs = \"x\"\n[[data.corpora]]\npairs = \"x\"",
            "data.corpora: give [[data.corpora]], or source",
        ),
        (
            "[[data.corpora]]\nsource = \"x\"",
            "line 1: data.corpora: corpus 1: give source and target, or pairs alone",
        ),
        (
            "[[data.corpora]]\npairs = \"x\"\nweight = 0",
            "corpus 1: weight 0 must be above 0 and at most 1000",
        ),
        ("[[data.corpora]]\npairs = \"x\"\nweight = nan", "corpus 1: weight NaN must be above 0"),
        ("[[data.corpora]]\npairs = \"x.jsonl\"\ncolumns = [0, 1]", "corpus 1: columns are for TSV"),
        (
            "[data]\npairs = \"x\"\nfields = [\"a\", \"b\"]",
            "data.pairs: fields are for JSON Lines and Parquet",
        ),
        (
            "[data]\npairs = \"-\"\nformat = \"parquet\"",
            "data.pairs: Parquet cannot be read from the standard input",
        ),
        (
            "[[data.corpora]]\nsource = \"x\"\ntarget = \"y\"\nfields = [\"a\", \"b\"]",
            "corpus 1: format, columns and fields are for pairs",
        ),
        (
            "[data]\npairs = \"x\"\nformat = \"csv\"",
            "unknown variant `csv`, expected one of `tsv`, `jsonl`, `parquet`",
        ),
        ("[data]\npairs = \"x\"\ncolumns = [0]", "columns"),
        ("[[data.corpora]]\npairs = \"x\"\nspeed = 1", "unknown field `speed`"),
        (
            "[data]\npairs = \"x\"\nfilters.max_ratio = 0.5",
            "data.filters.max_ratio: 0.5 must be a finite number",
        ),
        ("[data]\npairs = \"x\"\nfilters.max_length = 0", "data.filters.max_length: 0 must be at least 1"),
        ("[data]\npairs = \"x\"\nmax_length = 5\nfilters.max_length = 5", "not both"),
        ("[data]\npairs = \"x\"\nvalid_tags = [\"<a>\"]", "there is no validation set"),
        ("[data]\npairs = \"-\"\nvalid_pairs = \"-\"", "can be read only once"),
        ("[data]\npairs = \"-\"\ncache = \"c\"", "data.cache: the text is read several times"),
        (
            "[data]\npairs = \"x\"\n[tokenizer]\nsample_lines = 0",
            "tokenizer.sample_lines: 0 must be at least 1",
        ),
    ];
    for (text, expected) in cases {
        let message = parse(&format!("{text}\n[training]\nupdates = 5\n"), &[]).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let mut recipe =
        parse("[data]\npairs = \"-\"\nformat = \"jsonl\"\n[training]\nupdates = 5\n", &[]).unwrap();
    recipe.resolve_paths(Path::new("/r"));
    let [corpus] = &recipe.data.training_corpora()[..] else { panic!() };
    assert_eq!(corpus.source.paths(), [Path::new("-")]);
}

#[test]
fn a_recipe_may_go_on_from_a_model() {
    let text = format!(
        "init_from = \"first\"\n{DATA}[model]\ndropout = 0.3\n[training]\nupdates = 1\nfreeze = [\"encoder\"]"
    );
    let mut recipe = parse(&text, &[]).unwrap();
    recipe.resolve_paths(Path::new("/recipes"));
    assert_eq!(recipe.init_from.as_deref(), Some(Path::new("/recipes/first")));
    assert_eq!(recipe.training.freeze, ["encoder"]);
    // What is written is such a recipe again, without the keys that are the model's own.
    let written = recipe.to_toml().unwrap();
    assert_eq!(parse(&written, &[]).unwrap(), recipe, "{written}");
    let own = Preset::TransformerTiny.config().with_changes(&serde_json::json!({"d_model": 64})).unwrap();
    let ModelConfig::Transformer(config) = recipe.changed(&own).unwrap() else {
        panic!("it is a Transformer")
    };
    assert_eq!((config.d_model, config.dropout.to_bits()), (64, 0.3_f64.to_bits()));

    let message = parse(&text.replace("dropout", "d_model"), &[]).unwrap_err();
    assert!(message.starts_with("line 6: model.d_model: init_from names a model"), "{message}");
    assert!(message.contains("only dropout, attention_dropout, feed_forward_dropout,"), "{message}");
    let message = parse(&text, &["tokenizer.kind=word"]).unwrap_err();
    assert!(
        message.starts_with("tokenizer.kind: init_from names a model, which has its own tokenizers"),
        "{message}"
    );
}
