//! The cache of a training run: what it is found by, and what lies in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result, bail};
use regard_text::{CacheWriter, CachedCorpus, CorpusReport, Pair, PairSource, Pipeline};
use regard_train::{Recipe, TrainingCorpus};
use sha2::{Digest, Sha256};

use super::settings::Settings;

/// Goes into every key: what another version has made is made anew.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The file with the digest of the others, in a directory of tokenizers.
const DIGEST: &str = "sha256";

/// The text files of a run: where they are, how they are read, their sizes and times of change.
pub(super) struct CachedText(Vec<String>);

impl CachedText {
    pub(super) fn of(corpora: &[TrainingCorpus]) -> Result<Self> {
        let mut text = Vec::new();
        for corpus in corpora {
            text.push(format!("{:?}", corpus.source));
            for path in corpus.source.paths() {
                text.push(state(path)?);
            }
        }
        Ok(Self(text))
    }

    /// Stands for everything that the pipelines of a recipe depend on.
    pub(super) fn pipelines_key(&self, recipe: &Recipe, one_vocabulary: bool) -> Result<String> {
        let models = [&recipe.tokenizer.source_model, &recipe.tokenizer.target_model];
        let models = models.into_iter().flatten().map(|path| state(path)).collect::<Result<Vec<_>>>()?;
        let (tokenizer, tags, sample) = (&recipe.tokenizer, recipe.data.tags(), recipe.sample_lines());
        let languages = [&recipe.data.source_language, &recipe.data.target_language];
        let settings = format!("{models:?} {tokenizer:?} {tags:?} {sample:?} {languages:?} {one_vocabulary}");
        Ok(self.key(["tokenizers", &settings]))
    }

    /// Stands for everything that the ids depend on; `pipelines` is the digest of both pipelines.
    pub(super) fn ids_key(&self, recipe: &Recipe, corpora: &[TrainingCorpus], pipelines: &str) -> String {
        let tags: Vec<_> = corpora.iter().map(|corpus| &corpus.tags).collect();
        let settings = format!("{:?} {:?} {tags:?}", recipe.data.filters(), recipe.tokenizer.moses);
        self.key(["ids", &format!("{pipelines} {settings}")])
    }

    /// Stands for everything that links between tokens depend on; `ids` is the key of the tokens.
    pub(super) fn links_key(&self, ids: &str, links: &Path) -> Result<String> {
        Ok(self.key(["links", &format!("{ids} {}", state(links)?)]))
    }

    fn key(&self, more: [&str; 2]) -> String {
        let text = self.0.iter().map(String::as_str);
        hex(&[VERSION].into_iter().chain(more).chain(text).collect::<Vec<_>>())
    }
}

/// A file of pairs in the cache: found there, or written anew.
pub(super) struct Cached<'a> {
    path: PathBuf,
    key: String,
    pub(super) found: Option<CachedCorpus>,
    writer: Option<CacheWriter>,
    settings: &'a Settings,
}

impl<'a> Cached<'a> {
    /// Looks for a file with this key; one that cannot be used is as good as none.
    pub(super) fn open(directory: &Path, key: String, ending: &str, settings: &'a Settings) -> Self {
        let path = path(directory, &key, ending);
        let mut found = None;
        if path.exists() {
            match CachedCorpus::open(&path, &key) {
                Ok(cached) => {
                    settings.say(format_args!(
                        "using the cache of {} pairs, {}",
                        cached.len(),
                        path.display()
                    ));
                    found = Some(cached);
                }
                Err(error) => settings.say(format_args!("{error}; making it anew")),
            }
        }
        Self { path, key, found, writer: None, settings }
    }

    /// Begins a new file, where none was found.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.found.is_none() {
            self.writer = Some(CacheWriter::create(&self.path)?);
        }
        Ok(())
    }

    /// Adds a pair to a new file.
    pub(super) fn push(&mut self, pair: &Pair) -> Result<()> {
        Ok(self.writer.as_mut().map_or(Ok(()), |writer| writer.push(pair))?)
    }

    /// Ends a new file.
    pub(super) fn finish(&mut self, reports: &[CorpusReport]) -> Result<()> {
        if let Some(writer) = self.writer.take() {
            let cached = writer.finish(&self.key, reports)?;
            let path = self.path.display();
            self.settings.say(format_args!("{} pairs are in the cache {path}", cached.len()));
            self.found = Some(cached);
        }
        Ok(())
    }

    /// The pairs.
    pub(super) fn into_corpus(self) -> Result<CachedCorpus> {
        self.found.with_context(|| format!("{}: was not written", self.path.display()))
    }
}

