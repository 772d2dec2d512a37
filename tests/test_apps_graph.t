#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs on graphs, from outside: their options, what they say to wrong input, and their results.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/graph.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

mini="--data $data/mini-cora/mini.content --workers 2 --json --quiet"

run gcn --data "$data/mini-cora/mini.cites"
status_is 2 && said "--data wants a file that ends in .content" && said "mini.cites"
ok $? "nodes are in a file that ends in .content"

run gcn --data "$data/mini-cora/mini.content" --batch 4
status_is 2 && said "unrecognized option '--batch'"
ok $? "a graph is one sample: there are no batches"

# arguments are split on purpose
# shellcheck disable=SC2086
run gcn $mini --epochs 60 --hidden 8 --lr 0.05
status_is 0 && holds "$(field nodes) == 40 && $(field citations) == 60 && $(field vertices) == 60 * 120" &&
    holds "$(field loss) < 0.4 && $(field val_accuracy) >= 0.9 && $(field test_accuracy) >= 0.85"
ok $? "gcn learns what neighbours have in common"

[ "$(field classes) $(field train_nodes) $(field dev_nodes) $(field test_nodes)" = "2 16 10 14" ]
ok $? "every node of each set counts"

# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --rounds 3 --dropout 0 --no-lazy --no-eager --no-fusion
first=$(field loss)
# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --rounds 3 --dropout 0
status_is 0 && holds "$first - $(field loss) < 1e-4 && $(field loss) - $first < 1e-4"
ok $? "three rounds, with and without the optimisations: the same loss"

# One row of a gradient is that of all words of a node.
# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --lr 0.05 --clip 1000
loss=$(field loss)
# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --lr 0.05
[ -n "$loss" ] && [ "$(field loss)" = "$loss" ]
ok $? "--clip that clips nothing changes no number" "$work/out"

most=$("$apps/gcn" --list-options | sed -n 's/^rounds\t.*\t1 //p')
reached=
for options in "" "--no-lazy --no-eager --no-dedup --no-fusion"; do
    # shellcheck disable=SC2086
    run gcn $mini --epochs 1 --hidden 2 --rounds "$most" $options
    status_is 0 || reached=" but for $options: $(cat "$work/err")"
done
[ -n "$most" ] && [ -z "$reached" ]
ok $? "as many rounds as --help allows ($most) can be computed${reached}"

run gcn --data "$data/mini-cora/mini.content" --workers 1 --epochs 2 --hidden 4
status_is 0 && [ "$(grep -c 'dev_accuracy' "$work/err")" -eq 2 ] && said "graphs/s" && ! said "samples/s" &&
    grep -q "graphs/s" "$work/out"
ok $? "the validation nodes' accuracy is shown while gcn trains; its speed is in graphs"

# --- gcn: models and predictions -------------------------------------------------------------------------

# numbers of the nodes of a split
split() {
    sed '1,/^Indices/d' "$data/mini-cora/mini.$1"
}

# score SPLIT PREDICTED: share of its nodes whose class is the one in the content
score() {
    split "$1" >"$work/nodes"
    awk 'FILENAME == ARGV[1] { wanted[$1]; next }
         FILENAME == ARGV[2] { class[FNR - 1] = $NF; next }
         (FNR - 1) in wanted { all++; right += $2 == class[FNR - 1] }
         END { printf "%.6f\n", right / all }' "$work/nodes" "$data/mini-cora/mini.content" "$2"
}

# about FIELD...: these fields to six digits
about() {
    for name; do printf '%.6f\n' "$(field "$name")"; done
}

CAVS_DATA_BEFORE=$CAVS_DATA
CAVS_DATA=/nonexistent
export CAVS_DATA
model=$work/model.safetensors
numbers="dev_loss dev_accuracy test_loss test_accuracy val_accuracy"

# so few epochs that some nodes are wrong
# shellcheck disable=SC2086
run gcn $mini --epochs 4 --hidden 8 --lr 0.02 --best loss --save "$model"
# shellcheck disable=SC2086
status_is 0 && [ "$(field best_epoch)" -eq 4 ] && holds "$(field dev_accuracy) < 1" && holds "$(field test_accuracy) > 0.3"
ok $? "gcn --save"
# shellcheck disable=SC2086
want=$(about $numbers)
dev=$(about dev_accuracy)
test=$(about test_accuracy)

for end in content cites val test; do cp "$data/mini-cora/mini.$end" "$work/"; done
run gcn --init "$model" --epochs 0 --data "$work/mini.content" --workers 2 --json --quiet
# shellcheck disable=SC2086
status_is 0 && [ "$(about $numbers)" = "$want" ] && [ "$(field dev_nodes) $(field test_nodes)" = "10 14" ]
ok $? "--init alone evaluates, without nodes to train on, to the same numbers"

run gcn --init "$model" --predict "$data/mini-cora/mini.content" --workers 2 --quiet
cp "$work/out" "$work/predicted"
status_is 0 && [ "$(wc -l <"$work/out")" -eq 40 ] && [ "$(score val "$work/out")" = "$dev" ] &&
    [ "$(score test "$work/out")" = "$test" ] && [ "$(cut -f 1 "$work/out" | head -n 2 | tr '\n' ' ')" = "100 101 " ]
