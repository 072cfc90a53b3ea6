//! Writes a few good inputs for each target: `cargo run --example seeds DIRECTORY`, then DIRECTORY/TARGET/*.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use regard_fuzz::{CUT, SCRATCH, model};
use regard_model::Preset;
use regard_text::{
    Bpe, CacheWriter, CorpusReport, Normalizer, Pair, Pipeline, SentencePiece, SentencePieceAlgorithm,
    SentencePieceConfig, SentencePieceNormalization, Tokenizer,
};

const LINES: [&str; 4] = ["low lower lowest", "new newer newest", "wide wider widest 日本 é", "low low new"];
const TEXT: &str = "\u{feff}one\r\ntwo\u{2028}still two\rtwo\n\nзимний dog 👩\u{200d}👧\nlast";

struct Seeds(PathBuf);

impl Seeds {
    fn add(&self, target: &str, parts: &[&[u8]]) {
        let directory = self.0.join(target);
        fs::create_dir_all(&directory).expect("the directory is writable");
        let name = fs::read_dir(&directory).expect("it is there").count().to_string();
        fs::write(directory.join(name), parts.join(&CUT)).expect("the directory is writable");
    }

    fn add_text(&self, target: &str, texts: &[&str]) {
        for text in texts {
            self.add(target, &[text.as_bytes()]);
        }
    }
}

fn main() {
    let directory = std::env::args().nth(1).expect("usage: seeds DIRECTORY");
    let seeds = Seeds(directory.into());
    plain_text(&seeds);
    tokenizers(&seeds);
    sentencepiece(&seeds);
    models(&seeds);
    corpora(&seeds);
    fs::remove_dir_all(&*SCRATCH).ok();
}

fn plain_text(seeds: &Seeds) {
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(TEXT.as_bytes()).expect("memory is writable");
    let gzip = gzip.finish().expect("memory is writable");
    let zstd = zstd::encode_all(TEXT.as_bytes(), 1).expect("memory is writable");
    seeds.add("lines", &[TEXT.as_bytes()]);
    seeds.add("lines", &[&[gzip.as_slice(), &gzip].concat()]);
    seeds.add("lines", &[&[zstd.as_slice(), &zstd].concat()]);
    seeds.add("pairs", &[b"the cat\nthe dog\n", b"le chat\nle chien\n"]);
    seeds.add("pairs", &[b"", b"the cat\tle chat\textra\n\tempty\tx\nthe dog\tle chien\tx\n"]);
    seeds.add("pairs", &[&gzip, &zstd]);
    seeds.add_text(
        "moses",
        &[
            "Dr. Who's 1,000.5 [sic] dogs... l'eau \"d'or\" & <b> a@-@b No. 5, e.g. that. U.S.",
            "It 's & apos ; s &quot; x &quot; ( a ) , b ! ¿qué? DOTMULTI DOTDOTMULTI.",
        ],
    );
    seeds.add("alignment", &[b"", b"0-0 1-2 2p2\n\n3-1", b"0-0 2-2\n1-1\n0-1 3p1"]);
    seeds.add("alignment", &[b"11", b"1 1 1 S\n1 2 3 P\n3 1 1", b"1 1 2\n2 2 2 P\n3 1 1 S"]);
    seeds.add_text("metrics", &[
        "the cat sat on the mat .\tthe cat sat on a mat.\tthere is a cat on the mat\nx\ty",
        "私は「猫」です。 3.14 &amp; don't\t私は猫です 1,000 -- \"q\"\na b c d e f g h\te f g h a b c d\n\t\t",
    ]);
    seeds.add_text("translate", &["the cat\tle chat\n\tle\nblack dog unknown\t</s> <unk> chien"]);
    seeds.add("recipe", &[
        b"seed = 3\n[data]\nsource = \"a\"\ntarget = \"b\"\nvalid_pairs = \"c.gz\"\n[tokenizer]\nkind = \"word\"\nmin_count = 2\n\
          [model]\npreset = \"luong\"\nencoder.hidden = 64\ndecoder.hidden = 128\ndropout = 0.1\n[training]\nupdates = 9\n\
          [training.schedule]\nkind = \"plateau\"\nlearning_rate = 0.01\npatience = 1\n[validation]\nmetric = \"bleu\"\n",
        b"training.clip_norm=5\nmodel.attention.score=dot\ndata.max_length=7",
    ]);
    seeds.add(
        "recipe",
        &[b"[data]\npairs='x'\n[training]\nepochs=1\nsampling={kind='linear',slope=0.1}", b"seed=1"],
    );
}

