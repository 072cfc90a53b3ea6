//! What is wished for each line: `--prefix` and `--constraints`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use regard_decode::Wish;
use regard_text::Lines;
use serde::Deserialize;

/// The two files, read beside the input.
pub(super) struct Wishes {
    prefixes: Option<Lines>,
    constraints: Option<Lines>,
}

/// A line of `--constraints`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Constraints {
    include: Vec<String>,
    exclude: Vec<String>,
}

impl Wishes {
    pub(super) fn open(prefixes: Option<&PathBuf>, constraints: Option<&PathBuf>) -> Result<Self> {
        let open = |path: Option<&PathBuf>| path.map(Lines::open).transpose();
        Ok(Self { prefixes: open(prefixes)?, constraints: open(constraints)? })
    }

    /// The wishes for the next lines; none where there are no files.
    pub(super) fn next(&mut self, lines: usize) -> Result<Vec<Wish>> {
        if self.prefixes.is_none() && self.constraints.is_none() {
            return Ok(Vec::new());
        }
        (0..lines).map(|_| self.wish()).collect()
    }

    fn wish(&mut self) -> Result<Wish> {
        let prefix = next_line(self.prefixes.as_mut())?.unwrap_or_default();
        let Constraints { include, exclude } = match next_line(self.constraints.as_mut())? {
            Some(line) if !line.trim().is_empty() => serde_json::from_str(&line).with_context(|| {
                let place = self.constraints.as_ref().map(|lines| (lines.name(), lines.line()));
                let (name, number) = place.unwrap_or_default();
                format!("{name}:{number}: expected an object such as {{\"include\": [\"le chat\"], \"exclude\": []}}")
            })?,
            _ => Constraints::default(),
        };
        Ok(Wish { prefix, include, exclude })
    }

    /// Refuses files with more lines than the input.
    pub(super) fn finish(&mut self) -> Result<()> {
        for lines in [&mut self.prefixes, &mut self.constraints].into_iter().flatten() {
            if lines.next().transpose()?.is_some() {
                bail!("{} has more lines than the input: it must have one for each", lines.name());
            }
        }
        Ok(())
    }
}

fn next_line(lines: Option<&mut Lines>) -> Result<Option<String>> {
    let Some(lines) = lines else { return Ok(None) };
    match lines.next().transpose()? {
        Some(line) => Ok(Some(line)),
        None => bail!(
            "{} has {} lines, fewer than the input: it must have one for each",
            Path::new(lines.name()).display(),
            lines.line()
        ),
    }
}
