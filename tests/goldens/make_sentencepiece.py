"""What the sentencepiece package makes of text, for crates/regard-text/tests/sentencepiece.rs.

usage: make_sentencepiece.py                       writes crates/regard-text/tests/data/sentencepiece/
       make_sentencepiece.py --compare BINARY      compares many more lines and models with the example program
       make_sentencepiece.py --compare-files BINARY TEXT...   likewise, 20,000 lines of each file, with models of that file
       make_sentencepiece.py --compare-trained BINARY  likewise, models that the example has trained
       make_sentencepiece.py --compare-samples BINARY  draws of both
       make_sentencepiece.py --time BINARY         pieces a second, of the package and of the example

BINARY is target/release/examples/sentencepiece. Needs the data beside the workspace, sentencepiece 0.2.3 and protobuf.
"""
import gzip, io, itertools, json, pathlib, random, subprocess, sys, tempfile, time

import sentencepiece as spm
from sentencepiece import sentencepiece_model_pb2 as pb2

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "../shared/data"
OUT = ROOT / "crates/regard-text/tests/data/sentencepiece"

FILES = ["multi30k/raw/train.en.gz", "multi30k/raw/train.fr.gz", "multi30k/raw/train.de.gz",
         "multi30k/raw/train.cs.gz", "small_parallel_enja/train.ja.gz", "libreoffice_help/train.en-de.tsv.gz",
         "libreoffice_help/train.en-fr.tsv.gz", "tatoeba_eng_fra/fra.txt.gz", "wmt21/references/newstest2021.en-de.ref.A.de",
         "wmt21/sources/newstest2021.fr-de.src.fr", "sigmorphon2021_g2p/geo_train.tsv",
         "sigmorphon2021_g2p/kor_train.tsv", "sigmorphon2021_g2p/khm_train.tsv", "sigmorphon2021_g2p/gre_train.tsv"]

# Languages of which the data has none.
OTHERS = ["今天天气很好，我们去公园散步吧。", "他昨天在北京买了三本书。", "這是一個繁體中文的句子。", "人工智能（AI）正在改变世界！",
          "यह एक छोटा वाक्य है।", "मैं कल दिल्ली जा रहा हूँ।", "क्षत्रिय ज्ञान श्री", "हिन्दी में १२३ संख्याएँ",
          "هذه جملة قصيرة.", "שלום עולם", "สวัสดีชาวโลก", "Привет, мир!"]

HARD = ["", " ", "     ", "\t", "\u3000", "\u00a0", "\u2028", "a\u2028b\u2029c\u0085d", "lone\rreturn\r", "nul\0inside", "\0", "\ufeffbom",
        "▁", "▁▁", "a▁b", " ▁ a ▁ ", "</s>", "<s>", "<unk>", "<pad>", "a</s>b <s>", "<0x41>", "<0x0A> <0xFF>", "<0x4", "<sym>", "x<sym>y <sym><sym>",
        "<sy", "foobar", "foo foobar barfoo", "ﬁ ﬂ ﬀ", "①②③", "Ｆｕｌｌ　Ｗｉｄｔｈ", "ｶﾞｷﾞ", "e\u0301 é a\u0308\u0323", "\u0301start", "가각 \u1100\u1161\u11a8",
        "👩\u200d👩\u200d👧", "🏴\U000e0067\U000e0062\U000e007f", "👍🏽👍🏿", "☃☃☃ ❄", "\U0001d400\U0001d5a0", "a\u200bb\u200dc\u2060d", "soft\u00adhyphen",
        "\u0001\u0002control\u007f\u0080", "\ud7ff\ue000\ufffd\uffff\U0010ffff", "  two  spaces  ", "trailing   ", "\ttabs\tinside\t",
        "a" * 70, "ab" * 40, "aaa bbb aaa", "the the the the the", "ha" * 60, "▅ reserved", "1234567890 3.14 1,000", "don't — “quote” … «x»", "½ ¼ ™ № ℃", "İıŞş ẞß ǅ",
        "https://example.org/?q=1&r=%20#x", "user@example.org", "C:\\path\\file", "#hashtag @name", "zzzzqqqqxxxx", "日本語とEnglishの混在text",
        "\u0958 \u0915\u093c", "\u0344\u0f73", "\u2126\u212b\u2000\u2001", "A\u030a\u0301", "\u1e9b\u0323", "\ufb1d\ufb2e", "\u3131\uffa1"]

RULES = "61 301\tE1\n9\t20\n41\t61\nAD\t\n78 79 7A\t31 32\n1F600\t3A 29\n"


