#!/usr/bin/env python3
"""Makes the text of the alignment experiment of docs/RESULTS.md in the current directory.

usage: text.py SHARED

Reads Tatoeba, LibreOffice help and the Hansards' test pairs of SHARED/data. Words are lower-cased and cut as the Hansards' are:
punctuation stands alone, French elisions are written out. Writes test.en, test.fr (447 pairs), once.tsv (all pairs of up to 60
words, each once, then the test pairs) and pairs.tsv (the same with the test pairs five times).
"""

import gzip
import re
import sys

ELISION = dict(l="le", d="de", qu="que", j="je", n="ne", s="se", c="ce", m="me", t="te")


def french(text):
    text = text.lower().replace("’", "'")
    text = re.sub(r"\b(l|d|qu|j|n|s|c|m|t)'", lambda found: ELISION[found[1]] + " ", text)
    return " ".join(re.findall(r"\w+'?|[^\w\s]", text))


def english(text):
    text = text.lower().replace("’", "'")
    text = re.sub(r"n't\b", " not", text)
    text = re.sub(r"'(s|re|ve|ll|d|m)\b", r" '\1", text)
    return " ".join(re.findall(r"'\w+|\w+|[^\w\s]", text))


def pairs(data):
    seen = set()
    for name in ("libreoffice_help/train.en-fr.tsv.gz", "tatoeba_eng_fra/fra.txt.gz"):
        for line in gzip.open(f"{data}/{name}", "rt", encoding="utf-8"):
            fields = line.rstrip("\n").split("\t")
            pair = english(fields[0]), french(fields[1])
            if pair not in seen and all(0 < len(side.split()) <= 60 for side in pair):
                seen.add(pair)
                yield pair


def main():
    data = sys.argv[1] + "/data"
    gold = open(f"{data}/alignment/gold/enfr.src-tgt", encoding="utf-8")
    test = [tuple(side.lower().strip() for side in line.split("|||")) for line in gold]
    for place, language in enumerate(("en", "fr")):
        with open(f"test.{language}", "w", encoding="utf-8") as out:
            out.writelines(pair[place] + "\n" for pair in test)
    train = list(pairs(data))
    for name, times in (("once.tsv", 1), ("pairs.tsv", 5)):
        with open(name, "w", encoding="utf-8") as out:
            out.writelines("\t".join(pair) + "\n" for pair in train + times * test)


main()
