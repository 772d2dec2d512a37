#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What a training does beyond its epochs: the best model, an early end, learning rates, the log.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/best.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

common="--train $data/mini.txt --dev $data/mini-dev.txt --test $data/mini-dev.txt --workers 2 --shards 2 --quiet --json"
small="$common --hidden 8 --embed 8 --batch 2 --lr 0.1 --optimizer adam"

# epochs NAME: the numbers of that name in the history
epochs() {
    tail -n 1 "$work/out" | sed 's/.*"history":\[//; s/\].*//' | tr '{' '\n' | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"
}

# --- the best ----------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_lstm $small --epochs 12 --best accuracy_all --save "$work/best"
largest=$(epochs dev_accuracy_all | sort -gr | head -n 1)
best=$(field best_epoch)
loss=$(epochs dev_loss | sed -n "${best}p")
status_is 0 && [ "$(epochs dev_loss | wc -l)" -eq 12 ] && [ "$(field best)" = "$largest" ] && [ "$best" -lt 11 ] &&
    [ "$(epochs dev_accuracy_all | grep -nxF "$largest" | head -n 1)" = "$best:$largest" ]
ok $? "--best accuracy_all: the first epoch with the largest of all"
holds "($(field test_loss) - $loss) ^ 2 < 1e-12"
ok $? "the test set is evaluated with that model"

# shellcheck disable=SC2086
run tree_lstm --init "$work/best" --epochs 0 --dev "$data/mini-dev.txt" --workers 2 --shards 2 --quiet --json
holds "($(field dev_loss) - $loss) ^ 2 < 1e-12"
ok $? "and it is what --save has"

# shellcheck disable=SC2086
run tree_lstm $small --epochs 12 --best loss
smallest=$(epochs dev_loss | sort -g | head -n 1)
holds "$(field best) == $smallest"
ok $? "of losses the smallest is the best"

# shellcheck disable=SC2086
run tree_lstm $small --epochs 12 --best accuracy_all --patience 3
status_is 0 && [ "$(field epochs)" -eq $((best + 3)) ] && [ "$(field best_epoch)" -eq "$best" ]
ok $? "--patience 3 ends two epochs after the best"

# shellcheck disable=SC2086
{
    run tree_lstm $small --epochs 12 --best accuracy_all --patience 3 --checkpoint "$work/kept" --save "$work/whole"
    cp "$work/out" "$work/whole.out"
    run tree_lstm $small --epochs $((best + 1)) --best accuracy_all --patience 3 --checkpoint "$work/part"
    run tree_lstm --resume "$work/part" --epochs 12 --save "$work/resumed" --workers 2 --quiet --json
}
status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1 && [ "$(field best_epoch)" -eq "$best" ]
ok $? "a resumed run finds the same model, with no option but --resume"
epochs dev_loss >"$work/resumed.losses"
cp "$work/whole.out" "$work/out"
epochs dev_loss >"$work/whole.losses"
[ "$(wc -l <"$work/whole.losses")" -gt "$best" ] && cmp -s "$work/whole.losses" "$work/resumed.losses"
ok $? "and has the same history"

run tree_lstm --resume "$work/kept" --workers 2 --quiet --json
status_is 0 && [ "$(field epochs)" -eq $((best + 3)) ] && holds "($(field test_loss) - $loss) ^ 2 < 1e-12"
ok $? "resumed after its end, nothing is trained and the best model counts"

run tree_lstm --resume "$work/part" --epochs $((best + 2)) --checkpoint "$work/elsewhere" --workers 2 --quiet --json
run tree_lstm --resume "$work/elsewhere" --epochs 12 --save "$work/resumed" --workers 2 --quiet --json
status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1 && [ "$(field best_epoch)" -eq "$best" ]
ok $? "a run that goes on with checkpoints in another folder has the best model there"

# shellcheck disable=SC2086
run tree_lstm $small --hidden 4 --epochs 0 --save "$work/elsewhere/best.safetensors"
run tree_lstm --resume "$work/elsewhere" --epochs 12 --workers 2 --quiet --json
status_is 1 && said "$work/elsewhere/best.safetensors: not a model of this run"
ok $? "a model of another run in its place is refused"

if [ -w /dev/full ]; then
    mkdir "$work/full"
    ln -s /dev/full "$work/full/best.safetensors"
    # shellcheck disable=SC2086
    run tree_lstm $small --epochs 2 --best loss --checkpoint "$work/full"
    status_is 1 && said "no checkpoint: cannot write $work/full/best.safetensors" &&
        [ ! -e "$work/full/checkpoint.safetensors" ]
    ok $? "no checkpoint tells of a best model that could not be written"
else
    skip "a best model that cannot be written" "no /dev/full here"
fi

# shellcheck disable=SC2086
run tree_lstm $small --best f1
status_is 2 && said "--best wants one of loss, accuracy_all, accuracy_root, not 'f1'"
ok $? "--best of something that is not measured"

run tree_fc --best loss
status_is 2 && said "--best: nothing is measured here on a development set"
ok $? "--best of a program that has no development set"

run tree_lstm --train "$data/mini.txt" --hidden 8 --embed 8 --epochs 4 --best accuracy_all --patience 2 --quiet
status_is 2 && said "--best accuracy_all is looked for on a development set, and there is none"
ok $? "--best without a development set"
"$apps/cavs-pack" brackets "$data/mini.txt" "$work/best.cavs" --quiet
run tree_lstm --packed "$work/best.cavs" --hidden 8 --embed 8 --best accuracy_all --quiet
status_is 2 && said "and there is none: --packed-dev names one"
ok $? "or of packed data, whose option is another"

