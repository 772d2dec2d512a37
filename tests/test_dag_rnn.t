#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# dag_rnn from outside, on a miniature treebank.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/dag.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 16 --embed 16 --min-count 1 --min-relation 1 --workers 2 --batch 2 --lr 0.02 --json --quiet"
words="--train $data/mini.conllu --dev $data/mini.conllu"

sed 's/2:nsubj|4:nsubj/2:nsubj|44:nsubj/' "$data/mini.conllu" >"$work/bad.conllu"
run dag_rnn --train "$work/bad.conllu"
status_is 1 && said "bad.conllu:11:" && said "expected a node of the sentence or 0, found 44"
ok $? "a wrong head in DEPS: file, line and column"

# 29 words and one empty node
while IFS='|' read -r graph vertices; do
    # shellcheck disable=SC2086
    run dag_rnn $small $words --graph $graph --epochs 40
    status_is 0 && [ "$(field vertices)" -eq $((40 * vertices)) ] && [ "$(field cyclic_sentences)" -eq 0 ] &&
        holds "$(field train_accuracy) > 0.85" && holds "$(field dev_accuracy) > 0.9"
    ok $? "--graph $graph: learns five sentences of $vertices vertices"
done <<'END'
deps|30
head|29
END

sed 's/^5	letters	letter	NOUN	_	_	2	obj	2:obj|4:obj/5	letters	letter	NOUN	_	_	2	obj	2:obj|5:ref/' \
    "$data/mini.conllu" >"$work/cyclic.conllu"
# shellcheck disable=SC2086
run dag_rnn $small --train "$work/cyclic.conllu" --epochs 1
status_is 0 && [ "$(field cyclic_sentences)" -eq 1 ] && [ "$(field samples)" -eq 4 ]
ok $? "a sentence whose graph has a cycle is left out"

# shellcheck disable=SC2086
run dag_rnn $small $words --epochs 3
reference="$(field loss) $(field dev_loss)"
loss=$(field loss)
# shellcheck disable=SC2086
run dag_rnn $small $words --epochs 3 --workers 1
[ "$reference" = "$(field loss) $(field dev_loss)" ]
ok $? "the same for any number of workers"

different=
for policy in $(policies); do
    # shellcheck disable=SC2086
    run dag_rnn $small $words --epochs 3 --policy $policy
    status_is 0 && holds "($(field loss) - $loss) ^ 2 < 1e-8" || different="$different $policy"
done
[ -z "$different" ]
ok $? "all policies give the same loss${different:+, but not$different}"

echo "1..$count"
