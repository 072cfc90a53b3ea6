"""What sacremoses makes of hard lines, for crates/regard-text/tests/moses.rs, and the tables of crates/regard-text/src/moses.

usage: make_moses.py                    writes crates/regard-text/tests/data/moses.json.gz
       make_moses.py --tables           writes src/moses/table.rs and src/moses/prefixes/
       make_moses.py --compare BINARY   compares real, random and all characters' lines with the example program; 0 must differ
       make_moses.py --time BINARY      lines a second, of the package and of the example, one thread each

BINARY is target/release/examples/moses. Needs sacremoses 0.2.0; the last two need the data beside the workspace.
"""
import gzip, io, json, pathlib, random, re, subprocess, sys, time

from sacremoses import MosesDetokenizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes
from sacremoses.util import CJKChars

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "../shared/data"
CRATE = ROOT / "crates/regard-text"
LANGUAGES = ["en", "fr", "de"]

# Each block is one idea; each line of it is a case.
HARD = """
Hello, world!
The cat sat on the mat.
The cat sat on the mat .
No final period
Is it? Yes! Really?! No...
a,b,c d, e ,f , g

See https://example.org/a/b?q=1&r=%20#top, or http://example.org.
Mail user.name@example.org or ftp://files.example.org/x-1.0.tar.gz.
C:\\path\\file.txt and /usr/local/bin and ~/x
www.example.org/index.html.
#hashtag @name @@double
<b>bold</b> <br/> <a href="x.html">link</a>
k=v; x:=1; a->b; a<=b>=c; a==b; a!=b; f(x)[0]{1}
snake_case camelCase kebab-case SCREAMING_CASE

1,000.5 and 1.000,5 and 1 000,5 and 1'000.5
1,000,000 people, 2,5 each, 3, 4,x x,5
5,,5 5,,,5 5,,,,5 a,,5 a,,,5 a,,,,5 5,,a
,5
,,5
,,,5
5,
5 ,
a,
x ,5 ,,5 ,,,5
½,5 5,½ ²,² Ⅳ,Ⅳ ٣,٣ ३,४
3.14 .5 5. 0.5.
The 1st, 2nd. 3rd
On 12.03.2024 at 10:30, or 2024-03-12, or 12/03/24.
Am 1. Januar 2024 um 10.30 Uhr.
Nr. 5 und Nr. fünf und No. 7 and No. Nothing.
Art. 3 and Art. is long. pp. 3-5 and pp. x No. 5
No.5 Art.3 pp.7
No. ５ Art. ٣ pp. ½
$5.00 €5,00 5 € £5 ¥500 US$ 5 5$ ¢5 ₿1 ₹7 ₺8 （＄9）
50% 50 % ‰5 5° C 20°C ±3 ×2 ÷4 ² ³
+1 (555) 010-9999, ext. 12
10:30 10h30 3:2 16:9
I II III IV. V. XIV. xiv. iv.

Mr. Smith met Mrs. Jones, Dr. Who, Prof. X and Gen. Y in St. Mary's.
Mr. smith mr. Smith
He lives in the U.S. He works for the U.N. and the E.U.
U.S.A. i.e. this, e.g. that, etc. and so on, etc. And so on, vs. them, a.m. p.m.
J. R. R. Tolkien. A. B. C.
Ph.D. B.Sc. M.A. and Inc. Ltd. Co. Corp.
Jan. 5, Feb. 6, Dec. 25. Sept. May.
z.B. d.h. u.a. usw. bzw. evtl. ggf. vgl. S. 5
Das ist z. B. so. Dr. Müller, Hr. Meier, Fr. Huber.
M. Dupont, Mme. Durand, MM. Dupont et Cie. c.-à-d. p.ex. etc. Art. art. fig. 3 vol. IV tél. éd. fém.
no. 5, n° 5, R.-V. ch.-l. n/réf. Nr. x.y.z. 1.2.3. 1.a. a.1. .a. ..a. -.a.
foo. bar foo. Bar foo. 5 foo. éa foo. Éa foo. ßa foo. ªa foo. ⓐa foo. ⅰa foo. 中
foo. 'bar foo. "bar foo. (bar foo. -bar foo. .. bar foo. . bar
word. ... next word. DOTMULTI next
end.) end.] end." end.' end.» end.” end.’
end.'
end.' 
.'
a .'
...'
..'
..
.
. .
a.
.a
a..
a...
a....
..a...b....c
wait... what..? no..! yes..., maybe...; ok…
…
a…b … c
a . . . b
a.. b.. c.
'...' "..." (...)
DOTMULTI
DOTDOTMULTI DOTDOTDOTMULTI
xDOTMULTI DOTMULTIx xDOTDOTMULTIy DOTDODOTMULTI DOTMULTIDOTDOTMULTI MULTI DOT MULTIMULTI DOTMULTIMULTI
DOTMULTI. DOTMULTI's DOTMULTI,
THISISPROTECTED000 _ELLIPSIS_ -LRB- NUMERIC_ONLY #NUMERIC_ONLY#

I don't can't won't it's he'll they've I'd we're y'all o'clock
Don'T CAN'T IT'S
the dogs' house, James' hat, James's hat, the '90s, 1990's, 90's, 5's 5't 5'S
'tis 'twas 'em rock'n'roll rock 'n' roll fo'c's'le
'quoted' 'quoted text' it is 'quoted'.
'
''
'''
''''
a'
'a
a'b
a''b
a'''b
' a
a ' b
a 'b' c
. ' ' . ' '5 ' 'a '' 5 'a'
5'5 5'a a'5 ²'s Ⅳ's Ⅳ'a ٣'s 5's. 5's5
5'10" 6'2'' tall
l'eau d'un l'homme qu'il aujourd'hui C'est j'ai s'il n'est-ce jusqu'à L'Été d'Œuvre
l' eau l'5 5'l l'« eau » entr'ouvert prud'homme
c'est-à-dire qu'est-ce que c'est
Wie geht's? Hans' Auto, Lisa's Café, ich hab's 's ist
don’t l’eau ‘quoted’ “quoted” „deutsch“ ‚einfach‘ «français» ‹x›
a`b `quoted` ``double'' `
l'ा l'् क'् क्'क ्'क

"Hello," he said. "Goodbye."
"a" "b" "c"
" a " b " c
\"""
"" a ""
"a 'b' c"
('a') ["b"] {"c"}
„a“ „b“ “c” ”d”
„„a““ “„x„“
'" a "' '"
` a ` b `` c `` '' d ''
The Jones' house ' s ' x ' bus ' y
'' x '' "' y "'

a-b a--b a - b a -- b -a a- -- --- - a–b a—b a − b
@-@ a @-@ b a @-@ @-@ b @-@ @-@
a@-@b @ - @ @/@ a @,@ b
| a|b a | b ||
[ a[0] [[x]] ] [ ]
( a ) { b } < c > ([{x}])
& && &amp; &lt; &apos; &quot; &#124; &#91; &bar; &bra; &ket; &nbsp; &amp;amp; & amp ; &amp;lt;
AT&T R&D a & b
'&apos;' "&quot;" &apos;s
* ** _x_ ~ ^ \\ / // a/b and/or 1/2
¿Qué? ¡Hola! ¿ x ¡ y ( z [ w { v $ u
x ) y ] z } w ; v : u ! t ? s , r . q % p \\ o
!? ?! ,. .) ]) ;: ?
! a
) a
$$ ( $( €[ 5 £
§ 5 ¶ © ® ™ † ‡ • · º ª µ

日本語のテキスト。「引用」です。
中文，没有空格。Mixed 中文 and English 文字。
한국어 텍스트입니다. 가각
日 本 a 語 文 b「c」d
ｶﾞｷﾞ ﾊﾝｶｸ Ｆｕｌｌ　Ｗｉｄｔｈ １２３，４５６．７
Привет, мир! Это г. Москва. и т.д.
Ελληνικά· τι; ΟΔΟΣ.
مرحبا بالعالم، كيف؟ ٣٫١٤
שלום, עולם! מ"מ ד'
हिन्दी में १,२३४ क्षत्रिय। ज़ ड़
বাংলা কৃষ্ণ, தமிழ் க்ஷ, ಕನ್ನಡ ಸ್ತ್ರೀ
สวัสดีชาวโลก ไทย
ქართული Հայերեն። አማርኛ፡
İstanbul ığüşöç Straße ẞ ﬁ ﬂ ǅ ĳ Œuvre
𝒳𝓎 𐐀𐐨 𑄳 𐨿 𞤀𞤪 𖺀 Ა Ꭰ ꭰ ꟊ

e\u0301 \u00e9 a\u0308 x\u0301y \u0301 n\u0303,5 e\u0301's
👍 👍🏽 👩\u200d👩\u200d👧 🏴\U000e0067\U000e007f a👍b 5👍 🇫🇷 ❤\ufe0f :-) ;) :( <3
a\u200bb a\u200cb a\u200db a\u2060b a\u00adb \ufeffbom
a\u00a0b 5\u00a0% «\u00a0x\u00a0» a\u202fb\u202f! a\u3000b a\u2003b a\u180eb
a\tb\t\tc \t d
a\u0000b \u0000 a \u0001 b .\u0000. '\u0002 ' '\u0002'5
\u001ca\u001db\u001ec\u001fd a\u001b[0mb a\u007fb a\u0080b a\u0085c a\u2028b\u2029c
a\rb\r
a\u000bb\u000cc
\ufffd \uffff \ue000 \U0010ffff
\u0000
DO\u0000TMULTI a\u0000.
""".strip("\n")


