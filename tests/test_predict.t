#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --predict of tree_lstm and the language models: the numbers of an evaluation, sample by sample, in the form of the input.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/predict.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
CAVS_DATA=/nonexistent
export CAVS_DATA

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

common="--workers 2 --shards 2 --quiet"

# labels FILE: the labels of all vertices, one a line, in the order of their opening brackets
labels() {
    grep -o '([0-9?]' "$1" | tr -d '('
}

# --- trees -------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_lstm --train "$data/mini.txt" --dev "$data/mini-dev.txt" --hidden 8 --embed 8 --batch 4 --lr 0.05 \
    --optimizer adam --epochs 5 --save "$work/trees" --json $common
accuracy=$(field dev_accuracy_all)

# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-dev.txt" $common
cp "$work/out" "$work/labelled"
status_is 0 && silent && [ "$(sed 's/([0-9]/(/g' "$work/labelled")" = "$(sed 's/([0-9]/(/g' "$data/mini-dev.txt")" ]
ok $? "tree_lstm writes the trees with labels of its own, and nothing else"
labels "$data/mini-dev.txt" >"$work/gold"
labels "$work/labelled" >"$work/guess"
right=$(paste "$work/gold" "$work/guess" | awk '$1 == $2 { n++ } END { print n / NR }')
[ -n "$accuracy" ] && holds "($right - $accuracy) ^ 2 < 1e-9"
ok $? "as many are right as the evaluation counted ($right)"

# same_as_labelled DESCRIPTION
same_as_labelled() {
    status_is 0 && cmp "$work/out" "$work/labelled" >>"$work/err" 2>&1
    ok $? "$1"
}

"$apps/tree_lstm" --init "$work/trees" --predict - --quiet <"$data/mini-dev.txt" >"$work/out" 2>"$work/err"
echo $? >"$work/status"
same_as_labelled "from standard input"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-dev.txt" --batch 1 $common
same_as_labelled "one at a time"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-dev.txt" --explain $common
same_as_labelled "and nothing beside them on stdout with --explain"
said "function tree.leaf"
ok $? "which then prints on stderr"
sed 's/([0-9]/(?/g' "$data/mini-dev.txt" >"$work/unlabelled"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$work/unlabelled" $common
same_as_labelled "labels of the input are of no account"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-dev.txt" --output "$work/output" --json $common
status_is 0 && [ "$(field predicted)" -eq 2 ] && [ "$(wc -l <"$work/output")" -eq 2 ]
ok $? "--output: predictions there, the report on stdout"
sed 's/.*"probabilities":\[\[//; s/\]\].*//; s/\],\[/\n/g' "$work/output" | tr ',' ' ' |
    awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i; if (NF != 5 || (s - 1) ^ 2 > 1e-10) bad = 1; n++ }
         END { exit bad || n != 12 }'