fn tokenizers(seeds: &Seeds) {
    let bpe = Bpe::learn(LINES, 12, 2);
    let directory = SCRATCH.clone();
    let read = |name: &str| fs::read(directory.join(name)).unwrap_or_default();
    bpe.write(directory.join("codes")).expect("the directory is writable");
    let (codes, pieces, counts) =
        (read("codes"), b"low 5\nlo@@ 3\nne@@ 2\nw 1\n", b"low 5\nlower 2\n\xc3\xa9 9\n");
    seeds.add(
        "bpe",
        &[&codes, pieces, counts, b"[0-9]+", b"low lowest 1934 \xe6\x97\xa5\xe6\x9c\xac </w> @@"],
    );
    let restricted = bpe.with_vocabulary(["lo@@".to_owned(), "w".to_owned(), "new".to_owned()]);
    let glossary = restricted.with_glossaries(vec![r"\d+".to_owned()]).expect("the pattern is one");
    for tokenizer in [Tokenizer::Word, Tokenizer::Character, Tokenizer::Bpe(glossary)] {
        let pipeline = Pipeline::build(Normalizer::Nfkc, tokenizer, LINES, None, 1);
        let pipeline = pipeline.with_tags(["<2fr>".to_owned()]).expect("the tag is one");
        pipeline.save(&directory, "side").expect("the directory is writable");
        let files = ["side.tokenizer.json", "side.vocab.txt", "side.bpe", "side.pieces.txt"].map(read);
        seeds.add("vocabulary", &[&files[1]]);
        seeds.add(
            "pipeline",
            &[&files[0], &files[1], &files[2], &files[3], b"low 12 </s> \xef\xac\x81 newest"],
        );
        let moses =
            br#"{"kind":"word","normalizer":"nfc","moses":{"language":"fr","escape":true},"lowercase":true}"#;
        seeds.add("pipeline", &[moses, &files[1], b"", b"", b"L'EAU &amp; Low..."]);
    }
    for entry in fs::read_dir(data("hugging_face")).expect("the tests' data is there").flatten() {
        if !entry.path().to_string_lossy().ends_with(".lines.json") {
            let json = fs::read(entry.path()).expect("the file is there");
            seeds.add("hugging_face", &[&json, "the cat </s> é日本 ".as_bytes()]);
        }
    }
}

fn sentencepiece(seeds: &Seeds) {
    let line = "low  newest é日本 </s> ▁ 12";
    for algorithm in [SentencePieceAlgorithm::Unigram, SentencePieceAlgorithm::Bpe] {
        let normalization = SentencePieceNormalization::Identity;
        let config = SentencePieceConfig {
            algorithm,
            vocabulary_size: 22,
            normalization,
            ..SentencePieceConfig::default()
        };
        let model = SentencePiece::train(LINES, &config, 1, &mut |_| {}).expect("the text is long enough");
        let path = SCRATCH.join("spm");
        model.write(&path).expect("the directory is writable");
        seeds.add("sentencepiece", &[&fs::read(path).expect("it was written"), line.as_bytes()]);
    }
    for name in ["unigram_rules", "bpe_bytes", "bpe_unused", "unigram_unused", "unigram_bytes"] {
        let path = data("sentencepiece").join(format!("{name}.model.gz"));
        let mut model = Vec::new();
        GzDecoder::new(fs::File::open(path).expect("it is there"))
            .read_to_end(&mut model)
            .expect("it is whole");
        seeds.add("sentencepiece", &[&model, line.as_bytes()]);
    }
}

fn models(seeds: &Seeds) {
    for (family, preset) in [(0, Preset::Bahdanau), (8, Preset::TransformerTiny)] {
        model::save(&SCRATCH, preset);
        let read = |name: &str| fs::read(SCRATCH.join(name)).expect("it was written");
        let files = ["model.safetensors", "source.vocab.txt", "source.tokenizer.json"].map(read);
        for (which, file) in (family..).zip(&files) {
            seeds.add("model", &[&[&[which], file.as_slice()].concat()]);
        }
        let config = String::from_utf8_lossy(&read("config.json")).into_owned();
        let (before, after) = config.split_once("\"config_sha256\": \"").expect("it has a digest");
        let unsealed = format!("{before}\"config_sha256\": \"{}", &after[64..]);
        seeds.add("model", &[&[&[family + 3], unsealed.as_bytes()].concat()]);
    }
    let marian = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/regard/tests/data/marian");
    for name in ["s2s", "s2s_normed", "transformer_pre"] {
        let read = |file: &str| fs::read(marian.join(name).join(file)).expect("the tests' data is there");
        let vocabularies = [&[0], read("source.yml").as_slice()].concat();
        seeds.add("marian", &[&vocabularies, &read("target.yml"), &read("model.npz")]);
    }
    model::save(&SCRATCH, Preset::Bahdanau);
    for (which, name) in (0u8..).zip(["training_state.safetensors", "training_state.json"]) {
        let file = fs::read(SCRATCH.join(name)).expect("it was written");
        seeds.add("training_state", &[&[&[which], file.as_slice()].concat()]);
    }
}

fn corpora(seeds: &Seeds) {
    seeds.add_text("json_lines", &[
        "{\"source\": \"the cat\", \"target\": \"le\\nchat\", \"id\": 3}\n\n{\"source\": null, \"target\": \"\"}\n",
        "{\"translation\": {\"en\": \"\\ud83d\\udc69\", \"fr\": \"x\"}}\n",
        "{\"translation.en\": \"a\", \"translation\": {\"en\": \"b\", \"fr\": \"c\", \"fr\": [1e9, {}]}}\n",
    ]);
    for entry in fs::read_dir(data("parquet")).expect("the tests' data is there").flatten() {
        if entry.path().extension().is_some_and(|extension| extension == "parquet") {
            seeds.add("parquet", &[&fs::read(entry.path()).expect("the file is there")]);
        }
    }
    let path = SCRATCH.join("cache");
    let mut writer = CacheWriter::create(&path).expect("the directory is writable");
    for length in 0..3 {
        writer
            .push(&Pair { source: vec![7; length], target: vec![9, 8] })
            .expect("the directory is writable");
    }
    let report = CorpusReport { lines: 3, kept: 3, ..CorpusReport::default() };
    writer.finish("key", &[report]).expect("the directory is writable");
    seeds.add("cache", &[&fs::read(path).expect("it was written")]);
}

/// The data of the tests of regard-text.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/regard-text/tests/data").join(name)
}