def hard_lines():
    return ["", " ", "   ", "  two  spaces  "] + [line for line in HARD.split("\n") if line] + random_lines(120, 1)


PARTS = list("aZsée5½٣Ⅳ.,'\"`-&|<>[](){}$€¿?!:;%\\@#/_*„“«»…’\u0301\u094d中가日\u00a0\u0000\u200d👍\t") + \
    ["..", "...", "''", " ", " ", " ", " ", " ", " ", "a", "b", "the", "Mr", "No", "Art", "z.B", "etc", "DOT", "MULTI", "DOTMULTI", "&amp;", "&apos;", "@-@", " @-@ ", "s", "l'", "n't", "1,000", ".'", "S.A", "fig"]


def random_lines(count, seed):
    draw = random.Random(seed)
    return ["".join(draw.choices(PARTS, k=draw.randint(1, 14))) for _ in range(count)]


class Package:
    """sacremoses, made once for each language."""
    def __init__(self, language):
        self.tokenizer, self.detokenizer = MosesTokenizer(language), MosesDetokenizer(language)

    def tokenize(self, line, escape):
        return " ".join(self.tokenizer.tokenize(line, escape=escape))

    def detokenize(self, line, escape):
        return self.detokenizer.detokenize(line.split(" "), unescape=escape)


