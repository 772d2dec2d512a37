#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs on graphs, from outside: their options, what they say to wrong input, and their results.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/graph.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

mini="--data $data/mini-cora/mini.content --workers 2 --json --quiet"

CAVS_DATA=/nonexistent run gcn --help
status_is 0 && grep -q '^Usage: ' "$work/out" && grep -q -- '--rounds' "$work/out"
ok $? "gcn --help needs no data"

run gcn --rounds 0
status_is 2 && said "--rounds wants a whole number from 1 to 32, not '0'"
ok $? "gcn --rounds 0 is a mistake"

CAVS_DATA=/nonexistent run gcn --epochs 1
status_is 1 && said "no data set at /nonexistent/cora/cora.content (from CAVS_DATA)"
ok $? "a missing graph: where it was looked for"

run gcn --data "$data/mini-cora/mini.cites"
status_is 1 && said "mini.cites does not end in .content"
ok $? "nodes are in a file that ends in .content"

# arguments are split on purpose
# shellcheck disable=SC2086
run gcn $mini --epochs 60 --hidden 8 --lr 0.05
status_is 0 && holds "$(field nodes) == 40 && $(field citations) == 60 && $(field vertices) == 60 * 120" &&
    holds "$(field loss) < 0.4 && $(field val_accuracy) >= 0.9 && $(field test_accuracy) >= 0.85"
ok $? "gcn learns what neighbours have in common"

# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --rounds 3 --dropout 0 --no-lazy --no-eager --no-fusion
first=$(field loss)
# shellcheck disable=SC2086
run gcn $mini --epochs 5 --hidden 8 --rounds 3 --dropout 0
status_is 0 && holds "$first - $(field loss) < 1e-4 && $(field loss) - $first < 1e-4"
ok $? "three rounds, with and without the optimisations: the same loss"

if [ -r "${CAVS_DATA:-../shared/data}/cora/cora.content" ]; then
    run gcn --epochs 40 --lr 0.05 --workers 2 --json --quiet
    status_is 0 && holds "$(field nodes) == 2708 && $(field citations) == 5429 && $(field test_accuracy) >= 0.79"
    ok $? "Cora: test accuracy of 0.79 and more after 40 epochs"
else
    skip "Cora: test accuracy" "no data set at ${CAVS_DATA:-../shared/data}/cora"
fi

echo "1..$count"
