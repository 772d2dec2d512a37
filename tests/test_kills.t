#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs that are killed (kill -9) again and again, at any moment, and resumed from what they kept: in the end
# their parameters are those of a run that was left alone, to the last bit.  The same moments every time, as far
# as the machine allows.  CAVS_TEST_LONG: more programs and many more kills, half of them in a run that does
# little but write checkpoints.

apps=${abs_top_builddir:-.}/apps
data=${abs_top_srcdir:-.}/tests/data
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/kills.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

seed=1
# sleep_up_to MILLISECONDS: a random time
sleep_up_to() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    sleep "$(awk -v r=$((seed / 65536)) -v most="$1" 'BEGIN { printf "%.3f", r / 32768 * most / 1000 }')"
}

milliseconds() {
    date +%s%3N
}

# go_on PROGRAM ARGUMENT...: from what was kept, if anything was
go_on() {
    program=$1
    shift
    if [ -e "$work/kept/checkpoint.safetensors" ]; then
        set -- "$@" --resume "$work/kept"
    fi
    exec "$apps/$program" "$@" --checkpoint "$work/kept" --every "$every" >"$work/out" 2>"$work/err"
}

# Until something is kept, or the child has ended, or a minute is over.
wait_for_checkpoint() {
    waited=0
    while ! [ -e "$work/kept/checkpoint.safetensors" ] && kill -0 $child 2>/dev/null && [ $waited -lt 1200 ]; do
        sleep 0.05
        waited=$((waited + 1))
    done
}

# kill_once PROGRAM ARGUMENT...: 0 if it was still running.  One time in two at any moment, else while there is
# something to lose.
kill_once() {
    (go_on "$@") &
    child=$!
    if [ $((tries % 2)) -eq 1 ]; then
        wait_for_checkpoint
        sleep_up_to $((whole_ms / 3))
    else
        sleep_up_to "$whole_ms"
    fi
    kill -9 $child 2>/dev/null
    wait $child 2>/dev/null
    echo $? >"$work/status"
    status_is 137
}

# killed KILLS PROGRAM ARGUMENT...
killed() {
    kills=$1 hits=0 kept=0
    shift
    rm -rf "$work/kept"
    begun=$(milliseconds)
    run "$@" --save "$work/whole"
    whole_ms=$(($(milliseconds) - begun))
    status_is 0
    ok $? "$1: a run that is left alone"
    tries=0
    while [ $hits -lt "$kills" ] && [ $tries -lt $((3 * kills)) ]; do
        tries=$((tries + 1))
        # a run that came to its end starts again
        if kill_once "$@"; then
            hits=$((hits + 1))
        elif status_is 0; then
            rm -rf "$work/kept"
        else
            break
        fi
        [ -e "$work/kept/checkpoint.safetensors" ] && kept=$((kept + 1))
    done
    [ $hits -eq "$kills" ] && [ $kept -gt 0 ]
    ok $? "$1: killed $hits times, something was kept $kept times"
    (go_on "$@" --save "$work/resumed")
    echo $? >"$work/status"
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1
    ok $? "$1: resumed in the end, the parameters are the same"
}

common="--workers 2 --shards 2 --quiet --json"
trees="--train $data/mini.txt --batch 2 --hidden 8 --embed 8 $common"
tags="--train $data/mini-tags.txt --batch 3 --hidden 6 --embed 6 --min-count 2 $common"
text="--train $data/mini-text.txt --batch 4 --hidden 8 --embed 8 $common"
words="--train $data/mini.conllu --batch 2 --hidden 8 --embed 8 --min-count 1 $common"
shapes="--leaves 8 --samples 80 --batch 4 --hidden 8 $common"
# a megabyte of parameters and as much again for the optimizer, written after every batch
heavy="--leaves 2 --samples 60 --batch 4 --hidden 350 --optimizer momentum $common"

if [ -z "$CAVS_TEST_LONG" ]; then
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    {
        every=2 && killed 2 tree_fc $shapes --epochs 60 --optimizer adam
        every=1 && killed 2 tree_fc $heavy --epochs 1
    }
    printf '%s\n' "1..$count"
    exit
fi

while IFS='|' read -r kills every program arguments; do
    # shellcheck disable=SC2086
    killed "$kills" "$program" $arguments </dev/null
done <<END
20|2|tree_fc|$shapes --epochs 60 --optimizer adam
30|1|tree_fc|$heavy --epochs 4
20|1|tree_lstm|$trees --epochs 60 --optimizer adagrad
20|1|bilstm_char_tagger|$tags --epochs 40 --dropout 0.3
20|1|var_lstm|$text --epochs 40 --optimizer rmsprop
20|1|dep_tree_lstm|$words --epochs 60
END
printf '%s\n' "1..$count"