def read(name):
    path = DATA / name
    opened = gzip.open(path, "rt", encoding="utf-8", newline="\n") if path.suffix == ".gz" else open(path, encoding="utf-8", newline="\n")
    with opened as file:
        return [line.rstrip("\n") for line in file]


def real_lines(count, seed):
    draw = random.Random(seed)
    each = count // len(FILES)
    lines = []
    for name in FILES:
        found = [line for line in read(name) if line.strip()]
        lines += draw.sample(found, min(each, len(found)))
    while len(lines) < count:
        lines.append(draw.choice(OTHERS))
    return lines


def adversarial_lines(count, seed):
    draw = random.Random(seed)
    ranges = [(0, 0x7f), (0x80, 0x24f), (0x300, 0x36f), (0x370, 0x5ff), (0x900, 0xdff), (0x1100, 0x11ff), (0x1e00, 0x20ff), (0x2100, 0x2bff),
              (0x3000, 0x30ff), (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xfdff), (0xfe00, 0xffff), (0x1d400, 0x1d7ff), (0x1f300, 0x1faff), (0xe0000, 0xe01ef)]
    words = ["the", "foo", "foobar", "<sym>", "</s>", "<unk>", "<0x41>", "▁", " ", "  ", "a", "aa", "\u0301", "\u200d", "ing", "。", "\u3099", "\t", "\r", "xyz", "xy"]
    lines = list(HARD)
    while len(lines) < count:
        parts = []
        for _ in range(draw.randrange(1, 25)):
            kind = draw.random()
            if kind < 0.4:
                parts.append(draw.choice(words))
            elif kind < 0.5:
                parts.append(draw.choice("ab e日が") * draw.randrange(1, 20))
            elif kind < 0.6:
                parts.append(draw.choice(HARD))
            else:
                low, high = draw.choice(ranges)
                parts += [chr(draw.randrange(low, high + 1)) for _ in range(draw.randrange(1, 4))]
        lines.append("".join(parts).replace("\n", ""))
    return [line.encode("utf-8", "ignore").decode() for line in lines]


def train(lines, **options):
    written = io.BytesIO()
    defaults = dict(vocab_size=500, character_coverage=0.98, hard_vocab_limit=False, minloglevel=2, num_threads=1)
    spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=written, **{**defaults, **options})
    return written.getvalue()


def changed(model, change):
    proto = pb2.ModelProto.FromString(model)
    change(proto)
    return proto.SerializeToString()


def some_unused(proto):
    normal = [piece for piece in proto.pieces if piece.type == 1]
    for piece in normal[3::4]:
        piece.type = 5


def models(lines, size, all_kinds):
    """Names and models: the kinds that the goldens have, and more of them for the comparison."""
    symbols = dict(user_defined_symbols=["<sym>", "foo", "foobar"])
    nothing = dict(normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False)
    with tempfile.TemporaryDirectory() as directory:
        rules, back = pathlib.Path(directory, "rules"), pathlib.Path(directory, "back")
        rules.write_text(RULES)
        back.write_text("61\t42\n20 74\t2D\n")
        kinds = {"unigram": dict(model_type="unigram"),
                 "bpe": dict(model_type="bpe"),
                 "unigram_bytes": dict(model_type="unigram", byte_fallback=True, normalization_rule_name="identity", **symbols),
                 "bpe_bytes": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", **symbols),
                 "unigram_rules": dict(model_type="unigram", normalization_rule_tsv=str(rules), denormalization_rule_tsv=str(back)),
                 "bpe_bare": dict(model_type="bpe", **nothing)}
        if all_kinds:
            kinds |= {"unigram_bare": dict(model_type="unigram", **nothing, **symbols),
                      "unigram_suffix": dict(model_type="unigram", treat_whitespace_as_suffix=True),
                      "bpe_suffix": dict(model_type="bpe", treat_whitespace_as_suffix=True),
                      "unigram_across": dict(model_type="unigram", split_by_whitespace=False, byte_fallback=True),
                      "bpe_across": dict(model_type="bpe", split_by_whitespace=False, allow_whitespace_only_pieces=True),
                      "unigram_cf": dict(model_type="unigram", normalization_rule_name="nmt_nfkc_cf", **symbols),
                      "word": dict(model_type="word"), "char": dict(model_type="char", **symbols),
                      "word_suffix": dict(model_type="word", treat_whitespace_as_suffix=True)}
        made = {name: train(lines, vocab_size=size, **options) for name, options in kinds.items()}
    made["unigram_unused"] = changed(made["unigram_bytes"], some_unused)
    made["bpe_unused"] = changed(made["bpe_bytes"], some_unused)
    return made


