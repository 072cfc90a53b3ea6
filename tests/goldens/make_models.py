"""Writes crates/regard-model/tests/data/models.json: loss and gradients of models of both families in plain
PyTorch, float64.

A case is a preset, the changes to its configuration, the loss of one batch and the gradient of each weight. The weights
are not stored: `draw` makes them from their names, and the test in Rust does the same. A gradient is a shape and the
base64 of little-endian float32.

    python tests/goldens/make_models.py
"""

import base64
import itertools
import json
import math
from pathlib import Path

import torch

import reference_model
import reference_reader
import reference_transformer
from reference_model import merged

FILE = Path(__file__).resolve().parents[2] / "crates/regard-model/tests/data/models.json"
VOCABULARIES = (9, 11)
# Ids without BOS and EOS: sentences of different lengths, among them a source and a target of EOS alone.
BATCH = [([5, 8, 4, 6, 1, 7], [9, 4, 10, 6]), ([], [7, 5]), ([6, 4, 4], [])]
SMALL = {
    "embedding": 5,
    "encoder": {"hidden": 3},
    "decoder": {"hidden": 4, "readout_width": 7},
    "attention": {"width": 2, "radius": 2},
}
# A row of a few small numbers has next to no variance, and its normalisation makes rounding errors large (PyTorch's too,
# in float32): wider cells keep away from that.
NORMED = {"layer_norm": True, "encoder": {"hidden": 5}, "decoder": {"hidden": 7}}
# Small weights leave attention nearly even, and the gradient of its query so small beside the others that float32 cannot
# show whether it is right; large ones saturate the gates.
SCALE = 3.75
SCALES = {"gnmt, current state": 5, "initial last, backward, lstm": 5, "stacks, last, reversed": 5}
# What `SMALL` is for the recurrent presets. The learned positions end before the longest source does.
SMALL_TRANSFORMER = {
    "d_model": 8,
    "d_ff": 7,
    "max_positions": 5,
    "encoder": {"layers": 2, "heads": 2},
    "decoder": {"layers": 2, "heads": 4},
}
SCALE_TRANSFORMER = 2
CELLS = ["lstm", "gru_reset_after", "gru_reset_before"]
QUERIES = ["previous", "current", "intermediate"]
CASES = []


def draw(name, shape, scale):
    """Weights within ±5/16 · scale (gains: ±5/16 around 1) that float32 holds exactly: a linear congruential generator
    started at the 32-bit FNV-1a hash of the name."""
    state = 0x811C9DC5
    for byte in name.encode():
        state = (state ^ byte) * 0x01000193 % 2**32
    values = []
    for _ in range(math.prod(shape)):
        state = (state * 1664525 + 1013904223) % 2**32
        value = ((state >> 12) / 2**19 - 1) * 5 / 16
        values.append(1 + value if name.endswith(".gain") else value * scale)
    return torch.tensor(values).reshape(shape)


def stored(gradient):
    """A gradient; that of a bias which shifts all scores of a row alike is nothing but rounding, and becomes zero."""
    gradient = gradient if gradient.norm() > 1e-12 else torch.zeros_like(gradient)
    return [list(gradient.shape), base64.b64encode(gradient.float().numpy().astype("<f4").tobytes()).decode()]


def case(name, preset, changes, smoothing=0.0, factor=1.0):
    transformer = preset in reference_transformer.PRESETS
    changes = merged(SMALL_TRANSFORMER if transformer else SMALL, changes)
    reads = preset in reference_reader.PRESETS
    reference = reference_transformer if transformer else reference_reader if reads else reference_model
    config = merged(reference.PRESETS[preset], changes)
    tied = config["tied_embeddings"] == "all"
    vocabularies = VOCABULARIES[1:] * 2 if tied else VOCABULARIES
    scale = SCALE_TRANSFORMER if transformer else SCALES.get(name, SCALE)
    shapes = reference.weight_shapes(config, *vocabularies)
    weights = {n: draw(n, s, scale).requires_grad_() for n, s in shapes.items()}
    kind = "ReferenceTransformer" if transformer else "ReferenceReader" if reads else "ReferenceModel"
    model = getattr(reference, kind)(config, weights)
    sentences = [model.loss(source, target, smoothing) for source, target in BATCH]
    loss = factor * sum(loss for loss, _ in sentences)
    gradients = torch.autograd.grad(loss, weights.values())
    CASES.append(
        {
            "name": name,
            "preset": preset,
            "changes": changes,
            "vocabularies": vocabularies,
            "scale": scale,
            "label_smoothing": smoothing,
            "factor": factor,
            "loss": loss.item(),
            "negative_log_likelihood": sum(plain for _, plain in sentences).item(),
            "gradients": {name: stored(gradient) for name, gradient in zip(weights, gradients)},
        }
    )


