#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A model file says what it is: --init needs nothing else, and another vocabulary or size is refused; what --partial and
# --vectors take of a file.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/model.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
CAVS_DATA=/nonexistent
export CAVS_DATA

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

common="--workers 2 --shards 2 --quiet --json"
sizes="--hidden 9 --embed 7 --cell childsum"
model=$work/model.safetensors

cat >"$work/trees.txt" <<'END'
(3 (2 the) (3 (2 comet) (4 glows)))
(1 (2 (2 a) (2 boat)) (1 (1 leaks) (2 again)))
(4 (3 bright) (3 glows))
(0 (1 dull) (1 leaks))
(2 (2 the) (2 boat))
END
sort "$work/trees.txt" >"$work/shuffled.txt"

# shellcheck disable=SC2086
run tree_lstm --train "$work/trees.txt" --dev "$data/mini-dev.txt" $sizes --batch 4 --lr 0.05 --epochs 3 \
    --save "$model" $common
status_is 0
ok $? "a model is trained and saved"
loss=$(field dev_loss)

# shellcheck disable=SC2086
run tree_lstm --init "$model" --epochs 0 --dev "$data/mini-dev.txt" $common
status_is 0 && [ "$(field dev_loss)" = "$loss" ] && [ "$(field samples)" -eq 0 ] && [ "$(field loss)" = null ]
ok $? "--init alone has words, sizes and cell; --epochs 0 evaluates, without the training set"

# shellcheck disable=SC2086
run tree_lstm --init "$model" --epochs 0 --test "$data/mini-dev.txt" $common
status_is 0 && [ "$(field test_loss)" = "$loss" ]
ok $? "a test set is evaluated like a development set"

# shellcheck disable=SC2086
run tree_lstm --init "$model" --train "$work/shuffled.txt" --dev "$data/mini-dev.txt" --lr 0 --epochs 1 $common
status_is 0 && [ "$(field dev_loss)" = "$loss" ]
ok $? "a training set in another order changes no word"

echo "(3 (2 unheard) (2 words))" >"$work/other.txt"
# shellcheck disable=SC2086
run tree_lstm --init "$model" --train "$work/other.txt" --epochs 1 --save "$work/again.safetensors" $common
status_is 0 && [ "$(field words)" -eq 10 ]
ok $? "words that the model does not know are <unk>"

# shellcheck disable=SC2086
run tree_lstm --init "$work/again.safetensors" --epochs 0 --dev "$data/mini-dev.txt" $common
status_is 0 && [ "$(field words)" -eq 10 ]
ok $? "and its file has the same words again"

while IFS='|' read -r status program arguments message; do
    # shellcheck disable=SC2086
    run "$program" --init "$model" $arguments $common
    status_is "$status" && said "$message" && [ ! -s "$work/out" ]
    ok $? "$program --init ... $arguments: $message"
done <<END
2|tree_lstm|--hidden 8|--hidden 8: $model was made with 9
2|tree_lstm|--embed 8|--embed 8: $model was made with 7
2|tree_lstm|--cell nary|--cell nary: $model was made with childsum
1|fixed_lstm|--epochs 0|a model of tree_lstm, not of fixed_lstm
2|tree_lstm|--partial $model|--init takes all of a model file
2|tree_lstm|--vectors $model|--init brings the embedding
1|tree_lstm|--epochs 0 --save $work/none/x|cannot write $work/none/x: its folder does not exist
1|tree_lstm|--epochs 0 --save $work|cannot write $work: 
1|tree_lstm|--epochs 0 --log $work/none/x|cannot write $work/none/x: its folder does not exist
END

run tree_lstm --init "$work/none.safetensors" --epochs 0
status_is 1 && said "$work/none.safetensors: No such file"
ok $? "a missing model file is named"

run tree_lstm --init "$work" --epochs 0
status_is 1 && said "$work is a folder; a model file is wanted"
ok $? "a folder is no model file"

CAVS_DATA=/nonexistent run tree_lstm --init "$model"
status_is 1 && said "no data set at /nonexistent/" && said "with --epochs 0 or --predict the model of --init is not trained"
ok $? "a model without data is told how it is used alone"
CAVS_DATA=/nonexistent run tree_lstm --init "$model" --infer
status_is 1 && said "without --infer, with --epochs 0 or --predict the model of --init is used as it is"
ok $? "also where --infer reads the training set"
CAVS_DATA=/nonexistent run tree_lstm --init "$model" --predict "$data/mini.txt" --epochs 1
status_is 1 && said "without --epochs the model of --init predicts as it is" && ! said "or --predict"
ok $? "and where --predict is there already"

mkfifo "$work/pipe"
cat "$model" >"$work/pipe" 2>/dev/null &
run tree_lstm --init "$work/pipe" --epochs 0
status_is 1 && said "$work/pipe is a pipe; a model file is wanted, which is read twice"
ok $? "a pipe is no model file"

