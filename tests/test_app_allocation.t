#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shellcheck disable=SC2086 # options are split on purpose
# Memory that runs out in the programs themselves: whichever allocation fails, a run ends with what an undisturbed
# one has, or with a message and status 1, and no file that it leaves is broken.
#
# Arguments: a program, and steps of it, which alone are tried then. With CAVS_TEST_LONG set, every n-th allocation
# fails; of those for JSON, which are many and alike, only if a step is named.

only=$1
[ $# -eq 0 ] || shift
steps="$*"
most_json=200
[ -z "$steps" ] || most_json=1000000

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/tests
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/memory.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

CAVS_DATA=/nonexistent
LC_ALL=C
: >"$work/out"
export CAVS_DATA LC_ALL
machine="--workers 1 --shards 1 --json --quiet"

# --- one run ----------------------------------------------------------------------------------------------------

# A run is the function $step, which is to write into the folder $to only, and nothing else there but that which it is
# judged by. $kept is the folder of the program's undisturbed runs.

# failing N: the run, with its N-th allocation failing; 0: none
failing() {
    rm -rf "$to"
    mkdir "$to"
    export FAILING_ALLOCATION="$1" ALLOCATIONS="$work/allocations"
    limit="timeout -k 5 60" $step
    unset FAILING_ALLOCATION ALLOCATIONS
}

# program ARGUMENT...
program() {
    # shellcheck disable=SC2154 # set by who calls a step
    $limit "$apps/failing-$name" "$@" >"$to/out" 2>"$work/err"
    echo $? >"$work/status"
}

# A report, log or checkpoint without times, memory in use, and what depends on those: lengths, a checksum, a compiler that
# takes its time on a busy machine.
essence() {
    tail -c +9 "$1" | tr -d ' \134' | sed -E 's/"epoch_seconds":\[[^]]*\]//g
        s/"compilingfusedgroups[^"]*",?//g
        s/^memory[0-9]+MB$//
        s/"([a-z_]*seconds|[a-z_]+_s|gflops|rss_mb|tensor_mb|cavs.checksum)":[^],}]*//g'
}

same_essence() {
    essence "$1" >"$work/one"
    essence "$2" | cmp -s - "$work/one"
}

# same FILE: it is the same in $to and where the undisturbed run left it
same() {
    [ -f "$to/$1" ] && [ -f "$kept/$step/$1" ] || return 1
    case $1 in
    *out | *log | *checkpoint.safetensors) same_essence "$to/$1" "$kept/$step/$1" ;;
    *) cmp -s "$to/$1" "$kept/$step/$1" ;;
    esac
}

# Each file that an undisturbed run leaves is there, and the same.
same_results() {
    for file in $(cd "$kept/$step" && find . -type f); do
        same "$file" || return 1
    done
}

# --- what is left of a run that failed --------------------------------------------------------------------------------

sound_model() {
    "$apps/failing-$name" $machine --init "$1" --epochs 0 --dev "$dev" >"$work/loaded" 2>&1
}

# A checkpoint brings the run to the same end.
sound_checkpoint() {
    "$apps/failing-$name" $machine --resume "$1" --epochs "$epochs" >"$work/loaded" 2>&1 &&
        same_essence "$work/loaded" "$kept/$step/out"
}

sound_pack() {
    "$apps/failing-$name" --verify "$1" >"$work/loaded" 2>&1
}

# Files under final names are those of an undisturbed run, or others that are as good.
sound_files() {
    for file in model checkpoint/best.safetensors checkpoint/checkpoint.safetensors packed; do
        [ -f "$to/$file" ] || continue
        same "$file" && continue
        case $file in
        *checkpoint.*) sound_checkpoint "$to/checkpoint" || return 1 ;;
        packed) sound_pack "$to/packed" || return 1 ;;
        *) sound_model "$to/$file" || return 1 ;;
        esac
    done
}

# --- all runs of a step -----------------------------------------------------------------------------------------------

