"""Compares Regard with transformers and CTranslate2 on models that go from one to the other. It stores nothing.

    compare_hf_marian.py BINARY import [--pairs FILE.tsv]
        makes models of five shapes, on pairs of real lines where they are given (source, tab, target), imports them,
        and compares log-probabilities and translations on 200 lines
    compare_hf_marian.py BINARY import --model DIR --source FILE
        the same for a model that is there already, such as shared/peers/make_marian_model.py makes, on 20 lines
    compare_hf_marian.py BINARY export MODEL --source FILE [--target FILE]
        exports a model that Regard has trained, and compares what transformers and CTranslate2 make of every line
    compare_hf_marian.py BINARY fine-tune FILE.tsv
        imports a small model, trains it further on 2,000 pairs, exports it, and compares

It ends with status 1 where a log-probability differs by more than 1e-4, or where a line is translated otherwise and that is
neither a tie (1e-4, by the score that transformers itself gives to both translations) nor explained: Regard's way to search,
written here once more in a few lines, finds Regard's translation with the logits of transformers.

What is set alike on both sides: `<pad>` is never written; scores are sums of log-probabilities by number of tokens, the end
included (`--length-penalty average`, `length_penalty=1.0`); a search ends when nothing better can come
(`early_stopping="never"`); a translation that the limit cuts competes with the others (`--cut-competes`), and no end is forced on it. One difference stays: CTranslate2 stops
when `patience` times as many translations as the beam is wide have ended.

Needs torch, transformers (5.24), sentencepiece, and ctranslate2 (4.8) for `export`.
"""

import argparse
import gzip
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import MarianMTModel, MarianTokenizer

import make_hf_marian as marian

TOLERANCE = 1e-4
MAX_LENGTH = marian.MAX_LENGTH
BEAMS = (1, 4)
# Lines that transformers translates together.
BATCH = 50
SHAPES = {
    "relu": dict(activation_function="relu"),
    "gelu, not scaled": dict(activation_function="gelu", scale_embedding=False),
    "swish, 1 + 3 layers, 2 + 8 heads": dict(
        encoder_layers=1, decoder_layers=3, encoder_attention_heads=2, decoder_attention_heads=8
    ),
    "silu, output layer of its own": dict(activation_function="silu", tie_word_embeddings=False),
    "two tables, two vocabularies": dict(share_encoder_decoder_embeddings=False),
}
FINE_TUNING = """
init_from = "theirs"
[data]
source = "train.src"
target = "train.tgt"
valid_source = "held.src"
valid_target = "held.tgt"
[training]
updates = 200
batch_tokens = 1024
label_smoothing = 0.0
report_every = 50
validate_every = 50
checkpoint_every = 200
[training.schedule]
kind = "constant"
learning_rate = 0.001
"""
failures = []


def check(holds, message):
    print(message)
    if not holds:
        failures.append(message)