ok $? "--json: five probabilities for each vertex, which sum to 1"
[ "$(sed 's/.*"tree":"\([^"]*\)".*/\1/' "$work/output")" = "$(cat "$work/labelled")" ]
ok $? "and the tree with its labels"

# shellcheck disable=SC2086
{
    run tree_lstm --train "$data/mini.txt" --hidden 8 --embed 8 --batch 4 --lr 0.05 --optimizer adam --epochs 5 \
        --checkpoint "$work/kept" $common
    run tree_lstm --resume "$work/kept" --predict "$data/mini-dev.txt" $common
}
same_as_labelled "and those of a run that is resumed"

: >"$work/empty"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$work/empty" $common
status_is 0 && [ ! -s "$work/out" ]
ok $? "nothing in, nothing out"
{ cat "$data/mini-dev.txt" && echo '(2 (2 a) (2'; } >"$work/broken"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$work/broken" --batch 1 $common
status_is 1 && said "$work/broken:3:" && cmp "$work/out" "$work/labelled" >>"$work/err" 2>&1
ok $? "what comes before a mistake is written, the mistake named by line"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-any.txt" $common
status_is 1 && said "has 1 child, --cell bench of $work/trees wants two: train a model with --cell childsum"
ok $? "trees that the model's cell cannot take"

while IFS='|' read -r status arguments message; do
    # shellcheck disable=SC2086
    run tree_lstm $arguments $common
    status_is "$status" && said "$message"
    ok $? "tree_lstm $arguments: $message"
done <<END
2|--predict $data/mini-dev.txt|--predict wants a model: --init FILE
2|--init $work/trees --output $work/x|--output wants --predict FILE
2|--init $work/trees --predict $data/mini-dev.txt --checkpoint $work/x|none with --epochs 0, or --predict without --epochs
2|--init $work/trees --predict $data/mini-dev.txt --best loss|none with --epochs 0, or --predict without --epochs
1|--init $work/trees --predict $work/none|$work/none: No such file
1|--init $work/trees --predict $data/mini-dev.txt --output $work/none/x|its folder does not exist
END

if [ -w /dev/full ]; then
    "$apps/tree_lstm" --init "$work/trees" --predict "$data/mini-dev.txt" --quiet >/dev/full 2>"$work/err"
    [ $? -eq 1 ] && [ "$(grep -c . "$work/err")" -eq 1 ] && said "No space left"
    ok $? "a full disk is one line, and a failure"
else
    skip "a full disk" "no /dev/full here"
fi

# left_alone: the file of --output is the old one, and there is nothing beside it
left_alone() {
    [ "$(cat "$work/there/labels")" = old ] && [ "$(ls -A "$work/there")" = labels ]
}

mkdir "$work/there" && echo old >"$work/there/labels"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$work/broken" --output "$work/there/labels" --batch 1 $common
status_is 1 && said "$work/broken:3:" && left_alone
ok $? "a mistake in the input leaves an older file of --output as it was"
# half a kilobyte is the most that a file may have, in the place of a full disk
awk '{ line[NR] = $0 } END { for (i = 0; i < 40; i++) print line[i % NR + 1] }' "$data/mini-dev.txt" >"$work/long"
# shellcheck disable=SC2086
(ulimit -f 1 && CAVS_FUSION=interpret run tree_lstm --init "$work/trees" --predict "$work/long" \
    --output "$work/there/labels" $common)
status_is 1 && said "writing predictions to $work/there/labels: File too large" && left_alone
ok $? "and so does a full disk"

# the memory of the last run, in MB
rss() {
    tail -n 1 "$work/out" | sed -n 's/.*"rss_mb":\([0-9]*\).*/\1/p'
}
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$data/mini-dev.txt" --output "$work/output" --json $common
few=$(rss)
awk '{ line[NR] = $0 } END { for (i = 0; i < 20000; i++) print line[i % NR + 1] }' "$data/mini-dev.txt" >"$work/many"
# shellcheck disable=SC2086
run tree_lstm --init "$work/trees" --predict "$work/many" --output "$work/output" --json $common
status_is 0 && [ "$(wc -l <"$work/output")" -eq 20000 ] && [ "$(rss)" -lt $((few + 16)) ]
ok $? "20,000 trees need no more memory than two ($few and $(rss) MB)"

# --- language models -----------------------------------------------------------------------------------

text=$data/mini-text.txt
[ -r "$text" ] || { text=$work/text && printf 'the cat sat\na dog ran away\nthe dog sat\n' >"$text"; }
small="--hidden 6 --embed 6 --batch 2 --epochs 2 --words 12"
for program in var_lstm fixed_lstm; do
    # shellcheck disable=SC2086
    run $program --train "$text" --dev "$text" $small --save "$work/$program" --json $common
    perplexity=$(field dev_perplexity)
    # shellcheck disable=SC2086
    run $program --init "$work/$program" --epochs 0 --test "$text" --json $common
    status_is 0 && [ "$(field test_perplexity)" = "$perplexity" ]
    ok $? "$program: a saved model gives what it gave in training"
    # shellcheck disable=SC2086
    run $program --init "$work/$program" --predict "$text" $common
    status_is 0 && [ "$(cut -f 2- "$work/out")" = "$(cat "$text")" ] &&
        ! cut -f 1 "$work/out" | grep -qvE '^[0-9]+\.[0-9]+$'
    ok $? "$program: a perplexity before each line"
    cp "$work/out" "$work/scored"
    # shellcheck disable=SC2086
    run $program --init "$work/$program" --predict "$text" --batch 1 $common
    cmp "$work/out" "$work/scored" >>"$work/err" 2>&1
    ok $? "$program: one line at a time"
done
# shellcheck disable=SC2086
{
    run var_lstm --init "$work/var_lstm" --epochs 0 --test "$text" --json $common
    perplexity=$(field test_perplexity)
    run var_lstm --init "$work/var_lstm" --predict "$text" --json $common
}
mean=$(sed 's/.*"log_probabilities":\[//; s/\].*//' "$work/out" | tr ',' '\n' | awk '{ s += $1 } END { print exp(-s / NR) }')
holds "($mean - $perplexity) ^ 2 < 1e-6 * $perplexity ^ 2"
ok $? "var_lstm --json: the log-probabilities of all words make the perplexity of the text ($mean)"

echo "1..$count"
