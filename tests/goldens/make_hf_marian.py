"""Writes crates/regard/tests/data/hf_marian: a small MarianMTModel of Hugging Face and what transformers makes of it.

The model is trained for a moment on a made-up language, so that it ends its sentences and is sure of some words only.
`expected.json` has, for each pair of lines, the log-probability of every target token (natural, teacher-forced, in
float64) and the tokens of greedy search and of a beam of four. `<pad>` is left out of the softmax: Marian has no such
word, and transformers does not write it.

    python tests/goldens/make_hf_marian.py

compare_hf_marian.py compares many more. Needs torch, transformers (5.24) and sentencepiece (0.2.x).
"""

import json
import random
from pathlib import Path

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

DIR = Path(__file__).resolve().parents[2] / "crates/regard/tests/data/hf_marian"
WORDS = dict(
    the="le", a="un", dog="chien", cat="chat", bird="oiseau", sees="voit", hears="entend", likes="aime", red="rouge",
    green="vert", small="petit", old="vieux", and_="et", with_="avec", today="aujourd'hui", sleeps="dort", house="maison",
)
TAG = ">>fra<<"
MAX_LENGTH = 60


def made_up_pairs(count, seed):
    """Word for word, but that every word may be one of two, and some are doubled."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        words = draw.choices(list(WORDS), k=draw.randint(1, 7))
        target = [WORDS[word] + ("s" if draw.random() < 0.2 else "") for word in words]
        target = [word for word in target for _ in range(2 if draw.random() < 0.1 else 1)]
        pairs.append((" ".join(words).replace("_", ""), " ".join(target)))
    return pairs


def pieces(prefix, lines, options):
    """Trains a SentencePiece model; its pieces of text."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=str(prefix), hard_vocab_limit=False, minloglevel=2, **options
    )
    prefix.with_suffix(".model").rename(prefix.with_suffix(".spm"))
    prefix.with_suffix(".vocab").unlink()
    model = sentencepiece.SentencePieceProcessor(model_file=str(prefix.with_suffix(".spm")))
    ids = range(model.get_piece_size())
    return [model.id_to_piece(i) for i in ids if not model.is_control(i) and not model.is_unknown(i)]


def write_vocabulary(file, tokens, shares):
    """`<pad>` comes last; of two vocabularies, whose configuration has one id for it, at a place that both have."""
    special, last = (["</s>", "<unk>"], ["<pad>"]) if shares else (["</s>", "<unk>", "<pad>"], [])
    tokens = [*special, *dict.fromkeys(tokens), *last]
    ids = {token: place for place, token in enumerate(tokens)}
    file.write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    return ids


def make(directory, pairs, shape, options, steps):
    """A model, trained on pairs, in a directory; its tokenizer too."""
    source = pieces(directory / "source", [source for source, _ in pairs], options)
    target = pieces(directory / "target", [target for _, target in pairs], options)
    shares = shape.get("share_encoder_decoder_embeddings", True)
    ids = write_vocabulary(directory / "vocab.json", [TAG, *source, *(target if shares else [])], shares)
    target_ids = ids if shares else write_vocabulary(directory / "target_vocab.json", target, shares)
    languages = {"source_lang": "en", "target_lang": "fr", "tokenizer_class": "MarianTokenizer"}
    (directory / "tokenizer_config.json").write_text(json.dumps(languages | {"separate_vocabs": not shares}))
    pad = target_ids["<pad>"]
    defaults = dict(
        vocab_size=len(ids), decoder_vocab_size=len(target_ids), d_model=16, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=24, decoder_ffn_dim=24,
        activation_function="swish", scale_embedding=True, static_position_embeddings=True, dropout=0.0,
        pad_token_id=pad, eos_token_id=0, bos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=0,
        max_position_embeddings=128, init_std=0.05,
    )
    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = MarianMTModel(MarianConfig(**defaults | shape))
    train(model, tokenizer_of(directory), pairs, steps)
    model.generation_config.bad_words_ids = [[pad]]
    model.save_pretrained(directory)
    return model.double().eval()


def tokenizer_of(directory):
    separate = json.loads((directory / "tokenizer_config.json").read_text())["separate_vocabs"]
    side = {"target_vocab_file": str(directory / "target_vocab.json")} if separate else {}
    return MarianTokenizer(
        source_spm=str(directory / "source.spm"), target_spm=str(directory / "target.spm"),
        vocab=str(directory / "vocab.json"), separate_vocabs=separate, **side,
    )


