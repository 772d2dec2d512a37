#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs that start at the same time on an empty kernel cache compile the same kernels and put them in the same
# place: all of them end well, with equal results, and leave nothing but kernels there.  CAVS_TEST_LONG: more of
# them, several times.

apps=${abs_top_builddir:-.}/apps
data=${abs_top_srcdir:-.}/tests/data
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/racing.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

if [ -n "$CAVS_TEST_LONG" ]; then
    starts=8 rounds=6
else
    starts=3 rounds=1
fi

# start NUMBER: its results and status go to files of that number
start() {
    "$apps/tree_lstm" --train "$data/mini.txt" --batch 2 --hidden 8 --embed 8 --epochs 2 --workers 1 --shards 2 \
        --quiet --json >"$work/out.$1" 2>"$work/err.$1"
    echo $? >"$work/status.$1"
}

# results NUMBER: status and losses
results() {
    cat "$work/status.$1"
    grep -o '"epoch_loss":[^]]*' "$work/out.$1"
}

round=0
while [ $round -lt $rounds ]; do
    round=$((round + 1))
    CAVS_CACHE=$work/cache.$round
    export CAVS_CACHE
    i=0
    while [ $i -lt $starts ]; do
        i=$((i + 1))
        start $i &
    done
    wait
    cat "$work"/status.* | sort | uniq -c >"$work/status"
    cat "$work"/err.* >"$work/err"
    cat "$work"/out.* >"$work/out"
    same=0 i=0
    while [ $i -lt $starts ]; do
        i=$((i + 1))
        [ "$(results $i)" = "$(results 1)" ] || same=1
    done
    [ $same -eq 0 ] && [ "$(cat "$work/status.1")" = 0 ] && grep -q epoch_loss "$work/out.1"
    ok $? "$starts starts on an empty cache come to the same losses"
    # on a busy machine they say that compiling takes long
    ! grep -v 'takes more than' "$work/err" >/dev/null
    ok $? "none of them says that it could not compile"
    # what is left has the names that a single start leaves
    find "$CAVS_CACHE" -type f | sed 's|.*/||' | sort >"$work/raced"
    CAVS_CACHE=$work/alone.$round
    start alone
    find "$CAVS_CACHE" -type f | sed 's|.*/||' | sort >"$work/alone"
    [ -s "$work/raced" ] && [ "$(grep -c . "$work/raced")" -le $((starts * $(grep -c . "$work/alone"))) ] &&
        ! grep -q 'tmp' "$work/raced"
    ok $? "and nothing unfinished is left in the cache"
done
printf '%s\n' "1..$count"