ok $? "--predict gives each node its class; counted, they have the accuracy of the report"

mkdir "$work/bare"
sed 's/\t[A-Za-z]*$//' "$work/mini.content" >"$work/bare/x.content"
cp "$work/mini.cites" "$work/bare/x.cites"
run gcn --init "$model" --predict "$work/bare/x.content" --output "$work/bare/out" --workers 2 --json
status_is 0 && [ ! -s "$work/bare/x.train" ] && [ "$(field predicted)" -eq 40 ] && [ "$(wc -l <"$work/bare/out")" -eq 40 ]
ok $? "classes may be missing, splits too; --json"

# {"node":"100","class":"Odd","probabilities":{"Odd":0.6,"Even":0.4}}
awk -F '["{}:,]+' '{ if ($5 != ($8 > $10 ? $7 : $9) || ($8 + $10 - 1) ^ 2 > 1e-12) exit 1; print $3 "\t" $5 }' \
    "$work/bare/out" >"$work/from_json"
cmp -s "$work/from_json" "$work/predicted"
ok $? "probabilities of all classes sum to one, and the likeliest one is the class"

# the same graph from its last node on, so that another class comes first
mkdir "$work/back"
sed -n '1!G;h;$p' "$work/mini.content" >"$work/back/x.content"
cp "$work/mini.cites" "$work/back/x.cites"
for end in train val test; do split "$end" | awk '{ print 39 - $1 }' >"$work/back/x.$end"; done
[ "$(awk 'NR == 1 { print $NF }' "$work/back/x.content")" = Even ]
ok $? "(a graph whose first node is of another class)"
run gcn --init "$model" --epochs 0 --data "$work/back/x.content" --workers 2 --json --quiet
status_is 0 && [ "$(about dev_accuracy test_accuracy)" = "$dev
$test" ]
ok $? "a class is the same in a file where it comes later"

# shellcheck disable=SC2086
run gcn --partial "$model" --epochs 1 --hidden 8 --data "$work/back/x.content" --workers 1
status_is 0 && said "W_class: taken, 2 of 2 columns by their words" && said "b_class: taken, 2 of 2 columns by their words"
ok $? "--partial takes the scores of a class by its name"

while IFS='|' read -r change message; do
    sed "$change" "$work/mini.content" >"$work/back/bad.content"
    cp "$work/mini.cites" "$work/back/bad.cites"
    run gcn --init "$model" --epochs 0 --data "$work/back/bad.content"
    status_is 1 && said "$work/back/bad.content:$message"
    ok $? "another graph than the model's: $message"
done <<'END'
3s/Odd/Third/|3:29: expected a class of the model, found 'Third'
1s/\t0/&\t0/|1:29: expected a class after 12 features
2s/\t0//|2:27: expected 12 features before the class, not 11
END

sed '2s/\t0\t/\tzero\t/' "$work/bare/x.content" >"$work/back/bad.content"
run gcn --init "$model" --predict "$work/back/bad.content"
status_is 1 && said "$work/back/bad.content:2:5: expected a number, found 'zero'" && [ ! -s "$work/out" ]
ok $? "a malformed node is not predicted: file, line and column"

: >"$work/back/none.content"
: >"$work/back/none.cites"
run gcn --init "$model" --predict "$work/back/none.content" --quiet
status_is 0 && [ ! -s "$work/out" ]
ok $? "no nodes, no classes"

run gcn --init "$model" --predict -
status_is 2 && said "--predict wants a file that ends in .content, beside which .cites lies, not '-'"
ok $? "a graph is more than one file"

run gcn --init "$model" --epochs 0 --data "$work/mini.content" --hidden 16
status_is 2 && said "hidden" && said "$model"
ok $? "--init with another --hidden"

run tree_fc --leaves 2 --hidden 4 --samples 2 --epochs 1 --workers 1 --quiet --save "$work/other.safetensors"
run gcn --init "$work/other.safetensors" --epochs 0
status_is 1 && said "$work/other.safetensors: a model of tree_fc, not of gcn"
ok $? "--init with a model of another program"

run gcn --data "$work/mini.content" --best exact
status_is 2 && said "--best wants one of loss, accuracy, not 'exact'"
ok $? "--best knows what gcn measures"

# shellcheck disable=SC2086
run gcn $mini --epochs 200 --hidden 8 --lr 0.3 --patience 5
status_is 0 && [ "$(field epochs)" -eq $(($(field best_epoch) + 5)) ] && holds "$(field val_accuracy) == $(field best)"
ok $? "--patience ends the training; the best epoch's model is the one that is tested"

# shellcheck disable=SC2086
run gcn $mini --epochs 9 --hidden 8 --save "$work/whole.safetensors"
# shellcheck disable=SC2086
whole="$(about loss $numbers) $(field best_epoch)"
# shellcheck disable=SC2086
run gcn $mini --epochs 4 --hidden 8 --checkpoint "$work/kept"
run gcn --resume "$work/kept" --epochs 9 --save "$work/resumed.safetensors" --workers 1 --json --quiet
# shellcheck disable=SC2086
status_is 0 && [ "$(about loss $numbers) $(field best_epoch)" = "$whole" ] && cmp "$work/whole.safetensors" "$work/resumed.safetensors"
ok $? "--resume DIR goes on to the same bits"

# What gcn wrote when it had an option --batch; without checksums, since those are of another note.
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086
    run gcn $mini --epochs 4 --hidden 8 --checkpoint "$work/older"
    python3 - "$work/older/checkpoint.safetensors" <<'END' 2>>"$work/err"
import json, sys
with open(sys.argv[1], "rb") as file:
    length = int.from_bytes(file.read(8), "little")
    header, values = json.loads(file.read(length)), file.read()
notes = {k: v for k, v in header["__metadata__"].items() if not k.startswith("cavs.checksum")}
run = json.loads(notes["run"])
run["options"]["batch"] = 64
header["__metadata__"] = notes | {"run": json.dumps(run)}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[1], "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + values)
END
    run gcn --resume "$work/older" --epochs 9 --save "$work/resumed.safetensors" --workers 1 --json --quiet
    status_is 0 && cmp "$work/whole.safetensors" "$work/resumed.safetensors"
    ok $? "so it does from a checkpoint of a gcn that had an option --batch"
else
    skip "a checkpoint of a gcn that had an option --batch" "no python3 to make one"
fi

CAVS_DATA=$CAVS_DATA_BEFORE

if [ -r "${CAVS_DATA:-../shared/data}/cora/cora.content" ]; then
    run gcn --workers 2 --json --quiet --save "$model"
    status_is 0 && holds "$(field nodes) == 2708 && $(field citations) == 5429 && $(field classes) == 7" &&
        [ "$(field train_nodes) $(field dev_nodes) $(field test_nodes)" = "1624 541 543" ]
    ok $? "Cora: all nodes of the splits count"
    holds "$(field test_accuracy) >= 0.865 && $(field test_accuracy) <= 0.89"
    ok $? "Cora: a test accuracy of 0.865 to 0.89, of all seven classes"
    run gcn --init "$model" --predict "${CAVS_DATA:-../shared/data}/cora/cora.content" --output "$work/classes" --workers 2 --quiet
    status_is 0 && [ "$(wc -l <"$work/classes")" -eq 2708 ] && [ "$(cut -f 2 "$work/classes" | sort -u | wc -l)" -eq 7 ]
    ok $? "Cora: the model gives all seven classes"
else
    skip "Cora: nodes that count" "no data set at ${CAVS_DATA:-../shared/data}/cora"
    skip "Cora: test accuracy" "no data set at ${CAVS_DATA:-../shared/data}/cora"
    skip "Cora: classes" "no data set at ${CAVS_DATA:-../shared/data}/cora"
fi

# --- dependency trees ------------------------------------------------------------------------------------

printf '1\tA\ta\tDET\t_\t_\t7\tdet\t_\t_\n\n' >"$work/bad.conllu"
run dep_tree_lstm --train "$work/bad.conllu"
status_is 1 && said "$work/bad.conllu:1:"
ok $? "malformed sentences: file, line and column"

trees="--train $data/mini.conllu --min-count 1 --dropout 0 --hidden 16 --embed 16 --batch 4"
# shellcheck disable=SC2086
run dep_tree_lstm $trees --lr 0.02 --epochs 60 --workers 2 --json --quiet
status_is 0 && holds "$(field train_accuracy) == 1 && $(field loss) < 0.05"
ok $? "dep_tree_lstm learns a few sentences by heart"

# shellcheck disable=SC2086
run dep_tree_lstm $trees --epochs 0 --explain --workers 1 --quiet
status_is 0 && grep -q 'gemm_select *matmul_select U *(rows, 16)' "$work/out" "$work/err"
ok $? "--explain shows a product per word, selected by relation"

# shellcheck disable=SC2086
run dep_tree_lstm $trees --epochs 0 --explain --workers 1 --quiet --hidden 512
status_is 0 && [ "$(cat "$work/out" "$work/err" | grep -c 'tiles of 1024 rows')" -eq 3 ] &&
    ! grep -q 'stage tree: eager work runs in blocks' "$work/out" "$work/err"
ok $? "blocks of a parameter that come from memory: tall tiles, and gradients all at once"

if [ -n "$CAVS_TEST_LONG" ] && [ -r "${CAVS_DATA:-../shared/data}/ud_ewt/en_ewt-ud-train.conllu" ]; then
    run dep_tree_lstm --epochs 4 --workers 2 --json --quiet
    status_is 0 && holds "$(field dev_accuracy) >= 0.85"
    ok $? "UD_EWT: dev accuracy of 0.85 and more after 4 epochs"
else
    skip "UD_EWT: dev accuracy" "a long test (CAVS_TEST_LONG=1), or no data set"
fi

echo "1..$count"
