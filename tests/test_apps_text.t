#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The language models and the taggers from outside, on miniature texts.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/text.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 8 --embed 8 --workers 2 --batch 2 --json --quiet"
text="--train $data/mini-text.txt --dev $data/mini-text-dev.txt"
tags="--train $data/mini-tags.txt --dev $data/mini-tags-dev.txt --min-count 2"

# --- options and wrong input ---------------------------------------------------------------------------

while IFS='|' read -r program arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run "$program" $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "$program $arguments is a mistake"
done <<'END'
var_lstm|--steps 3|unrecognized option
fixed_lstm|--dropout 1|--dropout wants a number from 0 to 0.999, not '1'
bilstm_char_tagger|--embed 7|--embed has to be even, not 7
parser|--embed 1|--embed has to be 2 or more, not 1
dyn_parser|--embed 1|--embed has to be 2 or more, not 1
END

printf 'Anna|PER saw|O\nBerlin saw|O\n' >"$work/bad.txt"
run bilstm_tagger --train "$work/bad.txt"
status_is 1 && said "$work/bad.txt:2:1: expected word|TAG, found 'Berlin'"
ok $? "a word without a tag: file, line and column"

printf '\033[31mAnna \377\303\244' >"$work/bad.txt"
run bilstm_tagger --train "$work/bad.txt"
status_is 1 && said "expected word|TAG, found '\x1b[31mAnna'"
ok $? "what is in a file does nothing to the terminal that a message about it is shown on"

# --- results -------------------------------------------------------------------------------------------

# the miniature has 22 words, counting one <eos> for each of its 4 lines, of which one is empty
while IFS='|' read -r arguments chains; do
    # shellcheck disable=SC2086
    run $arguments $small $text --epochs 40 --lr 0.02
    status_is 0 && [ "$(field samples)" -eq $((40 * chains)) ] && [ "$(field vertices)" -eq 880 ] &&
        [ "$(field words)" -eq 11 ] && holds "$(field train_perplexity) < 4" &&
        holds "$(field dev_perplexity) > 1"
    ok $? "$arguments learns three lines"
done <<'END'
fixed_lstm --steps 4|6
var_lstm|4
var_lstm --sentences|5
END

# shellcheck disable=SC2086
run fixed_lstm $small $text --epochs 1 --words 3
status_is 0 && [ "$(field words)" -eq 4 ]
ok $? "--words 3 leaves three words and <unk>"

for program in bilstm_tagger bilstm_char_tagger; do
    # shellcheck disable=SC2086
    run $program $small $tags --epochs 60 --lr 0.02
    status_is 0 && [ "$(field samples)" -eq 240 ] && [ "$(field tags)" -eq 3 ] &&
        holds "$(field train_accuracy) > 0.9" && holds "$(field dev_accuracy) <= 0.9"
    ok $? "$program learns four sentences, and gets a tag wrong that it does not know"
done

# shellcheck disable=SC2086
run bilstm_char_tagger $small $tags --min-count 1 --epochs 2
status_is 0 && holds "$(field loss) > 0"
ok $? "a training set without rare words"

# loses PROGRAM WORKERS DROPOUT: the loss of three epochs
loses() {
    files=$text
    [ "$1" = var_lstm ] || files=$tags
    # shellcheck disable=SC2086
    run "$1" $small $files --epochs 3 --shards 3 --workers "$2" --dropout "$3"
    field loss
}
for program in var_lstm bilstm_char_tagger; do
    one=$(loses $program 1 0.4)
    [ -n "$one" ] && [ "$one" = "$(loses $program 3 0.4)" ] &&
        [ "$one" != "$(loses $program 2 0)" ] && [ "$one" != "$(loses $program 2 0.2)" ]
    ok $? "$program: dropout does not depend on workers"
done

echo "1..$count"
