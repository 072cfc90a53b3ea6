//! A shortlist as a text file.
//!
//! ```text
//! regard shortlist 1
//! source 7 2919e2ba      entries and CRC-32C of the source vocabulary
//! target 9 4a973c76
//! always 5 8 4           target ids, the most frequent first
//! 4 4 6                  a source id, then its target ids, the most probable first
//! 6 7
//! end
//! ```

use std::fmt::Write as _;
use std::path::Path;
use std::str::FromStr;

use super::{Fingerprint, Shortlist};
use crate::corpus::Lines;
use crate::error::TextError;
use crate::vocabulary::Vocabulary;

const HEADER: &str = "regard shortlist 1";

impl Shortlist {
    /// The text of the file. Source ids without a list are left out.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        let ids = |ids: &[u32]| ids.iter().fold(String::new(), |text, id| format!("{text} {id}"));
        for (side, Fingerprint { entries, checksum }) in [("source", self.source), ("target", self.target)] {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{side} {entries} {checksum:08x}");
        }
        let _ = writeln!(text, "always{}", ids(&self.always));
        for (id, best) in self.best.iter().enumerate().filter(|(_, best)| !best.is_empty()) {
            let _ = writeln!(text, "{id}{}", ids(best));
        }
        text + "end\n"
    }

    /// Reads the file of a shortlist that was made for these vocabularies.
    ///
    /// # Errors
    /// [`TextError::Read`], [`TextError::InvalidUtf8`], and [`TextError::BadShortlist`] with the line where it is another file,
    /// belongs to other vocabularies, or was cut or damaged.
    pub fn read(path: impl AsRef<Path>, source: &Vocabulary, target: &Vocabulary) -> Result<Self, TextError> {
        let mut reader = Reader { lines: Lines::open(path)? };
        if reader.line()? != HEADER {
            return Err(
                reader.bad(format!("this is no file of `regard shortlist`: it must begin with `{HEADER}`"))
            );
        }
        let source = reader.vocabulary("source", source)?;
        let target = reader.vocabulary("target", target)?;
        let line = reader.line()?;
        let always = reader.ids(line.strip_prefix("always"), target.entries)?;
        let mut best = vec![Vec::new(); source.entries];
        let mut next = 0;
        loop {
            let line = reader.line()?;
            if line == "end" {
                return reader.finish().map(|()| Self { source, target, always, best });
            }
            let (id, ids) = line.split_at(line.find(' ').unwrap_or(line.len()));
            let place: usize = reader.number(id)?;
            if place < next || place >= source.entries {
                let last = source.entries - 1;
                return Err(reader.bad(format!("source ids must ascend, up to {last}; found {place}")));
            }
            best[place] = reader.ids(Some(ids), target.entries)?;
            next = place + 1;
        }
    }
}

struct Reader {
    lines: Lines,
}

impl Reader {
    /// The next line, which must be there.
    fn line(&mut self) -> Result<String, TextError> {
        match self.lines.next() {
            Some(line) => line,
            None => Err(self.bad("the file ends here, before its last line `end`".to_owned())),
        }
    }

    fn finish(&mut self) -> Result<(), TextError> {
        match self.lines.next() {
            None => Ok(()),
            Some(line) => line.and_then(|_| Err(self.bad("nothing may follow `end`".to_owned()))),
        }
    }

    /// The line of a vocabulary, which must be that of this one.
    fn vocabulary(&mut self, side: &str, vocabulary: &Vocabulary) -> Result<Fingerprint, TextError> {
        let line = self.line()?;
        let fields: Vec<&str> = line.split(' ').collect();
        let found = match fields[..] {
            [name, entries, checksum] if name == side => {
                let checksum = u32::from_str_radix(checksum, 16).ok();
                entries.parse::<usize>().ok().zip(checksum)
            }
            _ => None,
        };
        let Some((entries, checksum)) = found else {
            return Err(self.bad(format!("expected `{side} ENTRIES CHECKSUM`, found `{line}`")));
        };
        let own = Fingerprint::of(vocabulary);
        if entries != own.entries {
            let own = own.entries;
            return Err(self.bad(format!(
                "it was made for a {side} vocabulary of {entries} entries, and the model's has {own}"
            )));
        }
        if checksum != own.checksum {
            return Err(self.bad(format!("it was made for another {side} vocabulary of {entries} entries")));
        }
        Ok(own)
    }

    /// Target ids, a space before each.
    fn ids(&self, text: Option<&str>, entries: usize) -> Result<Vec<u32>, TextError> {
        let Some(text) = text else { return Err(self.bad("expected `always` and target ids".to_owned())) };
        let ids = text.split(' ').skip(1).map(|id| self.number(id)).collect::<Result<Vec<u32>, _>>()?;
        let has_space = text.is_empty() || text.starts_with(' ');
        match ids.iter().find(|&&id| id as usize >= entries) {
            Some(id) => Err(self.bad(format!("target id {id} is outside of the vocabulary of {entries}"))),
            None if has_space => Ok(ids),
            None => Err(self.bad(format!("expected a space before the ids, found `{text}`"))),
        }
    }

    fn number<N: FromStr>(&self, text: &str) -> Result<N, TextError> {
        text.parse().map_err(|_| self.bad(format!("expected an id, found `{text}`")))
    }

    fn bad(&self, problem: String) -> TextError {
        let (file, line) = (self.lines.name().to_owned(), self.lines.line());
        TextError::BadShortlist { file, line, problem }
    }
}
