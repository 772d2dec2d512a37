#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A run of several ranks that is resumed by another number of them comes to the bits of one process: its model, its
# numbers and, where the table below names an input, its predictions; by every optimizer but AdamW, on text, graphs and a
# packed file.  Skipped where the library was built without MPI.

name=ranks_resume
# shellcheck source=tests/mpirun.sh
. "${abs_top_srcdir:-.}/tests/mpirun.sh"

# predicted INPUT PROGRAM...: of the model in $work/model, if there is an input
predicted() {
    predict_from=$1
    shift
    rm -f "$work/labels"
    [ -z "$predict_from" ] || "$@" --init "$work/model" --predict "$predict_from" --output "$work/labels" --quiet --workers 1 \
        >>"$work/out" 2>>"$work/err" </dev/null
}

# keep AS: what the last run and its model have come to
keep() {
    results >"$work/$1.results"
    mv "$work/model" "$work/$1.model"
    cp "$work/$1.model" "$work/model"
}

# same_files: of the whole run and of the one that was resumed
same_files() {
    cmp "$work/whole.model" "$work/rest.model" && cmp "$work/whole.results" "$work/rest.results" &&
        { [ -z "$1" ] || cmp "$work/whole.labels" "$work/labels"; }
}

# resumed BEFORE AFTER INPUT PROGRAM ARGUMENT...
resumed() {
    before=$1 after=$2 input=$3 program=$4
    shift 4
    rm -rf "$work/kept" "$work/model"
    run "$program" "$@" --epochs 4 --save "$work/model"
    whole=$(cat "$work/status")
    keep whole
    predicted "$input" "$apps/$program"
    [ -z "$input" ] || mv "$work/labels" "$work/whole.labels"
    ranks "$before" "$program" "$@" --epochs 2 --checkpoint "$work/kept"
    ranks "$after" "$program" --resume "$work/kept" --epochs 4 --workers 1 --quiet --json --save "$work/model"
    [ "$whole" -eq 0 ] && status_is 0 && keep rest && predicted "$input" mpirun -np "$after" "$apps/$program" &&
        same_files "$input" >>"$work/err" 2>&1
    ok $? "$program, $before ranks and then $after: as one process" "$work/err" "$work/whole.results" "$work/rest.results"
}

"$apps/cavs-pack" text "$data/mini-text.txt" "$work/text.cavs" --quiet &&
    "$apps/cavs-pack" text "$data/mini-text-dev.txt" "$work/text-dev.cavs" --quiet --like "$work/text.cavs"
ok $? "text is packed"

common="--hidden 8 --lr 0.02 --shards 4 --workers 1 --quiet --json"
embedded="$common --embed 8"
text="--train $data/mini-text.txt --dev $data/mini-text-dev.txt --batch 4 $embedded"
packed="--packed $work/text.cavs --packed-dev $work/text-dev.cavs --batch 4 $embedded"
words="--train $data/mini.conllu --dev $data/mini.conllu --batch 2 --min-count 1 $embedded"
made="--samples 24 --dev-samples 8 --length 5 --batch 8 $embedded"
graph="--data $data/mini-cora/mini.content $common"
shapes="--leaves 8 --samples 44 --batch 8 $common"
while IFS='|' read -r before after input program arguments; do
    # The arguments are split on purpose.
    # shellcheck disable=SC2086
    resumed "$before" "$after" "$input" "$program" $arguments
done <<END
1|2|$data/mini-cora/mini.content|gcn|$graph --optimizer adam --dropout 0.3
4|1||gcn|$graph --optimizer momentum --clip 0.5
2|4||tree_fc|$shapes --optimizer nesterov --lr-schedule exponential --warmup 3
3|2|$data/mini-text-dev.txt|var_lstm|$packed --optimizer rmsprop --dropout 0.3
2|4|$data/mini-text-dev.txt|fixed_lstm|$text --steps 4 --optimizer adagrad --weight-decay 0.01
4|1|$data/mini.conllu|dag_rnn|$words --cycles cut --optimizer adam --clip 1 --best accuracy
1|2|$data/mini.conllu|dep_tree_lstm|$words --optimizer sgd --lr-schedule step
3|2||dyn_seq2seq|$made --optimizer adam
END
printf '%s\n' "1..$count"
