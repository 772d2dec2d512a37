#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --checkpoint, --every and --resume: a run that was stopped, or killed, comes to the very numbers of one that
# was not; and what does not fit is refused.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/resume.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

common="--workers 2 --shards 2 --quiet --json"
trees="--train $data/mini.txt --dev $data/mini-dev.txt --batch 2 --hidden 8 --embed 8 $common"
tags="--train $data/mini-tags.txt --dev $data/mini-tags-dev.txt --batch 3 --hidden 6 --embed 6 --min-count 2 $common"
shapes="--leaves 8 --samples 44 --batch 4 --hidden 8 $common"
many="--leaves 8 --samples 1998 --batch 4 --hidden 8 $common --epochs 3"

# same_as_before FILE: the results that were put there, but for what was measured
same_as_before() {
    for name in epochs samples vertices batches tasks loss flops dev_accuracy_root dev_accuracy; do
        now=$(field "$name")
        before=$(tail -n 1 "$1" | sed -n "s/.*\"$name\":\([^],}]*\).*/\1/p")
        [ "$now" = "$before" ] || return 1
    done
    [ -n "$(field loss)" ] || return 1
    [ "$(grep -o '"epoch_loss":[^]]*' "$work/out")" = "$(grep -o '"epoch_loss":[^]]*' "$1")" ]
}

# --- stopped after an epoch --------------------------------------------------------------------------

while IFS='|' read -r program arguments; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    {
        rm -rf "$work/kept"
        run "$program" $arguments --epochs 4 --save "$work/whole"
        cp "$work/out" "$work/whole.out"
        run "$program" $arguments --epochs 2 --checkpoint "$work/kept"
        [ "$(ls "$work/kept")" = checkpoint.safetensors ]
        ok $? "$program: a checkpoint is one file"
        run "$program" $arguments --epochs 4 --resume "$work/kept" --save "$work/resumed"
    }
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1
    ok $? "$program: resumed after an epoch, the parameters are the same"
    same_as_before "$work/whole.out"
    ok $? "$program: and so are the results"
done <<END
tree_lstm|$trees --optimizer adam
tree_lstm|$trees --optimizer momentum --cell childsum --clip 0.5
bilstm_char_tagger|$tags --dropout 0.3
tree_fc|$shapes --optimizer adagrad
END

# What was measured is in a checkpoint, too: a run that has nothing left to train says what the one before said.
# shellcheck disable=SC2086
run tree_fc $shapes --epochs 4 --checkpoint "$work/measured"
cp "$work/out" "$work/before.out"
# shellcheck disable=SC2086
run tree_fc $shapes --epochs 4 --resume "$work/measured"
for name in seconds evaluated batching_tasks schedule_s arrange_s lay_out_s submit_s wait_s; do
    [ -n "$(field $name)" ] &&
        [ "$(field $name)" = "$(sed -n "s/.*\"$name\":\([^],}]*\).*/\1/p" "$work/before.out")" ] ||
        echo "$name"
done >"$work/differ"
[ ! -s "$work/differ" ]
ok $? "tree_fc: statistics go on where a resumed run goes on" "$work/differ" "$work/err"

# --- killed within an epoch --------------------------------------------------------------------------

