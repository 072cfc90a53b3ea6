"""Corpus BLEU as sacreBLEU 2 computes it by default and the audit with it: one reference, mteval-v13a's tokens ("13a"), up to
four words, exponential smoothing, no effective order."""

import math
import re
from collections import Counter


def tokens_13a(line):
    line = line.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        line = line.replace(entity, character)
    line = f" {line} "
    # All punctuation of ASCII but ' , - . stands apart; . and , where no digit is before or no digit after them; - after digits.
    line = re.sub(r"([{-~\[-` -&(-+:-@/])", r" \1 ", line)
    line = re.sub(r"([^0-9])([.,])", r"\1 \2 ", line)
    line = re.sub(r"([.,])([^0-9])", r" \1 \2", line)
    line = re.sub(r"([0-9])(-)", r"\1 \2 ", line)
    return line.split()


def grams(words, order):
    return Counter(tuple(words[i : i + order]) for i in range(len(words) - order + 1))


def corpus_bleu(hypotheses, references):
    assert len(hypotheses) == len(references), "a reference each"
    right, total, lengths = [0] * 4, [0] * 4, [0, 0]
    for hypothesis, reference in zip(hypotheses, references):
        hypothesis, reference = tokens_13a(hypothesis), tokens_13a(reference)
        lengths = [lengths[0] + len(hypothesis), lengths[1] + len(reference)]
        for order in range(4):
            found, wanted = grams(hypothesis, order + 1), grams(reference, order + 1)
            right[order] += sum((found & wanted).values())
            total[order] += sum(found.values())
    if not any(right) or not all(total):
        return 0.0
    logs, smoothing = 0.0, 1.0
    for order in range(4):
        if not right[order]:
            smoothing *= 2
        logs += math.log(100 * right[order] / total[order] if right[order] else 100 / (smoothing * total[order]))
    brevity = min(0.0, 1 - lengths[1] / lengths[0])
    return math.exp(brevity + logs / 4)