def attentions():
    """Each score with each window; cells and queries take turns."""
    turns = zip(itertools.cycle(CELLS), itertools.cycle(["current", "intermediate", "previous", "intermediate", "current"]))
    for score, window in itertools.product(["additive", "dot", "scaled_dot", "general", "concat"], ["global", "local_m", "local_p"]):
        cell, query = next(turns)
        changes = {"cell": cell, "attention": {"score": score, "window": window, "query": query}}
        changes["attention"]["bias"] = window == "local_m"
        changes["decoder"] = {"hidden": 6} if "dot" in score else {}
        case(f"{score} {window}", "bahdanau", changes, smoothing=0.1 if window == "local_p" else 0.0)


def cells():
    """Each cell, with layer normalisation and without, under each query, in two layers with input feeding."""
    for cell, norm, query in itertools.product(CELLS, [False, True], QUERIES):
        changes = {
            "cell": cell,
            "decoder": {"layers": 2, "input_feeding": True, "readout": "tanh", "readout_state": "current"},
            "attention": {"query": query, "query_layer": "bottom" if query == "intermediate" or norm else "top"},
        }
        changes["decoder"]["context_layers"] = "all" if cell != "gru_reset_after" else "first"
        changes = merged(NORMED, changes) if norm else changes
        case(f"{cell}{' normed' if norm else ''}, {query}", "bahdanau", changes)


def presets():
    last = {"decoder": {"hidden": 3}}
    case("preset bahdanau", "bahdanau", {}, smoothing=0.1, factor=0.125)
    case("preset cho", "cho", {}, smoothing=0.1)
    case("preset sutskever", "sutskever", last)
    case("preset luong", "luong", last, smoothing=0.1)
    case("preset gnmt", "gnmt", {"encoder": {"layers": 4}, "decoder": {"hidden": 3, "layers": 4}})
    now = {"query": "current", "query_layer": "bottom"}
    layers = {"encoder": {"layers": 4}, "decoder": {"hidden": 3, "layers": 4}}
    case("gnmt, current state", "gnmt", layers | {"attention": now})


def states():
    """Every initial state, and the source reversed under readers in one and two directions."""
    lstm = {"cell": "lstm", "encoder": {"layers": 2}}
    for state in ["zero", "bridge", "backward_bridge"]:
        case(f"initial {state}", "bahdanau", lstm | {"decoder": {"layers": 2, "initial_state": state}})
    for name, both, hidden in [
        ("side by side", "all", 6),
        ("backward", "all", 3),
        ("forward", "none", 3),
        ("bottom", "bottom", 3),
    ]:
        changes = {"encoder": {"layers": 2, "bidirectional": both}}
        changes["decoder"] = {"layers": 2, "hidden": hidden, "initial_state": "last"}
        for cell in CELLS[:2] if name == "side by side" else CELLS[:1]:
            case(f"initial last, {name}, {cell}", "bahdanau", changes | {"cell": cell})
    for both in ["none", "bottom", "all"]:
        changes = {"encoder": {"layers": 2, "bidirectional": both, "reverse_source": True}}
        changes["decoder"] = {"initial_state": "bridge"}
        case(f"reversed, {both}", "bahdanau", changes | {"attention": {"window": "local_m", "radius": 1}})


def readouts():
    for readout, state in itertools.product(["linear", "concat", "attentional", "tanh", "maxout"], ["previous", "current"]):
        changes = {"decoder": {"readout": readout, "readout_state": state, "input_feeding": readout != "maxout"}}
        # Nothing would see the context if it came after the state that a linear readout hands on.
        changes["attention"] = {"query": "previous" if readout == "linear" else "current"}
        case(f"{readout} readout of the {state} state", "bahdanau", changes)
    for readout in ["linear", "concat", "attentional", "tanh"]:
        changes = {"decoder": {"readout": readout, "layers": 2, "context_layers": "all", "input_feeding": True}}
        case(f"every step, {readout}", "cho", changes | {"cell": "lstm", "encoder": {"bidirectional": "all"}})
    for readout in ["tanh", "maxout"]:
        changes = {"decoder": {"hidden": 3, "layers": 2, "readout": readout}, "encoder": {"layers": 2}}
        case(f"once, {readout}", "sutskever", changes)