def write_goldens():
    """Of each line: for each language, with and without escapes, the tokens, their line, and the line that its own words make."""
    packages = [Package(language) for language in LANGUAGES]
    cases = []
    for line in hard_lines():
        case = {"line": line, "results": []}
        for package in packages:
            for escape in [True, False]:
                tokens = package.tokenize(line, escape)
                case["results"].append([tokens, package.detokenize(tokens, escape), package.detokenize(line, escape)])
        cases.append(case)
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed:
        packed.write(json.dumps(cases, ensure_ascii=False).encode())
    (CRATE / "tests/data/moses.json.gz").write_bytes(file.getvalue())
    print(len(cases), "lines", len(file.getvalue()), "bytes")


def write_tables():
    """Bounds of the sets of characters, found by asking sacremoses' own classes about every character."""
    characters = [chr(c) for c in range(0x110000) if not 0xd800 <= c < 0xe000 and not chr(c).isspace()]
    inside = lambda cls: {c for c in characters if re.fullmatch(f"[{cls}]", c)}
    alpha, alnum = inside(MosesTokenizer.IsAlpha), inside(MosesTokenizer.IsAlnum)
    number, plain = inside(MosesTokenizer.IsN), inside(MosesDetokenizer.IsAlpha)
    padded = MosesTokenizer("en").PAD_NOT_ISALNUM[0]
    assert all(bool(padded.fullmatch(c)) == (c not in alnum and c not in ".'`,-") for c in characters)
    assert alpha <= alnum and alnum - alpha <= number and plain <= alpha
    sets = [("ALPHA", "Letters and marks of words: Perl's `IsAlpha`, viramas and nuktas.", alpha),
            ("INDIC_SIGNS", "Those of `ALPHA` that the detokenizer does not know.", alpha - plain),
            ("DIGIT", "What `IsAlnum` has beyond `IsAlpha`.", alnum - alpha),
            ("NUMBER", "`IsN`.", number),
            ("LOWER", "`IsLower`.", set(MosesTokenizer.IsLower)),
            ("CURRENCY", "`IsSc`.", inside(MosesDetokenizer.IsSc)),
            ("CJK", "The blocks that sacremoses counts as Chinese, Japanese or Korean.",
             {c for c in characters if any(a <= ord(c) <= b for a, b in CJKChars().ranges)})]
    out = "//! Sets of characters as sacremoses has them, by their bounds. Written by `tests/goldens/make_moses.py --tables`.\n"
    for name, about, found in sets:
        bounds = [c for c in range(1, 0x110001) if (chr(c - 1) in found) != (c < 0x110000 and chr(c) in found)]
        out += f"\n/// {about}\npub(super) const {name}: &[u32] = &[{', '.join(f'0x{c:x}' for c in bounds)}];\n"
    path = CRATE / "src/moses/table.rs"
    path.write_text(out)
    subprocess.run(["rustfmt", "--edition", "2024", path], check=True, cwd=ROOT)
    for language in LANGUAGES:
        words = dict.fromkeys(NonbreakingPrefixes().words(language))
        head = f"# From nonbreaking_prefix.{language} of Moses (github.com/moses-smt/mosesdecoder), LGPL-2.1, as sacremoses 0.2.0 has it.\n"
        (CRATE / f"src/moses/prefixes/{language}.txt").write_text(head + "".join(f"{word}\n" for word in words))


