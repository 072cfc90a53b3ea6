"""Writes small Parquet files as Python's writers make them, and the text that is in them.

    python tests/goldens/make_parquet.py    # needs pyarrow 26.0.1

crates/regard-text/tests/data/parquet/*.parquet and pairs.json; each file is written in another way.
"""

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

DATA = pathlib.Path(__file__).parents[2] / "crates/regard-text/tests/data/parquet"
WORDS = ["low", "haut", "\u00e9t\u00e9", "\U0001f469\u200d\U0001f467", "\"quoted", "tab\tinside", "nul\0", "two\nlines", "cr\r\nlf", " "]


def pairs(count):
    """Some sides are null, some blank, some hold what separates lines or columns."""
    side = lambda row, shift: None if (row + shift) % 13 == 0 else f"{WORDS[(row + shift) % len(WORDS)]} {row * 7 % 11}"
    return [(side(row, 3), side(row, 5)) for row in range(count)]


def main():
    DATA.mkdir(parents=True, exist_ok=True)
    rows = pairs(47)
    sources, targets = zip(*rows)
    flat = pa.table({"id": range(47), "source": sources, "target": targets})
    pq.write_table(flat, DATA / "snappy.parquet", compression="snappy", row_group_size=20)
    pq.write_table(flat, DATA / "zstd.parquet", compression="zstd", use_dictionary=False, data_page_version="2.0")
    pq.write_table(flat, DATA / "gzip.parquet", compression="gzip", data_page_size=64, write_batch_size=8)
    large = flat.set_column(1, "source", pa.array(sources, pa.large_string()))
    pq.write_table(large, DATA / "plain.parquet", compression="none")
    # As Hugging Face's translation data sets are: the sides in a struct, which may be null itself.
    nested = [None if row == 4 else {"en": en, "fr": fr} for row, (en, fr) in enumerate(rows)]
    pq.write_table(pa.table({"id": range(47), "translation": nested}), DATA / "nested.parquet")
    required = pa.schema([pa.field("source", pa.string(), False), pa.field("target", pa.string(), False)])
    pq.write_table(pa.table({"source": ["a", "b"], "target": ["c", "d"]}, required), DATA / "required.parquet")
    bad = pa.table({"source": [b"good", b"\xff\xfe"], "target": [b"x", b"y"], "number": [1, 2], "list": [["a"], ["b"]]})
    pq.write_table(bad, DATA / "bad.parquet")
    # What is read: nulls are empty lines, and a side is one line.
    line = lambda text: "" if text is None else text.replace("\r\n", " ").replace("\n", " ")
    (DATA / "pairs.json").write_text(json.dumps([[line(en), line(fr)] for en, fr in rows], indent=0) + "\n")


main()
