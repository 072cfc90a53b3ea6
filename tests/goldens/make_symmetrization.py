"""Writes crates/regard-eval/tests/data/symmetrization.tsv: pairs of drawn alignments and what fast_align's atools makes of them.

    python tests/goldens/make_symmetrization.py ATOOLS

ATOOLS is the program of https://github.com/clab/fast_align. Columns: the two alignments, then a column for each command.
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "crates/regard-eval/tests/data/symmetrization.tsv"
COMMANDS = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]
PAIRS = 120

draw = random.Random(1)


def alignment(links, sources, targets):
    """Most of `links`, some of them moved a little, and some drawn anywhere."""
    found = set()
    for source, target in links:
        if draw.random() < 0.85:
            source = min(max(source + draw.choice([0, 0, 0, 0, -1, 1]), 0), sources - 1)
            target = min(max(target + draw.choice([0, 0, 0, 0, -1, 1]), 0), targets - 1)
            found.add((source, target))
    for _ in range(draw.randrange(4)):
        found.add((draw.randrange(sources), draw.randrange(targets)))
    return found


def pair():
    sources, targets = draw.randint(1, 11), draw.randint(1, 13)
    links = {(draw.randrange(sources), draw.randrange(targets)) for _ in range(2)}
    links |= {(position * sources // targets, position) for position in range(targets)}
    return alignment(links, sources, targets), alignment(links, sources, targets)


def written(links):
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


columns = [list(map(written, side)) for side in zip(*(pair() for _ in range(PAIRS)))]
with tempfile.TemporaryDirectory() as directory:
    names = [f"{directory}/{name}" for name in ("forward", "reverse")]
    for name, column in zip(names, columns):
        Path(name).write_text("".join(line + "\n" for line in column))
    for command in COMMANDS:
        call = [sys.argv[1], "-c", command, "-i", names[0], "-j", names[1]]
        columns.append(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split("\n")[:PAIRS])

FILE.parent.mkdir(exist_ok=True)
rows = [["forward", "reverse", *COMMANDS], *zip(*columns, strict=True)]
FILE.write_text("".join("\t".join(row) + "\n" for row in rows))
