"""Recurrent encoder-decoders in plain PyTorch: one sentence at a time, one step at a time, float64.

It follows the description of the configuration, not the Rust code: no batches, no padding, no masks. A configuration is
the dictionary that `config.json` holds; weights are a dictionary from names to tensors, all of shape [out, in].
"""

import copy
import math
from types import SimpleNamespace

import torch

torch.set_default_dtype(torch.float64)
BOS, EOS = 2, 3

BAHDANAU = {
    "cell": "gru_reset_before",
    "layer_norm": "none",
    "norm_epsilon": 1e-5,
    "embedding": 256,
    "tied_embeddings": "none",
    "encoder": {"layers": 1, "hidden": 256, "bidirectional": "all", "reverse_source": False},
    "decoder": {
        "layers": 1,
        "hidden": 256,
        "initial_state": "backward_bridge",
        "input_feeding": False,
        "context_layers": "first",
        "readout": "maxout",
        "readout_state": "previous",
        "readout_width": 256,
    },
    "residual_from": 0,
    "context": "attention",
    "attention": {
        "score": "additive",
        "width": 256,
        "bias": False,
        "query": "previous",
        "query_layer": "top",
        "window": "global",
        "radius": 10,
    },
}


def merged(config, changes):
    """The configuration with the keys of a nested dictionary replaced."""
    config = copy.deepcopy(config)
    for key, value in changes.items():
        config[key] = merged(config.get(key, {}), value) if isinstance(value, dict) else value
    return config


PRESETS = {
    "bahdanau": BAHDANAU,
    "cho": merged(
        BAHDANAU,
        {
            "encoder": {"bidirectional": "none"},
            "decoder": {"initial_state": "bridge", "readout_state": "current"},
            "context": "every_step",
        },
    ),
    "sutskever": merged(
        BAHDANAU,
        {
            "cell": "lstm",
            "encoder": {"layers": 4, "bidirectional": "none", "reverse_source": True},
            "decoder": {"layers": 4, "initial_state": "last", "readout": "linear", "readout_state": "current"},
            "context": "once",
        },
    ),
    "luong": merged(
        BAHDANAU,
        {
            "cell": "lstm",
            "encoder": {"layers": 2, "bidirectional": "none", "reverse_source": True},
            "decoder": {
                "layers": 2,
                "initial_state": "last",
                "input_feeding": True,
                "readout": "attentional",
                "readout_state": "current",
            },
            "attention": {"score": "general", "query": "current"},
        },
    ),
    "gnmt": merged(
        BAHDANAU,
        {
            "cell": "lstm",
            "encoder": {"layers": 8, "bidirectional": "bottom"},
            "decoder": {
                "layers": 8,
                "initial_state": "last",
                "context_layers": "all",
                "readout": "linear",
                "readout_state": "current",
            },
            "residual_from": 3,
            "attention": {"query_layer": "bottom"},
        },
    ),
}


# Sizes


def directions(config, layer):
    both = config["encoder"]["bidirectional"]
    return ["forward", "backward"] if both in ("all", "stacks") or (both == "bottom" and layer == 0) else ["forward"]


def encoder_width(config, layer):
    return config["encoder"]["hidden"] * len(directions(config, layer))


def encoder_input(config, layer):
    """The width of what each direction of a layer reads."""
    if layer == 0:
        return config["embedding"]
    stacks = config["encoder"]["bidirectional"] == "stacks"
    return config["encoder"]["hidden"] if stacks else encoder_width(config, layer - 1)


def is_normed(config):
    """Whether cells are normalised, and whether maps are."""
    kind = {False: "none", True: "cells"}.get(config["layer_norm"], config["layer_norm"])
    return kind != "none", kind == "everywhere"


def map_shapes(config, name, out, input, bias=True):
    shapes = {f"{name}.weight": [out, input]}
    if is_normed(config)[1]:
        return shapes | {f"{name}.norm.gain": [out], f"{name}.norm.bias": [out]}
    return shapes | ({f"{name}.bias": [out]} if bias else {})


def sizes(config):
    top = config["encoder"]["layers"] - 1
    hidden = config["decoder"]["hidden"]
    memory = config["embedding"] if "reader" in config else encoder_width(config, top)
    readouts = {"linear": hidden, "concat": hidden + memory}
    return SimpleNamespace(
        embedding=config["embedding"],
        encoder=config["encoder"]["hidden"],
        decoder=hidden,
        memory=memory,
        readout=readouts.get(config["decoder"]["readout"], config["decoder"]["readout_width"]),
        attention=config["attention"]["width"],
        layers=config["decoder"]["layers"],
    )


def query_kind(config):
    """When the context becomes known: once, every_step, previous, intermediate, bottom or top."""
    if config["context"] != "attention":
        return config["context"]
    if config["attention"]["query"] != "current":
        return config["attention"]["query"]
    return "top" if config["decoder"]["layers"] == 1 else config["attention"]["query_layer"]


