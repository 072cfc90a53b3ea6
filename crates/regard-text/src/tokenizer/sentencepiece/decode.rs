//! Pieces → text.

use super::SentencePiece;
use super::normalization::SPACE;
use super::pieces::{PieceKind, byte_of};

/// What becomes of the pieces so far.
#[derive(Default)]
struct Decoder {
    text: String,
    /// Bytes whose character is not complete yet.
    bytes: Vec<u8>,
    /// Whether a space that was put before the first word was left out.
    prefix_dropped: bool,
    /// Whether something other than that space is there already.
    begun: bool,
}

impl SentencePiece {
    /// The text that pieces make. Control pieces make none; the unknown piece makes the mark for it that the file names,
    /// ` ⁇ ` by default; what is no piece of the model stays as it is; bytes that are not UTF-8 become U+FFFD, one each.
    ///
    /// ```
    /// # use regard_text::{SentencePiece, SentencePieceAlgorithm, SentencePieceConfig};
    /// # let algorithm = SentencePieceAlgorithm::Bpe;
    /// # let config = SentencePieceConfig { algorithm, vocabulary_size: 10, ..SentencePieceConfig::default() };
    /// # let model = SentencePiece::train(["abc abd"; 9], &config, 1, &mut |_| {})?;
    /// assert_eq!(model.join(&["<s>", "▁ab", "c", "▁", "d", "</s>"]), "abc d");
    /// # Ok::<(), regard_text::TextError>(())
    /// ```
    #[must_use]
    pub fn join(&self, pieces: &[impl AsRef<str>]) -> String {
        let mut decoder = Decoder::default();
        for piece in pieces {
            let piece = piece.as_ref();
            // What is no piece is text that the model does not know.
            let id = self.inner.pieces.id(piece).unwrap_or(self.inner.pieces.unknown());
            self.decode_piece(&mut decoder, id, piece);
        }
        self.finish(decoder)
    }

    /// The text that ids make; see [`join`](Self::join). Ids that the model does not have make none.
    #[must_use]
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut decoder = Decoder::default();
        for &id in ids {
            if let Some(piece) = self.inner.pieces.text(id) {
                self.decode_piece(&mut decoder, id, piece);
            }
        }
        self.finish(decoder)
    }

    fn decode_piece(&self, decoder: &mut Decoder, id: u32, piece: &str) {
        let kind = self.inner.pieces.kind(id).unwrap_or(PieceKind::Unknown);
        if let (PieceKind::Byte, Some(byte)) = (kind, byte_of(piece)) {
            decoder.bytes.push(byte);
            return;
        }
        decoder.flush_bytes();
        decoder.begun |= decoder.prefix_dropped || !decoder.text.is_empty();
        decoder.prefix_dropped = false;
        match kind {
            PieceKind::Control => {}
            PieceKind::Unknown => {
                let is_unknown_piece = self.inner.pieces.text(id) == Some(piece);
                decoder.text.push_str(if is_unknown_piece { &self.inner.unknown_surface } else { piece });
            }
            _ => {
                let normalization = &self.inner.normalization;
                let drops = normalization.add_dummy_prefix || normalization.remove_extra_whitespaces;
                let without = piece.strip_prefix(SPACE).filter(|_| drops && !decoder.begun);
                // Where extra spaces are removed, those of the next pieces are dropped too, up to the first text.
                decoder.prefix_dropped = without.is_some() && !normalization.remove_extra_whitespaces;
                let shown = without.unwrap_or(piece).split(SPACE);
                for (at, part) in shown.enumerate() {
                    decoder.text.extend([if at > 0 { " " } else { "" }, part]);
                }
            }
        }
    }

    fn finish(&self, mut decoder: Decoder) -> String {
        decoder.flush_bytes();
        match &self.inner.denormalization {
            Some(denormalization) => denormalization.normalize(&decoder.text, false).text,
            None => decoder.text,
        }
    }
}

impl Decoder {
    /// Turns the bytes into text: what is no character, byte by byte into U+FFFD.
    fn flush_bytes(&mut self) {
        for chunk in self.bytes.utf8_chunks() {
            self.text.push_str(chunk.valid());
            self.text.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
        }
        self.bytes.clear();
    }
}