def source_ids(tokenizer, line):
    tokenizer._switch_to_input_mode()
    return tokenizer(line)["input_ids"]


def target_ids(tokenizer, line):
    return tokenizer(text_target=line)["input_ids"]


def padded(rows, pad):
    width = max(map(len, rows))
    return torch.tensor([row + [pad] * (width - len(row)) for row in rows])


def train(model, tokenizer, pairs, steps):
    """Adam on batches of 32. The row of `<pad>` becomes zeros, as in models that come from Marian."""
    pad = model.config.pad_token_id
    rows = [(source_ids(tokenizer, source), target_ids(tokenizer, target)) for source, target in pairs]
    rows = [row for row in rows if max(map(len, row)) < MAX_LENGTH]
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    source_pad = model.get_encoder().embed_tokens.padding_idx
    draw = random.Random(2)
    for _ in range(steps):
        batch = draw.sample(rows, 32)
        sources = padded([source for source, _ in batch], source_pad)
        labels = padded([target for _, target in batch], -100)
        starts = torch.full((len(batch), 1), pad)
        inputs = torch.cat([starts, labels[:, :-1].masked_fill(labels[:, :-1] < 0, pad)], 1)
        mask = (torch.arange(sources.shape[1])[None] < torch.tensor([[len(source)] for source, _ in batch])).long()
        logits = model(input_ids=sources, attention_mask=mask, decoder_input_ids=inputs).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.get_decoder().embed_tokens.weight[pad] = 0
    with torch.no_grad():
        model.final_logits_bias.normal_(std=0.1)
    print("trained to a loss of", loss.item())


@torch.no_grad()
def log_probs(model, source, target):
    pad = model.config.pad_token_id
    logits = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([[pad] + target[:-1]])).logits[0]
    logits[:, pad] = float("-inf")
    return logits.log_softmax(-1).gather(1, torch.tensor(target)[:, None])[:, 0].tolist()


@torch.no_grad()
def search(model, source, beams, early_stopping="never"):
    """The ids of the best translation, and Σ log p / n of them with a beam. `never` is to stop when no longer translation
    can be better, as regard does; `False` is what models have by default, and stops earlier."""
    of_beams = dict(length_penalty=1.0, early_stopping=early_stopping) if beams > 1 else {}
    out = model.generate(
        torch.tensor([source]), num_beams=beams, max_length=MAX_LENGTH + 1, do_sample=False,
        return_dict_in_generate=True, output_scores=True, **of_beams,
    )
    ids = [i for i in out.sequences[0].tolist()[1:] if i not in (0, model.config.pad_token_id)]
    return ids, out.sequences_scores[0].item() if beams > 1 else None


def without_pad(model):
    """Makes `<pad>` impossible before the softmax, where transformers does so after it."""
    model.final_logits_bias[0, model.config.pad_token_id] = -1e4


def tokens_of(directory, ids):
    file = directory / "target_vocab.json"
    vocabulary = json.loads((file if file.exists() else directory / "vocab.json").read_text(encoding="utf-8"))
    names = {place: token for token, place in vocabulary.items()}
    return [names[i] for i in ids]


def write_golden():
    DIR.mkdir(parents=True, exist_ok=True)
    options = dict(vocab_size=60, character_coverage=1.0, normalization_rule_name="identity")
    model = make(DIR, made_up_pairs(1000, 1), {}, options, 250)
    tokenizer = tokenizer_of(DIR)
    without_pad(model)
    cases = []
    for place, (source, target) in enumerate(made_up_pairs(16, 2)):
        tags = [TAG] if place % 4 == 3 else []
        if place == 5:
            source += " \u65e5\u672c x"
        row = source_ids(tokenizer, " ".join([*tags, source]))
        beam, score = search(model, row, 4)
        cases.append({
            "source": source,
            "target": target,
            "tags": ["<fra>"] if tags else [],
            "log_probs": [round(value, 7) for value in log_probs(model, row, target_ids(tokenizer, target))],
            "greedy": tokens_of(DIR, search(model, row, 1)[0]),
            "beam": tokens_of(DIR, beam),
            "beam_score": round(score, 7),
        })
    text = json.dumps(cases, ensure_ascii=False, indent=1)
    (DIR / "expected.json").write_text(text + "\n", encoding="utf-8")
    (DIR / "tokenizer_config.json").write_text(json.dumps({"source_lang": "en", "target_lang": "fr"}) + "\n")


if __name__ == "__main__":
    write_golden()
