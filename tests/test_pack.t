#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cavs-pack from outside, and the programs on packed data: the same results as on text, to the last digit.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/pack.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

# --- options and wrong input ---------------------------------------------------------------------------

run cavs-pack --help
status_is 0 && grep -q '^Usage: ' "$work/out" && grep -q 'packed-format.md' "$work/out"
ok $? "cavs-pack --help"
sed -n '/^Forms of input/,/^The input/p' "$work/out" >"$work/forms"
[ "$(grep -c '^  [a-z]' "$work/forms")" -eq "$(tr -s ' \n' '  ' <"$work/forms" | grep -o ': for ' | wc -l)" ]
ok $? "--help says of each form who reads it" "$work/forms"

while IFS='|' read -r arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run cavs-pack $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "cavs-pack $arguments is a mistake"
done <<'END'
text in|expected FORM INPUT OUTPUT
html in out|cavs-pack: FORM wants one of brackets, threefile, text, tagged, conllu
text in out --steps 0|--steps wants a whole number from 1
brackets in out --steps 4|--steps is of the form text
text in out --labels 4|--labels is of the forms brackets and threefile
text in out --words 4 --min-count 2|give either
text in out more|unexpected argument 'more'
threefile in out --min-count 2|words of the form threefile are numbers
text in out --like other --min-count 2|--like FILE brings the words: leave --min-count and --words out
text in out --like other --words 4|--like FILE brings the words: leave --min-count and --words out
--info in --like other|the other options want FORM INPUT OUTPUT
--info in --quiet|the other options want FORM INPUT OUTPUT
--verify in --min-count 2|the other options want FORM INPUT OUTPUT
--verify in --steps 4|the other options want FORM INPUT OUTPUT
END

for option in like info verify; do
    run cavs-pack text in "$work/out" --$option ""
    status_is 2 && said "--$option wants FILE, not nothing"
    ok $? "--$option without a name is a mistake"
done
run cavs-pack text "$data/mini-text.txt" ""
status_is 2 && said "expected FORM INPUT OUTPUT, and one of them is nothing"
ok $? "nor is nothing an output"

while IFS='|' read -r form text message; do
    printf '%b' "$text" >"$work/bad"
    run cavs-pack "$form" "$work/bad" "$work/never"
    status_is 1 && said "$message" && [ ! -e "$work/never" ] && [ "$(find "$work" -name 'never*')" = "" ]
    ok $? "$form: $message"