def regard(binary, *arguments, lines=None):
    text = None if lines is None else "\n".join(lines) + "\n"
    done = subprocess.run([binary, *map(str, arguments)], input=text, capture_output=True, text=True, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


def translations(binary, model, sources, beams):
    options = ["--beam-size", beams, "--max-length", MAX_LENGTH, "--length-penalty", "average", "--format", "jsonl"]
    options += ["--cut-competes"]
    out = regard(binary, "translate", model, *options, lines=sources)
    return [json.loads(line)["translations"][0] for line in out.splitlines()]


class Theirs:
    """A model of transformers in float64, which cannot write `<pad>`."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.model = MarianMTModel.from_pretrained(directory).double().eval()
        self.model.generation_config.forced_eos_token_id = None
        marian.without_pad(self.model)
        self.tokenizer = MarianTokenizer.from_pretrained(directory)
        file = self.directory / "target_vocab.json"
        file = file if file.exists() else self.directory / "vocab.json"
        self.ids = json.loads(file.read_text(encoding="utf-8"))
        self.tokens = {place: token for token, place in self.ids.items()}

    def source(self, line):
        return marian.source_ids(self.tokenizer, line)

    def target(self, line):
        return marian.target_ids(self.tokenizer, line)

    def log_probs(self, source, target):
        return marian.log_probs(self.model, source, target)

    def score(self, source, tokens, finished=True):
        """Σ log p / n of a translation."""
        ids = [self.ids[token] for token in tokens] + [0] * finished
        found = self.log_probs(source, ids)
        return sum(found) / len(found)

    @torch.no_grad()
    def search_as_regard(self, source, beams):
        """Of the best continuations what ends is kept, and of the others as many go on as the beam holds."""
        encoded = self.model.get_encoder()(torch.tensor([source]))
        start = self.model.config.decoder_start_token_id
        living, ended = [([], 0.0)], []
        for length in range(1, MAX_LENGTH + 1):
            state = encoded.last_hidden_state.expand(len(living), -1, -1)
            ids = torch.tensor([[start] + path for path, _ in living])
            logits = self.model(encoder_outputs=(state,), decoder_input_ids=ids).logits[:, -1]
            logits[:, self.model.config.pad_token_id] = float("-inf")
            sums = logits.log_softmax(-1) + torch.tensor([sum for _, sum in living], dtype=torch.float64)[:, None]
            best = [(i // sums.shape[1], i % sums.shape[1]) for i in sums.flatten().topk(2 * beams).indices.tolist()]
            paths = [(living[parent][0] + [token], sums[parent, token].item()) for parent, token in best]
            ended += [(sum / length, path[:-1]) for path, sum in paths[:beams] if path[-1] == 0]
            living = [(path, sum) for path, sum in paths if path[-1] != 0][:beams]
            # Were all further tokens certain, up to the limit.
            if ended and all(sum / MAX_LENGTH <= max(ended)[0] for _, sum in living):
                break
        else:
            ended += [(sum / MAX_LENGTH, path) for path, sum in living]
        ids = max(ended)[1]
        return [self.tokens[i] for i in ids]

    @torch.no_grad()
    def search(self, sources, beams):
        """The tokens of the best translation of each line."""
        pad, end = self.model.config.pad_token_id, self.model.config.eos_token_id
        options = dict(length_penalty=1.0, early_stopping="never") if beams > 1 else {}
        found = [None] * len(sources)
        order = sorted(range(len(sources)), key=lambda line: len(sources[line]))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            ids = marian.padded([sources[line] for line in batch], pad)
            lengths = torch.tensor([len(sources[line]) for line in batch])
            mask = (torch.arange(ids.shape[1])[None] < lengths[:, None]).long()
            out = self.model.generate(
                ids, attention_mask=mask, num_beams=beams, max_length=MAX_LENGTH + 1, do_sample=False, **options
            )
            for line, row in zip(batch, out.tolist()):
                found[line] = [self.tokens[i] for i in row[1:] if i not in (pad, end)]
        return found


def compare_log_probs(binary, ours, theirs, pairs, directory):
    """Teacher-forced, token by token."""
    for side, lines in zip(("src", "tgt"), zip(*pairs)):
        Path(directory, side).write_text("\n".join(lines) + "\n", encoding="utf-8")
    scores = regard(binary, "score", ours, "--json", "--src", f"{directory}/src", "--tgt", f"{directory}/tgt")
    distance = count = 0
    for line, (source, target) in zip(json.loads(scores)["lines"], pairs, strict=True):
        expected = theirs.log_probs(theirs.source(source), theirs.target(target))
        count += len(expected)
        differences = [abs(a - b) for a, b in zip(line["token_log_probs"], expected, strict=True)]
        distance = max(distance, *differences)
    check(distance <= TOLERANCE, f"largest difference of {count} log-probabilities: {distance:.1e}")


def compare_translations(name, beams, theirs, sources, found, others):
    """What two programs have found, line by line; where they differ, the score of both by transformers."""
    counts = dict.fromkeys(("equal", "ties", "ours scores higher", "theirs scores higher", "not explained"), 0)
    for line, (source, ours, other) in enumerate(zip(sources, found, others, strict=True)):
        if ours["tokens"] == other:
            counts["equal"] += 1
            continue
        row = theirs.source(source)
        a, b = theirs.score(row, ours["tokens"], ours["finished"]), theirs.score(row, other)
        kind = "ties" if abs(a - b) <= TOLERANCE else "ours scores higher" if a > b else "theirs scores higher"
        explained = kind == "ties" or beams > 1 and theirs.search_as_regard(row, beams) == ours["tokens"]
        counts[kind] += 1
        counts["not explained"] += not explained
        print(f"    line {line + 1}, {kind}{'' if explained else ', not explained'}: {a:.6f} {b:.6f}")
    summary = ", ".join(f"{kind} {count}" for kind, count in counts.items())
    check(counts["not explained"] == 0, f"{name}, beam {beams}, {len(sources)} lines: {summary}")


def compare_with_transformers(binary, ours, theirs, sources):
    rows = [theirs.source(source) for source in sources]
    for beams in BEAMS:
        found = translations(binary, ours, sources, beams)
        others = theirs.search(rows, beams)
        compare_translations("transformers", beams, theirs, sources, found, others)


def compare_with_ctranslate2(binary, ours, theirs, sources, directory):
    import ctranslate2

    converted = f"{directory}/ctranslate2"
    ctranslate2.converters.TransformersConverter(str(theirs.directory)).convert(converted)
    translator = ctranslate2.Translator(converted, device="cpu", compute_type="float32", intra_threads=1)
    tokens = [[theirs.tokenizer.convert_ids_to_tokens(i) for i in theirs.source(source)] for source in sources]
    for beams in BEAMS:
        options = dict(beam_size=beams, length_penalty=1.0, max_decoding_length=MAX_LENGTH, max_batch_size=16)
        options |= dict(patience=4.0) if beams > 1 else {}
        others = [result.hypotheses[0] for result in translator.translate_batch(tokens, **options)]
        found = translations(binary, ours, sources, beams)
        compare_translations("CTranslate2", beams, theirs, sources, found, others)


def compare_import(binary, pairs):
    for name, shape in SHAPES.items():
        print(f"{name}:")
        with tempfile.TemporaryDirectory() as place:
            directory, ours = Path(place, "theirs"), f"{place}/ours"
            directory.mkdir()
            marian.make(directory, pairs[200:], shape, dict(vocab_size=500, character_coverage=1.0), 250)
            regard(binary, "import", "hf-marian", directory, "--out", ours)
            theirs = Theirs(directory)
            compare_log_probs(binary, ours, theirs, pairs[:200], place)
            compare_with_transformers(binary, ours, theirs, [source for source, _ in pairs[:200]])


def compare_model(binary, directory, sources):
    with tempfile.TemporaryDirectory() as place:
        ours = f"{place}/ours"
        regard(binary, "import", "hf-marian", directory, "--out", ours)
        theirs = Theirs(directory)
        compare_log_probs(binary, ours, theirs, list(zip(sources, reversed(sources))), place)
        compare_with_transformers(binary, ours, theirs, sources)


def compare_export(binary, model, sources, targets):
    with tempfile.TemporaryDirectory() as place:
        directory = f"{place}/theirs"
        regard(binary, "export", "hf-marian", model, "--out", directory)
        theirs = Theirs(directory)
        if targets:
            compare_exported_log_probs(binary, model, theirs, list(zip(sources, targets)), place)
        compare_with_transformers(binary, model, theirs, sources)
        compare_with_ctranslate2(binary, model, theirs, sources, place)


def compare_exported_log_probs(binary, model, theirs, pairs, place):
    """By way of the exported model imported again, since probabilities there are those among what can be written."""
    again = f"{place}/again"
    regard(binary, "import", "hf-marian", theirs.directory, "--out", again)
    compare_log_probs(binary, again, theirs, pairs, place)
    scores = [
        json.loads(regard(binary, "score", m, "--json", "--src", f"{place}/src", "--tgt", f"{place}/tgt"))["log_prob"]
        for m in (model, again)
    ]
    tokens = sum(len(theirs.target(target)) for _, target in pairs)
    print(f"log-probability of all {tokens} tokens: {scores[0]:.4f} before the export, {scores[1]:.4f} after it")


def compare_fine_tuning(binary, pairs):
    """A model of 4,000 pairs, trained further on 2,000 others; 200 are held out."""
    with tempfile.TemporaryDirectory() as place:
        directory, run, out = Path(place, "theirs"), f"{place}/run", f"{place}/out"
        directory.mkdir()
        marian.make(directory, pairs[2200:6200], {}, dict(vocab_size=800, character_coverage=1.0), 250)
        for name, part in (("train", pairs[200:2200]), ("held", pairs[:200])):
            for side, lines in zip(("src", "tgt"), zip(*part)):
                Path(place, f"{name}.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        recipe = Path(place, "recipe.toml")
        recipe.write_text(FINE_TUNING, encoding="utf-8")
        regard(binary, "import", "hf-marian", directory, "--out", f"{place}/before")
        report = regard(
            binary, "score", f"{place}/before", "--json", "--src", f"{place}/held.src", "--tgt", f"{place}/held.tgt"
        )
        report = json.loads(report)
        before = -report["log_prob"] / report["tokens"]
        regard(binary, "train", recipe, "--out", run, "--threads", 1)
        log = [json.loads(line) for line in Path(run, "training_log.jsonl").read_text().splitlines()]
        losses = [record["valid"]["loss"] for record in log if "valid" in record]
        check(losses[-1] < before, f"held-out loss a token: {before:.4f}, then {' '.join(f'{x:.4f}' for x in losses)}")
        regard(binary, "export", "hf-marian", run, "--out", out)
        theirs = Theirs(out)
        compare_exported_log_probs(binary, run, theirs, pairs[:200], place)
        compare_with_transformers(binary, run, theirs, [source for source, _ in pairs[:200]])


def read_lines(path):
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    with opened as file:
        return file.read().split("\n")[:-1]


def read_pairs(path):
    """Mixed, and each source once: the same one with another target would not be held out."""
    pairs = {}
    for line in read_lines(path):
        source, target, *_ = line.split("\t")
        pairs.setdefault(source, target)
    pairs = list(pairs.items())
    random.Random(1).shuffle(pairs)
    return pairs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("import")
    command.add_argument("--pairs")
    command.add_argument("--model")
    command.add_argument("--source")
    command = commands.add_parser("export")
    command.add_argument("model")
    command.add_argument("--source", required=True)
    command.add_argument("--target")
    command = commands.add_parser("fine-tune")
    command.add_argument("pairs")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    binary = arguments.binary
    if arguments.command == "fine-tune":
        compare_fine_tuning(binary, read_pairs(arguments.pairs))
    elif arguments.command == "export":
        targets = read_lines(arguments.target) if arguments.target else None
        compare_export(binary, arguments.model, read_lines(arguments.source), targets)
    elif arguments.model:
        compare_model(binary, arguments.model, read_lines(arguments.source)[:20])
    else:
        compare_import(binary, read_pairs(arguments.pairs) if arguments.pairs else marian.made_up_pairs(3000, 1))
    if failures:
        sys.exit("failed:\n" + "\n".join(failures))


if __name__ == "__main__":
    main()