def read(name, column=None):
    path = DATA / name
    opened = gzip.open(path, "rt", encoding="utf-8", newline="\n") if path.suffix == ".gz" else open(path, encoding="utf-8", newline="\n")
    with opened as file:
        lines = [line.rstrip("\n") for line in file]
    return lines if column is None else [line.split("\t")[column] for line in lines]


def real_lines(language, count):
    files = {
        "en": [("multi30k/raw/train.en.gz", None), ("libreoffice_help/train.en-de.tsv.gz", 0), ("tatoeba_eng_fra/fra.txt.gz", 0),
               ("wmt21/sources/newstest2021.en-de.src.en", None)],
        "fr": [("multi30k/raw/train.fr.gz", None), ("libreoffice_help/train.en-fr.tsv.gz", 1), ("tatoeba_eng_fra/fra.txt.gz", 1),
               ("wmt21/sources/newstest2021.fr-de.src.fr", None)],
        "de": [("multi30k/raw/train.de.gz", None), ("libreoffice_help/train.en-de.tsv.gz", 1),
               ("wmt21/references/newstest2021.en-de.ref.A.de", None)]}[language]
    draw, lines = random.Random(2), []
    texts = sorted((sorted(set(read(*file))) for file in files), key=len)
    for i, text in enumerate(texts):
        lines += draw.sample(text, min(len(text), (count - len(lines)) // (len(texts) - i)))
    return lines


def every_character():
    frames = ["a{0}b {0}, 1,{0} x'{0} {0}'x 5'{0} foo. {0} a.{0}. '{0} {0}. ( {0} ? {0}' a 中 {0} $ {0}{0}"]
    return [frame.format(chr(c)) for c in range(0x110000) if not 0xd800 <= c < 0xe000 and c != 10 for frame in frames]


def ours(binary, task, language, escape, lines):
    command = [binary, task, language] + ([] if escape else ["--no-escape"])
    return subprocess.run(command, input="\n".join(lines).encode(), capture_output=True, check=True).stdout.decode().split("\n")[:-1]


def compare(binary):
    sets = [(language, "real", real_lines(language, 20_000)) for language in LANGUAGES]
    sets += [(language, "random", random_lines(100_000, 3)) for language in LANGUAGES]
    sets += [("en", "every character", every_character())]
    total = 0
    for language, name, lines in sets:
        package = Package(language)
        for escape in [True] if name == "every character" else [True, False]:
            tokens = [package.tokenize(line, escape) for line in lines]
            for task, given, expected in [("tokenize", lines, tokens),
                                          ("detokenize", tokens, [package.detokenize(line, escape) for line in tokens]),
                                          ("detokenize", lines, [package.detokenize(line, escape) for line in lines])]:
                found = ours(binary, task, language, escape, given)
                assert len(found) == len(expected)
                differ = [case for case in zip(given, expected, found) if case[1] != case[2]]
                print(f"{language} {name} escape={escape} {task} {'tokens' if given is tokens else 'text'}: {len(differ)} of {len(given)} lines differ", flush=True)
                total += len(differ)
                for case in differ[:3]:
                    print("   ", *map(ascii, case), sep="\n    ")
    return total


def measure(binary):
    for language in LANGUAGES:
        lines, package = real_lines(language, 20_000), Package(language)
        texts = {"tokenize": lines, "detokenize": [package.tokenize(line, True) for line in lines]}
        for task, given in texts.items():
            start = time.perf_counter()
            for line in given:
                getattr(package, task)(line, True)
            theirs = time.perf_counter() - start
            seconds = min(float(subprocess.run([binary, task, language, "--time"], input="\n".join(given).encode(),
                                               capture_output=True, check=True).stdout) for _ in range(3))
            print(f"{language} {task}: sacremoses {len(given) / theirs:,.0f} lines/s, ours {len(given) / seconds:,.0f}: {theirs / seconds:.1f} times")


if __name__ == "__main__":
    match sys.argv[1:]:
        case []: write_goldens()
        case ["--tables"]: write_tables()
        case ["--compare", binary]: sys.exit(compare(binary) > 0)
        case ["--time", binary]: measure(binary)
        case _: sys.exit(__doc__)