done <<'END'
brackets|(3 good)\n(3|bad:2:3: expected ')' for the '(' at 2:1
brackets||no trees in it
text||no samples in it
tagged|Anna|bad:1:1: expected word|TAG, found 'Anna'
conllu|1\tx\n|bad:1:4: expected 10 columns
END

mkdir "$work/far"
echo 2000000000 >"$work/far/sents_idx.txt"
echo 0 | tee "$work/far/parents.txt" >"$work/far/labels.txt"
run cavs-pack threefile "$work/far" "$work/never"
status_is 1 && said "far/sents_idx.txt:1: expected ids of words up to 16777215, found 2000000000" && [ ! -e "$work/never" ]
ok $? "an id of a word that would need a billion others is refused"

run cavs-pack text /nonexistent/in "$work/never"
status_is 1 && said "/nonexistent/in: No such file"
ok $? "a missing input is named"

run cavs-pack text "$data/mini-text.txt" /nonexistent/out
status_is 1 && said "/nonexistent/out"
ok $? "a folder that is not there is named"

for option in --info --verify; do
    run cavs-pack $option "$data/mini.txt"
    status_is 1 && said "mini.txt: no file of packed data"
    ok $? "$option refuses text"
done

# --- what is packed ------------------------------------------------------------------------------------

run cavs-pack conllu "$data/mini.conllu" "$work/ud.cavs"
status_is 0 && grep -q '5 samples' "$work/out" && grep -q '^stage tree: 29 vertices, 24 children' "$work/out"
ok $? "conllu: words and dependencies of five sentences, no multi-word tokens or empty nodes"

printf '1\tA\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n' >"$work/pair.conllu"
run cavs-pack conllu "$work/pair.conllu" "$work/pair.cavs"
status_is 0 && grep -q ' 1 sample, ' "$work/out" && grep -q '^stage tree: 2 vertices, 1 child$' "$work/out"
ok $? "conllu: one sentence of two words is a sample, and one word a child"

run cavs-pack conllu "$data/mini.conllu" "$work/ud2.cavs" --quiet --like "$work/ud.cavs"
status_is 0 && [ ! -s "$work/out" ] && cmp "$work/ud.cavs" "$work/ud2.cavs" >&2
ok $? "the same input --like itself gives the same file"

run cavs-pack --verify "$work/ud.cavs"
status_is 0 && grep -q 'sound' "$work/out"
ok $? "--verify finds it sound"

printf 'x' | dd of="$work/ud2.cavs" bs=1 seek=$(($(wc -c <"$work/ud2.cavs") - 64)) conv=notrunc 2>/dev/null
run cavs-pack --verify "$work/ud2.cavs"
status_is 1 && said "wrong checksum"
ok $? "--verify finds a wrong byte"

for option in --info --verify; do
    "$apps/cavs-pack" $option "$work/ud.cavs" >/dev/full 2>"$work/err"
    [ $? -eq 1 ] && said "cannot write to standard output"
    ok $? "$option to a full device fails"
done

# --- pipes, links and devices ----------------------------------------------------------------------------

mkfifo "$work/pipe"
"$apps/cavs-pack" text "$data/mini-text.txt" "$work/text.cavs" --quiet
for input in - /dev/stdin; do
    # a pipe is what this is about
    # shellcheck disable=SC2002
    cat "$data/mini-text.txt" | run cavs-pack text $input "$work/never"
    status_is 1 && said "the input is read twice" && [ ! -e "$work/never" ]
    ok $? "words cannot come from a pipe ($input)"
    # shellcheck disable=SC2002
    cat "$data/mini-text.txt" |
        run cavs-pack text $input "$work/like.cavs" --quiet --like "$work/text.cavs"
    status_is 0 && cmp "$work/like.cavs" "$work/text.cavs" >&2
    ok $? "samples can ($input)"
done

for quiet in --quiet ""; do
    timeout 20 cat <"$work/pipe" >"$work/piped.cavs" &
    timeout 20 "$apps/cavs-pack" text "$data/mini-text.txt" "$work/pipe" $quiet >"$work/out"
    echo $? >"$work/status"
    wait
    status_is 0 && cmp "$work/piped.cavs" "$work/text.cavs" >&2 && [ -p "$work/pipe" ]
    ok $? "a pipe is written into $quiet"
    "$apps/cavs-pack" text "$data/mini-text.txt" /dev/stdout $quiet >"$work/piped.cavs" &&
        cmp "$work/piped.cavs" "$work/text.cavs" >&2
    ok $? "so is the standard output $quiet"
done

ln -s link.cavs "$work/link"
run cavs-pack text "$data/mini-text.txt" "$work/link" --quiet
status_is 0 && [ -L "$work/link" ] && cmp "$work/link.cavs" "$work/text.cavs" >&2
ok $? "a link stays, and leads to the file"

run cavs-pack tagged "$data/mini-tags.txt" "$work/never" --like "$work/text.cavs"
status_is 1 && said "$work/text.cavs does not fit the model" && [ ! -e "$work/never" ]
ok $? "words of another form are refused"

cp "$work/text.cavs" "$work/before.cavs"
run cavs-pack text "$work/link" "$work/link.cavs" --quiet
status_is 1 && said "$work/link.cavs: the output is what is read" && cmp "$work/link.cavs" "$work/before.cavs" >&2
ok $? "the input is not written over"
run cavs-pack text "$data/mini-text.txt" "$work/text.cavs" --quiet --like "$work/text.cavs"
status_is 1 && said "$work/text.cavs: the output is what is read" && cmp "$work/text.cavs" "$work/before.cavs" >&2
ok $? "nor is what it is packed like"

ln -s /dev/full "$work/full"
run cavs-pack text "$data/mini-text.txt" "$work/full" --quiet
status_is 1 && said "cannot write $work/full: " && [ -L "$work/full" ] && [ -c "$work/full" ]
ok $? "a full device is an error"

# as on a full disk: the temporary files may have 4 or 8 KB
(
    trap '' XFSZ
    ulimit -f 8
    run cavs-pack text "$data/mini-text.txt" "$work/text.cavs" --quiet
)
status_is 1 && said "cannot write $work/text.cavs: no room for a temporary file of " &&
    cmp "$work/text.cavs" "$work/before.cavs" >&2
ok $? "a disk that is full while samples are added is an error of the file, and the old one stays"

# --- training on it ------------------------------------------------------------------------------------

small="--hidden 8 --embed 8 --workers 2 --batch 2 --json --quiet --epochs 3 --lr 0.02"

# results: the numbers that training and evaluation give, one a line
results() {
    for field in samples vertices loss train_loss train_accuracy train_accuracy_all dev_loss dev_accuracy \
        dev_accuracy_root train_perplexity dev_perplexity words tags; do
        echo "$field $(field $field)"
    done
}

# a development set of the treebank: words and a relation that training has not seen, capitals, an unknown tag
sed -e 's/cat/CAT/; s/sleeps/dreams/; s/\tdet\t/\tnmod\t/; s/ADV/X/' "$data/mini.conllu" >"$work/mini-dev.conllu"

# words: how those of the training set are chosen; cut: how text becomes chains
while IFS='|' read -r form train dev words cut program options; do
    [ -e "$data/$dev" ] && dev=$data/$dev || dev=$work/$dev
    # shellcheck disable=SC2086
    "$apps/cavs-pack" $form "$data/$train" "$work/train.cavs" --quiet $words $cut &&
        "$apps/cavs-pack" $form "$dev" "$work/dev.cavs" --quiet $cut --like "$work/train.cavs"
    packed=$?
    # shellcheck disable=SC2086
    run $program $small $words $options --train "$data/$train" --dev "$dev"
    results >"$work/text"
    said=$(cat "$work/status")
    # shellcheck disable=SC2086
    run $program $small $options --packed "$work/train.cavs" --packed-dev "$work/dev.cavs"
    results >"$work/packed"
    [ "$packed" -eq 0 ] && [ "$said" -eq 0 ] && status_is 0 && grep -q 'loss [0-9]' "$work/text" &&
        cmp "$work/text" "$work/packed" >&2
    ok $? "$program $words $options: the same on packed $form"
done <<'END'
brackets|mini.txt|mini-dev.txt|||tree_lstm|--cell bench
brackets|mini.txt|mini-dev.txt|||tree_lstm|--cell nary
brackets|mini.txt|mini-dev.txt|||tree_lstm|--cell childsum
brackets|mini-any.txt|mini-any.txt|||tree_lstm|--cell childsum
brackets|mini-wide.txt|mini-wide.txt|||tree_lstm|--cell childsum
threefile|mini-three|mini-three|||tree_lstm|--cell childsum
brackets|mini.txt|mini-dev.txt|--min-count 2||tree_lstm|
text|mini-text.txt|mini-text-dev.txt|--words 5||var_lstm|
text|mini-text.txt|mini-text-dev.txt||--steps 4|fixed_lstm|--steps 4
tagged|mini-tags.txt|mini-tags-dev.txt|--min-count 2||bilstm_tagger|
conllu|mini.conllu|mini-dev.conllu|--min-count 2||dep_tree_lstm|
conllu|mini.conllu|mini-dev.conllu|--min-count 1||dep_tree_lstm|
END

# what --packed-dev has to be, by program
while IFS='|' read -r form train dev program what; do
    # shellcheck disable=SC2086 # no word, or several
    "$apps/cavs-pack" $form "$data/$train" "$work/train.cavs" --quiet
    [ -e "$data/$dev" ] && dev=$data/$dev || dev=$work/$dev
    # shellcheck disable=SC2086
    "$apps/cavs-pack" $form "$dev" "$work/dev.cavs" --quiet
    run $program --epochs 1 --hidden 8 --packed "$work/train.cavs" --packed-dev "$work/dev.cavs"
    status_is 1 && said "dev.cavs: its $what are not those of $work/train.cavs" &&
        said "cavs-pack --like $work/train.cavs"
    ok $? "$program refuses a development set with other words"
done <<'END'
brackets|mini.txt|mini-dev.txt|tree_lstm|words
text|mini-text.txt|mini-text-dev.txt|var_lstm|words
tagged|mini-tags.txt|mini-tags-dev.txt|bilstm_tagger|words
conllu|mini.conllu|mini-dev.conllu|dep_tree_lstm|words
END

run tree_lstm --packed "$work/ud.cavs" --epochs 1
status_is 1 && said "ud.cavs: function 0 of stage tree is 'word'"
ok $? "tree_lstm refuses data of another form"

run bilstm_tagger --packed "$work/ud.cavs" --epochs 1
status_is 1 && said "ud.cavs does not fit the model: stage forward is not in it"
ok $? "bilstm_tagger refuses data of another form"

"$apps/cavs-pack" brackets "$data/mini-any.txt" "$work/any.cavs" --quiet
run tree_lstm --packed "$work/any.cavs" --epochs 1
status_is 1 && said "any.cavs: it has vertices with 1 child, --cell bench wants two"
ok $? "a cell for two children refuses other packed trees"

for program in tree_lstm var_lstm bilstm_tagger dep_tree_lstm; do
    run $program --packed "$work/any.cavs" --train "$data/mini.txt"
    status_is 2 && said "--packed is in place of --train, --dev and --test"
    ok $? "$program: --packed and --train at once"
    run $program --packed-dev "$work/any.cavs"
    status_is 2 && said "--packed-dev and --packed-test want --packed"
    ok $? "$program: --packed-dev alone"
done

for given in "var_lstm --words" "bilstm_tagger --min-count" "dep_tree_lstm --min-count"; do
    # shellcheck disable=SC2086
    run $given 3 --packed "$work/any.cavs"
    status_is 2 && said "--packed $work/any.cavs has its words in it: give ${given#* } to cavs-pack"
    ok $? "$given beside --packed"
done

echo "1..$count"
