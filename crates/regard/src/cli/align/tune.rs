//! The layer and the head whose links agree best with those that people made.

use anyhow::{Result, bail};
use regard_decode::Look;
use regard_eval::{AlignmentCounts, AlignmentFile, Links, alignment_counts, transpose};

use super::AlignArgs;
use super::aligner::Aligner;
use crate::cli::failure::WrongCall;
use crate::cli::input::all_lines;
use crate::cli::settings::Settings;

/// Lines from 1, both ends included.
#[derive(Clone, Copy)]
pub(super) struct LineRange {
    first: usize,
    last: usize,
}

impl std::str::FromStr for LineRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ends =
            text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        match ends {
            Some((first, last)) if first >= 1 && first <= last => Ok(Self { first, last }),
            _ => Err("give the first and the last line, from 1, such as 1-100"),
        }
    }
}

/// Links that people made, for some of the lines.
pub(super) struct Gold {
    lines: LineRange,
    file: AlignmentFile,
}

impl Gold {
    pub(super) fn read(args: &AlignArgs, lines: usize) -> Result<Option<Self>> {
        let (Some(path), Some(range)) = (&args.tune_gold, args.tune_lines) else { return Ok(None) };
        if range.last > lines {
            let message = format!("--tune-lines {}-{}: there are {lines} lines", range.first, range.last);
            return Err(WrongCall(message).into());
        }
        let base = args.gold_base.map(usize::from);
        let mut file = AlignmentFile::parse(&path.display().to_string(), &all_lines(path)?, base)?;
        file.extend_to(lines);
        let found = file.sentences.len();
        if found != lines {
            bail!(
                "{} has {lines} lines and {} links of {found}: they must belong together line by line",
                args.src.display(),
                path.display()
            );
        }
        Ok(Some(Self { lines: range, file }))
    }

    /// The look with the lowest AER, the first of equal ones; says that of all. An aligner that reads the other way is judged
    /// by its links turned round.
    pub(super) fn best(
        &self,
        aligner: &Aligner,
        (sources, targets): (&[&str], &[&str]),
        is_reverse: bool,
        settings: &Settings,
    ) -> Result<Look> {
        let LineRange { first, last } = self.lines;
        let range = first - 1..last;
        let direction = if is_reverse { "reverse, " } else { "" };
        let mut best: Option<(f64, Look)> = None;
        for look in aligner.looks() {
            let aligner = Aligner { look, ..aligner.clone() };
            let aligned = aligner.aligned(&sources[range.clone()], &targets[range.clone()])?;
            let turn = |links: Links| if is_reverse { transpose(&links) } else { links };
            let links: Vec<Links> = aligned.into_iter().map(|aligned| turn(aligned.links)).collect();
            let counts = alignment_counts(&links, &self.file.sentences[range.clone()])?;
            let counts = counts.into_iter().sum::<AlignmentCounts>();
            if counts.possible == 0 {
                let problem = format!("--tune-lines {first}-{last}: --tune-gold has no links there");
                return Err(WrongCall(problem).into());
            }
            let aer = counts.score().aer;
            settings.say(format_args!("{direction}{}: AER {aer:.4} on lines {first}-{last}", named(look)));
            if best.is_none_or(|(lowest, _)| aer < lowest) {
                best = Some((aer, look));
            }
        }
        let look = best.map_or(aligner.look, |(_, look)| look);
        settings.say(format_args!("{direction}taking {}", named(look)));
        Ok(look)
    }
}

fn named(look: Look) -> String {
    let layer = look.layer.map_or("last layer".to_owned(), |layer| format!("layer {layer}"));
    let head = look.head.map_or("mean of heads".to_owned(), |head| format!("head {head}"));
    format!("{layer}, {head}")
}
