#!/usr/bin/env python3
"""Runs Regard and the peers in alternation on the same machine and prints ratios of their rates, with their spread.

usage: bench/compare.py WORK... [--rounds N] [--threads N] [--regard PROGRAM] [--python PROGRAM]

WORK is any of: train-a train-b train-a-bf16 train-b-bf16. The peers' side needs ../shared/peers and the environment that
its setup.sh makes. Nothing else should run on the machine meanwhile.
"""
import argparse, json, os, re, statistics, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEERS = os.path.join(ROOT, "..", "shared", "peers")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="+", choices=[f"train-{shape}{form}" for shape in "ab" for form in ("", "-bf16")])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--regard", default=os.path.join(ROOT, "target", "release", "regard"))
    parser.add_argument("--python", default=os.path.expanduser("~/.cache/regard-peers/bin/python"))
    return parser.parse_args()


def output(command):
    environment = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


def ours(work, options):
    shape, bf16 = work.split("-")[1], work.endswith("bf16")
    command = [options.regard, "bench", "train", "--shape", shape, "--threads", str(options.threads), "--json"]
    return json.loads(output(command + ["--bf16"] * bf16))["target_tokens_per_s"]


def theirs(work, options):
    shape, bf16 = work.split("-")[1].upper(), work.endswith("bf16")
    command = [options.python, os.path.join(PEERS, "torch_train.py"), shape, "--threads", str(options.threads)]
    return float(re.search(r"([\d.]+) target tokens/s", output(command + ["--bf16"] * bf16))[1])


def main():
    options = parse()
    for work in options.work:
        pairs = []
        for number in range(options.rounds):
            # Who begins changes from round to round.
            order = (ours, theirs) if number % 2 == 0 else (theirs, ours)
            rates = {run: run(work, options) for run in order}
            pairs.append((rates[ours], rates[theirs]))
            print(f"{work} round {number + 1}: {pairs[-1][0]:.0f} and {pairs[-1][1]:.0f} tokens/s", file=sys.stderr)
        ratios = sorted(a / b for a, b in pairs)
        medians = [statistics.median(side) for side in zip(*pairs)]
        print(f"{work}: {statistics.median(ratios):.2f} x ({ratios[0]:.2f} to {ratios[-1]:.2f}), "
              f"medians {medians[0]:.0f} and {medians[1]:.0f} target tokens/s, {options.threads} threads")


main()
