//! Training on several corpora, from memory and from a cache.
#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]

mod common;

use std::fs;
use std::sync::atomic::AtomicBool;

use common::{SEED, bits, info, model, pairs, small_config, training_config};
use regard_tensor::Threads;
use regard_text::{CacheWriter, CachedCorpus, Corpus, CorpusReport, PairSource, Part};
use regard_train::{Checkpoint, RunDirectory, Silent, TrainError, Trainer};

const SIZES: [usize; 2] = [30, 17];

fn weighted(weights: [f64; 2]) -> Corpus {
    let parts = SIZES.into_iter().zip(weights).map(|(pairs, weight)| Part { pairs, weight }).collect();
    Corpus { pairs: pairs(47), parts }
}

fn cached(path: &std::path::Path, weights: [f64; 2]) -> CachedCorpus {
    let mut writer = CacheWriter::create(path).unwrap();
    for pair in pairs(47) {
        writer.push(&pair).unwrap();
    }
    let reports = SIZES.map(|kept| CorpusReport { lines: kept, kept, ..CorpusReport::default() });
    writer.finish("key", &reports).unwrap().with_weights(&weights)
}

fn trained(pairs: &(impl PairSource + ?Sized)) -> Vec<u32> {
    let mut trainer =
        Trainer::new(model(&small_config()), training_config(20), SEED, &Threads::single()).unwrap();
    trainer.run(pairs, None, &mut Silent, &AtomicBool::new(false)).unwrap();
    bits(&*trainer.into_model())
}

#[test]
fn a_cache_trains_the_same_bits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pairs.ids");
    for weights in [[1.0, 1.0], [0.5, 2.5]] {
        assert_eq!(trained(&cached(&path, weights)), trained(&weighted(weights)));
    }
    assert_eq!(trained(&weighted([1.0, 1.0])), trained(&pairs(47)));
    assert_ne!(trained(&weighted([1.0, 0.5])), trained(&pairs(47)));
    // Behind a pointer, as a program holds one or the other.
    let boxed: Box<dyn PairSource> = Box::new(pairs(47));
    assert_eq!(trained(&*boxed), trained(&pairs(47)));
}

#[test]
fn other_weights_are_another_run() {
    let directory = tempfile::tempdir().unwrap();
    let run = directory.path().join("run");
    let config = || training_config(3);
    let mut trainer = Trainer::new(model(&small_config()), config(), SEED, &Threads::single())
        .unwrap()
        .in_directory(RunDirectory::new(&run, info(&small_config())));
    let stop = AtomicBool::new(false);
    trainer.run(&weighted([1.0, 0.5]), None, &mut Silent, &stop).unwrap();
    let resume = || {
        let checkpoint = Checkpoint::newest(&run).unwrap();
        Trainer::resume(checkpoint, training_config(6), SEED, &Threads::single()).unwrap()
    };
    let error = resume().run(&weighted([1.0, 0.25]), None, &mut Silent, &stop).unwrap_err();
    assert!(matches!(error, TrainError::OtherRun { what: "corpora (pairs, weight)", .. }), "{error}");
    resume().run(&weighted([1.0, 0.5]), None, &mut Silent, &stop).unwrap();
}

#[test]
fn an_epoch_without_pairs_is_an_error() {
    let corpus = Corpus { pairs: pairs(1), parts: vec![Part { pairs: 1, weight: 0.4 }] };
    let mut trainer =
        Trainer::new(model(&small_config()), training_config(3), SEED, &Threads::single()).unwrap();
    let error = trainer.run(&corpus, None, &mut Silent, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, TrainError::NoPairs));
}

#[test]
fn a_cache_that_breaks_ends_the_run_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pairs.ids");
    let corpus = cached(&path, [1.0, 1.0]);
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(70).unwrap();
    let mut trainer =
        Trainer::new(model(&small_config()), training_config(9), SEED, &Threads::single()).unwrap();
    let error = trainer.run(&corpus, None, &mut Silent, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("pairs.ids: cannot be read"), "{error}");
}
