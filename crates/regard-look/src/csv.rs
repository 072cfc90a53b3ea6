//! All attentions of a sentence as comma-separated values (RFC 4180), one weight a line.

use crate::forced::Site;
use crate::inspection::Inspection;
use regard_model::SiteKind;
use regard_text::special_tokens::BOS_TOKEN;
use std::fmt::Write;

const HEADER: &str = "site,layer,head,row,column,row_token,column_token,weight,score\r\n";

impl Inspection {
    /// A line for each weight of every site, with its names; rows, columns, layers and heads count from 0. Masked scores may
    /// be `-inf`. Fields with commas, quotes or line ends are quoted, lines end in CR LF.
    #[must_use]
    pub fn csv(&self) -> String {
        // The decoder looks at the words that it was given: at each position the one that it wrote before.
        let given: Vec<String> =
            std::iter::once(BOS_TOKEN.to_owned()).chain(self.target_tokens.iter().cloned()).collect();
        let mut out = HEADER.to_owned();
        for site in &self.sites {
            let (rows, columns) = match site.site {
                SiteKind::EncoderSelf => (&self.source_tokens, &self.source_tokens),
                SiteKind::DecoderSelf => (&self.target_tokens, &given),
                SiteKind::Cross => (&self.target_tokens, &self.source_tokens),
            };
            lines(site, rows, columns, &mut out);
        }
        out
    }
}

fn lines(site: &Site, rows: &[String], columns: &[String], out: &mut String) {
    let head = site.head.map_or("mean".to_owned(), |head| head.to_string());
    for (row, (weights, scores)) in site.weights.iter().zip(&site.scores).enumerate() {
        for (column, (weight, score)) in weights.iter().zip(scores).enumerate() {
            let name =
                |tokens: &[String], place: usize| tokens.get(place).map(|it| field(it)).unwrap_or_default();
            let (kind, layer) = (site.kind_name(), site.layer);
            let (row_token, column_token) = (name(rows, row), name(columns, column));
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                "{kind},{layer},{head},{row},{column},{row_token},{column_token},{weight},{score}\r\n"
            );
        }
    }
}

/// A field, quoted where it must be.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\r', '\n']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::tests::seen;

    #[test]
    fn every_weight_has_a_line() {
        let lines: Vec<String> = seen().csv().split("\r\n").map(String::from).collect();
        assert_eq!(lines[0], HEADER.trim_end());
        assert_eq!(lines[1], "cross,0,1,0,0,le,\"a,b\",0.25,-1.5");
        assert_eq!(lines[5], "cross,0,1,1,1,</s>,\"say \"\"hi\"\"\",0.5,0");
        assert_eq!(lines[7], "decoder_self,2,mean,0,0,le,<s>,1,0");
        assert_eq!(lines[8], "decoder_self,2,mean,0,1,le,le,0,-inf");
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (1 + 6 + 4 + 1, Some("")));
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let shown = ["plain", "a b", "a,b", "\"", "x\ny", "", "'"].map(field);
        assert_eq!(shown, ["plain", "a b", "\"a,b\"", "\"\"\"\"", "\"x\ny\"", "", "'"]);
    }
}
