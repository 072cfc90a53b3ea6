//! `regard evaluate-alignment`: how well links between words agree with those that people made.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use regard_decode::pharaoh;
use regard_eval::{
    AlignmentCounts, AlignmentFile, AlignmentScore, Links, Symmetrization, alignment_counts, transpose,
};

use super::failure::WrongCall;
use super::input::all_lines;
use super::output::{Output, print_json};
use super::settings::Settings;

/// Alignment error rate, precision, recall and F1 of word alignments.
///
/// They are summed over all sentences, fractions from 0 to 1. Files hold a line of `source-target` links for each sentence pair (Pharaoh; in the gold, `-` is a sure link and `p` a
/// possible one), or a line `sentence source target [S|P]` for each link (NAACL).
///
/// Example: regard evaluate-alignment output.align --gold test.gold --gold-base 1
#[derive(Args)]
pub(super) struct EvaluateAlignmentArgs {
    /// The links to be judged
    hypothesis: PathBuf,
    /// The links that people made
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// The position of a first word in the gold [default: 0, in NAACL's format 1]
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    gold_base: Option<u8>,
    /// The same for the links to be judged and those of --reverse
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    hyp_base: Option<u8>,
    /// `target-source` links of an aligner that read the other way; judged is what --symmetrize makes of both
    #[arg(long, value_name = "FILE", requires = "symmetrize")]
    reverse: Option<PathBuf>,
    /// How two alignments become one
    #[arg(long, value_enum, value_name = "METHOD", requires = "reverse")]
    symmetrize: Option<Method>,
    /// Write the links of --symmetrize here, in Pharaoh's format, `source-target` from 0
    #[arg(short, value_name = "FILE", requires = "symmetrize")]
    output: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: Settings,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Method {
    /// Links that both have
    Intersection,
    /// Links that one has
    Union,
    /// As `fast_align`'s atools: from the intersection to neighbours with a free word
    GrowDiag,
    /// grow-diag, then all links with a free word
    GrowDiagFinal,
    /// grow-diag, then all links with two free words
    #[value(alias = "grow-diagonal-final-and")]
    GrowDiagFinalAnd,
    /// As the scripts of Zenkel et al. (2019): from the intersection to neighbours with two free words
    GrowDiagonal,
    /// grow-diagonal, then all links with two free words
    GrowDiagonalFinal,
}

impl Method {
    pub(super) fn symmetrization(self) -> Symmetrization {
        match self {
            Self::Intersection => Symmetrization::Intersection,
            Self::Union => Symmetrization::Union,
            Self::GrowDiag => Symmetrization::GrowDiag,
            Self::GrowDiagFinal => Symmetrization::GrowDiagFinal,
            Self::GrowDiagFinalAnd => Symmetrization::GrowDiagFinalAnd,
            Self::GrowDiagonal => Symmetrization::GrowDiagonal,
            Self::GrowDiagonalFinal => Symmetrization::GrowDiagonalFinal,
        }
    }
}

/// A file that was read.
struct Alignment<'a> {
    path: &'a PathBuf,
    file: AlignmentFile,
}

pub(super) fn run(args: &EvaluateAlignmentArgs) -> Result<()> {
    if args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        let message = "-o -: standard output is for the scores; name a file".to_owned();
        return Err(WrongCall(message).into());
    }
    let mut hypothesis = read(&args.hypothesis, args.hyp_base)?;
    let mut gold = read(&args.gold, args.gold_base)?;
    let mut reverse = args.reverse.as_ref().map(|path| read(path, args.hyp_base)).transpose()?;
    pair(&mut [&mut hypothesis, &mut gold].into_iter().chain(&mut reverse).collect::<Vec<_>>())?;
    let mut links = hypothesis.file.links();
    if let (Some(reverse), Some(method)) = (&reverse, args.symmetrize) {
        links = symmetrized(&links, &reverse.file.links(), method.symmetrization());
    }
    let counts = alignment_counts(&links, &gold.file.sentences)
        .with_context(|| args.hypothesis.display().to_string())?;
    if let Some(path) = &args.output {
        write_links(path, &links)?;
    }
    let score = counts.iter().copied().sum::<AlignmentCounts>().score();
    if args.json { print_json(&score) } else { show(&score, counts.len()) }
}

fn read(path: &PathBuf, base: Option<u8>) -> Result<Alignment<'_>> {
    let file = AlignmentFile::parse(&path.display().to_string(), &all_lines(path)?, base.map(usize::from))?;
    Ok(Alignment { path, file })
}

/// Sees to it that the files have equally many sentences.
fn pair(alignments: &mut [&mut Alignment]) -> Result<()> {
    let most = alignments.iter().map(|alignment| alignment.file.sentences.len()).max().unwrap_or_default();
    for alignment in alignments.iter_mut() {
        alignment.file.extend_to(most);
    }
    let Some((first, others)) = alignments.split_first() else { return Ok(()) };
    for other in others {
        let (count, found) = (first.file.sentences.len(), other.file.sentences.len());
        if found != count {
            bail!(
                "{} has {count} sentences and {} has {found}: they must belong together line by line",
                first.path.display(),
                other.path.display()
            );
        }
    }
    Ok(())
}

/// Joins links of both directions, line by line; those of `reverse` are `(target, source)`.
fn symmetrized(forward: &[Links], reverse: &[Links], method: Symmetrization) -> Vec<Links> {
    let pairs = forward.iter().zip(reverse);
    pairs.map(|(forward, reverse)| method.combine(forward, &transpose(reverse))).collect()
}

fn write_links(path: &PathBuf, links: &[Links]) -> Result<()> {
    let mut output = Output::open(Some(path))?;
    for links in links {
        output.line(&pharaoh(&links.iter().copied().collect::<Vec<_>>()))?;
    }
    output.finish()
}

fn show(score: &AlignmentScore, sentences: usize) -> Result<()> {
    let AlignmentScore { aer, precision, recall, f1, links, sure, possible } = score;
    let mut output = Output::open(None)?;
    output.line(&format!("AER       {aer:.4} = 1 - (|A & S| + |A & P|) / (|A| + |S|)"))?;
    output.line(&format!("precision {precision:.4} = |A & P| / |A|"))?;
    output.line(&format!("recall    {recall:.4} = |A & S| / |S|"))?;
    output.line(&format!("F1        {f1:.4} = 2 precision recall / (precision + recall)"))?;
    output.line(&format!(
        "{sentences} lines, {links} links (A), {sure} sure (S), {possible} sure or possible (P)"
    ))?;
    output.finish()
}