def tied():
    for kind in ["target_output", "all"]:
        decoder = {"hidden": 5, "readout": "linear", "readout_state": "current"}
        case(f"tied {kind}, linear", "bahdanau", {"tied_embeddings": kind, "decoder": decoder})
        case(f"tied {kind}, maxout", "bahdanau", {"tied_embeddings": kind, "decoder": {"readout_width": 5}}, smoothing=0.1)


def residuals():
    decoder = {"hidden": 5, "layers": 3, "readout": "tanh", "context_layers": "all"}
    for start, query in [(1, "current"), (1, "intermediate"), (2, "previous"), (3, "current")]:
        for layer in ["bottom", "top"] if query == "current" else ["bottom"]:
            changes = {"residual_from": start, "encoder": {"layers": 3, "hidden": 5, "bidirectional": "none"}}
            changes |= {"decoder": decoder | {"initial_state": "last"}, "attention": {"query": query, "query_layer": layer}}
            case(f"residual from {start}, {query}, {layer}", "bahdanau", changes | {"cell": "gru_reset_after"})
    changes = {"residual_from": 2, "encoder": {"layers": 3}, "decoder": {"initial_state": "bridge", "layers": 2}}
    case("residual, every step, both directions", "cho", changes | {"cell": "lstm"})
    changes["encoder"] = {"layers": 2, "bidirectional": "all"}
    case("residual in both directions, normed", "bahdanau", merged(NORMED, changes) | {"cell": "lstm"})


def transformers():
    """The preset, then each piece with every other in turn."""
    case("transformer", "transformer_tiny", {}, smoothing=0.1, factor=0.125)
    case("transformer base", "transformer_base", {"encoder": {"layers": 1}, "decoder": {"layers": 3}})
    positions = ["sinusoidal", "sinusoidal_halves", "learned", "rotary"]
    turns = zip(
        itertools.cycle(positions),
        itertools.cycle(["none", "target_output", "all"]),
        itertools.cycle([True, False, True, True, False]),
        itertools.cycle([False, True, True]),
    )
    activations = itertools.product(["relu", "gelu", "swish"], [False, True])
    for norm, place, (activation, gated) in itertools.product(["layer", "rms"], ["pre", "post"], activations):
        position, tied, scaled, bias = next(turns)
        changes = {"norm": norm, "norm_position": place, "activation": activation, "gated": gated}
        changes |= {"positions": position, "tied_embeddings": tied, "scale_embeddings": scaled, "output_bias": bias}
        changes |= {"encoder": {"layers": 1}, "decoder": {"layers": 1}}
        name = f"transformer {norm} {place} {activation}{' gated' if gated else ''} {position}"
        case(name, "transformer_tiny", changes, smoothing=0.1 if gated else 0.0)


def marian():
    """Marian's two kinds of network, and their pieces apart."""
    conditional = {
        "cell": "gru_reset_after",
        "decoder": {"initial_state": "mean_bridge", "readout": "tanh", "readout_state": "current"},
        "attention": {"bias": True, "query": "intermediate", "query_layer": "bottom"},
    }
    case("conditional", "bahdanau", conditional, smoothing=0.1)
    everywhere = {"layer_norm": "everywhere", "norm_epsilon": 1e-9, "attention": {"width": 7}, "decoder": {"readout_width": 9}}
    case("conditional, normed everywhere", "bahdanau", merged(merged(NORMED, conditional), everywhere))
    deep = {"encoder": {"layers": 2, "bidirectional": "stacks"}, "decoder": {"layers": 2}, "residual_from": 2}
    case("stacks, residual", "bahdanau", merged(conditional, deep))
    changes = merged(NORMED, {"encoder": {"layers": 3, "bidirectional": "stacks"}, "decoder": {"layers": 2}})
    changes = merged(changes, everywhere) | {"cell": "lstm"}
    case("stacks, mean, lstm, maxout, normed everywhere", "bahdanau", merged(changes, {"decoder": {"initial_state": "mean_bridge"}}))
    changes = {"encoder": {"layers": 2, "bidirectional": "stacks", "reverse_source": True}, "decoder": {"hidden": 6, "layers": 2, "initial_state": "last"}}
    case("stacks, last, reversed", "bahdanau", changes)
    positions = {"positions": "sinusoidal_tensor2tensor", "activation": "swish", "tied_embeddings": "all"}
    for norm, place in [("layer", "pre_only"), ("rms", "pre_only"), ("layer", "post"), ("rms", "post")]:
        changes = positions | {"norm": norm, "norm_position": place, "norm_epsilon": 1e-9 if place == "post" else 0.01}
        case(f"transformer {norm} {place} tensor2tensor", "transformer_tiny", changes | {"encoder": {"layers": 1}})