def layer_sees_context(config, layer):
    kind = query_kind(config)
    if layer == 0:
        return kind in ("every_step", "previous")
    return config["decoder"]["context_layers"] == "all" and kind in ("every_step", "previous", "intermediate", "bottom")


# Names and shapes of the weights


def cell_shapes(config, prefix, input, hidden, context=None, feed=None):
    cell = config["cell"]
    gates = 4 * hidden if cell == "lstm" else 3 * hidden
    rows = {"lstm": 4, "gru_reset_after": 3, "gru_reset_before": 2}[cell] * hidden
    shapes = {"input.weight": [gates, input], "hidden.weight": [rows, hidden]}
    if context:
        shapes["context.weight"] = [gates, context]
    if feed:
        shapes["feed.weight"] = [gates, feed]
    if cell == "gru_reset_before":
        shapes["candidate.weight"] = [hidden, hidden]
    if not is_normed(config)[0]:
        shapes["input.bias"] = [gates]
        if cell == "gru_reset_after":
            shapes["hidden.bias"] = [rows]
    else:
        norms = {"input_norm": gates, "hidden_norm": rows}
        if cell == "lstm":
            norms["cell_norm"] = hidden
        if cell == "gru_reset_before":
            norms["candidate_norm"] = hidden
        for norm, size in norms.items():
            shapes |= {f"{norm}.gain": [size], f"{norm}.bias": [size]}
    return {prefix + name: shape for name, shape in shapes.items()}


def weight_shapes(config, source_vocabulary, target_vocabulary):
    """Every weight's name and shape."""
    size = sizes(config)
    tied = config["tied_embeddings"]
    if tied == "all":
        shapes = {"embedding.weight": [source_vocabulary, size.embedding]}
    else:
        shapes = {
            "source_embedding.weight": [source_vocabulary, size.embedding],
            "target_embedding.weight": [target_vocabulary, size.embedding],
        }
    if tied == "none":
        shapes["output.weight"] = [target_vocabulary, size.readout]
    shapes["output.bias"] = [target_vocabulary]
    for layer in range(config["encoder"]["layers"]):
        input = encoder_input(config, layer)
        for direction in directions(config, layer):
            shapes |= cell_shapes(config, f"encoder.{layer}.{direction}.", input, size.encoder)
    for layer in range(size.layers):
        input = size.decoder if layer else size.embedding
        context = size.memory if layer_sees_context(config, layer) else None
        feed = size.readout if layer == 0 and config["decoder"]["input_feeding"] else None
        shapes |= cell_shapes(config, f"decoder.{layer}.", input, size.decoder, context, feed)
    if query_kind(config) == "intermediate":
        shapes |= cell_shapes(config, "decoder.0.conditional.", size.memory, size.decoder)
    return shapes | bridge_shapes(config) | attention_shapes(config) | readout_shapes(config)


def bridge_shapes(config):
    kind = config["decoder"]["initial_state"]
    if kind not in ("bridge", "backward_bridge", "mean_bridge"):
        return {}
    size = sizes(config)
    source = size.encoder if kind == "backward_bridge" else size.memory
    states = ["hidden", "cell"] if config["cell"] == "lstm" else ["hidden"]
    shapes = {}
    for layer in range(size.layers):
        for state in states:
            shapes |= map_shapes(config, f"bridge.{layer}.{state}", size.decoder, source)
    return shapes


def attention_shapes(config):
    if config["context"] != "attention":
        return {}
    size, score = sizes(config), config["attention"]["score"]
    shapes = {}
    if score in ("additive", "concat"):
        shapes |= map_shapes(config, "attention.query", size.attention, size.decoder, config["attention"]["bias"])
        shapes |= map_shapes(config, "attention.key", size.attention, size.memory, False)
        shapes["attention.score.weight"] = [size.attention]
    if score == "general":
        shapes["attention.key.weight"] = [size.decoder, size.memory]
    if config["attention"]["window"] == "local_p":
        shapes["attention.position.weight"] = [size.attention, size.decoder]
        shapes["attention.position.score.weight"] = [1, size.attention]
    return shapes


def readout_shapes(config):
    size, readout = sizes(config), config["decoder"]["readout"]
    if readout in ("linear", "concat"):
        return {}
    rows = 2 * size.readout if readout == "maxout" else size.readout
    shapes = map_shapes(config, "readout.state", rows, size.decoder, False)
    if config["context"] != "once":
        shapes |= map_shapes(config, "readout.context", rows, size.memory, False)
    if readout != "attentional":
        shapes |= map_shapes(config, "readout.embedding", rows, size.embedding, False)
        if not is_normed(config)[1]:
            shapes["readout.bias"] = [rows]
    return shapes


