#!/usr/bin/env python3
"""Writes crates/regard-text/tests/data/subword_nmt.json: what subword-nmt does with its less used options.

Usage: make_subword_nmt.py   (Python with subword-nmt)
"""

import io
import json
import pathlib
import random

from subword_nmt import get_vocab, learn_bpe
from subword_nmt.apply_bpe import BPE, read_vocabulary

OUTPUT = pathlib.Path(__file__).parents[2] / "crates/regard-text/tests/data/subword_nmt.json"
STEMS = "walk talk low new wide small call jump play look read sing été naïf größe straße 日本 語".split()
ENDS = ["", "s", "ed", "ing", "er", "est", "ness", "ly", "ée", "er-s", "@@", "42", "NYC"]
GLOSSARIES = ["NYC", r"[0-9]+", r"tal\w"]


def text(random_numbers, lines):
    word = lambda: random_numbers.choice(STEMS) + random_numbers.choice(ENDS)
    return [" ".join(word() for _ in range(random_numbers.randint(1, 9))) for _ in range(lines)]


def learn(source, merges, is_dict):
    codes = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(source), codes, merges, 2, is_dict=is_dict)
    return codes.getvalue()


def main():
    random_numbers = random.Random(11)
    first, second = text(random_numbers, 120), text(random_numbers, 40)
    codes = learn("\n".join(first) + "\n", 90, False)
    dictionary = io.StringIO()
    get_vocab.get_vocab(io.StringIO("\n".join(first) + "\n"), dictionary)
    counts = io.StringIO()
    plain = BPE(io.StringIO(codes))
    # A piece that ends in `@@` cannot be told from one that is continued.
    clear = [line for line in first if "@@" not in line]
    get_vocab.get_vocab(io.StringIO("\n".join(map(plain.process_line, clear)) + "\n"), counts)
    vocabulary = read_vocabulary(io.StringIO(counts.getvalue()), 12)
    restricted = BPE(io.StringIO(codes), vocab=vocabulary)
    glossaries = BPE(io.StringIO(codes), glossaries=GLOSSARIES)
    both = BPE(io.StringIO(codes), vocab=vocabulary, glossaries=GLOSSARIES)
    golden = {
        "text": first,
        "codes": codes,
        "dictionary": dictionary.getvalue(),
        "dictionary_codes": learn(dictionary.getvalue(), 60, True),
        "counts": counts.getvalue(),
        "threshold": 12,
        "glossaries": GLOSSARIES,
        "lines": second,
        "plain": [plain.process_line(line) for line in second],
        "restricted": [restricted.process_line(line) for line in second],
        "isolated": [glossaries.process_line(line) for line in second],
        "both": [both.process_line(line) for line in second],
    }
    OUTPUT.write_text(json.dumps(golden, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
