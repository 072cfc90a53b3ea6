"""Transformers in plain PyTorch: one sentence at a time, all its words at once, float64.

It follows the description of the configuration, not the Rust code: no batches, no padding, no cache. A configuration is
the dictionary that `config.json` holds; weights are a dictionary from names to tensors, all of shape [out, in].
"""

import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
BOS, EOS = 2, 3

BASE = {
    "d_model": 512,
    "d_ff": 2048,
    "tied_embeddings": "all",
    "scale_embeddings": True,
    "positions": "sinusoidal",
    "max_positions": 1024,
    "norm": "layer",
    "norm_position": "post",
    "activation": "relu",
    "gated": False,
    "output_bias": True,
    "encoder": {"layers": 6, "heads": 8},
    "decoder": {"layers": 6, "heads": 8},
}
TINY = BASE | {
    "d_model": 128,
    "d_ff": 256,
    "tied_embeddings": "target_output",
    "encoder": {"layers": 4, "heads": 4},
    "decoder": {"layers": 4, "heads": 4},
}
PRESETS = {"transformer_base": BASE, "transformer_tiny": TINY}


# Names and shapes of the weights


def weight_shapes(config, source_vocabulary, target_vocabulary):
    """Every weight's name and shape."""
    d, tied = config["d_model"], config["tied_embeddings"]
    if tied == "all":
        shapes = {"embedding.weight": [source_vocabulary, d]}
    else:
        shapes = {"source_embedding.weight": [source_vocabulary, d], "target_embedding.weight": [target_vocabulary, d]}
    if tied == "none":
        shapes["output.weight"] = [target_vocabulary, d]
    if config["output_bias"]:
        shapes["output.bias"] = [target_vocabulary]
    for side, stack in [("source", "encoder"), ("target", "decoder")]:
        if config["positions"] == "learned":
            shapes[f"{side}_positions.weight"] = [config["max_positions"], d]
        for layer in range(config[stack]["layers"]):
            for part in ["self_attention", "cross_attention"][: 1 if stack == "encoder" else 2]:
                for map in ["query", "key", "value", "output"]:
                    shapes[f"{stack}.{layer}.{part}.{map}.weight"] = [d, d]
                    shapes[f"{stack}.{layer}.{part}.{map}.bias"] = [d]
                shapes |= norm_shapes(config, f"{stack}.{layer}.{part}.norm")
            shapes |= feed_forward_shapes(config, f"{stack}.{layer}.feed_forward")
        if config["norm_position"] == "pre":
            shapes |= norm_shapes(config, f"{stack}.norm")
    return shapes


def norm_shapes(config, name):
    parts = ["gain", "bias"] if config["norm"] == "layer" else ["gain"]
    return {f"{name}.{part}": [config["d_model"]] for part in parts}


def feed_forward_shapes(config, name):
    d, inner = config["d_model"], config["d_ff"]
    shapes = {f"{name}.input.weight": [inner, d], f"{name}.input.bias": [inner]}
    if config["gated"]:
        shapes[f"{name}.gate.weight"] = [inner, d]
    shapes |= {f"{name}.output.weight": [d, inner], f"{name}.output.bias": [d]}
    return shapes | norm_shapes(config, f"{name}.norm")


# The model


class ReferenceTransformer:
    def __init__(self, config, weights):
        self.config, self.weights = config, weights

    def __getitem__(self, name):
        return self.weights[name]

    def loss(self, source, target, smoothing):
        """Smoothed loss and plain -log p of one sentence; both lists of ids are without BOS and EOS."""
        memory = self.stack("encoder", self.read("source", source + [EOS]))
        vectors = self.stack("decoder", self.read("target", [BOS] + target), memory)
        tables = {"none": "output.weight", "target_output": "target_embedding.weight", "all": "embedding.weight"}
        bias = self["output.bias"] if self.config["output_bias"] else None
        log_p = F.linear(vectors, self[tables[self.config["tied_embeddings"]]], bias).log_softmax(dim=1)
        right = log_p.gather(1, torch.tensor(target + [EOS])[:, None])
        loss = (1 - smoothing) * -right.sum() + smoothing * -log_p.mean(dim=1).sum()
        return loss, -right.sum()

    def read(self, side, ids):
        table = "embedding.weight" if self.config["tied_embeddings"] == "all" else f"{side}_embedding.weight"
        x = self[table][ids]
        if self.config["scale_embeddings"]:
            x = x * math.sqrt(self.config["d_model"])
        places = range(len(ids))
        if self.config["positions"] == "learned":
            return x + self[f"{side}_positions.weight"][[min(p, self.config["max_positions"] - 1) for p in places]]
        if self.config["positions"] == "rotary":
            return x
        return x + torch.tensor([self.waves(p) for p in places])

    def waves(self, place):
        d = self.config["d_model"]
        kind = self.config["positions"]
        last = d / 2 - 1 if kind == "sinusoidal_tensor2tensor" else d / 2
        angles = [place / 10000 ** (i / last) for i in range(d // 2)]
        if kind != "sinusoidal":
            return [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]
        return [wave(angle) for angle in angles for wave in (math.sin, math.cos)]

    def stack(self, stack, x, memory=None):
        for layer in range(self.config[stack]["layers"]):
            name = f"{stack}.{layer}."
            attend = lambda y: self.attend(name + "self_attention", self.config[stack]["heads"], y, y, memory is not None)
            x = self.around(name + "self_attention", x, attend)
            if memory is not None:
                cross = lambda y: self.attend(name + "cross_attention", self.config[stack]["heads"], y, memory)
                x = self.around(name + "cross_attention", x, cross)
            x = self.around(name + "feed_forward", x, lambda y: self.feed_forward(name + "feed_forward", y))
        return self.norm(f"{stack}.norm", x) if self.config["norm_position"] == "pre" else x

    def around(self, name, x, part):
        if self.config["norm_position"] in ("pre", "pre_only"):
            return x + part(self.norm(f"{name}.norm", x))
        return self.norm(f"{name}.norm", x + part(x))

    def norm(self, name, x):
        if self.config["norm"] == "rms":
            return F.rms_norm(x, x.shape[1:], self[f"{name}.gain"], eps=self.config.get("norm_epsilon", 1e-6))
        return F.layer_norm(x, x.shape[1:], self[f"{name}.gain"], self[f"{name}.bias"], eps=self.config.get("norm_epsilon", 1e-5))

    def linear(self, name, x):
        return F.linear(x, self[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def attend(self, name, heads, x, memory, causal=False):
        cut = lambda y: y.reshape(len(y), heads, -1).transpose(0, 1)
        q, k = cut(self.linear(f"{name}.query", x)), cut(self.linear(f"{name}.key", memory))
        v = cut(self.linear(f"{name}.value", memory))
        if self.config["positions"] == "rotary" and "self" in name:
            q, k = self.turned(q), self.turned(k)
        contexts = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.linear(f"{name}.output", contexts.transpose(0, 1).flatten(1))

    def turned(self, x):
        """Each pair of columns of a head as a complex number, turned by its angle."""
        heads, length, width = x.shape
        angles = torch.arange(length)[:, None] * 10000 ** (-2 * torch.arange(width // 2) / width)
        pairs = torch.view_as_complex(x.reshape(heads, length, width // 2, 2).contiguous())
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).reshape(x.shape)

    def feed_forward(self, name, x):
        activate = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}[self.config["activation"]]
        inner = self.linear(f"{name}.input", x)
        inner = activate(self.linear(f"{name}.gate", x)) * inner if self.config["gated"] else activate(inner)
        return self.linear(f"{name}.output", inner)
