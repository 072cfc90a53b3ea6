"""Computes every value of `regard audit --json` again from `--steps-json`, by other code than Regard's.

Usage: recompute_audit.py AUDIT.json STEPS.json

Prints the number of values that agree; fails on the first that does not. Intervals are computed where numpy is there.
"""

import json
import math
import sys

try:
    import numpy
except ImportError:
    numpy = None


def tau_b(x, y):
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    sign = lambda d: (d > 0) - (d < 0)
    concordance = sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs)
    untied_x = sum(x[i] != x[j] for i, j in pairs)
    untied_y = sum(y[i] != y[j] for i, j in pairs)
    return concordance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else None


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def mean(values):
    return sum(values) / len(values)


def rationale(step, percent):
    return next(r for r in step["rationales"] if r["percent"] == percent)


def belongs(step, site):
    return {"content words": step["content"], "function words": not step["content"]}.get(site, True)


def readings(name, site):
    """What a step gives for a measure, and for its baseline: functions of a step, or None."""
    if name.startswith("tau-"):
        method = name.removeprefix("tau-")
        named = lambda step: next(a for a in step["attributions"] if a["method"] == method)
        value = lambda step: tau_b(step["attention"], named(step)["values"]) if belongs(step, site) else None
        # A shuffle cannot be drawn again here; what it gave is written down.
        return value, lambda step: named(step)["tau_shuffled"] if belongs(step, site) else None
    tvd = lambda key: lambda step: step["tvd"][key]
    flip = lambda key: lambda step: float(step["flips"][key]) if belongs(step, site) else None
    simple = {
        "permutation": (lambda step: median(step["tvd"]["permuted"]), tvd("without_source")),
        "uniform": (tvd("uniform"), tvd("without_source")),
        "hard": (tvd("hard"), tvd("without_source")),
        "strongest-removed": (tvd("without_strongest"), tvd("without_random")),
        "strongest-over-random": (
            lambda step: step["tvd"]["without_strongest"] - step["tvd"]["without_random"],
            None,
        ),
        "source-removed": (tvd("without_source"), None),
        "flips-permutation": (flip("permuted"), flip("without_source")),
        "flips-uniform": (flip("uniform"), flip("without_source")),
        "flips-strongest-removed": (flip("without_strongest"), flip("without_random")),
        "adversary": (lambda step: step["adversary"]["jsd"] if step.get("adversary") else None, None),
        "adversary-found": (
            lambda step: float(step["adversary"]["jsd"] is not None) if step.get("adversary") else None,
            None,
        ),
    }
    if name in simple:
        return simple[name]
    percent = int(site.split()[0])
    with_or_without = {"comprehensiveness": "without", "sufficiency": "alone"}[name]
    drop = lambda step: step["probability"] - rationale(step, percent)[with_or_without]
    random = lambda step: step["probability"] - mean(rationale(step, percent)[with_or_without + "_random"])
    return drop, random


def over_steps(reading, steps):
    found = [(step["sentence"], reading(step)) for step in steps]
    return [(sentence, value) for sentence, value in found if value is not None]


def interval(values, sentences):
    rows = numpy.zeros((sentences, 2), dtype=numpy.float64)
    for sentence, value in values:
        rows[sentence] += (value, 1.0)
    rows = rows.astype(numpy.float32)
    draws = numpy.random.default_rng(12345).choice(sentences, size=(1000, sentences), replace=True)
    sums = rows[draws].sum(1, dtype=numpy.float64)
    means = numpy.sort(numpy.divide(sums[:, 0], sums[:, 1], out=numpy.zeros(1000), where=sums[:, 1] > 0))
    return means[25], means[974]


def main():
    audit, records = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    steps, heads = records["steps"], records["heads"]
    assert audit["steps"] == len(steps), "the number of steps"
    for step in steps:
        for named in step["attributions"]:
            tau = tau_b(step["attention"], named["values"])
            assert (tau is None) == (named["tau"] is None) and (tau is None or abs(tau - named["tau"]) < 1e-9), step
    agreed = 0

    def check(what, found, expected, tolerance):
        nonlocal agreed
        assert (found is None) == (expected is None), f"{what}: {found} and {expected}"
        assert found is None or abs(found - expected) <= tolerance, f"{what}: {found} is not {expected}"
        agreed += 1

    for test in audit["tests"]:
        what = f"{test['name']} ({test['site']})"
        if test["name"] == "bleu-without-head":
            head = next(h for h in heads if h["site"] == test["site"])
            check(what, test["value"], head["bleu"] - heads[0]["bleu"], 1e-9)
            check(what + " baseline", test["baseline"], heads[0]["bleu"], 1e-9)
            continue
        value, baseline = readings(test["name"], test["site"])
        found = over_steps(value, steps)
        check(what, test["value"], mean([v for _, v in found]) if found else None, 1e-9)
        assert test["steps"] == len(found), what
        known = over_steps(baseline, steps) if baseline else []
        check(what + " baseline", test["baseline"], mean([v for _, v in known]) if known else None, 1e-9)
        if numpy and found:
            low, high = interval(found, audit["sentences"])
            check(what + " low", test["low"], low, 1e-5)
            check(what + " high", test["high"], high, 1e-5)
    print(f"{agreed} values agree")


main()
