#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2086 # options are split on purpose
# Programs on CoNLL-U: what a saved model predicts and what its file keeps, on a miniature treebank.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/conllu.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

mini=$data/mini.conllu
model=$work/model.safetensors
export CAVS_DATA=/nonexistent
shared="--hidden 16 --embed 16 --min-count 1 --batch 2 --lr 0.02"
fast="--workers 1 --json --quiet"

# these_columns VALUE FILE: the predicted columns of all words replaced by VALUE
these_columns() {
    awk -F '\t' -v OFS='\t' -v columns="$columns" -v value="$1" '
        BEGIN { n = split(columns, c, " ") }
        $1 ~ /^[0-9]+$/ { for (i = 1; i <= n; i++) $c[i] = value }
        { print }' "$2"
}

# agreement FILE COLUMN: the share of words that have the same there as in the treebank
agreement() {
    awk -F '\t' -v column="$2" '
        NR == FNR { of[FNR] = $column; next }
        $1 ~ /^[0-9]+$/ { words++; right += $column == of[FNR] }
        END { printf "%.12f\n", right / words }' "$1" "$mini"
}

# same_as FILE: what the program wrote, in full
same_as() {
    cmp -s "$work/out" "$1"
}

# numbers SET: what the report says of it
numbers() {
    for metric in loss accuracy uas las; do field "$1_$metric"; done
}

# --- what is the same for all ------------------------------------------------------------------------------

# trained OPTIONS: a model, and what its training said
trained() {
    run "$name" $fast $shared $1 --train "$mini" --dev "$mini" --test "$mini" --epochs "$epochs" \
        --save "$model"
    reference=$(numbers dev)
    status_is 0 && [ -n "$reference" ] && [ "$(numbers test)" = "$reference" ]
    ok $? "$name: a model is trained; the test set is measured as the development set"
}

evaluates_alone() {
    run "$name" $fast --init "$model" --epochs 0 --dev "$mini" --test "$mini"
    status_is 0 && [ "$(numbers dev)" = "$reference" ] && [ "$(numbers test)" = "$reference" ]
    ok $? "$name: its file is all that it takes to get the same numbers"
}

predicts_as_measured() {
    run "$name" --workers 1 --quiet --init "$model" --predict "$mini"
    cp "$work/out" "$work/predicted"
    right=$(agreement "$work/predicted" "$1")
    status_is 0 && holds "($right - $2) ^ 2 < 1e-18"
    ok $? "$name: predictions are right as often as was measured ($right)"

    these_columns _ "$mini" >"$work/bare"
    these_columns _ "$work/predicted" | cmp -s - "$work/bare" && ! cmp -s "$work/predicted" "$work/bare"
    ok $? "$name: all else is as it was"

    "$apps/$name" --workers 1 --quiet --init "$model" --predict - <"$work/bare" >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    status_is 0 && same_as "$work/predicted"
    ok $? "$name: what is not there is predicted the same, through a pipe"

    run "$name" --workers 1 --quiet --init "$model" --predict "$mini" --batch 1 --output "$work/one-by-one"
    status_is 0 && cmp -s "$work/one-by-one" "$work/predicted"
    ok $? "$name: the same one by one, and into a file"
}

predicts_json() {
    run "$name" $fast --init "$model" --predict "$mini"
    if ! command -v python3 >/dev/null; then
        skip "$name: predictions as JSON" "no python3 to read them"
        return
    fi
    status_is 0 && python3 - "$work/out" "$work/predicted" <<'END' 2>"$work/err"
import json, sys
objects = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
blocks = open(sys.argv[2], encoding="utf-8").read().strip().split("\n\n")
assert len(objects) == len(blocks) == 5, len(objects)
for o, block in zip(objects, blocks):
    rows = [r.split("\t") for r in block.split("\n")]
    rows = [r for r in rows if r[0].isdigit()]
    assert o["forms"] == [r[1] for r in rows], o
    if "upos" in o:
        assert o["upos"] == [r[3] for r in rows], o
        for tag, shares in zip(o["upos"], o["probabilities"]):
            assert abs(sum(shares.values()) - 1) < 1e-5, shares
            assert shares[tag] == max(v for k, v in shares.items() if k != "<unk>"), shares
    else:
        assert o["heads"] == [int(r[6]) for r in rows] and o["relations"] == [r[7] for r in rows], o
        for shares in o["move_probabilities"], o["relation_probabilities"]:
            assert len(shares) == len(rows) and all(0 < s <= 1 for s in shares), shares
END
    ok $? "$name: JSON has the same predictions, and probabilities"
}

ends_well() {
    run "$name" --workers 1 --quiet --init "$model" --predict /dev/null
    status_is 0 && [ ! -s "$work/out" ]
    ok $? "$name: of nothing nothing is predicted"

    awk 'NR == 13 { print "3\tand"; next } { print }' "$mini" >"$work/broken"
    run "$name" --workers 1 --quiet --init "$model" --predict "$work/broken"
    head -n 8 "$work/predicted" >"$work/first"
    status_is 1 && said "broken:13:" && said "expected 10 columns" && same_as "$work/first"
    ok $? "$name: malformed input: file and line, and what comes before is written"
}

refuses() {
    run "$name" --init "$model" --hidden 17 --epochs 0 --dev "$mini"
    status_is 2 && said "--hidden 17" && said "16"
    ok $? "$name: a width that the model does not have"

    run "$other" --init "$model" --epochs 0 --dev "$mini"
    status_is 1 && said "a model of $name, not of $other"
    ok $? "$other: a model of $name"
}