# killed PROGRAM ARGUMENT...: killed for good once it has kept something
killed() {
    program=$1
    shift
    rm -rf "$work/kept"
    "$apps/$program" "$@" --checkpoint "$work/kept" --every 2 >"$work/out" 2>"$work/err" &
    child=$!
    tries=0
    while ! [ -e "$work/kept/checkpoint.safetensors" ] && [ $tries -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -9 $child 2>/dev/null
    wait $child 2>/dev/null
    echo $? >"$work/status"
}

# shellcheck disable=SC2086
{
    run tree_fc $many --save "$work/whole"
    cp "$work/out" "$work/whole.out"
    killed tree_fc $many
    status_is 137
    ok $? "tree_fc: killed on the way"
    grep -aq 'done\\":[1-9]' "$work/kept/checkpoint.safetensors"
    ok $? "tree_fc: within an epoch"
    run tree_fc $many --resume "$work/kept" --checkpoint "$work/kept" --every 150 --save "$work/resumed"
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1
    ok $? "tree_fc: killed and resumed, the parameters are the same"
    same_as_before "$work/whole.out"
    ok $? "tree_fc: and so are the results"
    run tree_fc $many --resume "$work/kept" --save "$work/resumed"
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1
    ok $? "tree_fc: resumed where there is nothing left to do"
}

# --- keeping changes nothing -------------------------------------------------------------------------

# shellcheck disable=SC2086
{
    run tree_lstm $trees --epochs 1
    cp "$work/out" "$work/whole.out"
    rm -rf "$work/kept"
    run tree_lstm $trees --epochs 1 --checkpoint "$work/kept" --every 2
}
status_is 0 && same_as_before "$work/whole.out"
ok $? "tree_lstm: keeping something every two batches changes no result"

# --- recorded programs: the same blocks --------------------------------------------------------------

# words that are spelt and words that are looked up, in one loop
spelt="--train $data/mini-tags.txt --batch 1 --hidden 6 --embed 6 --min-count 2 --seed 5 --lr 0.01 --shards 1 --workers 2 --quiet"
# shellcheck disable=SC2086
{
    rm -rf "$work/spelt"
    run dyn_char_tagger $spelt --epochs 10 --save "$work/whole.st"
    run dyn_char_tagger $spelt --epochs 8 --checkpoint "$work/spelt"
    run dyn_char_tagger $spelt --epochs 10 --resume "$work/spelt" --save "$work/resumed.st"
}
status_is 0 && cmp "$work/whole.st" "$work/resumed.st" >>"$work/err" 2>&1
ok $? "dyn_char_tagger: stopped after eight epochs and resumed, the parameters are the same"

# What is looked at, and how, is recorded on the tape as well: it has a part in when there are blocks.
alone="--batch 1 --hidden 6 --embed 6 --lr 0.02 --shards 1 --workers 2 --quiet"
while IFS='|' read -r program option arguments; do
    # shellcheck disable=SC2086
    {
        rm -rf "$work/looking"
        run "$program" $arguments $alone --$option --epochs 6 --save "$work/whole.look"
        run "$program" $arguments $alone --$option --epochs 2 --checkpoint "$work/looking"
        run "$program" --resume "$work/looking" --epochs 6 --quiet --save "$work/resumed.look"
    }
    status_is 0 && cmp "$work/whole.look" "$work/resumed.look" >>"$work/err" 2>&1
    ok $? "$program: resumed without --$option, which the checkpoint has, the parameters are the same"
done <<END
dyn_parser|side-by-side 1|--train $data/mini.conllu --dev $data/mini.conllu --min-count 1 --mlp 6
dyn_tree_lstm|check-finite|--train $data/mini.txt
END
run dyn_seq2seq --samples 4 --dev-samples 2 --length 3 --hidden 6 --embed 6 --epochs 1 --beam 3 --decode 1 --checkpoint "$work/beam" --quiet
grep -aq 'beam\\":3' "$work/beam/checkpoint.safetensors"
ok $? "dyn_seq2seq: a checkpoint has the --beam by which answers were searched for"
pairs="--train $data/mini.txt --dev $data/mini.txt --batch 2 --hidden 6 --embed 6 --lr 0.02 --shards 2 --workers 2 --quiet"
# shellcheck disable=SC2086
{
    run dyn_tree_lstm $pairs --epochs 6 --save "$work/whole.look"
    run dyn_tree_lstm $pairs --epochs 6 --save "$work/explained.look" --explain
}
status_is 0 && grep -q '^tape: ' "$work/out" && cmp "$work/whole.look" "$work/explained.look" >>"$work/err" 2>&1
ok $? "dyn_tree_lstm: --explain changes nothing"

# --- another development set ------------------------------------------------------------------------------

# shellcheck disable=SC2086
{
    run tree_lstm $trees --epochs 2 --checkpoint "$work/without" --dev "$data/mini.txt"
    run tree_lstm --init "$work/without/checkpoint.safetensors" --epochs 0 --dev "$data/mini-dev.txt" $common
    before=$(field dev_loss)
    run tree_lstm --resume "$work/without" --dev "$data/mini-dev.txt" $common
}
status_is 0 && [ -n "$before" ] && [ "$(field dev_loss)" = "$before" ]
ok $? "tree_lstm: resumed where nothing is left to train, another development set is evaluated"
# shellcheck disable=SC2086
run tree_lstm $trees --best loss --checkpoint "$work/looked"
status_is 0
ok $? "tree_lstm: the best epoch by a development set"

# as many trees and vertices, but for one label
sed '1s/([0-9]/(0/' "$data/mini.txt" >"$work/other.txt"

# --- what does not fit -------------------------------------------------------------------------------

while IFS='|' read -r status program arguments message; do
    # shellcheck disable=SC2086
    run "$program" $arguments
    status_is "$status" && said "$message"
    ok $? "$program: $message"
done <<END
2|tree_lstm|$trees --every 3|--every wants --checkpoint DIR
2|tree_lstm|$trees --lr-step 2|--lr-step wants --lr-schedule step
2|tree_lstm|$trees --lr-schedule cosine --lr-step 2|--lr-step wants --lr-schedule step
2|tree_lstm|$trees --lr-factor 0.1|--lr-factor wants --lr-schedule
1|tree_lstm|--resume $work/looked --dev $data/mini.txt|the run looked for its --best loss on another development set
1|tree_lstm|--resume $work/looked --dev $data/mini.txt|--init $work/looked/checkpoint.safetensors takes its parameters
2|tree_lstm|$trees --resume $work/kept --best loss|--best: $work/kept/checkpoint.safetensors was made without it
2|tree_lstm|$trees --infer --best loss|--best and --patience are for training
2|tree_lstm|$trees --epochs 0 --checkpoint $work/new|--checkpoint, --best and --patience are for training
2|tree_lstm|$trees --checkpoint $work/both --trace $work/both|--trace $work/both: the folder of --checkpoint
2|tree_lstm|$trees --checkpoint $work/new --save $work/new/checkpoint.safetensors|the file of --checkpoint $work/new, too
2|tree_lstm|$trees --checkpoint $work/kept/. --log $work/kept/checkpoint.safetensors|the file of --checkpoint $work/kept/., too
2|tree_lstm|$trees --resume $work/kept --save $work/kept/checkpoint.safetensors|the file of --resume $work/kept, too
2|tree_lstm|$trees --resume $work/kept --trace $work/kept/.|--trace $work/kept/.: the folder of --resume
2|tree_lstm|$trees --infer --resume $work/kept|--checkpoint and --resume are for training
2|tree_lstm|$trees --init $work/whole --resume $work/kept|leave --init, --partial and --vectors out
1|tree_lstm|$trees --checkpoint $work/kept|go on from it with --resume
1|tree_lstm|--resume $work/kept --checkpoint $work/measured|$work/measured/checkpoint.safetensors is there already
1|tree_lstm|$trees --checkpoint $work/whole|--checkpoint $work/whole: it is a file, a folder is wanted
1|tree_lstm|$trees --resume $work/nothing|$work/nothing/checkpoint.safetensors: No such file
2|tree_lstm|$trees --resume $work/kept --batch 3|--batch 3: $work/kept/checkpoint.safetensors was made with 2
2|tree_lstm|$trees --resume $work/kept --seed 3|--seed 3: $work/kept/checkpoint.safetensors was made with 0
2|tree_lstm|$trees --resume $work/kept --clip 2|--clip 2: $work/kept/checkpoint.safetensors was made with 0
2|tree_lstm|$trees --resume $work/kept --weight-decay 0.1|--weight-decay 0.1: $work/kept/checkpoint.safetensors was made with 0
1|tree_lstm|$trees --resume $work/kept --train $work/other.txt|the run had another training set
1|tree_lstm|$trees --resume $work/kept --train $work/other.txt|--init $work/kept/checkpoint.safetensors takes its parameters
2|tree_lstm|$trees --resume $work/kept --epochs 0|samples of the next one are done, beyond --epochs 0: give 
2|tree_lstm|$trees --resume $work/kept --optimizer sgd|--optimizer sgd: $work/kept/checkpoint.safetensors was made with adam
2|tree_lstm|$trees --resume $work/kept --hidden 9|--hidden 9: $work/kept/checkpoint.safetensors was made with 8
1|tree_fc|$shapes --resume $work/kept|in
END
printf '%s\n' "1..$count"
