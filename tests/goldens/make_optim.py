"""Writes crates/regard-tensor/tests/data/optim.json: five steps of the optimizers of torch.optim, in float64.

Each case has two weights, their gradients at each step, and the weights after each step. `clip` holds the norm of the
first gradients and what torch.nn.utils.clip_grad_norm_ makes of them.

    python tests/goldens/make_optim.py
"""

import json
from pathlib import Path

import torch

torch.set_default_dtype(torch.float64)
FILE = Path(__file__).resolve().parents[2] / "crates/regard-tensor/tests/data/optim.json"
SHAPES = [(5, 7), (37,)]
RULES = {
    "sgd": (torch.optim.SGD, {"lr": 0.1}),
    "momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "adam": (torch.optim.Adam, {"lr": 0.01, "betas": (0.9, 0.98), "eps": 1e-9}),
    "adamw": (torch.optim.AdamW, {"lr": 0.01, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.05}),
    "adadelta": (torch.optim.Adadelta, {"lr": 1.0, "rho": 0.95, "eps": 1e-6}),
}

generator = torch.Generator().manual_seed(1)


def draw():
    """Multiples of 1/64, which float32 holds without rounding."""
    return [torch.randint(-96, 97, shape, generator=generator) / 64 for shape in SHAPES]


def stored(tensors):
    return [{"shape": list(x.shape), "values": [float(f"{v:.15g}") for v in x.flatten().tolist()]} for x in tensors]


start, gradients = draw(), [draw() for _ in range(5)]
cases = {"start": stored(start), "gradients": list(map(stored, gradients)), "rules": {}}
for name, (rule, numbers) in RULES.items():
    weights = [x.clone().requires_grad_() for x in start]
    optimizer = rule(weights, **numbers)
    after = []
    for step in gradients:
        for weight, gradient in zip(weights, step):
            weight.grad = gradient.clone()
        optimizer.step()
        after.append(stored([weight.detach() for weight in weights]))
    cases["rules"][name] = numbers | {"after": after}
weights = [x.clone().requires_grad_() for x in start]
for weight, gradient in zip(weights, gradients[0]):
    weight.grad = gradient.clone()
norm = torch.nn.utils.clip_grad_norm_(weights, 2.5).item()
cases["clip"] = {"limit": 2.5, "norm": norm, "clipped": stored([weight.grad for weight in weights])}
FILE.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
print(f"{FILE}: {FILE.stat().st_size} bytes")