# Says what is wrong with the run, if something is.
judge() {
    case $(cat "$work/status") in
    0) same_results || echo "ends with status 0, and its results are others" ;;
    1)
        if [ ! -s "$work/err" ]; then
            echo "fails without a message"
        elif ! sound_files; then
            echo "leaves a broken file: $(tail -n 1 "$work/loaded")"
        fi
        ;;
    *) echo "ends with status $(cat "$work/status")" ;;
    esac
}

undisturbed() {
    to=$kept/$step
    failing 0
    total=$(cat "$work/allocations")
    to=$work/run
    status_is 0 && [ "$total" -gt 10 ]
}

# every STRIDE: the allocations of a step fail, one a run
every() {
    wrong=0
    runs=0
    clean=0
    n=$((($1 + 1) / 2))
    while [ "$n" -le "$total" ]; do
        failing "$n"
        verdict=$(judge)
        runs=$((runs + 1))
        status_is 1 && clean=$((clean + 1))
        if [ -n "$verdict" ]; then
            wrong=$((wrong + 1))
            echo "# $name, $step, allocation $n: $verdict: $(tail -n 1 "$work/err")"
        fi
        n=$((n + $1))
    done
    [ "$wrong" -eq 0 ] && [ "$clean" -gt 0 ]
}

# allocations RUNS LONG-RUNS WHOSE: about so many runs, and so many of the longer test
allocations() {
    runs=$1
    [ -z "$CAVS_TEST_LONG" ] || runs=$2
    [ "$runs" -gt 0 ] || return
    undisturbed
    ok $? "$name, $step: the undisturbed run"
    every $((total / runs + 1))
    ok $? "$name, $step: $runs of $total allocations$3 fail, $clean of them with a message"
}

# step FUNCTION RUNS JSON-RUNS
step() {
    step=$1
    [ "${only:-$name}" = "$name" ] || return
    case " ${steps:-$step} " in
    *" $step "*) ;;
    *)
        undisturbed # for the steps that go on from here
        return
        ;;
    esac
    allocations "$2" 1000000 ""
    export FAILING_JSON=1
    allocations "$3" "$most_json" ", those for JSON among them,"
    unset FAILING_JSON
}

# --- programs -----------------------------------------------------------------------------------------------------------

train() {
    program $machine $small --train "$train" --dev "$dev" --epochs 1 --batch 3 --best "$best" --save "$to/model" \
        --checkpoint "$to/checkpoint" --every 1 --log "$to/log"
}

resume() {
    cp -r "$kept/train/checkpoint" "$to/checkpoint"
    program $machine --resume "$to/checkpoint" --checkpoint "$to/checkpoint" --epochs 2 --save "$to/model" \
        --log "$to/log"
}

predict() {
    program --workers 1 --shards 1 --quiet --init "$kept/train/model" --predict "$input" --output "$to/predicted"
}

predict_json() {
    program $machine --init "$kept/train/model" --predict "$input"
}

begin() {
    name=$1
    kept=$work/$name
    mkdir "$kept"
}

trains_and_predicts() {
    epochs=1
    step train 3 3
    epochs=2
    step resume 2 0
    step predict 2 0
    step predict_json 0 3
}

pack() {
    program "$form" "$train" "$to/packed"
}

pack_like() {
    program "$form" "$dev" "$to/packed" --like "$kept/pack/packed" --quiet
}

begin tree_lstm
train=$data/mini.txt dev=$data/mini-dev.txt input=$data/mini-dev.txt small="--hidden 4 --embed 4"
best=accuracy_all
trains_and_predicts

begin bilstm_char_tagger
train=$data/mini-tags.txt dev=$data/mini-tags-dev.txt input=$data/mini-tags-dev.txt
small="--hidden 4 --embed 4 --min-count 1"
best=accuracy
trains_and_predicts

begin parser
train=$data/mini.conllu dev=$data/mini.conllu input=$data/mini.conllu
small="--hidden 4 --embed 4 --min-count 1"
best=las
trains_and_predicts

begin cavs-pack
form=conllu
step pack 6 4
step pack_like 4 0

echo "1..$count"
