#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Samples and batches of sizes that nobody has: trees of one long branch, one tree of a million vertices, all
# samples in one batch.  They end, in the memory that they should take, with the numbers that they should have.
# CAVS_TEST_LONG: the full sizes.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/large.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

if [ -n "$CAVS_TEST_LONG" ]; then
    depth=200000 leaves=524288 samples=100000
else
    depth=4000 leaves=16384 samples=10000
fi
common="--epochs 1 --workers 2 --shards 2 --quiet --json"

# --- deep ----------------------------------------------------------------------------------------------

# (1 (1 (1 ... word)))
awk -v depth="$depth" 'BEGIN {
    for (i = 0; i < depth; i++) printf "%s(1", i ? " " : ""
    printf " word"
    for (i = 0; i < depth; i++) printf ")"
    print ""
}' >"$work/deep.txt"

for policy in $(policies); do
    # the options are split on purpose
    # shellcheck disable=SC2086
    run tree_lstm --train "$work/deep.txt" --cell childsum --hidden 2 --embed 2 --policy $policy $common
    loss=$(field loss)
    status_is 0 && [ "$(field vertices)" = "$depth" ] && holds "${loss:-0} > 1 && $loss < 2"
    ok $? "tree_lstm --policy $policy: a tree of one branch of $depth vertices"
    [ -z "$first" ] && first=$loss
    # the same mean of the same logarithms
    holds "${loss:-0} - ${first:-1} < 1e-6 && ${first:-1} - ${loss:-0} < 1e-6"
    ok $? "tree_lstm --policy $policy: with the same loss"
done

# --- wide ----------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_fc --leaves $leaves --samples 1 --hidden 4 $common
status_is 0 && [ "$(field vertices)" = $((2 * leaves - 1)) ] && [ -n "$(field loss)" ]
ok $? "tree_fc: one tree of $((2 * leaves - 1)) vertices"

# --- many ----------------------------------------------------------------------------------------------

# 4 GiB of addresses, threads' stacks and libraries included; sanitizers want terabytes of them
if grep -q '^#define CAVS_SANITIZER' "${abs_top_builddir:-.}/config.h"; then
    skip "tree_fc: a batch of $samples samples in 4 GiB" "sanitizers"
else
    # shellcheck disable=SC2086,SC3045
    (
        ulimit -v 4194304
        run tree_fc --leaves 8 --samples $samples --batch $samples --hidden 4 $common
    )
    status_is 0 && [ "$(field vertices)" = $((15 * samples)) ] && [ "$(field batches)" = 1 ]
    ok $? "tree_fc: a batch of $samples samples in 4 GiB"
fi
printf '%s\n' "1..$count"
