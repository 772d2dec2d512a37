#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# seq2seq from outside, on short strings and numbers.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/seq2seq.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 32 --embed 16 --workers 2 --batch 16 --samples 600 --dev-samples 60 --json --quiet"

run seq2seq --help
status_is 0 && grep -q '^Usage: ' "$work/out" && grep -q -- '--task=NAME' "$work/out"
ok $? "--help"

while IFS='|' read -r arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run seq2seq $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "$arguments is a mistake"
done <<'END'
--task sort|--task wants one of reverse, add, not 'sort'
--length 0|--length wants a whole number from 1
--task add --length 10|--task add has at most --length 9
--decode 9 --dev-samples 8|--decode 9 is more than --dev-samples 8
word|unexpected argument 'word'
END

# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 14 --lr 0.02 --decode 60
status_is 0 && [ "$(field samples)" -eq 8400 ] && holds "$(field train_symbols) > 0.9" &&
    holds "$(field dev_exact) > 0.5" && [ "$(grep -c -- ' -> ' "$work/out")" -eq 60 ]
ok $? "learns to reverse two letters, and reverses pairs that it has not seen"

[ "$(field dev_exact)" = "$(field decoded_exact)" ] &&
    holds "$(field dev_exact) * 60 == 60 - $(grep -c ', not ' "$work/out")"
ok $? "decoding symbol by symbol finds the answers that dev_exact counts"

cp "$work/out" "$work/with"
# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 14 --lr 0.02 --decode 60 --no-attention
status_is 0 && holds "$(field train_symbols) > 0.9" && [ "$(field dev_exact)" = "$(field decoded_exact)" ] &&
    [ "$(field attention)" -eq 0 ] && ! cmp -s "$work/out" "$work/with"
ok $? "the same without attention"

# every answer that is called right is the source backwards
grep -v ', not ' "$work/out" | sed -n 's/ -> / /p' |
    while read -r source answer; do [ "$(echo "$source" | rev)" = "$answer" ] || echo "$source"; done >"$work/wrong"
[ ! -s "$work/wrong" ]
ok $? "what is called right is right"

# shellcheck disable=SC2086
run seq2seq $small --task add --length 1 --epochs 20 --lr 0.02 --decode 60
status_is 0 && holds "$(field train_symbols) > 0.9" && [ "$(field dev_exact)" = "$(field decoded_exact)" ]
ok $? "learns to add digits"

grep -v ', not ' "$work/out" | sed -n 's/+/ /; s/ -> / /p' |
    while read -r a b sum; do [ "$(echo $((a + b)) | rev)" = "$sum" ] || echo "$a + $b"; done >"$work/wrong"
[ ! -s "$work/wrong" ]
ok $? "sums that are called right are right, from their last digit"

# shellcheck disable=SC2086
run seq2seq $small --epochs 1
reference=$(field loss)
# shellcheck disable=SC2086
run seq2seq $small --epochs 1 --workers 1
status_is 0 && [ "$(field loss)" = "$reference" ]
ok $? "the same for any number of workers"

different=
for policy in depth agenda serial; do
    # shellcheck disable=SC2086
    run seq2seq $small --epochs 1 --policy $policy
    status_is 0 && holds "($(field loss) - $reference) ^ 2 < 1e-8" || different="$different $policy"
done
[ -z "$different" ]
ok $? "all policies give the same loss${different:+, but not$different}"

echo "1..$count"
