#!/usr/bin/env bash
# The alignment experiment of docs/RESULTS.md: about two and a half hours of one core.
#
#   bench/alignment/run.sh DIR    with the peers' environment of ../shared/peers/setup.sh, and eflomal in it
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
shared=$root/../shared
gold=$shared/data/alignment/gold/enfr.gold
peers=${PEERS:-$HOME/.cache/regard-peers/bin}
regard=${REGARD:-$root/target/release/regard}
mkdir -p "$1" && cd "$1"

aer() { # of the lines 101-447 of a file of links
    sed -n 101,447p "$1" >rest
    sed -n 101,447p "$gold" >rest.gold
    echo "$1: $("$regard" evaluate-alignment rest --gold rest.gold --gold-base 1 | grep AER)"
}

"$peers/python" "$here/text.py" "$shared"
cut -f1 once.tsv >en && cut -f2 once.tsv >fr
for model in 2 3; do # IBM 1 + HMM; and with fertility
    "$peers/eflomal-align" -m $model -s en -t fr -f forward.$model -r reverse.$model
done
# Both directions as one, then the lines of the test pairs five times, as in pairs.tsv.
sed -E 's/([0-9]+)-([0-9]+)/\2-\1/g' reverse.3 >turned
"$regard" evaluate-alignment forward.3 --reverse turned --symmetrize grow-diagonal -o both --gold forward.3 >/dev/null
head -n -447 both >pairs.links
for _ in 1 2 3 4 5; do tail -n 447 both >>pairs.links; done
for links in forward.2 forward.3 reverse.3 both; do
    tail -n 447 $links >test.$links && aer test.$links
done

cp "$here"/*.toml .
"$regard" train base.toml --out base --threads 1 &
until [ -d base/checkpoints/step-2000 ]; do sleep 1; done
kill -INT %1 && wait %1 || true
for name in longer guided guided_longer; do "$regard" train $name.toml --out $name --threads 1; done
more=(--set training.guided_alignment.weight=2 --set training.schedule.learning_rate=0.001 --threads 1)
"$regard" train guided_longer.toml --out guided_3 --seed 6 --set init_from=guided_longer --set training.updates=500 "${more[@]}"
"$regard" train guided_longer.toml --out guided_4 --seed 7 --set init_from=guided_3 --set training.updates=300 "${more[@]}"

align() { # MODEL NAME OPTIONS
    "$regard" align "$1" --pretokenized --src test.en --tgt test.fr "${@:3}" -o "$1.$2" && aer "$1.$2"
}
# Layers, heads and thresholds are those with the lowest AER on lines 1-100.
tuned=(--tune-gold "$gold" --gold-base 1 --tune-lines 1-100)
for method in attention attention-next norm value-zeroing; do align longer $method --method $method "${tuned[@]}"; done
for method in saliency alti; do align longer $method --method $method; done
align longer attention-above --method attention --layer 1 --above 0.35
align longer alti-above --method alti --above 0.15
guided=(--method attention-next --layer 1 --head 0)
align guided head "${guided[@]}"
align guided head-above "${guided[@]}" --above 0.4
align guided_4 head "${guided[@]}"
align guided_4 head-above "${guided[@]}" --above 0.4