# The model


class ReferenceModel:
    def __init__(self, config, weights):
        self.config, self.weights, self.size = config, weights, sizes(config)

    def __getitem__(self, name):
        return self.weights[name]

    def loss(self, source, target, smoothing):
        """Smoothed loss and plain -log p of one sentence; both lists of ids are without BOS and EOS."""
        memory, finals = self.encode(source)
        state = self.initial_state(memory, finals)
        summary = torch.cat([h for h, _ in finals[-1].values()])
        feed = torch.zeros(self.size.readout)
        loss = plain = 0
        for t, (last, right) in enumerate(zip([BOS] + target, target + [EOS])):
            state, feed, logits = self.step(memory, summary, state, feed, last, t)
            log_p = logits.log_softmax(dim=0)
            loss = loss + (1 - smoothing) * -log_p[right] + smoothing * -log_p.mean()
            plain = plain - log_p[right]
        return loss, plain

    # The reader

    def encode(self, source):
        """The memory (a list of vectors in the order of the words, EOS last), and of each layer the final (h, c) by
        direction."""
        reverse = self.config["encoder"]["reverse_source"]
        stacks = self.config["encoder"]["bidirectional"] == "stacks"
        words = (source[::-1] if reverse else source) + [EOS]
        table = self["embedding.weight" if self.config["tied_embeddings"] == "all" else "source_embedding.weight"]
        sequence, finals = [table[word] for word in words], []
        for layer in range(self.config["encoder"]["layers"]):
            read, ends = {}, {}
            for direction in directions(self.config, layer):
                name, below = f"encoder.{layer}.{direction}.", sequence
                if stacks and layer > 0:
                    forward = direction == "forward"
                    below = [x[: self.size.encoder] if forward else x[self.size.encoder :] for x in sequence]
                read[direction], ends[direction] = self.scan(name, below, direction)
            outputs = [torch.cat(states) for states in zip(*read.values())]
            if self.is_residual(layer):
                outputs = [y + x for y, x in zip(outputs, sequence)]
            sequence = outputs
            finals.append(ends)
        memory = sequence[:-1][::-1] + sequence[-1:] if reverse else sequence
        return memory, finals

    def scan(self, prefix, sequence, direction):
        state = self.zero_state(self.size.encoder)
        outputs = []
        for x in sequence if direction == "forward" else sequence[::-1]:
            state = self.cell(prefix, state, {"input": x})
            outputs.append(state[0])
        return (outputs if direction == "forward" else outputs[::-1]), state

    def is_residual(self, layer):
        return 1 <= self.config["residual_from"] <= layer + 1

    def zero_state(self, size):
        return torch.zeros(size), torch.zeros(size)

    # The writer

    def initial_state(self, memory, finals):
        kind = self.config["decoder"]["initial_state"]
        if kind == "mean_bridge":
            mean = sum(memory) / len(memory)
            return [self.bridge(layer, mean, mean) for layer in range(self.size.layers)]
        return [getattr(self, f"initial_{kind}")(layer, finals) for layer in range(self.size.layers)]

    def initial_zero(self, layer, finals):
        return self.zero_state(self.size.decoder)

    def initial_last(self, layer, finals):
        ends = finals[layer]
        if len(ends) * self.size.encoder == self.size.decoder:
            return tuple(torch.cat(states) for states in zip(*ends.values()))
        return ends["backward"] if "backward" in ends else ends["forward"]

    def initial_bridge(self, layer, finals):
        return self.bridge(layer, *(torch.cat(states) for states in zip(*finals[-1].values())))

    def initial_backward_bridge(self, layer, finals):
        return self.bridge(layer, *finals[-1]["backward"])

    def map(self, name, x):
        """W x, normalised, or with a bias, or as it is."""
        y = self[f"{name}.weight"] @ x
        if is_normed(self.config)[1]:
            return self.norm(f"{name}.", "", y)
        return y + self.weights.get(f"{name}.bias", 0)

    def bridge(self, layer, h, c):
        through = lambda name, x: self.map(f"bridge.{layer}.{name}", x).tanh()
        return through("hidden", h), through("cell", c) if self.config["cell"] == "lstm" else None

    def step(self, memory, summary, state, feed, last, t):
        """One step: the states of the layers, the readout vector and the logits."""
        config, kind = self.config, query_kind(self.config)
        table = self["embedding.weight" if config["tied_embeddings"] == "all" else "target_embedding.weight"]
        embedding, before = table[last], state
        context = None
        if kind == "every_step":
            context = summary
        if kind == "previous":
            layer = 0 if config["attention"]["query_layer"] == "bottom" else -1
            context = self.attend(memory, before[layer][0], t)
        state, output = [], embedding
        for layer in range(self.size.layers):
            inputs = {"input": output}
            if layer_sees_context(config, layer):
                inputs["context"] = context
            if layer == 0 and config["decoder"]["input_feeding"]:
                inputs["feed"] = feed
            new = self.cell(f"decoder.{layer}.", before[layer], inputs)
            if layer == 0 and kind == "intermediate":
                context = self.attend(memory, new[0], t)
                new = self.cell("decoder.0.conditional.", new, {"input": context})
            state.append(new)
            output = new[0] + output if self.is_residual(layer) else new[0]
            if layer == 0 and kind == "bottom":
                context = self.attend(memory, output, t)
        if kind == "top":
            context = self.attend(memory, output, t)
        readout = self.readout(before[-1][0], output, embedding, context)
        weight = table if config["tied_embeddings"] != "none" else self["output.weight"]
        return state, readout, weight @ readout + self["output.bias"]

    def readout(self, previous, output, embedding, context):
        kind = self.config["decoder"]["readout"]
        if kind == "linear":
            return output
        state = previous if self.config["decoder"]["readout_state"] == "previous" else output
        if kind == "concat":
            return torch.cat([state, context])
        x = self.map("readout.state", state)
        if context is not None:
            x = x + self.map("readout.context", context)
        if kind == "attentional":
            return x.tanh()
        x = x + self.map("readout.embedding", embedding) + self.weights.get("readout.bias", 0)
        return x.tanh() if kind == "tanh" else x.reshape(-1, 2).max(dim=1).values

    # Attention

    def attend(self, memory, query, t):
        attention, length = self.config["attention"], len(memory)
        inside, centre = range(length), None
        if attention["window"] == "local_m":
            centre = min(t, length - 1)
        if attention["window"] == "local_p":
            hidden = (self["attention.position.weight"] @ query).tanh()
            centre = length * (self["attention.position.score.weight"] @ hidden).sigmoid()[0]
        if centre is not None:
            inside = [j for j in range(length) if abs(j - torch.as_tensor(centre).item()) <= attention["radius"]]
        weights = torch.stack([self.score(query, memory[j]) for j in inside]).softmax(dim=0)
        if attention["window"] == "local_p":
            sigma = attention["radius"] / 2
            weights = weights * torch.stack([torch.exp(-((j - centre) ** 2) / (2 * sigma**2)) for j in inside])
        return sum(weight * memory[j] for weight, j in zip(weights, inside))

    def score(self, query, key):
        kind = self.config["attention"]["score"]
        if kind in ("additive", "concat"):
            hidden = self.map("attention.query", query) + self.map("attention.key", key)
            return self["attention.score.weight"] @ hidden.tanh()
        if kind == "general":
            return query @ (self["attention.key.weight"] @ key)
        return query @ key / (math.sqrt(len(query)) if kind == "scaled_dot" else 1)

    # Cells

    def cell(self, prefix, state, inputs):
        """The next (h, c); c means nothing for a GRU."""
        x = sum(self[f"{prefix}{name}.weight"] @ value for name, value in inputs.items())
        u = self[f"{prefix}hidden.weight"] @ state[0]
        if is_normed(self.config)[0]:
            x, u = self.norm(prefix, "input_", x), self.norm(prefix, "hidden_", u)
        else:
            x = x + self[f"{prefix}input.bias"]
        return getattr(self, self.config["cell"])(prefix, state, x, u)

    def norm(self, prefix, name, x):
        normal = (x - x.mean()) / torch.sqrt(((x - x.mean()) ** 2).mean() + self.config["norm_epsilon"])
        return normal * self[f"{prefix}{name}norm.gain"] + self[f"{prefix}{name}norm.bias"]

    def lstm(self, prefix, state, x, u):
        i, f, g, o = (x + u).chunk(4)
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        return o.sigmoid() * (self.norm(prefix, "cell_", c) if is_normed(self.config)[0] else c).tanh(), c

    def gru_reset_after(self, prefix, state, x, u):
        if not is_normed(self.config)[0]:
            u = u + self[f"{prefix}hidden.bias"]
        (xr, xz, xn), (ur, uz, un) = x.chunk(3), u.chunk(3)
        r, z = (xr + ur).sigmoid(), (xz + uz).sigmoid()
        n = (xn + r * un).tanh()
        return (1 - z) * n + z * state[0], state[1]

    def gru_reset_before(self, prefix, state, x, u):
        (xr, xz, xn), (ur, uz) = x.chunk(3), u.chunk(2)
        r, z = (xr + ur).sigmoid(), (xz + uz).sigmoid()
        un = self[f"{prefix}candidate.weight"] @ (r * state[0])
        n = (xn + (self.norm(prefix, "candidate_", un) if is_normed(self.config)[0] else un)).tanh()
        return (1 - z) * n + z * state[0], state[1]