def expected(model, line, nbest):
    proto = model.encode(line, return_type="proto")
    ids = [piece.id for piece in proto.pieces]
    pieces = [piece.piece for piece in proto.pieces]
    paths = []
    if nbest:
        paths = [{"ids": [piece.id for piece in path.pieces], "score": path.score}
                 for path in model.nbest_encode(line, nbest_size=nbest, return_type="proto").nbests]
    return {"ids": model.encode(line), "token_ids": ids, "pieces": pieces, "begin": [piece.begin for piece in proto.pieces],
            "end": [piece.end for piece in proto.pieces], "decoded": model.decode(ids), "joined": model.decode(pieces) if pieces else "", "nbest": paths}


def write_goldens():
    OUT.mkdir(parents=True, exist_ok=True)
    training = real_lines(9000, 1)
    lines = [line[:60] for line in real_lines(60, 2)] + OTHERS + adversarial_lines(len(HARD) + 60, 3)
    cases = []
    for name, file in models(training, 500, False).items():
        model = spm.SentencePieceProcessor(model_proto=file)
        proto = pb2.ModelProto.FromString(file)
        charsmap = proto.normalizer_spec.precompiled_charsmap
        if len(charsmap) > 10_000:
            # The rules of nmt_nfkc are large: one file, to be appended.
            rules = pb2.ModelProto(normalizer_spec=pb2.NormalizerSpec(precompiled_charsmap=charsmap))
            write_gzip(OUT / "nmt_nfkc.part.gz", rules.SerializeToString())
            proto.normalizer_spec.ClearField("precompiled_charsmap")
        write_gzip(OUT / f"{name}.model.gz", proto.SerializeToString())
        nbest = 5 if name.startswith("unigram") else 0
        found = [expected(model, line, nbest if len(line) < 40 else 0) for line in lines]
        for case in found:
            del case["token_ids"], case["pieces"]
        cases.append({"model": name, "large_rules": len(charsmap) > 10_000, "nbest": nbest, "cases": found})
    text = json.dumps({"package": spm.__version__, "lines": lines, "models": cases}, ensure_ascii=False, separators=(",", ":"))
    write_gzip(OUT / "cases.json.gz", text.encode())


def write_gzip(path, content):
    path.write_bytes(gzip.compress(content, 9, mtime=0))


def ours(binary, file, lines, *arguments):
    with tempfile.NamedTemporaryFile(suffix=".model") as model:
        model.write(file)
        model.flush()
        text = "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([binary, model.name, *map(str, arguments)], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def compare(binary):
    real, hard = real_lines(20_000, 4), adversarial_lines(2_000, 5)
    total = 0
    for name, file in models(real_lines(20_000, 6), 2000, True).items():
        # All lines for the kinds that are trained most; a fifth for the others.
        total += compare_model(name, file, binary, real if name in ("unigram", "bpe", "unigram_bytes", "bpe_bytes") else real[::5], hard)
    print("differences in all:", total)
    return total


def compare_files(binary, paths):
    total = 0
    for path in paths:
        lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")[:20_000]
        for name, file in models(lines, 4000, False).items():
            total += compare_model(f"{path} {name}", file, binary, lines, adversarial_lines(500, 6))
    print("differences in all:", total)
    return total


def compare_model(name, file, binary, real, hard):
    model = spm.SentencePieceProcessor(model_proto=file)
    unigram = pb2.ModelProto.FromString(file).trainer_spec.model_type == 1
    differences = 0
    for kind, lines, nbest in [("real", real, 0), ("adversarial", hard, 0), ("10-best", real[::40] + hard[::5], 10), ("1-best", hard[:50], 1), ("400-best", hard[:200], 400)]:
        if nbest and not unigram:
            continue
        wrong = 0
        for line, got in zip(lines, ours(binary, file, lines, nbest)):
            want = expected(model, line, nbest)
            scores = [abs(a.pop("score") - b.pop("score")) / max(1, len(a["ids"])) for a, b in zip(want["nbest"], got["nbest"])]
            if want != got or max(scores, default=0) > 1e-5:
                wrong += 1
                if wrong <= 2:
                    keys = [key for key in want if want[key] != got[key]]
                    print("  ", repr(line)[:200], *[f"\n      {key}: {str(want[key])[:300]}\n      {' ' * len(key)}  {str(got[key])[:300]}" for key in keys], scores)
        differences += wrong
        print(f"{name}: {kind}: {len(lines)} lines, {wrong} differences", flush=True)
    return differences


