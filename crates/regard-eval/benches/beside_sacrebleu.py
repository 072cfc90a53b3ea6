"""Times `regard evaluate` and `sacrebleu` as whole processes on WMT21 de-en, in turns, and prints medians.

    cargo build --release -p regard
    python crates/regard-eval/benches/beside_sacrebleu.py [ROUNDS]

Needs sacrebleu beside this Python and the folder ../shared/data. BLEU and chrF: all systems in one call. TER: one system.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("REGARD_DATA", ROOT.parent / "shared/data"))
REGARD = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/regard"


def seconds(command):
    """Wall time, and the processor time that the child used."""
    before = os.times()
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.monotonic() - start, used


def compare(name, rounds, ours, theirs):
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    for kind, which in (("wall", 0), ("processor", 1)):
        a, b = (statistics.median(pair[side][which] for pair in times) for side in (0, 1))
        print(f"{name}, {kind} time: regard {a:.3f} s, sacrebleu {b:.3f} s: {b / a:.0f} times")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    outputs = sorted((SHARED / "wmt21/system-outputs").glob("newstest2021.de-en.hyp.*"))
    reference = SHARED / "wmt21/references/newstest2021.de-en.ref.A.en"
    threads = ["--threads", "1"]
    sacrebleu = [sys.executable, "-m", "sacrebleu", reference, "-i"]
    ours = [REGARD, "evaluate", *outputs, "--ref", reference, "--json", *threads, "--metrics"]
    compare(
        f"BLEU and chrF of {len(outputs)} systems", rounds, [*ours, "bleu,chrf"], [*sacrebleu, *outputs, "-m", "bleu", "chrf"]
    )
    ours = [REGARD, "evaluate", outputs[0], "--ref", reference, "--json", *threads, "--metrics"]
    compare("TER of one system", rounds, [*ours, "ter"], [*sacrebleu, outputs[0], "-m", "ter"])


if __name__ == "__main__":
    main()
