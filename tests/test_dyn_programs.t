#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2086 # arguments are split on purpose
# Programs that record their networks on a tape, beside those that declare the same: losses and files are one.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/dyn.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 16 --embed 16 --batch 2 --lr 0.01 --workers 1 --json --quiet"
own= # options of the recorded program alone
counted= # numbers that are those of the declared program, too, where both do the same work

# agree A B: two lists of numbers, each within 1e-5 of the other
agree() {
    [ -n "$1" ] && echo "$1 $2" | awk '{
        n = NF / 2
        for (i = 1; i <= n; i++) {
            difference = $i - $(n + i)
            bound = 1e-5 * ($i < 0 ? -$i : $i) + 1e-7
            if (difference > bound || -difference > bound) exit 1
        }
        exit NF % 2 }'
}

# numbers FIELD...: their values, and the losses of all epochs
numbers() {
    for name in "$@"; do
        printf '%s ' "$(field "$name")"
    done
    tail -n 1 "$work/out" | sed 's/.*"epoch_loss":\[\([^]]*\)\].*/\1/; s/,/ /g'
}

# losses DECLARED RECORDED NAME FIELDS ARGUMENT...: what both say when they are trained on the same
losses() {
    declared=$1
    recorded=$2
    what=$2${3:+ ($3)}
    fields=$4
    shift 4
    run "$declared" $small "$@" --epochs 3 --save "$work/declared.st"
    expected=$(numbers $fields $counted)
    run "$recorded" $small $own "$@" --epochs 3 --save "$work/recorded.st"
    reference=$(numbers $fields)
    status_is 0 && agree "$expected" "$(numbers $fields $counted)" && holds "$(field evaluated) > $(field batching_tasks)"
    ok $? "$what: the losses of three epochs, and what is measured, are those of $declared"
}

# models SOURCES FIELDS ARGUMENT...: the files of the last losses(), evaluated and used on sources
models() {
    sources=$1
    measured=$2
    shift 2
    wrong=
    for model in declared recorded; do
        for program in "$declared" "$recorded"; do
            run "$program" --init "$work/$model.st" --epochs 0 "$@" --predict "$sources" --output "$work/$program.$model" \
                --json --quiet --workers 1
            status_is 0 || wrong="$wrong $program --init $model"
            [ "$program" = "$recorded" ] || expected=$(numbers $measured)
        done
        agree "$expected" "$(numbers $measured)" || wrong="$wrong numbers of $model"
        sed 's/\([0-9]\.[0-9]\{4\}\)[0-9]*/\1/g' "$work/$declared.$model" >"$work/expected"
        sed 's/\([0-9]\.[0-9]\{4\}\)[0-9]*/\1/g' "$work/$recorded.$model" | cmp -s - "$work/expected" && [ -s "$work/expected" ] ||
            wrong="$wrong predictions of $model"
    done
    [ -z "$wrong" ]
    ok $? "$what and $declared take one another's models, and predict the same${wrong:+, but not:$wrong}"
}

# resumed ARGUMENT...: the recorded program of the last losses(), for long enough to have blocks
resumed() {
    run "$recorded" $small $own "$@" --epochs 6
    reference=$(numbers $fields)
    run "$recorded" $small $own "$@" --epochs 4 --checkpoint "$work/kept" --every 1
    run "$recorded" --resume "$work/kept" --epochs 6 --json --quiet --workers 1
    status_is 0 && [ "$reference" = "$(numbers $fields)" ]
    ok $? "$what, stopped and resumed: the same bits"
    run "$declared" --resume "$work/kept" --epochs 6
    status_is 1 && said "a model of $recorded, not of $declared"
    ok $? "$declared does not go on with a run of $what"
    rm -rf "$work/kept"
}

# --- trees -----------------------------------------------------------------------------------------------

