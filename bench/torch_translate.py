#!/usr/bin/env python3
"""Translates with a recurrent model of Regard's in PyTorch: the same network and the same search, stepped over all
hypotheses of a batch at once. For comparing speed; it knows the models of recipes/multi30k-en-fr-attention.toml alone.

usage: torch_translate.py MODEL TEXT [--beam N] [--batch N] [--threads N] [--lines N] [--output FILE]

Prints target tokens/s (median of 3, after a warm-up) and peak memory.
"""
import argparse, json, os, resource, statistics, time
import torch
from safetensors.torch import load_file
from subword_nmt.apply_bpe import BPE

PAD, UNK, BOS, EOS = range(4)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--output")
    return parser.parse_args()


class Model:
    def __init__(self, path):
        config = json.load(open(os.path.join(path, "config.json")))["model"]
        decoder, attention = config["decoder"], config["attention"]
        known = (config["cell"], decoder["readout"], decoder["readout_state"], attention["score"], attention["query"])
        assert known == ("gru_reset_after", "tanh", "current", "additive", "previous"), known
        assert config["encoder"]["layers"] == decoder["layers"] == 1 and not decoder["input_feeding"]
        assert decoder["initial_state"] == "backward_bridge" and config["encoder"]["bidirectional"] == "all"
        self.weights = load_file(os.path.join(path, "model.safetensors"))
        self.output = self.weights.get("output.weight", self.weights.get("embedding.weight"))

    def __getitem__(self, name):
        return self.weights[name]

    def table(self, side):
        return self.weights.get(f"{side}_embedding.weight", self.weights.get("embedding.weight"))

    def encode(self, ids, lengths):
        """The memory [B, S, 2H] with its keys and mask, and the first state [B, H]."""
        embedded, sides = self.table("source")[ids], []
        packed = torch.nn.utils.rnn.pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        width = self["encoder.0.forward.hidden.weight"].shape[1]
        gru = torch.nn.GRU(embedded.shape[2], width, batch_first=True, bidirectional=True)
        for suffix, side in (("", "forward"), ("_reverse", "backward")):
            for ours, theirs in (("input.weight", "weight_ih"), ("hidden.weight", "weight_hh"),
                                 ("input.bias", "bias_ih"), ("hidden.bias", "bias_hh")):
                getattr(gru, f"{theirs}_l0{suffix}").data = self[f"encoder.0.{side}.{ours}"]
        memory, final = gru(packed)
        memory, _ = torch.nn.utils.rnn.pad_packed_sequence(memory, batch_first=True)
        state = torch.tanh(final[1] @ self["bridge.0.hidden.weight"].T + self["bridge.0.hidden.bias"])
        keys = memory @ self["attention.key.weight"].T
        if "attention.key.bias" in self.weights:
            keys = keys + self["attention.key.bias"]
        mask = torch.arange(memory.shape[1])[None] < lengths[:, None]
        return memory, keys, mask, state

    def step(self, memory, keys, mask, state, last):
        """Log-probabilities [B, K, V] and states [B, K, H] after the words `last` [B, K]."""
        query = state @ self["attention.query.weight"].T
        if "attention.query.bias" in self.weights:
            query = query + self["attention.query.bias"]
        scores = torch.tanh(query[:, :, None] + keys[:, None]) @ self["attention.score.weight"]
        weights = scores.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
        context, embedding = weights @ memory, self.table("target")[last]
        x = embedding @ self["decoder.0.input.weight"].T + context @ self["decoder.0.context.weight"].T
        x, u = x + self["decoder.0.input.bias"], state @ self["decoder.0.hidden.weight"].T + self["decoder.0.hidden.bias"]
        (xr, xz, xn), (ur, uz, un) = x.chunk(3, -1), u.chunk(3, -1)
        reset, update = (xr + ur).sigmoid(), (xz + uz).sigmoid()
        state = (1 - update) * (xn + reset * un).tanh() + update * state
        readout = (state @ self["readout.state.weight"].T + context @ self["readout.context.weight"].T
                   + embedding @ self["readout.embedding.weight"].T + self["readout.bias"]).tanh()
        return (readout @ self.output.T + self["output.bias"]).log_softmax(-1), state


