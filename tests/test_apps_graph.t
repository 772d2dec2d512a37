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

# --- dependency trees ------------------------------------------------------------------------------------

CAVS_DATA=/nonexistent run dep_tree_lstm --help
status_is 0 && grep -q '^Usage: ' "$work/out" && grep -q -- '--min-count' "$work/out"
ok $? "dep_tree_lstm --help needs no data"

CAVS_DATA=/nonexistent run dep_tree_lstm --epochs 1
status_is 1 && said "no data set at /nonexistent/ud_ewt/en_ewt-ud-train.conllu (from CAVS_DATA)"
ok $? "missing sentences: where they were looked for"

printf '1\tA\ta\tDET\t_\t_\t7\tdet\t_\t_\n\n' >"$work/bad.conllu"
run dep_tree_lstm --train "$work/bad.conllu"
status_is 1 && said "$work/bad.conllu:1:"
ok $? "malformed sentences: file, line and column"

trees="--train $data/mini.conllu --min-count 1 --dropout 0 --hidden 16 --embed 16 --batch 4"
# shellcheck disable=SC2086
run dep_tree_lstm $trees --lr 0.02 --epochs 60 --workers 2 --json --quiet
status_is 0 && holds "$(field train_accuracy) == 1 && $(field loss) < 0.05"
ok $? "dep_tree_lstm learns a few sentences by heart"

# shellcheck disable=SC2086
run dep_tree_lstm $trees --epochs 0 --explain --workers 1 --quiet
status_is 0 && grep -q 'gemm_select *matmul_select U *(entries, 16)' "$work/out" "$work/err"
ok $? "--explain shows products per child, selected by relation"

if [ -n "$CAVS_TEST_LONG" ] && [ -r "${CAVS_DATA:-../shared/data}/ud_ewt/en_ewt-ud-train.conllu" ]; then
    run dep_tree_lstm --epochs 4 --workers 2 --json --quiet
    status_is 0 && holds "$(field dev_accuracy) >= 0.85"
    ok $? "UD_EWT: dev accuracy of 0.85 and more after 4 epochs"
else
    skip "UD_EWT: dev accuracy" "a long test (CAVS_TEST_LONG=1), or no data set"
fi

echo "1..$count"