# keeps_the_best METRIC OPTIONS
keeps_the_best() {
    run "$name" $fast $shared $2 --train "$mini" --dev "$mini" --epochs 12 --best "$1" --patience 2 --save "$work/best"
    best=$(field best)
    status_is 0 && [ "$(field best_epoch)" -ge 1 ] &&
        run "$name" $fast --init "$work/best" --epochs 0 --dev "$mini" && [ "$(field "dev_$1")" = "$best" ]
    ok $? "$name: --best $1 keeps the best model"
}

resumes() {
    run "$name" $fast $shared $1 --train "$mini" --dev "$mini" --epochs 1 --checkpoint "$work/$name.kept"
    run "$name" $fast --resume "$work/$name.kept" --epochs "$epochs"
    status_is 0 && [ "$(numbers dev)" = "$reference" ]
    ok $? "$name: --resume goes on to the same numbers without other options"
}

# program NAME EPOCHS METRIC COLUMNS OPTIONS: the first of the columns is what the metric is about
program() {
    name=$1
    epochs=$2
    columns=$4
    trained "$5"
    measured=$(field "dev_$3")
    evaluates_alone
    predicts_as_measured "${columns%% *}" "$measured"
    predicts_json
    ends_well
    refuses
    keeps_the_best "$3" "$5"
    resumes "$5"
}

# unknown_tags PROGRAM: a part of speech that is not known is a mistake, also where a model has learned to say <unk>
unknown_tags() {
    columns=4 these_columns NEW "$mini" >"$work/new"
    run $1 $fast --init "$model" --train "$work/new" --dev "$work/new" --epochs 20 --lr 0.05
    status_is 0 && holds "$(field dev_loss) < 0.5 && $(field train_accuracy) == 0 && $(field dev_accuracy) == 0"
    ok $? "$1: words with an unknown part of speech count as wrong"
}

# --- each program ------------------------------------------------------------------------------------------

other=parser
program dep_tree_lstm 8 accuracy 4 "--dropout 0"

unknown_tags dep_tree_lstm
these_columns _ "$mini" | sed 's/^5	\.\(.*\)	4	punct	4:punct/5	.\1	_	punct	4:punct/' >"$work/headless"
run dep_tree_lstm --init "$model" --predict "$work/headless"
status_is 1 && said "headless:7:" && said "in the column HEAD, found '_'"
ok $? "dep_tree_lstm: words without a head are said"
run dep_tree_lstm --train "$work/headless" --epochs 1
status_is 1 && said "headless:7:" && said "in the column HEAD, found '_'"
ok $? "dep_tree_lstm: and in training"

program dag_rnn 8 accuracy 4 "--dropout 0 --min-relation 1"

unknown_tags dag_rnn
sed 's/3:det/_/' "$mini" >"$work/no-deps"
run dag_rnn --init "$model" --predict "$work/no-deps"
status_is 1 && said "no-deps:3:25: expected HEAD:RELATION in the column DEPS, found '_'"
ok $? "dag_rnn: words without enhanced dependencies are said"

# the second sentence has a cycle; with it, 6 of 29 words
sed 's/^5	letters	letter	NOUN	_	_	2	obj	2:obj|4:obj/5	letters	letter	NOUN	_	_	2	obj	2:obj|5:ref/' \
    "$mini" >"$work/cyclic"
run dag_rnn $fast --init "$model" --epochs 0 --dev "$work/cyclic"
status_is 0 && [ "$(field dev_words)" -eq 29 ] && [ "$(field dev_words_left_out)" -eq 6 ] &&
    [ "$(field dev_sentences_left_out)" -eq 1 ] &&
    holds "($(field dev_accuracy_of_all_words) - $(field dev_accuracy) * 23 / 29) ^ 2 < 1e-18"
ok $? "dag_rnn: what an accuracy leaves out stands beside it"
run dag_rnn $fast --init "$model" --epochs 0 --dev "$work/cyclic" --cycles cut
measured=$(field dev_accuracy)
status_is 0 && [ "$(field dev_words_left_out)" -eq 0 ] && [ "$(field dev_cyclic_sentences)" -eq 1 ] &&
    [ "$measured" = "$(field dev_accuracy_of_all_words)" ] &&
    run dag_rnn --workers 1 --quiet --init "$model" --predict "$work/cyclic" &&
    holds "($(agreement "$work/out" 4) - $measured) ^ 2 < 1e-18"
ok $? "dag_rnn: --cycles cut evaluates all words, as predictions do"

other=dag_rnn
program parser 12 uas "7 8" "--mlp 16"

[ "$(agreement "$work/predicted" 8)" != 1 ] && awk -F '\t' '
    $1 ~ /^[0-9]+$/ { head[$1] = $7; n = $1; roots += $7 == 0 }
    !NF && n {
        for (v = 1; v <= n; v++) {
            u = v
            for (steps = 0; u && steps <= n; steps++) u = head[u]
            bad += u != 0
        }
        bad += roots != 1
        sentences++
        n = roots = 0
    }
    END { exit bad || sentences != 5 }' "$work/predicted"
ok $? "parser: each sentence gets a tree with one root"

awk -F '\t' -v OFS='\t' '$1 == 1 && NR < 5 { $7 = 3 } $1 == 2 && NR < 6 { $7 = 4 } { print }' "$mini" >"$work/crossing"
run parser $fast --init "$model" --epochs 0 --dev "$work/crossing"
right=$(field dev_uas)
run parser --workers 1 --quiet --init "$model" --predict "$work/crossing"
status_is 0 && these_columns _ "$work/out" | cmp -s - "$work/bare" && same_as "$work/predicted" &&
    holds "$right > 0 && ($right - $(mini=$work/crossing agreement "$work/out" 7)) ^ 2 < 1e-18"
ok $? "parser: sentences with crossing arcs are parsed and measured like all others"

echo "1..$count"