/// Path, size and time of change of a file, which together tell whether it is still the same.
fn state(path: &Path) -> Result<String> {
    let read = || {
        let (path, metadata) = (fs::canonicalize(path)?, fs::metadata(path)?);
        let changed = metadata.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok::<_, std::io::Error>(format!("{} {} {}", path.display(), metadata.len(), changed.as_nanos()))
    };
    read().with_context(|| format!("{}: cannot be read", path.display()))
}

/// Refuses what is no directory and cannot become one.
pub(super) fn check(directory: &Path) -> Result<()> {
    match directory.ancestors().find(|path| path.exists()) {
        Some(path) if !path.is_dir() => {
            bail!(
                "data.cache: {} is a file: name a directory; it is made where it is missing",
                path.display()
            )
        }
        _ => Ok(()),
    }
}

/// Where something with this key lies.
pub(super) fn path(directory: &Path, key: &str, ending: &str) -> PathBuf {
    directory.join(format!("{}.{ending}", &key[..16]))
}

/// The pipelines with this key, or new ones, which are there the next time.
pub(super) fn load_or_learn(
    directory: &Path,
    key: &str,
    learn: impl FnOnce() -> Result<(Pipeline, Pipeline)>,
    settings: &Settings,
) -> Result<(Pipeline, Pipeline)> {
    let path = path(directory, key, "tokenizers");
    if path.exists() {
        match load(&path) {
            Ok(pipelines) => {
                settings.say(format_args!("using the tokenizers of the cache, {}", path.display()));
                return Ok(pipelines);
            }
            Err(error) => settings
                .say(format_args!("{}: cannot be used as a cache: {error}; making it anew", path.display())),
        }
    }
    let (source, target) = learn()?;
    keep(&path, &source, &target).with_context(|| format!("{}: cannot be written", path.display()))?;
    Ok((source, target))
}

/// Writes tokenizers aside and gives them their name. Where another run was faster, its files stay: they are the same.
fn keep(path: &Path, source: &Pipeline, target: &Pipeline) -> Result<()> {
    let aside = path.with_extension(format!("tokenizers.{}.tmp", std::process::id()));
    fs::create_dir_all(&aside)?;
    let written = save(&aside, source, target)
        .and_then(|digest| Ok(fs::write(aside.join(DIGEST), digest)?))
        .and_then(|()| {
            if path.exists() && load(path).is_err() {
                fs::remove_dir_all(path)?;
            }
            Ok(fs::rename(&aside, path)?)
        });
    if written.is_err() {
        // Whatever went wrong before is the error to report.
        let _ = fs::remove_dir_all(&aside);
    }
    if load(path).is_ok() { Ok(()) } else { written }
}

fn load(directory: &Path) -> Result<(Pipeline, Pipeline)> {
    if fs::read_to_string(directory.join(DIGEST))? != digest(directory)? {
        bail!("it is damaged");
    }
    Ok((Pipeline::load(directory, "source")?, Pipeline::load(directory, "target")?))
}

/// The digest of two pipelines, by way of their files.
pub(super) fn digest_of(directory: &Path, source: &Pipeline, target: &Pipeline) -> Result<String> {
    let aside = directory.join(format!(".tokenizers.{}.tmp", std::process::id()));
    let digest = fs::create_dir_all(&aside)
        .with_context(|| format!("{}: cannot be written", aside.display()))
        .and_then(|()| save(&aside, source, target));
    // Whatever went wrong before is the error to report.
    let _ = fs::remove_dir_all(&aside);
    digest
}

fn save(directory: &Path, source: &Pipeline, target: &Pipeline) -> Result<String> {
    source.save(directory, "source")?;
    target.save(directory, "target")?;
    digest(directory)
}

/// SHA-256 of the names and contents of all files but the one that holds it.
fn digest(directory: &Path) -> Result<String> {
    let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut paths: Vec<_> = entries.into_iter().filter(|path| !path.ends_with(DIGEST)).collect();
    paths.sort();
    let mut parts = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        parts.extend([name.into_bytes(), fs::read(&path)?]);
    }
    Ok(hex(&parts))
}

/// SHA-256 of the parts, each with its length before it, in hexadecimal digits.
fn hex(parts: &[impl AsRef<[u8]>]) -> String {
    let sum = parts.iter().map(AsRef::as_ref).fold(Sha256::new(), |sum, part| {
        sum.chain_update((part.len() as u64).to_le_bytes()).chain_update(part)
    });
    sum.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
