"""Compares Regard's attributions and attentions with captum's and transformers' on one model. It stores nothing.

    compare_attributions.py BINARY

The model is crates/regard/tests/data/hf_marian, imported by Regard and read by transformers, in float64. For ten pairs of made-up
lines: the weights of every attention; gradient × input, as |sum| and as L2 norm (captum's InputXGradient); integrated gradients
(captum's IntegratedGradients from the vectors of `<unk>`, source and target words together); occlusion by `<unk>`. It ends with
status 1 where a value differs by more than a hundredth of the largest in its row (integrated gradients) or 1e-4 of it (the others).

Needs torch, transformers (5.24), sentencepiece and captum (0.9).
"""

import json
import subprocess
import sys
import tempfile

import captum
import torch
from transformers import MarianMTModel

import make_hf_marian as marian

PAIRS = marian.made_up_pairs(10, 77)
STEPS = 256
failures = []


class Theirs:
    def __init__(self):
        self.model = MarianMTModel.from_pretrained(marian.DIR, attn_implementation="eager").double().eval()
        marian.without_pad(self.model)
        self.tokenizer = marian.tokenizer_of(marian.DIR)
        self.unknown = json.loads((marian.DIR / "vocab.json").read_text(encoding="utf-8"))["<unk>"]
        encoder, decoder = self.model.get_encoder(), self.model.get_decoder()
        self.tables = encoder.embed_tokens, decoder.embed_tokens

    def read(self, source, target):
        """Ids of the source, of the words that the decoder reads, and of those that it writes."""
        source, target = marian.source_ids(self.tokenizer, source), marian.target_ids(self.tokenizer, target)
        return source, [self.model.config.decoder_start_token_id, *target[:-1]], target

    def vectors(self, source, read):
        return [table(torch.tensor([ids])).detach() for table, ids in zip(self.tables, (source, read))]

    def blank(self, ids, keeps):
        return [token if place == keeps else self.unknown for place, token in enumerate(ids)]

    def log_probs(self, source, read):
        """log p of every word at every place, from word vectors as the tables have them. The decoder scales them; the encoder does not."""
        scaled = source * self.model.get_encoder().embed_scale
        out = self.model(inputs_embeds=scaled, decoder_inputs_embeds=read)
        return out.logits.log_softmax(-1)


def look(binary, model, source, target, *options):
    call = [binary, "look", model, source, "--tgt", target, "--json", *options]
    return json.loads(subprocess.run(call, check=True, capture_output=True, text=True, encoding="utf-8").stdout)


def compare(what, ours, theirs, tolerance):
    worst = 0.0
    for mine, other in zip(ours, theirs, strict=True):
        scale = max(map(abs, other)) or 1.0
        worst = max(worst, *(abs(a - b) / scale for a, b in zip(mine, other, strict=True)))
    print(f"    {what}: largest difference {worst:.1e} of the largest value of a row, source and target together")
    if not worst <= tolerance:
        failures.append(what)


def attribute(theirs, source, read, target, method):
    """Tables of the source and of the words read, a row a target token; what comes later is cut off by the caller."""
    vectors = tuple(theirs.vectors(source, read))
    blank = tuple(theirs.vectors(theirs.blank(source, len(source) - 1), theirs.blank(read, 0)))
    tables = [], []
    for place, token in enumerate(target):
        f = lambda x, y: theirs.log_probs(x, y)[:, place, token]
        if method == "integrated-gradients":
            found = captum.attr.IntegratedGradients(f).attribute(vectors, blank, n_steps=STEPS, internal_batch_size=64)
            rows = [part.sum(-1)[0] for part in found]
        elif method == "occlusion":
            rows = [occlude(f, vectors, blank, side) for side in (0, 1)]
        else:
            found = captum.attr.InputXGradient(f).attribute(vectors)
            rows = [part.sum(-1).abs()[0] if method == "gradient-input" else part.norm(dim=-1)[0] for part in found]
        for table, row in zip(tables, rows):
            table.append(row.tolist())
    return tables


@torch.no_grad()
def occlude(f, vectors, blank, side):
    whole, changes = f(*vectors), []
    for place in range(vectors[side].shape[1]):
        changed = [part.clone() for part in vectors]
        changed[side][:, place] = blank[side][:, place]
        changes.append((whole - f(*changed))[0])
    return torch.stack(changes)


def compare_attentions(seen, theirs, source, read):
    out = theirs.model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([read]), output_attentions=True)
    kinds = dict(cross=out.cross_attentions, encoder_self=out.encoder_attentions, decoder_self=out.decoder_attentions)
    worst = 0.0
    for site in seen["sites"]:
        if site["head"] is None:
            continue
        expected = kinds[site["site"]][site["layer"]][0, site["head"]]
        worst = max(worst, (torch.tensor(site["weights"]) - expected).abs().max().item())
    print(f"    attentions: largest difference {worst:.1e}")
    if not worst <= 1e-5:
        failures.append("attentions")


def main():
    binary, theirs = sys.argv[1], Theirs()
    with tempfile.TemporaryDirectory() as place:
        model = f"{place}/model"
        subprocess.run([binary, "import", "hf-marian", str(marian.DIR), "--out", model], check=True, capture_output=True)
        for source, target in PAIRS:
            print(f"{source} / {target}")
            ids, read, written = theirs.read(source, target)
            compare_attentions(look(binary, model, source, target), theirs, ids, read)
            for method in ("gradient-input", "gradient-input-l2", "occlusion", "integrated-gradients"):
                ours = look(binary, model, source, target, "--attribute", method)["attribution"]
                tolerance = 1e-2 if method == "integrated-gradients" else 1e-4
                both = [a + b for a, b in zip(ours["source"], ours["target"])]
                expected = [a + b for a, b in zip(*attribute(theirs, ids, read, written, method))]
                compare(method, both, expected, tolerance)
    if failures:
        sys.exit(f"failed: {sorted(set(failures))}")


main()
