"""Writes crates/regard-tensor/tests/data/ops.json: what PyTorch computes for the operations of regard-tensor.

A case is a list of inputs, the arguments of the operation, its outputs, and the gradients of the inputs for the loss
sum_i w_i y_i with w_i = sin(7 i + 3) + 0.2 for each output y. All in float64. The inputs are multiples of 1/64, which
float32 holds without rounding. `null` stands for minus infinity.

    python tests/goldens/make_ops.py
"""

import json
import math
import zlib
from pathlib import Path

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
FILE = Path(__file__).resolve().parents[2] / "crates/regard-tensor/tests/data/ops.json"
CASES = []


def draw(name, place, shape):
    generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {place}".encode()))
    return torch.randint(-96, 97, shape, generator=generator) / 64


def loss_weights(output):
    index = torch.arange(output.numel(), dtype=torch.float64)
    return ((7 * index + 3).sin() + 0.2).reshape(output.shape)


def number(value):
    return None if value == -math.inf else float(f"{value:.15g}")


def stored(tensor):
    return {"shape": list(tensor.shape), "values": [number(value) for value in tensor.flatten().tolist()]}


def case(op, inputs, function, note="", **arguments):
    """`inputs` are shapes or tensors; `function` gets them as tensors and returns one output or several."""
    name = f"{op} {note}".strip()
    drawn = [x if torch.is_tensor(x) else draw(name, place, x) for place, x in enumerate(inputs)]
    leaves = [x.clone().requires_grad_() for x in drawn]
    outputs = function(*leaves)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    weights = [loss_weights(output) for output in outputs]
    gradients = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
    gradients = [torch.zeros_like(x) if g is None else g for x, g in zip(leaves, gradients)]
    assert all(torch.isfinite(g).all() for g in gradients), name
    case = {"name": name, "op": op, "arguments": arguments}
    case |= {"inputs": list(map(stored, drawn)), "outputs": list(map(stored, outputs))}
    CASES.append(case | {"gradients": list(map(stored, gradients))})


def elementwise():
    case("tanh", [(5, 37)], torch.tanh)
    case("sigmoid", [(5, 37)], torch.sigmoid)
    case("tanh", [torch.tensor([-700.0, -30.0, -9.0, 0.0, 1 / 64, 9.0, 30.0, 700.0])], torch.tanh, "far out")
    case("sigmoid", [torch.tensor([-700.0, -30.0, -9.0, 0.0, 1 / 64, 9.0, 30.0, 700.0])], torch.sigmoid, "far out")
    away = draw("relu", 0, (5, 37)) + 1 / 128  # Not at 0, where the derivative would be a matter of taste.
    case("relu", [away], torch.relu)
    far = torch.tensor([-700.0, -30.0, -9.0, -3.0, 0.0, 1 / 64, 3.0, 9.0, 30.0, 700.0])
    for op, function in [("gelu", F.gelu), ("swish", F.silu)]:
        case(op, [(5, 37)], function)
        case(op, [far], function, "far out")
    case("add", [(5, 7), (5, 7)], torch.add)
    case("mul", [(5, 7), (5, 7)], torch.mul)
    case("scale", [(3, 5)], lambda x: -0.75 * x, factor=-0.75)
    case("affine", [(3, 5)], lambda x: 1 - x, factor=-1, offset=1)
    case("sum", [(3, 5)], torch.sum)
    winners = draw("maxout", 0, (5, 14))
    winners[:, 1::2] += 1 / 128  # No two neighbours are equal: there the derivative would be a matter of taste.
    case("maxout", [winners], lambda x: x.reshape(5, 7, 2).max(dim=2).values)


def shapes():
    case("concat", [(5, 3), (5, 7), (5, 1)], lambda *parts: torch.cat(parts, dim=1))
    case("stack", [(3, 5), (3, 5)], lambda *parts: torch.stack(parts))
    case("slice", [(3, 5, 7)], lambda x: x[1], index=1)
    case("slice_last", [(5, 11)], lambda x: x[:, 3:10], range=[3, 10])
    case("slice_last", [(5, 11)], lambda x: x[:, 4:4], "empty", range=[4, 4])
    case("select_rows", [(5, 3)], lambda x: x[[4, 0, 4, 2]], places=[4, 0, 4, 2])
    case("embedding", [(7, 3)], lambda x: F.embedding(torch.tensor([6, 0, 1, 6, 6]), x), ids=[6, 0, 1, 6, 6])
    case("transpose_leading", [(3, 5, 7)], lambda x: x.transpose(0, 1))
    case("reshape", [(3, 5, 7)], lambda x: x.reshape(15, 7), shape=[15, 7])
    active = [True, False, True, True, False]
    keep = torch.tensor(active)[:, None]
    case("carry", [(5, 7), (5, 7)], lambda new, old: torch.where(keep, new, old), active=active)
    case("carry", [(2, 3), (2, 3)], lambda new, old: old, "nobody", active=[False, False])


