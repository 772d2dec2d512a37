#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# CAVS_COST takes the place of what is measured when a program starts: tasks are cut by it, and results
# stay as they are.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:?}/tests/tap.sh"

# train COST: with that given, to $work/out
train() {
    CAVS_COST=$1 "${abs_top_builddir:?}/apps/tree_fc" --leaves 32 --hidden 32 --samples 32 --batch 16 --epochs 2 \
        --shards 4 --workers 2 --explain --json >"$work/out" 2>"$work/err"
    status=$?
}

# number NAME: of the JSON
number() { sed -n 's/.*"'"$1"'": *\([-0-9.e]*\).*/\1/p' "$work/out" | tail -n 1; }

train "1 100 100 100 100"
ok $status "a cost that is given is taken"
loss=$(number loss) tasks=$(number tasks)

cat "$work/out" "$work/err" | grep -q "given by CAVS_COST: a task costs 1.0 us; .* 100 100 100 100 GFLOP/s"
ok $? "and --explain says so"

train "50 100 100 100 100"
[ $status -eq 0 ] && [ "$(number tasks)" -lt "$tasks" ]
ok $? "where a task costs more there are fewer ($tasks tasks before)"

[ -n "$loss" ] && [ "$(number loss)" = "$loss" ]
ok $? "and the loss is the same"

train "nonsense"
[ $status -eq 0 ] && cat "$work/out" "$work/err" | grep -q "measured: a task costs"
ok $? "what is no cost is measured"

grep -q "^tree_fc: note: CAVS_COST=nonsense is not five numbers" "$work/err"
ok $? "and it is said" "$work/err"

echo "1..$count"