# shellcheck disable=SC2086
run tree_lstm $small --patience 3
status_is 2 && said "--patience wants --best NAME"
ok $? "--patience without --best"

# --- learning rates ----------------------------------------------------------------------------------

# rates EXPECTED...: the rates at the end of each epoch
rates() {
    for want; do
        i=$((i + 1))
        epochs lr | sed -n "${i}p" | awk "{ exit !((\$1 - $want) ^ 2 < 1e-12) }" || return 1
    done
}

while IFS='|' read -r name arguments want; do
    # shellcheck disable=SC2086
    run tree_lstm $small --epochs 4 --lr-schedule $arguments
    i=0
    # shellcheck disable=SC2086
    status_is 0 && rates $want
    ok $? "learning rate: $name"
done <<'END'
constant|constant|0.1 0.1 0.1 0.1
halved every two epochs|step --lr-step 2|0.1 0.05 0.05 0.025
a factor an epoch|exponential --lr-factor 0.1|0.01 0.001 0.0001 0.00001
cosine to a tenth|cosine --lr-factor 0.1|0.0868198 0.055 0.0231802 0.01
warm-up of six batches|constant --warmup 6|0.0666667 0.1 0.1 0.1
END

# shellcheck disable=SC2086
run tree_lstm $small --epochs 1 --lr 0.00123456 --clip 0.7 --lr-schedule step --lr-step 9 --lr-factor 0.3 \
    --checkpoint "$work/spelled"
cp "$work/out" "$work/results"
run tree_lstm --resume "$work/spelled" --clip 0.1
grep -q '"lr":0.00123456[,}]' "$work/results" && grep -qF 'clip\":\"0.7\"' "$work/spelled/checkpoint.safetensors" &&
    grep -qF 'lr-factor\":\"0.3\"' "$work/spelled/checkpoint.safetensors" && said "--clip 0.1: " && said "was made with 0.7;"
ok $? "numbers of the command line are spelled with the digits that they were given with"

# shellcheck disable=SC2086
{
    run tree_lstm $small --epochs 4 --lr-schedule cosine --warmup 5 --save "$work/whole"
    rm -rf "$work/kept"
    run tree_lstm $small --epochs 2 --lr-schedule cosine --warmup 5 --checkpoint "$work/kept" --every 1
    run tree_lstm --resume "$work/kept" --lr-schedule step
}
status_is 2 && said "--lr-schedule step: $work/kept/checkpoint.safetensors was made with cosine"
ok $? "a resumed run keeps its schedule"

# --- the log -----------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_lstm $small --epochs 3 --log "$work/log"
[ "$(wc -l <"$work/log")" -eq 3 ] && [ "$(sed -n 's/.*"dev_loss":\([^,}]*\).*/\1/p' "$work/log")" = "$(epochs dev_loss)" ] &&
    grep -q '"epoch":3,"seconds":' "$work/log"
ok $? "--log has a line with all numbers for each epoch"

# shellcheck disable=SC2086
run tree_lstm $small --epochs 0 --log "$work/log" --save "$work/untrained"
status_is 0 && said "note: $work/log is empty: --log has a line for each epoch, and there was none" &&
    [ -f "$work/log" ] && [ ! -s "$work/log" ]
ok $? "without epochs it is empty, whatever was there before"
run tree_lstm --init "$work/untrained" --epochs 0 --log "$work/new-log"
status_is 0 && said "note: $work/new-log is empty" && [ -f "$work/new-log" ] && [ ! -s "$work/new-log" ]
ok $? "so it is where nothing is trained"

# shellcheck disable=SC2086
{
    rm -rf "$work/kept"
    run tree_lstm $small --epochs 2 --checkpoint "$work/kept" --log "$work/log"
    run tree_lstm --resume "$work/kept" --epochs 4 --log "$work/log" --checkpoint "$work/kept" --workers 2 --quiet --json
}
[ "$(sed -n 's/.*"epoch":\([^,}]*\).*/\1/p' "$work/log" | tr '\n' ' ')" = "1 2 3 4 " ]
ok $? "a resumed run has them all"

# a run holds the log: another one leaves it alone
# shellcheck disable=SC2086
(
    exec 9<"$work/log"
    flock 9
    run tree_lstm $small --epochs 1 --log "$work/log"
)
status_is 1 && said "--log $work/log: another run is writing there" && [ "$(wc -l <"$work/log")" -eq 4 ]
ok $? "a log belongs to one run at a time"

# limited ARGUMENT...: half a kilobyte is the most that a file may have, in the place of a full disk
limited() {
    (ulimit -f 1 && CAVS_FUSION=interpret run tree_lstm "$@" --log "$work/logs/log")
}
mkdir "$work/logs" && cp "$work/log" "$work/logs/log"
limited --resume "$work/kept" --epochs 5 --workers 2 --quiet
status_is 1 && said "--log $work/logs/log: cannot write $work/logs/log: File too large; nothing more goes there" &&
    cmp "$work/log" "$work/logs/log" >>"$work/err" 2>&1 && [ "$(ls -A "$work/logs")" = log ]
ok $? "without room for its first lines the old log stays"
# shellcheck disable=SC2086
limited $small --epochs 4
status_is 1 && said "--log $work/logs/log: File too large; nothing more goes there" &&
    [ "$(grep -c '"epoch":1,' "$work/logs/log")" -eq 1 ] && ! grep -q '"epoch":4,' "$work/logs/log"
ok $? "what cannot be added to it later is said"

echo "1..$count"
