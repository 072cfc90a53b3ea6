"""Metrics as sacreBLEU 2.6.0 computes them, for the tests of regard-eval.

    python tests/goldens/make_metrics.py               writes crates/regard-eval/tests/data/*.json
    python tests/goldens/make_metrics.py --compare 500 compares that many corpora with the release build of the example
                                                       `score_corpora` (cargo build --release -p regard-eval --examples)

Needs sacrebleu 2.6.0, numpy and the folder ../shared/data (or $REGARD_DATA). The corpora are not stored: this script and
crates/regard-eval/tests/common/corpora.rs draw the same ones from the same numbers.
"""

import json
import os
import pathlib
import subprocess
import sys

import numpy
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "crates/regard-eval/tests/data"
SHARED = pathlib.Path(os.environ.get("REGARD_DATA", ROOT.parent / "shared/data"))
STORED = 60
TOLERANCE = 1e-9
MASK = 2**64 - 1

WORDS = [
    "the", "The", "THE", "cat", "sat", "on", "a", "mat", ".", ",", "!", "3.14", "1,000.", "it's", "John's", "(hi)", '"q"',
    "&amp;", "&quot;x", "x-y", "5-6", "-", "--", "...", "a.b,c", "<skipped>", "/", "$5", "100%", "日本", "我們", "買了", "。",
    "「はい」", "カタカナ", "한국어", "Ａ！", "㈱", "ㄅ", "👩\u200d👩\u200d👧", "👍🏽", "e\u0301", "é", "É", "İ", "ẞ", "ﬁ", "ΟΔΟΣ",
    "«ça»", "“q”", "—", "…", "½", "²", "€5", "١٢٣", "\u00a0", "\u200b", "\u2028", "\u3000", "\x1c", "क\u094d\u200dष", "𠀀", "x" * 40,
]


