#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The parser from outside, on a miniature treebank.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/parser.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 16 --embed 16 --mlp 16 --min-count 1 --workers 2 --batch 2 --lr 0.01 --json --quiet"
trees="--train $data/mini.conllu --dev $data/mini.conllu"

sed 's/^4	swim	swim	VERB	_	_	0/4	swim	swim	VERB	_	_	9/' "$data/mini.conllu" >"$work/bad.conllu"
run parser --train "$work/bad.conllu"
status_is 1 && said "bad.conllu:24:22: expected another word of the sentence or 0, found 9"
ok $? "a wrong head: file, line and column"

: >"$work/empty.conllu"
run parser --train "$work/empty.conllu"
status_is 1 && said "empty.conllu: no sentences in it"
ok $? "an empty file"

# shellcheck disable=SC2086
run parser $small $trees --epochs 40
status_is 0 && [ "$(field skipped_sentences)" -eq 0 ] && [ "$(field vertices)" -eq $((40 * 58)) ] &&
    holds "$(field train_moves) > 0.9" && holds "$(field dev_uas) > 0.9" && holds "$(field dev_las) > 0.85" &&
    holds "$(field dev_las) <= $(field dev_uas)"
ok $? "learns five sentences, two moves a word"

# seconds of the processor, which bash and dash can limit
# shellcheck disable=SC2086,SC3045
(
    ulimit -t 15
    run parser $small $trees --epochs 1 --min-count 2147483647
)
status_is 0 && [ "$(field words)" -eq 2 ]
ok $? "of words that are all rare <unk> and the root are left, and that takes no longer than others"

# shellcheck disable=SC2086
run parser $small $trees --epochs 3
reference="$(field loss) $(field dev_uas) $(field dev_las)"
loss=$(field loss)
different=
for options in "--side-by-side 1" "--side-by-side 2" "--workers 1"; do
    # shellcheck disable=SC2086
    run parser $small $trees --epochs 3 $options
    [ "$reference" = "$(field loss) $(field dev_uas) $(field dev_las)" ] || different="$different, $options"
done
status_is 0 && [ -z "$different" ]
ok $? "the same whatever the workers and how many are parsed at once${different:+, but not$different}"

# shellcheck disable=SC2086
run parser $small $trees --epochs 1 --side-by-side 2
status_is 0 && [ "$(field dev_batches)" -eq 3 ]
ok $? "five sentences, two at a time, are read in three passes: each gives the rows of all positions"

# shellcheck disable=SC2086
run parser $small $trees --epochs 2 --checkpoint "$work/kept"
# shellcheck disable=SC2086
run parser $small $trees --epochs 3 --resume "$work/kept"
[ "$reference" = "$(field loss) $(field dev_uas) $(field dev_las)" ]
ok $? "and if it is stopped and resumed: the same words are dropped"

different=
for policy in $(policies); do
    # shellcheck disable=SC2086
    run parser $small $trees --epochs 3 --policy $policy
    status_is 0 && holds "($(field loss) - $loss) ^ 2 < 1e-8" || different="$different $policy"
done
[ -z "$different" ]
ok $? "all policies give the same loss${different:+, but not$different}"

awk -F '\t' -v OFS='\t' '$1 == 1 && NR < 5 { $7 = 3 } $1 == 2 && NR < 6 { $7 = 4 } { print }' "$data/mini.conllu" \
    >"$work/crossing.conllu"
# shellcheck disable=SC2086
run parser $small --train "$work/crossing.conllu" --epochs 1
status_is 0 && [ "$(field skipped_sentences)" -eq 1 ] && [ "$(field samples)" -eq 4 ]
ok $? "a sentence with crossing arcs is left out of training"

echo "1..$count"
