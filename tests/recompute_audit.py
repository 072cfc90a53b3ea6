"""Computes every value of `regard audit --json` again from `--steps-json`, by other code than Regard's.

Usage: recompute_audit.py AUDIT.json STEPS.json

Prints the number of values that agree; fails on the first that does not, and on a test that it cannot compute. It needs
nothing beside Python: the draws of numpy and the BLEU of sacreBLEU that the audit uses are written out in
recompute_numpy.py and recompute_bleu.py.
"""

import json
import math
import sys

from recompute_bleu import corpus_bleu
from recompute_numpy import choice, float32


def tau_b(x, y):
    pairs = [(i, j) for i in range(len(x)) for j in range(i)]
    sign = lambda d: (d > 0) - (d < 0)
    concordance = sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs)
    untied_x = sum(x[i] != x[j] for i, j in pairs)
    untied_y = sum(y[i] != y[j] for i, j in pairs)
    return concordance / math.sqrt(untied_x * untied_y) if untied_x and untied_y else None


def jensen_shannon(p, q):
    kl = lambda a: sum(x * math.log(2 * x / (u + v)) for x, u, v in zip(a, p, q) if x > 0)
    return max(0.0, (kl(p) + kl(q)) / 2)


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


def shuffled(step):
    assert sorted(step["shuffled"]) == list(range(len(step["attention"]))), "every column once"
    return [step["attention"][column] for column in step["shuffled"]]


def look(record):
    return record["attention"] + [record["attention_on_end"]]


def rival(step, kind):
    return next((r for r in step.get("rivals", []) if r["kind"] == kind), None)


def rival_jsd(kind):
    return lambda step: jensen_shannon(look(step), look(rival(step, kind))) if rival(step, kind) else None


def agreement(method, site):
    values = lambda step: next(a["values"] for a in step["attributions"] if a["method"] == method)
    return (
        lambda step: tau_b(step["attention"], values(step)) if belongs(step, site) else None,
        lambda step: tau_b(shuffled(step), values(step)) if belongs(step, site) else None,
    )


def rivals(name, kind):
    said = lambda key: lambda kind: lambda step: rival(step, kind)[key] if rival(step, kind) else None
    if name == "rival-log-probability":
        return said("log_probability")(kind), lambda step: step["log_probability"]
    distance = {"rival-jsd": rival_jsd, "rival-tvd": said("tvd")}.get(name.removesuffix("-over-seed"))
    if distance and name.endswith("-over-seed"):
        return lambda step: distance(kind)(step) - distance("seed")(step), None
    return (distance(kind), None if kind == "seed" else distance("seed")) if distance else None


def readings(name, site):
    """What a step gives for a measure, and for its baseline: functions of a step, or None."""
    if name.startswith("tau-"):
        return agreement(name.removeprefix("tau-"), site)
    tvd = lambda key: lambda step: step["tvd"][key]
    flip = lambda key: lambda step: float(step["flips"][key]) if belongs(step, site) else None
    searched = lambda value: lambda step: value(step["adversary"]) if step.get("adversary") else None
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
        "adversary": (searched(lambda found: found["jsd"]), None),
        "adversary-found": (searched(lambda found: float(found["jsd"] is not None)), None),
    }
    side = {"comprehensiveness": "without", "sufficiency": "alone"}.get(name)
    if side:
        percent = int(site.split()[0])
        drop = lambda step: step["probability"] - rationale(step, percent)[side]
        return drop, lambda step: step["probability"] - mean(rationale(step, percent)[side + "_random"])
    found = simple.get(name) or rivals(name, site)
    assert found, f"{name} ({site}): there is no recomputation of this test"
    return found


def over_steps(reading, steps):
    found = [(step["sentence"], reading(step)) for step in steps]
    return [(sentence, value) for sentence, value in found if value is not None]


def interval(values, sentences):
    """The 26th smallest and largest mean of 1,000 samples of sentences, with sums in 32 bits; none of one sentence alone."""
    sums, counts = [0.0] * sentences, [0] * sentences
    for sentence, value in values:
        sums[sentence] += value
        counts[sentence] += 1
    if sum(count > 0 for count in counts) < 2:
        return None, None
    sums = [float32(value) for value in sums]
    samples = []
    for draw in choice(12345, sentences, 1000 * sentences):
        count = sum(counts[sentence] for sentence in draw)
        samples.append(sum(sums[sentence] for sentence in draw) / count if count else 0.0)
    samples.sort()
    return samples[25], samples[974]


def check_records(steps, permutations):
    """What a step says of itself is what its other values say."""
    near = lambda a, b, tolerance: (a is None) == (b is None) and (a is None or abs(a - b) <= tolerance)
    for step in steps:
        assert near(math.exp(step["log_probability"]), step["probability"], 1e-6), step
        for named in step["attributions"]:
            assert near(tau_b(step["attention"], named["values"]), named["tau"], 1e-9), step
            assert near(tau_b(shuffled(step), named["values"]), named["tau_shuffled"], 1e-9), step
        assert near(sum(look(step)), 1, 1e-5), step
        assert len(step["tvd"]["permuted"]) == permutations, step
        assert ((step.get("adversary") or {}).get("tvd") or 0) <= 0.05 + 1e-6, step
        for one in step.get("rivals", []):
            assert near(jensen_shannon(look(step), look(one)), one["jsd"], 1e-9), step


def main():
    audit, records = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    steps, heads = records["steps"], records["heads"]
    assert audit["steps"] == len(steps), "the number of steps"
    check_records(steps, audit["settings"]["permutations"])
    bleu = {head["site"]: corpus_bleu(head["hypotheses"], heads["references"]) for head in heads["translations"]}
    assert all(abs(bleu[head["site"]] - head["bleu"]) < 1e-9 for head in heads["translations"]), bleu
    agreed = 0

    def check(what, found, expected, tolerance=1e-9):
        nonlocal agreed
        assert (found is None) == (expected is None), f"{what}: {found} and {expected}"
        assert found is None or abs(found - expected) <= tolerance * max(1, abs(expected)), f"{what}: {found} is not {expected}"
        agreed += 1

    for test in audit["tests"]:
        what = f"{test['name']} ({test['site']})"
        if test["name"] == "bleu-without-head":
            check(what, test["value"], bleu[test["site"]] - bleu["none"])
            check(what + " baseline", test["baseline"], bleu["none"])
            low, high = None, None
        else:
            value, baseline = readings(test["name"], test["site"])
            found = over_steps(value, steps)
            check(what, test["value"], mean([v for _, v in found]) if found else None)
            assert test["steps"] == len(found), what
            known = over_steps(baseline, steps) if baseline else []
            check(what + " baseline", test["baseline"], mean([v for _, v in known]) if known else None)
            low, high = interval(found, audit["sentences"])
        check(what + " low", test["low"], low, 1e-6)
        check(what + " high", test["high"], high, 1e-6)
    print(f"{agreed} values agree")


main()