class Numbers:
    """SplitMix64 (Steele et al. 2014)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, bound):
        return self.next() % bound


def sentence(numbers, vocabulary, index):
    kind = numbers.below(8)
    if index % 50 == 49 and kind == 7:
        length = 1000
    else:
        length = [0, 1, 2, 5, 5, 12, 12, 30][kind]
        length = numbers.below(length + 1) if kind > 1 else length
    return [vocabulary[numbers.below(len(vocabulary))] for _ in range(length)]


def changed(numbers, words, vocabulary):
    """Another wording: words lost, replaced and doubled, and often a block moved."""
    found = []
    for word in words:
        what = numbers.below(12)
        if what == 1:
            word = vocabulary[numbers.below(len(vocabulary))]
        found += [word] * (0 if what == 0 else 2 if what == 2 else 1)
    if len(found) > 1 and numbers.below(2) == 0:
        start = numbers.below(len(found))
        end = min(len(found), start + 1 + numbers.below(12))
        block, rest = found[start:end], found[:start] + found[end:]
        place = numbers.below(len(rest) + 1)
        found = rest[:place] + block + rest[place:]
    return found


def written(numbers, words):
    line = ""
    for at, word in enumerate(words):
        gap = numbers.below(10)
        line += ("" if at == 0 or gap == 0 else "  " if gap == 1 else " ") + word
    return line


def corpus(index):
    """Two systems and one to three references; in every fifth corpus lines lack some of them."""
    numbers = Numbers(index)
    lines, others = 1 + numbers.below(14), numbers.below(3)
    vocabulary = [WORDS[numbers.below(len(WORDS))] for _ in range(2 + numbers.below(20))]
    first, second = [], []
    references = [[] for _ in range(1 + others)]
    for _ in range(lines):
        words = sentence(numbers, vocabulary, index)
        references[0].append(written(numbers, words))
        for reference in references[1:]:
            gap = index % 5 == 4 and numbers.below(3) == 0
            line = written(numbers, changed(numbers, words, vocabulary))
            reference.append(None if gap else line)
        for system in (first, second):
            what = numbers.below(10)
            if what == 0:
                other = []
            elif what == 1:
                other = sentence(numbers, vocabulary, index)
            else:
                other = changed(numbers, words, vocabulary)
            system.append(written(numbers, other))
    return first, second, references


METRICS = {
    "bleu 13a": BLEU(),
    "bleu none floor": BLEU(tokenize="none", smooth_method="floor"),
    "bleu intl add-k": BLEU(tokenize="intl", smooth_method="add-k"),
    "bleu char lc": BLEU(tokenize="char", lowercase=True),
    "bleu zh none eff": BLEU(tokenize="zh", smooth_method="none", effective_order=True),
    "bleu 13a add-k[0.3] eff": BLEU(smooth_method="add-k", smooth_value=0.3, effective_order=True),
    "bleu none floor[0.01] lc": BLEU(tokenize="none", lowercase=True, smooth_method="floor", smooth_value=0.01),
    "chrf": CHRF(),
    "chrf++": CHRF(word_order=2),
    "chrf 3 1 1 lc space eps": CHRF(3, 1, 1, True, True, True),
    "chrf 9 3 3": CHRF(9, 3, 3),
    "ter": TER(),
    "ter norm": TER(normalized=True),
    "ter norm asian": TER(normalized=True, asian_support=True),
    "ter norm asian no-punct case": TER(normalized=True, no_punct=True, asian_support=True, case_sensitive=True),
    "ter no-punct": TER(no_punct=True),
}
SENTENCES = {"sentence bleu": BLEU(effective_order=True), "sentence chrf": CHRF(), "sentence ter": TER()}


def scores(index):
    """The corpus score of every metric, and the sums of sentence scores."""
    first, _, references = corpus(index)
    found = [metric.corpus_score(first, references).score for metric in METRICS.values()]
    for metric in SENTENCES.values():
        rows = zip(first, *references)
        found.append(sum(metric.sentence_score(h, [r for r in refs if r is not None]).score for h, *refs in rows))
    return found


def paired(systems, references, samples):
    """p-values and intervals of both tests, and the interval of the first system alone. Numbers as text: JSON readers round."""
    found = {}
    for kind in ("bs", "ar"):
        metrics = {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}
        named = [("baseline", systems[0]), ("system", systems[1])]
        signatures, results = PairedTest(named, metrics, references, kind, samples[kind])()
        for name in metrics:
            baseline, system = results[name]
            entry = found.setdefault(name, {})
            entry[kind] = repr(system.p_value)
            entry[f"{kind} signature"] = str(signatures[name])
            if kind == "bs":
                entry["intervals"] = [repr(float(x)) for result in (baseline, system) for x in (result.mean, result.ci)]
    for name, metric in {"BLEU": BLEU(), "chrF2": CHRF(), "TER": TER()}.items():
        found[name]["confidence"] = confidence(metric, systems[0], references, samples["bs"])
        found[name]["confidence signature"] = str(metric.get_signature())
    return found


def confidence(metric, system, references, samples):
    """Mean and half width; nothing where samples without any match make sacreBLEU mix two types, which it cannot add up."""
    try:
        score = metric.corpus_score(system, references, n_bootstrap=samples)
    except TypeError:
        return None
    return [repr(float(score._mean)), repr(float(score._ci))]


def lines(path):
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def wmt21(baseline, system, letters):
    root = SHARED / "wmt21"
    output = [lines(root / f"system-outputs/newstest2021.de-en.hyp.{name}.en") for name in (baseline, system)]
    references = [lines(root / f"references/newstest2021.de-en.ref.{letter}.en") for letter in letters]
    return paired(output, references, {"bs": 1000, "ar": 10000})


def significance():
    generated = []
    for index in range(200):
        first, second, references = corpus(index)
        if len(first) >= 8 and len(generated) < 12:
            generated.append({"corpus": index, "metrics": paired([first, second], references, {"bs": 300, "ar": 300})})
    pairs = [("Online-A", "Borderline", "A"), ("Facebook-AI", "VolcTrans-AT", "AB")]
    real = [{"systems": [b, s], "references": r, "metrics": wmt21(b, s, r)} for b, s, r in pairs]
    return {"generated": generated, "wmt21": real}


def numpy_random():
    def case(seed):
        def generator():
            return numpy.random.default_rng(seed)

        bounds = [2, 3, 10, 1000, 2**31 + 1, 2**32 - 1]
        return {
            "seed": seed,
            "words": [int(x) for x in generator().bit_generator.random_raw(4)],
            "below": {str(b): [int(x) for x in generator().choice(b, size=20)] for b in bounds},
            "coins": "".join(str(int(x)) for x in generator().integers(2, size=100, dtype=bool)),
        }

    return [case(seed) for seed in (0, 1, 12345, 2**32 - 1, 2**32, 2**64 - 1)]


def write(name, value):
    (DATA / name).write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


def compare(count):
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    example = target / "release/examples/score_corpora"
    output = subprocess.run([example, str(count)], check=True, capture_output=True, text=True).stdout
    names = [*METRICS, *SENTENCES]
    assert len(output.splitlines()) == count
    worst = dict.fromkeys(names, 0.0)
    for index, line in enumerate(output.splitlines()):
        for name, found, expected in zip(names, json.loads(line), scores(index), strict=True):
            worst[name] = max(worst[name], abs(found - expected))
            if abs(found - expected) > TOLERANCE:
                print(f"corpus {index}: {name}: {found} is not {expected}")
    for name, difference in worst.items():
        print(f"{difference:.1e}  {name}")
    print(f"{count} corpora compared")
    return max(worst.values()) <= TOLERANCE


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        sys.exit(not compare(int(sys.argv[2])))
    else:
        write("numpy_random.json", numpy_random())
        write("metrics.json", [scores(index) for index in range(STORED)])
        write("significance.json", significance())
