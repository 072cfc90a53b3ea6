#!/usr/bin/env bash
# Makes the stored numbers anew with the programs that they come from, runs the tests that use them, and compares random and
# real inputs beyond them. Installs the programs (about 8 GB) where they are missing. It changes nothing but the stored
# numbers; `git diff` shows where those differ.
#
# Usage: [ATOOLS=PROGRAM] tests/parity.sh [DIRECTORY OF THE PEERS' PYTHON ENVIRONMENT, default ~/.cache/regard-peers]
#
# What needs ../shared/data is skipped where that is absent, and so are fast_align's numbers without ATOOLS, its program.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${1:-$HOME/.cache/regard-peers}
release=${CARGO_TARGET_DIR:-target}/release
examples=$release/examples
failed=()

[ -x "$peers/bin/python" ] || python3 -m venv "$peers"
"$peers/bin/python" -c 'import numpy, pyarrow, torch, google.protobuf, sacrebleu, sacremoses, captum, sentencepiece, subword_nmt, tokenizers, transformers, ctranslate2' 2>/dev/null ||
    "$peers/bin/python" -m pip install -q numpy pyarrow torch protobuf sacrebleu==2.6.0 sacremoses==0.2.0 sentencepiece==0.2.3 \
        subword-nmt==0.3.8 captum==0.9.0 tokenizers==0.23.3 transformers==5.24.0 ctranslate2==4.8.5

# Runs a script of tests/goldens, or any other check, and goes on where it fails.
check() {
    echo "== $*"
    "$@" || failed+=("$*")
}
script() {
    local name=$1
    shift
    check "$peers/bin/python" "tests/goldens/$name.py" "$@"
}
with_data() {
    if [ -d ../shared/data ]; then "$@"; else echo "skipped: no data (${*:2})"; fi
}

unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
for name in make_ops make_optim make_models make_subword_nmt make_hugging_face make_moses make_parquet; do
    script "$name"
done
for name in make_metrics make_sentencepiece; do
    with_data script "$name"
done
if [ -n "${ATOOLS:-}" ]; then script make_symmetrization "$ATOOLS"; else echo "skipped: no ATOOLS (make_symmetrization)"; fi
if ! git diff --quiet -- '*/tests/data/*'; then
    git diff --stat -- '*/tests/data/*'
    echo "the stored numbers differ from those made now; the tests below say whether they still hold"
fi

check cargo test --locked -p regard-tensor --test ops_pytorch --test optim_pytorch
check cargo test --locked -p regard-model --test pytorch
check cargo test --locked -p regard-eval --test goldens --test alignment
check cargo test --locked -p regard-text --features huggingface,parquet \
    --test formats --test hugging_face --test moses --test sentencepiece --test subword_nmt

check cargo build --release --locked -p regard-eval -p regard-text --examples
# The next corpora have lines of 1,000 words, for which sacreBLEU's TER takes 20 minutes.
script make_metrics --compare 390
with_data script make_moses --compare "$examples/moses"
with_data script make_sentencepiece --compare "$examples/sentencepiece"
with_data script make_sentencepiece --compare-trained "$examples/sentencepiece"
with_data script make_sentencepiece --compare-samples "$examples/sentencepiece"

check cargo build --release --locked -p regard
script compare_hf_marian "$release/regard" import
script compare_attributions "$release/regard"
with_data script compare_hf_marian "$release/regard" fine-tune ../shared/data/tatoeba_eng_fra/fra.txt.gz
# Trains for ten minutes on one core: a third of the recipe is enough for words that depend on the source.
export_of_a_trained_model() {
    local run multi30k=../shared/data/multi30k/raw
    run=$(mktemp -d)
    "$release/regard" train recipes/multi30k-en-de-transformer-sentencepiece.toml --set training.updates=400 \
        --out "$run/model" &&
        "$peers/bin/python" tests/goldens/compare_hf_marian.py "$release/regard" export "$run/model" \
            --source $multi30k/test_2016_flickr.en.gz --target $multi30k/test_2016_flickr.de.gz
    local status=$?
    rm -r "$run"
    return $status
}
with_data check export_of_a_trained_model

if [ ${#failed[@]} != 0 ]; then
    printf 'failed: %s\n' "${failed[@]}" >&2
    exit 1
fi
echo "everything agrees"
