"""A recurrent decoder on the encoder of a Transformer: the two references put together."""

import torch

import reference_transformer
from reference_model import BAHDANAU, EOS, ReferenceModel, merged
from reference_model import weight_shapes as recurrent_shapes

READER = {
    "layers": 4,
    "heads": 4,
    "d_ff": 512,
    "scale_embeddings": True,
    "positions": "sinusoidal",
    "max_positions": 1024,
    "norm": "layer",
    "norm_position": "pre",
    "activation": "relu",
    "gated": False,
}
PRESETS = {
    "transformer_reader": merged(
        BAHDANAU,
        {
            "cell": "gru_reset_after",
            "reader": READER,
            "decoder": {"initial_state": "mean_bridge", "readout": "tanh", "readout_state": "current"},
            "attention": {"query": "intermediate"},
        },
    )
}


def transformer_of(config):
    """The configuration of a Transformer with such an encoder."""
    reader = config["reader"]
    stack = {"layers": reader["layers"], "heads": reader["heads"]}
    return reference_transformer.BASE | reader | {
        "d_model": config["embedding"],
        "tied_embeddings": config["tied_embeddings"],
        "encoder": stack,
        "decoder": stack,
    }


def weight_shapes(config, source_vocabulary, target_vocabulary):
    """Every weight's name and shape."""
    shapes = recurrent_shapes(config, source_vocabulary, target_vocabulary)
    theirs = reference_transformer.weight_shapes(transformer_of(config), source_vocabulary, target_vocabulary)
    read = {name: shape for name, shape in theirs.items() if name.startswith(("encoder.", "source_positions."))}
    return {name: shape for name, shape in shapes.items() if not name.startswith("encoder.")} | read


class ReferenceReader(ReferenceModel):
    def encode(self, source):
        transformer = reference_transformer.ReferenceTransformer(transformer_of(self.config), self.weights)
        states = transformer.stack("encoder", transformer.read("source", source + [EOS]))
        return list(states), [{"none": (torch.zeros(0), None)}]
