#!/usr/bin/env python3
"""Runs Regard and the peers in alternation on the same machine and prints ratios of their rates, with their spread.

usage: bench/compare.py WORK... [--rounds N] [--threads N] [--regard PROGRAM] [--python PROGRAM]

WORK is any of: train-a train-b train-a-bf16 train-b-bf16 (beside PyTorch), train-marian (beside Marian). The peers' side
needs ../shared/peers and the environment that its setup.sh makes. Nothing else should run on the machine meanwhile.
"""
import argparse, gzip, json, os, re, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(ROOT, "..", "shared")
TEXT = os.path.join(SHARED, "data", "multi30k", "tok", "train.lc.norm.tok")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="+", choices=WORKS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--regard", default=os.path.join(ROOT, "target", "release", "regard"))
    parser.add_argument("--python", default=os.path.expanduser("~/.cache/regard-peers/bin/python"))
    return parser.parse_args()


def output(command):
    """Everything that a program prints."""
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    streams = dict(stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return subprocess.run([str(part) for part in command], check=True, text=True, env=environment, **streams).stdout


def regard_step(options, shape, bf16):
    command = [options.regard, "bench", "train", "--shape", shape, "--threads", options.threads, "--json"]
    return json.loads(output(command + ["--bf16"] * bf16))["target_tokens_per_s"]


def torch_step(options, shape, bf16):
    command = [options.python, os.path.join(SHARED, "peers", "torch_train.py"), shape.upper(), "--threads", options.threads]
    return float(re.search(r"([\d.]+) target tokens/s", output(command + ["--bf16"] * bf16))[1])


def regard_s2s(options):
    with tempfile.TemporaryDirectory() as directory:
        recipe = os.path.join(ROOT, "bench", "marian-s2s.toml")
        output([options.regard, "train", recipe, "--out", directory + "/run", "--threads", options.threads])
        log = [json.loads(line) for line in open(directory + "/run/training_log.jsonl", encoding="utf-8")]
    return statistics.median(record["tokens_per_s"] for record in log[1:] if "tokens_per_s" in record)


def marian_s2s(options):
    with tempfile.TemporaryDirectory() as directory:
        for side in ("en", "fr"):
            with open(f"{directory}/{side}", "wb") as plain:
                plain.write(gzip.open(f"{TEXT}.{side}.gz").read())
        arguments = f"""--type s2s --model {directory}/model.npz --train-sets {directory}/en {directory}/fr
            --vocabs {directory}/en.yml {directory}/fr.yml --dim-emb 256 --dim-rnn 256 --mini-batch 64
            --after 160u --disp-freq 40u --disp-first 0 --cpu-threads {options.threads} --workspace 2000"""
        log = output([os.path.join(os.path.dirname(options.python), "pymarian"), "train", *arguments.split()])
    return statistics.median([float(rate) for rate in re.findall(r"([\d.]+) words/s", log)][1:])


WORKS = {"train-marian": (regard_s2s, marian_s2s)} | {
    f"train-{shape}{'-bf16' * bf16}": tuple(
        lambda options, run=run, shape=shape, bf16=bf16: run(options, shape, bf16) for run in (regard_step, torch_step)
    )
    for shape in "ab"
    for bf16 in (False, True)
}


def main():
    options = parse()
    for work in options.work:
        ours, theirs = WORKS[work]
        pairs = []
        for number in range(options.rounds):
            # Who begins changes from round to round.
            order = (ours, theirs) if number % 2 == 0 else (theirs, ours)
            rates = {run: run(options) for run in order}
            pairs.append((rates[ours], rates[theirs]))
            print(f"{work} round {number + 1}: {pairs[-1][0]:.0f} and {pairs[-1][1]:.0f} tokens/s", file=sys.stderr)
        ratios = sorted(a / b for a, b in pairs)
        medians = [statistics.median(side) for side in zip(*pairs)]
        print(f"{work}: {statistics.median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
              f"medians {medians[0]:.0f} and {medians[1]:.0f} target tokens/s, {options.threads} threads")


main()
