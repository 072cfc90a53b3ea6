#!/usr/bin/env bash
# Installs the peers (about 8 GB), makes the stored PyTorch numbers anew and compares them with those in the tree.
# Usage: tests/parity.sh [DIRECTORY OF THE PEERS' PYTHON ENVIRONMENT, default ~/.cache/regard-peers]
set -euo pipefail
cd "$(dirname "$0")/.."
peers=${1:-$HOME/.cache/regard-peers}
if [ ! -x "$peers/bin/python" ]; then
    python3 -m venv "$peers"
    "$peers/bin/pip" install -q torch numpy sacrebleu subword-nmt
fi
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
for script in make_ops make_optim make_models; do
    "$peers/bin/python" "tests/goldens/$script.py"
done
if ! git diff --quiet -- '*/tests/data/*.json'; then
    git diff --stat -- '*/tests/data/*.json'
    echo "the stored numbers differ from those that this PyTorch makes; the tests below say whether they still hold"
fi
cargo test --locked -p regard-tensor --test ops_pytorch --test optim_pytorch
cargo test --locked -p regard-model --test pytorch