trees="--train $data/mini.txt --dev $data/mini-dev.txt"
of_trees="train_accuracy_all train_accuracy_root dev_loss dev_accuracy_all dev_accuracy_root"
counted=flops
losses tree_lstm dyn_tree_lstm bench "$of_trees" $trees
models "$data/mini-dev.txt" "dev_loss dev_accuracy_all dev_accuracy_root" --dev "$data/mini-dev.txt"
resumed $trees
own=--apply
losses tree_lstm dyn_tree_lstm "declared cell" "$of_trees" $trees
models "$data/mini-dev.txt" "dev_loss dev_accuracy_all dev_accuracy_root" --dev "$data/mini-dev.txt"
resumed $trees
losses tree_lstm dyn_tree_lstm "declared childsum" "$of_trees" --cell childsum $trees
losses tree_lstm dyn_tree_lstm "declared, many children" train_accuracy_all --cell childsum --train "$data/mini-wide.txt"
own=
losses tree_lstm dyn_tree_lstm childsum "$of_trees" --cell childsum $trees
losses tree_lstm dyn_tree_lstm nary "$of_trees" --cell nary $trees
losses tree_lstm dyn_tree_lstm "many children" train_accuracy_all --cell childsum --train "$data/mini-wide.txt"

counted= # declared chains multiply the zeros before their first word

# --- tags ------------------------------------------------------------------------------------------------

tags="--min-count 2 --train $data/mini-tags.txt --dev $data/mini-tags-dev.txt"
losses bilstm_tagger dyn_tagger "" "train_accuracy dev_loss dev_accuracy dev_f1" $tags
losses bilstm_char_tagger dyn_char_tagger "" "train_accuracy dev_loss dev_accuracy dev_f1" $tags
models "$data/mini-tags-dev.txt" "dev_loss dev_accuracy dev_f1" --dev "$data/mini-tags-dev.txt"
resumed $tags

# --- encoder and decoder ----------------------------------------------------------------------------------

of_answers="train_symbols dev_loss dev_symbols dev_exact"
short="--length 3 --samples 60 --dev-samples 20"
losses seq2seq dyn_seq2seq "" "$of_answers" $short
printf 'abc\nzz\nq\n' >"$work/sources"
models "$work/sources" "dev_loss dev_symbols dev_exact" --dev-samples 20
resumed $short
losses seq2seq dyn_seq2seq "without attention" "$of_answers" $short --no-attention
losses seq2seq dyn_seq2seq "sums" "$of_answers" --task add --length 2 --samples 60 --dev-samples 20

# logarithms FILE: of the probabilities of all its answers
logarithms() {
    sed 's/.*"probabilities": *\[\([^]]*\)\].*/\1/' "$1" | awk -F, '{sum = 0; for (i = 1; i <= NF; i++) sum += log($i); print sum}'
}

printf 'abcd\nzzy\nqrs\nhello\nabcde\nxyzzy\nab\n' >"$work/sources"
run dyn_seq2seq $small --batch 4 --lr 0.02 --length 5 --samples 60 --dev-samples 20 --epochs 4 --save "$work/young.st"
for beam in 1 26; do
    run dyn_seq2seq --init "$work/young.st" --predict "$work/sources" --output "$work/beam$beam" --json --quiet --workers 1 --beam $beam
    status_is 0 && logarithms "$work/beam$beam" >"$work/logarithms$beam"
done
[ "$(wc -l <"$work/logarithms26")" = 7 ] && paste "$work/logarithms1" "$work/logarithms26" |
    awk '{worse += $2 < $1 - 1e-6; better += $2 > $1 + 1e-6} END {exit !(worse == 0 && better > 0)}'
ok $? "a wide beam finds answers that are likelier than greedy ones"
run dyn_seq2seq --init "$work/young.st" --predict "$work/sources" --output "$work/again" --json --quiet --workers 2 --batch 2 --beam 26
status_is 0 && cmp -s "$work/again" "$work/beam26"
ok $? "and the same ones whatever the workers, and the answers beside them"
run dyn_seq2seq --init "$work/young.st" --predict "$work/sources" --beam 0
status_is 2
ok $? "a beam of nothing is a mistake"
run dyn_seq2seq --samples 4 --dev-samples 2 --epochs 1 --quiet --beam 3
status_is 2 && said "--beam is for answers that are written: add --decode N or --predict FILE"
ok $? "and so is one where no answer is written"

# --- dependencies ----------------------------------------------------------------------------------------