printf '(2 (1 caf\351) (3 back\\slash))\n' >"$work/bytes.txt"
# shellcheck disable=SC2086
run tree_lstm --train "$work/bytes.txt" --dev "$work/bytes.txt" $sizes --epochs 1 --save "$work/bytes.safetensors" $common
loss=$(field dev_loss)
# shellcheck disable=SC2086
run tree_lstm --init "$work/bytes.safetensors" --epochs 0 --dev "$work/bytes.txt" $common
status_is 0 && [ -n "$loss" ] && [ "$(field dev_loss)" = "$loss" ]
ok $? "words may be any bytes"

# --- by name -------------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_lstm --train "$work/shuffled.txt" $sizes --partial "$model" --dev "$data/mini-dev.txt" --lr 0 --epochs 1 \
    --workers 2 --shards 2 --json
status_is 0 && said "embedding: taken, 10 of 10 rows by their words" && [ "$(field parameters_not_taken)" -eq 0 ]
ok $? "--partial finds words in another order"

# shellcheck disable=SC2086
run tree_lstm --init "$model" --epochs 0 --dev "$data/mini-dev.txt" $common
loss=$(field dev_loss)
# shellcheck disable=SC2086
run tree_lstm --train "$work/shuffled.txt" $sizes --partial "$model" --dev "$data/mini-dev.txt" --lr 0 --epochs 1 $common
holds "($(field dev_loss) - $loss) ^ 2 < 1e-10"
ok $? "and then gives what the model gives"

run tree_lstm --train "$work/other.txt" --hidden 9 --embed 6 --cell childsum --partial "$model" --epochs 1 --json
status_is 0 && said "embedding: not taken, it is 10 x 7 there and 3 x 6 here" && said "U_iou: taken" &&
    said "W_iou: not taken" && [ "$(field parameters_not_taken)" -eq 2 ]
ok $? "--partial says what does not fit"

echo "unheard words" >"$work/words.txt"
run fixed_lstm --train "$work/words.txt" --hidden 3 --embed 6 --partial "$model" --epochs 1 --json
status_is 1 && said "no parameter of it fits"
ok $? "and when nothing does"

printf '4 3\nunheard 1 2 3\nof nothing -1 0 0.5\nof . . 7 8 9\nwords 4 5 6\n' >"$work/vectors.txt"
run tree_lstm --train "$work/other.txt" --hidden 9 --embed 3 --vectors "$work/vectors.txt" --lr 0 --epochs 1 --json \
    --save "$work/vectors.safetensors"
status_is 0 && said "has vectors for 2 of 3 words" && [ "$(field vectors_found)" -eq 2 ]
ok $? "--vectors says how many words it has"

: >"$work/no-vectors.txt"
run tree_lstm --train "$work/other.txt" --hidden 9 --embed 3 --vectors "$work/no-vectors.txt" --epochs 1 --quiet
status_is 0 && said "note: $work/no-vectors.txt has a vector for none of the"
ok $? "and, where it has none, that the embedding starts without them"
# rows 1 and 2 of the embedding: 1 2 3 4 5 6, little endian
od -An -v -tf4 -w4 "$work/vectors.safetensors" 2>/dev/null | tr -d ' ' | tr '\n' ' ' | grep -q '1 2 3 4 5 6 '
ok $? "and they are in the model"

while IFS='|' read -r line message; do
    printf "%b" "$line" >"$work/vectors.txt"
    run tree_lstm --train "$work/other.txt" --hidden 9 --embed 3 --vectors "$work/vectors.txt" --epochs 1
    status_is 1 && said "$work/vectors.txt:$message"
    ok $? "vectors: $message"
done <<'END'
words 1 2\n|1: 2 numbers behind a word, --embed 3 wants as many
of 1 2 3\nwords 1 x 3\n|2:9: expected a number
words 1 nan 3\n|1:9: expected a number
of 1 2 3 4\nwords 5 6 7 8\n|1: not a word and 3 numbers, as --embed 3 wants
2 4\nof 1 2 3 4\n|2: not a word and 3 numbers
this is prose, of no numbers\n|1: not a word and 3 numbers
END

# --- nothing is written over what is read --------------------------------------------------------------------

ln "$work/trees.txt" "$work/linked.txt"
cp "$work/trees.txt" "$work/before.txt"
cp "$model" "$work/before"
while IFS='|' read -r arguments message; do
    # shellcheck disable=SC2086
    run tree_lstm $arguments $sizes $common
    status_is 2 && said "$message, too, which would be lost" && [ ! -s "$work/out" ] &&
        cmp "$work/before.txt" "$work/trees.txt" && cmp "$work/before" "$model"
    ok $? "$message"
done <<END
--train $work/trees.txt --epochs 1 --save $work/linked.txt|--save $work/linked.txt: the file of --train
--train $work/trees.txt --epochs 1 --log $work/trees.txt|--log $work/trees.txt: the file of --train
--train $work/trees.txt --epochs 1 --save $work/new --log $work/new|--save $work/new: the file of --log
--init $model --predict $work/trees.txt --output $work/linked.txt|--output $work/linked.txt: the file of --predict
--init $model --predict $work/trees.txt --output $model|--output $model: the file of --init
END
# shellcheck disable=SC2086
run tree_lstm --init "$model" --train "$work/trees.txt" --epochs 1 --save "$model" $common
status_is 0 && ! cmp -s "$work/before" "$model"
ok $? "but a model may be trained further in its own file"

echo "1..$count"
