"""Writes crates/regard/tests/data/marian: small models that Marian has trained, and what Marian makes of them.

They are trained for a moment on a made-up language. `expected.json` of each has, for pairs of lines, the log-probability
of every target token (natural, forced) and the translations of greedy search and of a beam of six, with their scores.

    python tests/goldens/make_marian.py
    python tests/goldens/make_marian.py --compare target/release/regard [--pairs FILE.tsv] [--updates N] [--only NAME]

The second form stores nothing. It trains models of more shapes, on pairs of real lines where they are given (source, tab,
target), imports them with the program, and compares the scores and translations of the first 100 pairs. Where a
translation differs, both programs score both.

Needs pymarian (1.12.42), and for the made-up language what make_hf_marian.py needs.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from make_hf_marian import made_up_pairs

DIR = Path(__file__).resolve().parents[2] / "crates/regard/tests/data/marian"
MARIAN = Path(sys.executable).with_name("pymarian")
TRAINING = "--learn-rate 0.004 --mini-batch 32 --optimizer-delay 1 --clip-norm 1 --cost-type ce-mean-words --seed 7 --workspace 500"
SEARCH = "--normalize 1 --max-length-factor 3 --mini-batch 1 --workspace 500"
WORDS = "--vocabs source.yml target.yml"
PIECES = "--vocabs both.spm both.spm"
BEAMS = (1, 6)
SHAPES = {
    "s2s": f"--type s2s {WORDS}",
    "s2s_normed": f"--type s2s {WORDS} --layer-normalization --tied-embeddings",
    "s2s_stacks": f"--type s2s {WORDS} --enc-depth 2 --dec-depth 3 --skip",
    "s2s_bi_unidirectional": f"--type s2s {PIECES} --enc-type bi-unidirectional --enc-depth 3 --dec-depth 2 --layer-normalization --tied-embeddings-all",
    "transformer": f"--type transformer {PIECES} --tied-embeddings-all",
    "transformer_pre": f"--type transformer {WORDS} --transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n --tied-embeddings",
    "transformer_pre_only": f"--type transformer {WORDS} --transformer-preprocess nd --transformer-postprocess da --transformer-ffn-activation relu --output-omit-bias",
    "transformer_rms": f"--type transformer {WORDS} --transformer-postprocess dar --transformer-ffn-activation gelu",
}
STORED = ("s2s", "s2s_normed", "transformer", "transformer_pre")


def marian(directory, command, options, lines=None, pieces=()):
    arguments = [MARIAN, command, *options.split(), *pieces, "--cpu-threads", "1"]
    done = subprocess.run(arguments, cwd=directory, input=lines, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout.splitlines()


def write_lines(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def train(directory, shape, sizes, pairs, updates):
    """A model in a directory, with its vocabularies and the file that names them."""
    for side, lines in zip(("source", "target"), zip(*pairs)):
        write_lines(directory / side, lines)
    pieces = ["--sentencepiece-options", "--hard_vocab_limit=false --normalization_rule_name=identity"] if "spm" in shape else []
    depth = "--enc-depth 2 --dec-depth 2" if "transformer" in shape else ""
    options = f"--model model.npz --train-sets source target {TRAINING} {sizes} {depth} {shape}"
    marian(directory, "train", f"{options} --after {updates}u --disp-freq {updates} --quiet-translation", pieces=pieces)
    for name in ("source", "target", "model.npz.optimizer.npz", "model.npz.progress.yml", "model.npz.yml"):
        (directory / name).unlink()


def scores(directory, shape, pairs):
    """The log-probabilities of all tokens."""
    with tempfile.TemporaryDirectory() as place:
        for side, lines in zip(("source", "target"), zip(*pairs)):
            write_lines(Path(place, side), lines)
        vocabularies = " ".join(shape.split("--vocabs ")[1].split()[:2])
        options = f"--model model.npz --vocabs {vocabularies} --train-sets {place}/source {place}/target"
        found = marian(directory, "score", f"{options} --word-scores --mini-batch 1 --workspace 500")
    return [[float(word) for word in line.split("WordScores= ")[1].split()] for line in found]


def translations(directory, shape, sources, beam):
    """The best translation of each line with its normalised score."""
    vocabularies = " ".join(shape.split("--vocabs ")[1].split()[:2])
    options = f"--models model.npz --vocabs {vocabularies} {SEARCH} --beam-size {beam} --n-best --quiet"
    best = {}
    for line in marian(directory, "decode", options, "\n".join(sources) + "\n"):
        number, text, _, score = line.split(" ||| ")
        best.setdefault(int(number), (text, float(score)))
    return [best[number] for number in range(len(sources))]


def write_goldens():
    sizes = "--dim-emb 16 --dim-rnn 24 --transformer-heads 4 --transformer-dim-ffn 24 --dim-vocabs 60 60"
    for name in STORED:
        directory = DIR / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        train(directory, SHAPES[name], sizes, made_up_pairs(3000, 1), 1200)
        pairs = made_up_pairs(12, 2)
        pairs[5] = (pairs[5][0] + " \u65e5 x", pairs[5][1] + " x")
        found = {beam: translations(directory, SHAPES[name], [source for source, _ in pairs], beam) for beam in BEAMS}
        cases = [
            {"source": source, "target": target, "log_probs": log_probs}
            | {f"beam_{beam}": dict(zip(("text", "score"), found[beam][place])) for beam in BEAMS}
            for place, ((source, target), log_probs) in enumerate(zip(pairs, scores(directory, SHAPES[name], pairs)))
        ]
        text = json.dumps(cases, ensure_ascii=False, indent=1)
        (directory / "expected.json").write_text(text + "\n", encoding="utf-8")


def regard(binary, *arguments, lines=None):
    done = subprocess.run([binary, *arguments], input=lines, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


def our_scores(binary, model, pairs):
    with tempfile.TemporaryDirectory() as place:
        for side, lines in zip(("src", "tgt"), zip(*pairs)):
            write_lines(Path(place, side), lines)
        out = regard(binary, "score", model, "--json", "--src", f"{place}/src", "--tgt", f"{place}/tgt")
    return [line["token_log_probs"] for line in json.loads(out)["lines"]]


def our_translations(binary, model, sources, beam):
    options = "--narrowing-beam --cut-competes --length-penalty marian --suppress <unk> --max-length-factor 3 --format jsonl --beam-size".split()
    out = regard(binary, "translate", model, *options, str(beam), lines="\n".join(sources) + "\n")
    return [json.loads(line)["translations"][0] for line in out.splitlines()]


def compare(binary, name, sizes, pairs, updates):
    with tempfile.TemporaryDirectory() as place:
        theirs, ours, shape = Path(place, "theirs"), str(Path(place, "ours")), SHAPES[name]
        theirs.mkdir()
        train(theirs, shape, sizes, pairs[100:], updates)
        regard(binary, "import", "marian", str(theirs / "model.npz"), "--out", ours)
        pairs = pairs[:100]
        expected, found = scores(theirs, shape, pairs), our_scores(binary, ours, pairs)
        words = max(abs(a - b) for row in zip(expected, found) for a, b in zip(*row, strict=True))
        sums = max(abs(sum(a) - sum(b)) for a, b in zip(expected, found, strict=True))
        print(f"{name}: largest difference of a word {words:.1e}, of a sentence {sums:.1e}", flush=True)
        if "preprocess" in shape:
            print("  Marian's search gives other scores than its scorer, so it is not compared", flush=True)
            return
        sources = [source for source, _ in pairs]
        for beam in BEAMS:
            rows = list(zip(sources, translations(theirs, shape, sources, beam), our_translations(binary, ours, sources, beam)))
            different = [(source, text, best["text"]) for source, (text, _), best in rows if text != best["text"]]
            scored = max((abs(score - best["score"]) for _, (text, score), best in rows if text == best["text"]), default=0)
            print(f"  beam {beam}: {len(rows) - len(different)} of {len(rows)} equal, their scores within {scored:.1e}", flush=True)
            for source, *texts in different:
                both = [(source, text) for text in texts]
                for program, forced in (("marian", scores(theirs, shape, both)), ("regard", our_scores(binary, ours, both))):
                    print(f"    {program} scores", *(f"{sum(row) / len(row):.5f} ({len(row)})" for row in forced), *texts, sep=" | ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compare", metavar="BINARY")
    parser.add_argument("--pairs", metavar="TSV")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--only", action="append", choices=SHAPES)
    arguments = parser.parse_args()
    if not arguments.compare:
        write_goldens()
        return
    pairs = made_up_pairs(4000, 1)
    if arguments.pairs:
        lines = Path(arguments.pairs).read_text(encoding="utf-8").splitlines()
        pairs = [tuple(line.split("\t")[:2]) for line in lines]
    sizes = "--dim-emb 32 --dim-rnn 48 --transformer-heads 4 --transformer-dim-ffn 64 --dim-vocabs 800 800"
    for name in arguments.only or SHAPES:
        compare(arguments.compare, name, sizes, pairs, arguments.updates)


if __name__ == "__main__":
    main()
