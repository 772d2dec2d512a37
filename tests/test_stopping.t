#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs that end otherwise than planned: by a signal, for want of room on a disk, or with numbers that are none.

apps=${abs_top_builddir:-.}/apps
data=${abs_top_srcdir:-.}/tests/data
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/stopping.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

common="--workers 2 --shards 2 --quiet --json"
many="--leaves 8 --samples 1998 --batch 4 --hidden 8 --epochs 10 $common"

# wait_for FILE
wait_for() {
    tries=0
    while ! [ -e "$1" ] && [ $tries -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
}

# stopped SIGNAL FILE PROGRAM ARGUMENT...: runs the program, which gets the signal once the file is there.  The program is in
# the foreground: one in the background of a shell ignores SIGINT.
stopped() {
    signal=$1
    file=$2
    shift 2
    rm -f "$work/pid"
    (
        wait_for "$work/pid"
        wait_for "$file"
        kill "-$signal" "$(cat "$work/pid")"
    ) &
    program=$1
    shift
    # the inner shell is to expand these
    # shellcheck disable=SC2016
    sh -c 'echo $$ >"$1.new" && mv "$1.new" "$1"; shift; exec "$@"' sh "$work/pid" "$apps/$program" "$@" \
        >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    wait
}

# --- signals -----------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_fc $many --save "$work/whole"
for stop in TERM:143 INT:130 HUP:129; do
    rm -rf "$work/kept"
    signal=${stop%:*}
    status=${stop#*:}
    # shellcheck disable=SC2086
    stopped "$signal" "$work/kept/checkpoint.safetensors" tree_fc $many --checkpoint "$work/kept" --every 10
    status_is "$status" && said "stopped by SIG$signal" && said "go on with --resume $work/kept" && [ ! -s "$work/out" ]
    ok $? "SIG$signal: the batch is finished, a checkpoint written, the status is $status"
    run tree_fc --resume "$work/kept" --save "$work/resumed" --workers 2 --quiet --json
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1
    ok $? "SIG$signal: resumed, the parameters are those of a whole run"
done

stopped TERM "$work/most/checkpoint.safetensors" tree_fc --resume "$work/kept" --epochs 2147483647 --checkpoint "$work/most" \
    --workers 2 --quiet
status_is 143 && said "stopped by SIGTERM"
ok $? "a run is resumed with the most epochs that there can be"

# shellcheck disable=SC2086
stopped TERM "$work/log" tree_fc $many --epochs 100000 --log "$work/log"
status_is 143 && said "nothing was kept: --checkpoint DIR does"
ok $? "without --checkpoint it says that nothing was kept"

# The pipe brings nothing, and stays open for as long as the program runs.
mkfifo "$work/pipe"
rm -f "$work/status"
(
    exec 3>"$work/pipe"
    : >"$work/reading"
    wait_for "$work/status"
) &
stopped TERM "$work/reading" tree_lstm --train "$work/pipe" --quiet
status_is 143 && said "tree_lstm: stopped by SIGTERM, before the first batch"
ok $? "a signal ends a program that still reads its data"

# One sentence comes, and then nothing.
run tree_lstm --train "$data/mini.txt" --hidden 4 --embed 4 --epochs 1 --save "$work/trees" --workers 1 --quiet
echo '((this) ((comet) (glows)))' >"$work/tree"
"$apps/tree_lstm" --init "$work/trees" --predict "$work/tree" --quiet >"$work/labelled"
: >"$work/out"
rm -f "$work/status" "$work/reading"
(
    exec 3>"$work/pipe"
    cat "$work/tree" >&3
    printf '((this' >&3
    tries=0
    while ! [ -s "$work/out" ] && [ $tries -lt 600 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    : >"$work/reading"
    wait_for "$work/status"
) &
stopped TERM "$work/reading" tree_lstm --init "$work/trees" --predict "$work/pipe" --batch 1 --workers 2 --quiet
[ -s "$work/labelled" ] && status_is 143 && said "tree_lstm: stopped by SIGTERM" && cmp "$work/labelled" "$work/out" >>"$work/err" 2>&1
ok $? "a signal ends a program that waits for what to predict; what was predicted is there"

# Two batches of training, of which the first leaves a checkpoint, and then an evaluation that takes much longer. What is
# predicted of a set does not depend on when it is looked at, so the resumed run has the numbers of a whole one.
while read -r tree; do
    i=0
    while [ $i -lt 20000 ]; do
        echo "$tree"
        i=$((i + 1))
    done
done <"$data/mini-dev.txt" >"$work/dev.txt"
trees="tree_lstm --train $data/mini.txt --dev $work/dev.txt --batch 3 --hidden 4 --embed 4 --best accuracy_all $common"
numbers() {
    echo "$(field loss) $(field train_loss) $(field train_accuracy_all) $(field dev_loss) $(field best) $(field epochs)"
}
# shellcheck disable=SC2086
run $trees --epochs 2
whole=$(numbers)
rm -rf "$work/kept"
# shellcheck disable=SC2086
stopped TERM "$work/kept/checkpoint.safetensors" $trees --epochs 2 --checkpoint "$work/kept" --every 1
status_is 143 && said "stopped by SIGTERM after epoch 1; go on with --resume $work/kept" && [ ! -s "$work/out" ] &&
    ! grep -q '"dev_loss"' "$work/kept/checkpoint.safetensors"
ok $? "a signal during the evaluation of the development set ends it, and a checkpoint is written"
run tree_lstm --resume "$work/kept" --log "$work/log" --workers 2 --quiet --json
status_is 0 && [ "$(numbers)" = "$whole" ] && [ "$(grep -c '"dev_loss":[0-9]' "$work/log")" -eq 2 ]
ok $? "resumed, that evaluation is made anew: the numbers are those of a whole run"

# --- folders that cannot be taken ---------------------------------------------------------------------

mkdir "$work/locked"
(
    exec 9<"$work/locked"
    flock 9
    # shellcheck disable=SC2086
    run tree_fc --leaves 8 --samples 20 --batch 4 --hidden 8 --epochs 1 $common --checkpoint "$work/locked"
)
status_is 1 && said "--checkpoint $work/locked: another run is writing there" && [ -z "$(ls "$work/locked")" ]
ok $? "a folder belongs to one run at a time: another one leaves it alone"
# shellcheck disable=SC2086
run tree_fc --leaves 8 --samples 20 --batch 4 --hidden 8 --epochs 1 $common --checkpoint "$work/locked"
status_is 0 && [ -s "$work/locked/checkpoint.safetensors" ]
ok $? "and when that has ended, it can have it"

run tree_fc --resume "$work/locked/checkpoint.safetensors"
status_is 1 && said "it is a file, and the folder of --checkpoint is wanted"
ok $? "--resume FILE is told what is wanted"

# --- a disk without room -----------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_fc $many --epochs 2 --checkpoint "$work/none/kept"
status_is 1 && said "--checkpoint $work/none/kept: No such file"
ok $? "a folder for checkpoints that cannot be made is said at the start"

if [ -w /dev/full ]; then
    mkdir "$work/full"
    ln -s /dev/full "$work/full/checkpoint.safetensors"
    rm -rf "$work/part"
    # shellcheck disable=SC2086
    run tree_fc --leaves 8 --samples 20 --batch 4 --hidden 8 --epochs 1 $common --checkpoint "$work/part"
    run tree_fc --resume "$work/part" --epochs 3 --checkpoint "$work/full" --save "$work/saved" --workers 2 --json
    status_is 1 && said "no checkpoint: " && said "No space left" && said "it will be tried again" &&
        [ "$(field epochs)" -eq 3 ] && [ -s "$work/saved" ]
    ok $? "a checkpoint that cannot be written does not end the run, and shows in its status"
    run tree_fc --resume "$work/part" --epochs 3 --save /dev/full --workers 2 --json
    status_is 1 && said "cannot write /dev/full: No space left" && [ "$(field epochs)" -eq 3 ]
    ok $? "a model that cannot be written does not take the results with it"
else
    skip "a checkpoint that cannot be written" "no /dev/full here"
    skip "a model that cannot be written" "no /dev/full here"
fi

# --- numbers that are none ---------------------------------------------------------------------------

diverging="--hidden 16 --leaves 256 --tree sequence --variant cavs --epochs 3 --samples 8 --workers 2 --json"
rm -rf "$work/kept"
# shellcheck disable=SC2086
{
    run tree_fc $diverging --lr 1e-7 --epochs 1 --checkpoint "$work/kept" --save "$work/good"
    cp -r "$work/kept" "$work/before"
    run tree_fc --resume "$work/before" --checkpoint "$work/before" --epochs 2 --lr 1e6 --workers 2
    run tree_fc --resume "$work/kept" --checkpoint "$work/kept" --epochs 5 --lr 1e6 --save "$work/good" --workers 2 --json
}
status_is 3 && said "parameters became NaN or infinite" && [ "$(field loss)" = null ]
ok $? "parameters that are no numbers end the run with a status of their own"
for folder in before kept; do
    run tree_fc --init "$work/$folder/checkpoint.safetensors" --epochs 0 --save "$work/$folder.st" --workers 2 --quiet
done
status_is 0 && cmp "$work/before.st" "$work/kept.st" >>"$work/err" 2>&1
ok $? "the checkpoint is that of the epoch before"
run tree_fc --init "$work/good" --epochs 1 --lr 0 --leaves 256 --tree sequence --samples 8 --workers 2 --json
status_is 0 && [ "$(field loss)" != null ]
ok $? "and so does the model file"

# each update multiplies the parameters by 1 - 1e12
run tree_lstm --train "$data/mini.txt" --test "$data/mini-dev.txt" --hidden 4 --embed 4 --optimizer sgd --lr 1e6 \
    --weight-decay 1e6 --epochs 9 --workers 2 --quiet
status_is 3 && grep -q '^  test_loss  *not finite$' "$work/out" && grep -q '^  test_accuracy_all  *0$' "$work/out"
ok $? "where a model's numbers are none its loss is said to be, and no answer is right"

echo "1..$count"