def search(model, sentences, beam):
    """The best translation of each sentence by Σ log p / n, as `regard translate` has it."""
    lengths = torch.tensor([len(ids) for ids in sentences])
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(ids) for ids in sentences], batch_first=True)
    memory, keys, mask, state = model.encode(ids, lengths)
    count, limit = len(sentences), 2 * (lengths - 1) + 20
    which = torch.arange(count)
    state = state[:, None].expand(-1, beam, -1)
    sums = torch.full((count, beam), float("-inf"))
    sums[:, 0] = 0
    written = torch.full((count, beam, 0), BOS)
    best, found = torch.full((count,), float("-inf")), [[] for _ in sentences]
    for step in range(int(limit.max())):
        last = written[:, :, -1] if step else torch.full((len(which), beam), BOS)
        log_probs, state = model.step(memory[which], keys[which], mask[which], state, last)
        log_probs[:, :, PAD] = log_probs[:, :, BOS] = float("-inf")
        totals = (sums[:, :, None] + log_probs).flatten(1)
        top, place = totals.topk(2 * beam)
        parent, word = place // log_probs.shape[2], place % log_probs.shape[2]
        ended = (word == EOS) & (torch.arange(2 * beam) < beam)
        average = torch.where(ended, top / (step + 1), float("-inf")).max(-1)
        better = average.values > best[which]
        for row in better.nonzero().flatten().tolist():
            sentence = int(which[row])
            best[sentence] = average.values[row]
            found[sentence] = written[row, parent[row, average.indices[row]]].tolist()
        # The first `beam` that go on, in order.
        order = (word == EOS).long().argsort(dim=-1, stable=True)[:, :beam]
        sums, parent, word = top.gather(1, order), parent.gather(1, order), word.gather(1, order)
        rows = torch.arange(len(which))[:, None]
        state, written = state[rows, parent], torch.cat([written[rows, parent], word[:, :, None]], -1)
        going = (step + 1 < limit[which]) & (best[which] < sums[:, 0] / limit[which])
        if not going.all():
            which, state, sums, written = which[going], state[going], sums[going], written[going]
        if len(which) == 0:
            break
    return found


def main():
    options = parse()
    torch.set_num_threads(options.threads)
    torch.set_grad_enabled(False)
    model = Model(options.model)
    read = lambda name: open(os.path.join(options.model, name), encoding="utf-8").read().split("\n")[:-1]
    known, words = {token: id for id, token in enumerate(read("source.vocab.txt"))}, read("target.vocab.txt")
    bpe = BPE(open(os.path.join(options.model, "source.bpe"), encoding="utf-8"))
    lines = open(options.text, encoding="utf-8").read().split("\n")[: options.lines]
    sentences = [[known.get(piece, UNK) for piece in bpe.process_line(line).split()] + [EOS] for line in lines]
    order = sorted(range(len(sentences)), key=lambda line: len(sentences[line]))

    def once(order):
        start, results = time.perf_counter(), {}
        for batch in (order[at : at + options.batch] for at in range(0, len(order), options.batch)):
            results |= zip(batch, search(model, [sentences[line] for line in batch], options.beam))
        return results, time.perf_counter() - start

    once(order[: options.batch])
    runs = [once(order) for _ in range(3)]
    results, seconds = runs[0][0], statistics.median(seconds for _, seconds in runs)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            for line in range(len(sentences)):
                file.write(" ".join(words[id] for id in results[line]).replace("@@ ", "") + "\n")
    tokens = sum(len(ids) + 1 for ids in results.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"torch {torch.__version__} beam {options.beam} batch {options.batch} threads {options.threads}: "
          f"{tokens / seconds:.0f} target tokens/s, peak {peak:.0f} MiB")


main()
