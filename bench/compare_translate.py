#!/usr/bin/env python3
"""Runs `regard bench translate` and CTranslate2 on the same model in turns, and prints what they gave and the ratios.

usage: bench/compare_translate.py HF_MODEL REGARD_MODEL TEXT [--rounds N] [--regard PROGRAM] [--peers DIR] [--threads T]
           [--beam B] [--batch N] [--lines N] [--length L] [--compute TYPE]

HF_MODEL is a directory of ../shared/peers/make_marian_model.py, REGARD_MODEL what `regard import hf-marian` made of it. The work
is that of ../shared/peers/ct2_translate.py. The machine should have nothing else to do: see the spread.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEER = re.compile(r": (\d+) target tokens/s, one sentence ([\d.]+) ms, peak (\d+) MiB")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hf_model")
    parser.add_argument("regard_model")
    parser.add_argument("text")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--regard", default=HERE.parent / "target/release/regard")
    parser.add_argument("--peers", default=HERE.parent.parent / "shared/peers")
    parser.add_argument("--python", default=Path.home() / ".cache/regard-peers/bin/python")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lines", type=int, default=64)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--compute", default="float32")
    return parser.parse_args()


def ours(a):
    command = [a.regard, "bench", "translate", a.regard_model, a.text, "--json", "--threads", a.threads, "--beam-size", a.beam]
    command += ["--batch-size", a.batch, "--lines", a.lines] + (["--force-length", a.length] if a.length else [])
    command += ["--int8"] if a.compute == "int8" else []
    found = json.loads(subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout)
    return found["target_tokens_per_s"], found["sentence_ms"], found["peak_mib"]


def theirs(a):
    command = [a.python, Path(a.peers) / "ct2_translate.py", a.hf_model, a.text, "--threads", a.threads, "--beam", a.beam]
    command += ["--batch", a.batch, "--lines", a.lines, "--length", a.length, "--compute", a.compute]
    # What a shared machine may set for our own products slows the peer down.
    env = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS_")}
    found = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, env=env).stdout
    return tuple(float(number) for number in PEER.search(found).groups())


def main():
    a = arguments()
    print(f"beam {a.beam}, batch {a.batch}, {a.lines} lines, length {a.length or 'free'}, {a.threads} threads")
    print("round  CTranslate2 (tokens/s, ms, MiB)    Regard (tokens/s, ms, MiB)    faster  sentence  memory")
    ratios = []
    for number in range(a.rounds):
        peer, regard = (theirs(a), ours(a)) if number % 2 == 0 else reversed((ours(a), theirs(a)))
        peer, regard = tuple(peer), tuple(regard)
        ratios.append((regard[0] / peer[0], peer[1] / regard[1], regard[2] / peer[2]))
        cells = [f"{tokens:8.0f} {ms:8.1f} {mib:6.0f}" for tokens, ms, mib in (peer, regard)]
        faster, sentence, memory = ratios[-1]
        print(f"{number + 1:5}  {cells[0]:>31}  {cells[1]:>28}  {faster:6.2f}  {sentence:8.2f}  {memory:6.2f}", flush=True)
    for name, values in zip(("tokens/s", "one sentence", "peak memory"), zip(*ratios)):
        print(f"{name}: ratio {statistics.median(values):.2f} (from {min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