def layers():
    case("linear", [(5, 7), (11, 7), (11,)], F.linear)
    case("linear", [(1, 13), (3, 13), (3,)], F.linear, "one row")
    case("linear", [(3, 5, 7), (17, 7), (17,)], F.linear, "three dimensions")
    two = lambda x, w, y, v, b, base: base + F.linear(x, w, b) + F.linear(y, v)
    case("linear_sum", [(5, 7), (13, 7), (5, 3), (13, 3), (13,), (5, 13)], two)
    case("layer_norm", [(5, 37), (37,), (37,)], lambda x, g, b: F.layer_norm(x, (37,), g, b))
    equal = draw("layer_norm equal", 0, (3, 1)).expand(3, 5)
    case("layer_norm", [equal, (5,), (5,)], lambda x, g, b: F.layer_norm(x, (5,), g, b), "no variance")
    case("rms_norm", [(5, 37), (37,)], lambda x, g: F.rms_norm(x, (37,), g, eps=1e-6))
    case("rotary", [(3, 5, 14)], lambda x: rotary(x, 1, [0, 1, 2, 3, 4]), heads=1, positions=[0, 1, 2, 3, 4])
    case("rotary", [(3, 18)], lambda x: rotary(x, 3, [11, 0, 257]), "three heads", heads=3, positions=[11, 0, 257])
    case("lstm_cell", [(5, 3), (5, 7), (5, 7), (28, 3), (28, 7), (28,)], lstm)
    case("lstm_cell", [(3, 2), (3, 17), (3, 17), (68, 2), (68, 17), (68,)], lstm, "a block and one more")
    case("lstm_cell", [(3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)], lambda *x: lstm(*x)[:1], "h alone")
    case("lstm_cell", [(3, 2), (3, 5), (3, 5), (20, 2), (20, 5), (20,)], lambda *x: lstm(*x)[1:], "c alone")
    case("gru_cell", [(5, 3), (5, 7), (21, 3), (21, 7), (21,), (21,)], torch.gru_cell)
    case("gru_cell", [(3, 2), (3, 17), (51, 2), (51, 17), (51,), (51,)], torch.gru_cell, "a block and one more")


def rotary(x, heads, positions):
    """Each pair of columns is a complex number, turned by its angle."""
    width = x.shape[-1] // heads
    angles = torch.tensor(positions)[:, None] * 10000 ** (-2 * torch.arange(width // 2) / width)
    turns = torch.polar(torch.ones_like(angles), angles)[:, None]
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], heads, width // 2, 2))
    return torch.view_as_real(pairs * turns).reshape(x.shape)


def lstm(x, h, c, input_weight, hidden_weight, bias):
    return torch.lstm_cell(x, (h, c), input_weight, hidden_weight, bias, torch.zeros_like(bias))


def softmaxes():
    case("log_softmax", [(5, 37)], lambda x: F.log_softmax(x, dim=1))
    holes = draw("log_softmax", 1, (3, 7))
    holes[0, 2] = holes[1, :6] = -math.inf
    case("log_softmax", [holes], lambda x: F.log_softmax(x, dim=1), "minus infinity")
    case("log_softmax", [holes.new_tensor([[700.0, 690.0, -700.0]])], lambda x: F.log_softmax(x, dim=1), "far out")
    spans = [[0, 11], [0, 1], [3, 8], [4, 4], [10, 11]]
    case("masked_softmax", [(5, 11)], lambda x: masked_softmax(x, spans), spans=spans)
    holes = draw("masked_softmax", 1, (3, 5))
    holes[0, 1] = holes[1, 2:4] = holes[2, 0] = -math.inf
    spans = [[0, 5], [2, 4], [0, 3]]
    case("masked_softmax", [holes], lambda x: masked_softmax(x, spans), "minus infinity", spans=spans)
    cross_entropies()


def masked_softmax(scores, spans):
    rows = []
    for row, (start, end) in zip(scores, spans):
        weights = torch.zeros_like(row)
        if start < end and row[start:end].max() > -math.inf:
            weights = torch.cat([weights[:start], F.softmax(row[start:end], dim=0), weights[end:]])
        rows.append(weights)
    return torch.stack(rows)


def cross_entropies():
    for note, rows, smoothing, factor in [
        ("plain", 5, 0.0, 1.0),
        ("smoothed", 5, 0.1, 0.125),
        ("two blocks", 263, 0.1, 1.0),
        ("nothing counts", 2, 0.1, 1.0),
    ]:
        width, vocabulary = (3, 5) if rows > 256 else (7, 13)
        ids = [(3 * row * row + 1) % vocabulary for row in range(rows)]
        counts = [row % 4 != 1 and rows > 2 for row in range(rows)]
        inputs = [(rows, width), (vocabulary, width), (vocabulary,)]
        arguments = {"ids": ids, "counts": counts, "label_smoothing": smoothing, "factor": factor}
        logits = F.linear(*(draw(f"linear_cross_entropy {note}", place, x) for place, x in enumerate(inputs)))
        targets = torch.tensor([id if counted else -100 for id, counted in zip(ids, counts)])
        arguments["negative_log_likelihood"] = F.cross_entropy(logits, targets, reduction="sum").item()
        arguments["correct"] = (logits.argmax(dim=1) == targets).sum().item()

        def loss(x, weight, bias):
            logits = F.linear(x, weight, bias)
            return factor * F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)

        case("linear_cross_entropy", inputs, loss, note, **arguments)