bank="--mlp 16 --min-count 1 --train $data/mini.conllu --dev $data/mini.conllu"
own="--explore 0"
losses parser dyn_parser "without exploration" "train_moves train_relations dev_uas dev_las" --dropout 0 $bank
models "$data/mini.conllu" "dev_uas dev_las" --dev "$data/mini.conllu"

own="--explore 0.9"
run dyn_parser $small $own $bank --epochs 30
status_is 0 && holds "$(field train_moves) > 0.85" && holds "$(field dev_uas) > 0.9" && holds "$(field dev_las) > 0.85" &&
    [ "$(field skipped_sentences)" -eq 0 ]
ok $? "dyn_parser learns five sentences on its own way"
small="$small --shards 2"
run dyn_parser $small $own $bank --epochs 3 --explore-after 0
reference=$(numbers dev_uas dev_las)
run dyn_parser $small $own $bank --epochs 3 --explore-after 0 --workers 2 --side-by-side 2
[ -n "$reference" ] && [ "$reference" = "$(numbers dev_uas dev_las)" ]
ok $? "and goes the same way with more workers, and with fewer sentences side by side"
run dyn_parser $small $own $bank --epochs 2 --explore-after 0 --checkpoint "$work/kept" --every 1
run dyn_parser --resume "$work/kept" --epochs 3 --json --quiet --workers 1
[ "$reference" = "$(numbers dev_uas dev_las)" ]
ok $? "and if it is stopped and resumed"
run dyn_parser $small $own $bank --infer --explore-after 0
status_is 0 && holds "$(field loss) > 0"
ok $? "and without being trained"

# --- trees that the network makes ------------------------------------------------------------------------

run dyn_spinn $small $trees --epochs 40 --save "$work/spinn.st"
status_is 0 && holds "$(field train_accuracy_root) > 0.9" && holds "$(field train_moves) > 0.9"
ok $? "dyn_spinn learns labels, and which words belong together"
run dyn_spinn --init "$work/spinn.st" --predict "$data/mini-dev.txt" --output "$work/made" --quiet --workers 1
tr -d '()0-4? \n' <"$work/made" >"$work/words"
tr -d '()0-4? \n' <"$data/mini-dev.txt" | cmp -s - "$work/words" && [ "$(wc -l <"$work/made")" -eq "$(wc -l <"$data/mini-dev.txt")" ]
ok $? "and writes the words with brackets of its own"
run dyn_spinn --init "$work/spinn.st" --epochs 0 --dev "$data/mini.txt" --json --quiet --workers 1
status_is 0 && holds "$(field dev_phrases) > 0.9" && holds "$(field dev_accuracy_root) > 0.9"
ok $? "which are those of the trees that it was shown"
printf '(2 (2 well) (3 made))\n' >"$work/short"
run dyn_spinn $small --train "$work/short" --dev "$work/short" --epochs 1
status_is 0 && holds "$(field loss) > 0" && [ "$(field train_moves)" = null ] && [ "$(field dev_moves)" = null ]
ok $? "sentences that leave nothing to decide can be trained on"
run dyn_spinn $small --train "$data/mini-wide.txt" --epochs 1
status_is 1 && said "mini-wide.txt:" && said "expected two"
ok $? "a phrase of more than two parts is refused, by file and line"

# --- what is evaluated ----------------------------------------------------------------------------------

# A tape that has seen twice as much has blocks sooner, from which on the last digits are others.
while IFS='|' read -r program train dev; do
    run "$program" $small --train "$data/$train" --epochs 30
    alone=$(numbers)
    run "$program" $small --train "$data/$train" --epochs 30 --dev "$data/$dev"
    status_is 0 && [ -n "$alone" ] && [ "$(numbers)" = "$alone" ]
    ok $? "$program: a development set does not show in the losses of training"
done <<END
dyn_tree_lstm|mini.txt|mini-dev.txt
dyn_spinn|mini.txt|mini-dev.txt
dyn_tagger|mini-tags.txt|mini-tags-dev.txt
dyn_parser|mini.conllu|mini.conllu
END

echo "1..$count"
