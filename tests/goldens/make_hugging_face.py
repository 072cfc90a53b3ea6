#!/usr/bin/env python3
"""Writes crates/regard-text/tests/data/hugging_face/: small tokenizer.json files and what Hugging Face's library makes of lines.

Usage: make_hugging_face.py   (Python with tokenizers)
"""

import json
import pathlib

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

OUTPUT = pathlib.Path(__file__).parents[2] / "crates/regard-text/tests/data/hugging_face"
TEXT = [
    "the black cat sleeps on the red chair",
    "der Hund schläft, und die Katze schläft auch",
    "le chat noir dort sur la chaise rouge",
    "walking, walked, walks; talking, talked, talks",
] * 4
LINES = [
    "the cat walks",
    "Die Katze  schläft.",
    "<s> typed </s> and <unk> and [UNK]",
    "unknown: 日本 é e\u0301 👩‍👧 \u00a0x",
    " spaces at both ends ",
    "@@ ▁ ##x |||",
]


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return tokenizer, trainers.BpeTrainer(vocab_size=320, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer(vocab_size=120, special_tokens=["[UNK]", "[CLS]", "[SEP]"])


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainers.UnigramTrainer(
        vocab_size=110, special_tokens=["<unk>", "<s>", "</s>"], unk_token="<unk>"
    )


def main():
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for make in (byte_level, word_piece, unigram):
        path = OUTPUT / f"{make.__name__}.json"
        # The order of a hash map goes into what the trainers make: a file that is there stays.
        if path.exists():
            tokenizer = Tokenizer.from_file(str(path))
        else:
            tokenizer, trainer = make()
            tokenizer.train_from_iterator(TEXT, trainer)
            tokenizer.save(str(path), pretty=False)
        tokenizer.encode_special_tokens = True
        cases = []
        for line in LINES:
            encoding = tokenizer.encode(line, add_special_tokens=False)
            starts = [len(line[:start].encode()) for start, _ in encoding.offsets]
            ends = [len(line[:end].encode()) for _, end in encoding.offsets]
            cases.append(
                {
                    "line": line,
                    "tokens": encoding.tokens,
                    "ranges": list(zip(starts, ends)),
                    "text": tokenizer.decode(encoding.ids, skip_special_tokens=False),
                }
            )
        text = json.dumps(cases, ensure_ascii=False, indent=0)
        (OUTPUT / f"{make.__name__}.lines.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