def attention():
    for note, sentences, lengths in [
        ("a row each", [0, 1, 2], [5, 1, 3]),
        ("shared sentences", [2, 0, 0, 2, 2, 0, 2], [3, 4, 5]),
        ("an empty sentence", [1, 0, 1], [5, 0]),
    ]:
        rows, count, positions = len(sentences), len(lengths), 5
        mask = torch.arange(positions)[None] < torch.tensor([lengths[s] for s in sentences])[:, None]
        arguments = {"sentences": sentences, "lengths": lengths}

        def additive(q, k, v):
            return torch.where(mask, (q[:, None] + k[sentences]).tanh() @ v, 0)

        def dot(q, k):
            return torch.where(mask, 0.375 * torch.einsum("iw,ijw->ij", q, k[sentences]), 0)

        def weighted(w, h):
            return torch.einsum("ij,ijw->iw", torch.where(mask, w, 0), h[sentences])

        def scores(q, k):
            q, k = q.reshape(rows, 2, -1), k[sentences].reshape(rows, positions, 2, -1)
            return torch.where(mask, 0.375 * torch.einsum("ihw,ijhw->hij", q, k), 0)

        def contexts(w, v):
            v = v[sentences].reshape(rows, positions, 2, -1)
            return torch.einsum("hij,ijhw->ihw", torch.where(mask, w, 0), v).flatten(1)

        width = 17 if note == "a row each" else 7
        memory = (count, positions, width)
        case("additive_scores", [(rows, width), memory, (width,)], additive, note, **arguments)
        case("dot_scores", [(rows, width), memory], dot, note, factor=0.375, **arguments)
        case("weighted_sum", [(rows, positions), memory], weighted, note, **arguments)
        memory = (count, positions, 2 * width)
        case("head_scores", [(rows, 2 * width), memory], scores, note, heads=2, factor=0.375, **arguments)
        case("head_contexts", [(2, rows, positions), memory], contexts, note, **arguments)
    spans = [[0, 11], [2, 7], [5, 5]]
    centres = torch.tensor([[3.25], [4.0], [9.5]])
    case("gaussian_window", [centres], lambda p: gaussian(p, spans, 11, 1.5), spans=spans, positions=11, sigma=1.5)


def gaussian(centres, spans, positions, sigma):
    j = torch.arange(positions)
    inside = torch.tensor([[start <= position < end for position in range(positions)] for start, end in spans])
    return torch.where(inside, torch.exp(-((j - centres) ** 2) / (2 * sigma**2)), 0)


for group in [elementwise, shapes, layers, softmaxes, attention]:
    group()
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in CASES)
FILE.write_text(f"[\n{lines}\n]\n")
print(f"{FILE}: {len(CASES)} cases, {FILE.stat().st_size} bytes")