def compare_trained(binary):
    """Models of the example against the package: is the size of the output close, does the package read and use the file alike?"""
    hard = adversarial_lines(2_000, 5)
    differences = 0
    for name, size, lines in [("en", 6000, read(FILES[0])), ("de", 2000, read(FILES[2])), ("ja", 4000, [line.replace(" ", "") for line in read(FILES[4])]),
                              ("mixed", 8000, real_lines(60_000, 7))]:
        for algorithm in ("unigram", "bpe"):
            started = time.perf_counter()
            theirs = spm.SentencePieceProcessor(model_proto=train(lines, vocab_size=size, model_type=algorithm, character_coverage=0.9995, num_threads=2))
            between = time.perf_counter()
            with tempfile.TemporaryDirectory() as directory:
                path = pathlib.Path(directory, "our.model")
                text = "".join(json.dumps(line) + "\n" for line in lines)
                subprocess.run([binary, path, "--train", algorithm, str(size), "2"], input=text, text=True, check=True)
                file = path.read_bytes()
            done = time.perf_counter()
            model = spm.SentencePieceProcessor(model_proto=file)
            counts = [sum(map(len, one.encode(lines))) for one in (theirs, model)]
            common = {one.id_to_piece(id) for one in (theirs,) for id in range(len(one))} & {model.id_to_piece(id) for id in range(len(model))}
            print(f"{name} {algorithm} {size}: {len(lines)} lines; tokens a line: package {counts[0] / len(lines):.3f}, ours {counts[1] / len(lines):.3f}, ratio "
                  f"{counts[1] / counts[0]:.4f}; {len(common)} of {len(theirs)} pieces in common; seconds: {between - started:.1f}, {done - between:.1f}", flush=True)
            differences += compare_model(f"{name} {algorithm}", file, binary, lines[:2000], hard)
    return differences


def compare_samples(binary, draws=20_000):
    """Do both draw segmentations from the same distribution? Pearson's statistic over its degrees of freedom, near 1 if so."""
    lines = ["the dog", "A man runs.", "sitting on a"]
    made = models(real_lines(9000, 1), 500, False)
    farthest = 0
    for name, kind, number, options in [("unigram", "all", 0.3, dict(nbest_size=-1, alpha=0.3)), ("unigram", "all", 1.0, dict(nbest_size=-1, alpha=1.0)),
                                        ("unigram", "best", 0.2, dict(nbest_size=5, alpha=0.2)), ("bpe", "dropout", 0.2, dict(alpha=0.2, nbest_size=-1))]:
        model = spm.SentencePieceProcessor(model_proto=made[name])
        for line, got in zip(lines, ours(binary, made[name], lines, "--sample", kind, number, draws)):
            want = {}
            for _ in range(draws):
                key = " ".join(map(str, model.encode(line, enable_sampling=True, **options)))
                want[key] = want.get(key, 0) + 1
            common = [key for key in want | got if want.get(key, 0) + got.get(key, 0) >= 10]
            rest = [draws - sum(counts.get(key, 0) for key in common) for counts in (want, got)]
            pairs = [(want.get(key, 0), got.get(key, 0)) for key in common] + ([tuple(rest)] if sum(rest) else [])
            statistic = sum((a - b) ** 2 / (a + b) for a, b in pairs)
            freedom = max(1, len(pairs) - 1)
            deviations = (statistic - freedom) / (2 * freedom) ** 0.5
            farthest = max(farthest, deviations)
            print(f"{name} {kind} {number}: {line!r}: {len(want)} and {len(got)} segmentations, statistic {statistic:.1f} for {freedom} degrees of freedom, "
                  f"{deviations:+.2f} standard deviations", flush=True)
    return farthest


def measure(binary):
    lines = [line for name in FILES for line in read(name)]
    for name, file in models(real_lines(30_000, 6), 4000, False).items():
        model = spm.SentencePieceProcessor(model_proto=file)
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            pieces = sum(map(len, model.encode(lines, num_threads=1)))
            best = min(best, time.perf_counter() - start)
        got = ours(binary, file, lines, "--time")[0]
        print(f"{name}: {len(lines)} lines, {pieces} pieces ({got['pieces']}); package {best:.3f} s, ours {got['seconds']:.3f} s, ratio {best / got['seconds']:.2f}", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            write_goldens()
        case ["--compare", binary]:
            sys.exit(compare(binary) > 0)
        case ["--compare-files", binary, *paths]:
            sys.exit(compare_files(binary, paths) > 0)
        case ["--compare-trained", binary]:
            sys.exit(compare_trained(binary) > 0)
        case ["--compare-samples", binary]:
            sys.exit(compare_samples(binary) > 6)
        case ["--time", binary]:
            measure(binary)
        case _:
            sys.exit(__doc__)