def readers():
    """A Transformer's encoder under recurrent decoders."""
    small = {"embedding": 8, "reader": {"layers": 2, "heads": 2, "d_ff": 7, "max_positions": 5}}
    case("reader", "transformer_reader", small, smoothing=0.1)
    post = {"reader": {"norm_position": "post", "positions": "learned", "activation": "gelu", "gated": True, "norm": "rms"}}
    lstm = {"cell": "lstm", "tied_embeddings": "all", "decoder": {"layers": 2, "input_feeding": True, "readout_width": 8}}
    lstm["attention"] = {"score": "general", "query": "current"}
    case("reader, post, lstm, tied", "transformer_reader", merged(merged(small, post), lstm))
    rotary = {"reader": {"positions": "rotary", "scale_embeddings": False}, "decoder": {"initial_state": "zero", "readout": "concat"}}
    case("reader, rotary, zero", "transformer_reader", merged(small, rotary))


def check_against_torch():
    """The layers of the reference are those of torch.nn, whose code is another."""
    for place, activation in [("post", "relu"), ("pre", "gelu")]:
        config = merged(reference_transformer.PRESETS["transformer_tiny"], SMALL_TRANSFORMER)
        config = merged(config, {"norm_position": place, "activation": activation})
        shapes = reference_transformer.weight_shapes(config, *VOCABULARIES)
        weights = {name: draw(name, shape, SCALE_TRANSFORMER) for name, shape in shapes.items()}
        model = reference_transformer.ReferenceTransformer(config, weights)
        x, y = draw("x", [5, 8], 4), draw("y", [3, 8], 4)
        memory, causal = model.stack("encoder", x), torch.nn.Transformer.generate_square_subsequent_mask(3)
        assert torch.allclose(torch_stack("encoder", config, weights)(x), memory, atol=1e-12)
        theirs = torch_stack("decoder", config, weights)(y, memory, tgt_mask=causal)
        assert torch.allclose(theirs, model.stack("decoder", y, memory), atol=1e-12)


def torch_stack(stack, config, weights):
    kind = stack.title()
    pre = config["norm_position"] == "pre"
    layer = getattr(torch.nn, f"Transformer{kind}Layer")(
        8, config[stack]["heads"], 7, dropout=0, activation=config["activation"], norm_first=pre
    )
    norm = torch.nn.LayerNorm(8) if pre else None
    theirs = getattr(torch.nn, f"Transformer{kind}")(layer, config[stack]["layers"], norm)
    parts = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
    norms = ["self_attention", "cross_attention", "feed_forward"] if stack == "decoder" else ["self_attention", "feed_forward"]
    state = {}
    for end in ["weight", "bias"]:
        for index in range(config[stack]["layers"]):
            ours, prefix = f"{stack}.{index}.", f"layers.{index}."
            for part in norms[:-1]:
                maps = [weights[f"{ours}{part}.{map}.{end}"] for map in ["query", "key", "value"]]
                state[f"{prefix}{parts[part]}.in_proj_{end}"] = torch.cat(maps)
                state[f"{prefix}{parts[part]}.out_proj.{end}"] = weights[f"{ours}{part}.output.{end}"]
            for place, part in enumerate(norms, 1):
                state[f"{prefix}norm{place}.{end}"] = weights[f"{ours}{part}.norm.{'gain' if end == 'weight' else end}"]
            state[f"{prefix}linear1.{end}"] = weights[f"{ours}feed_forward.input.{end}"]
            state[f"{prefix}linear2.{end}"] = weights[f"{ours}feed_forward.output.{end}"]
        if pre:
            state[f"norm.{end}"] = weights[f"{stack}.norm.{'gain' if end == 'weight' else end}"]
    theirs.load_state_dict(state)
    return theirs


check_against_torch()
for group in [attentions, cells, presets, states, readouts, tied, residuals, transformers, marian, readers]:
    group()
lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in CASES)
batch = json.dumps([{"source": source, "target": target} for source, target in BATCH])
FILE.write_text(f'{{"batch":{batch},\n"cases":[\n{lines}\n]}}\n')
print(f"{FILE}: {len(CASES)} cases, {FILE.stat().st_size} bytes")
