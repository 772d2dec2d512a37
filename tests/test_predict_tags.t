#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The taggers' models: what --init alone makes of them, the tags that --predict writes, and the entities that are counted.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/tags.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

machine="--workers 2 --shards 2 --quiet"
small="--hidden 8 --embed 8 --batch 2 --min-count 2 $machine"
CAVS_DATA=/nonexistent
export CAVS_DATA

# neighbours of one type are parted by B- where I- would join them
cat >"$work/train.txt" <<'END'
Anna|I-PER Lee|I-PER saw|O Berlin|I-LOC .|O
Anna|I-PER gave|O Otto|I-PER Otto|B-PER Lee|I-PER .|O
ACME|I-ORG of|O Berlin|I-LOC saw|O Anna|I-PER Lee|I-PER .|O
Otto|I-PER saw|O ACME|I-ORG of|O Paris|I-LOC .|O
the|O man|O saw|O Otto|I-PER .|O
END
cat >"$work/dev.txt" <<'END'
Anna|I-PER Lee|I-PER saw|O Otto|I-PER Lee|B-PER .|O
Otto|I-PER Berlin|I-LOC saw|O the|O man|O of|O ACME|I-ORG .|O
Rome|I-LOC gave|O Anna|I-PER Otto|B-PER Lee|I-PER .|O
END

# words FILE: without tags
words() {
    sed 's/|[^ |]*\( \|$\)/\1/g' "$1"
}

# score GOLD PREDICTED: accuracy, F1, precision and recall; word by word, with one bit of memory
score() {
    paste -d ' ' "$1" "$2" | awk '
        function kind(tag) { return substr(tag, 1, 1) }
        function type(tag) { return tag == "O" ? "" : substr(tag, 3) }
        function begins(a, b) { return b != "O" && (kind(b) == "B" || a == "O" || type(a) != type(b)) }
        function ends(a, b) { return a != "O" && (b == "O" || begins(a, b)) }
        function step(g, p) {
            if (open && ends(g0, g) && ends(p0, p)) both++
            if (ends(g0, g) || ends(p0, p)) open = 0
            if (begins(g0, g) && begins(p0, p) && type(g) == type(p)) open = 1
            gold += begins(g0, g); guessed += begins(p0, p)
            g0 = g; p0 = p
        }
        {
            g0 = p0 = "O"
            for (i = 1; i <= NF / 2; i++) {
                g = $i; p = $(i + NF / 2)
                sub(/.*\|/, "", g); sub(/.*\|/, "", p)
                right += g == p; all++
                step(g, p)
            }
            step("O", "O")
        }
        END {
            print right / all, 2 * both / (gold + guessed), both / guessed, both / gold
        }'
}

# matches NUMBERS: those that score() gave are those of the report in $work/out
matches() {
    # shellcheck disable=SC2086
    set -- $1
    holds "($(field dev_accuracy) - $1) ^ 2 < 1e-9 && ($(field dev_f1) - $2) ^ 2 < 1e-9" &&
        holds "($(field dev_precision) - $3) ^ 2 < 1e-9 && ($(field dev_recall) - $4) ^ 2 < 1e-9"
}

for program in bilstm_char_tagger bilstm_tagger; do
    model=$work/$program.safetensors

    # --- a model file says what it is ------------------------------------------------------------------

    # shellcheck disable=SC2086
    run $program $small --train "$work/train.txt" --dev "$work/dev.txt" --test "$work/dev.txt" \
        --epochs 12 --lr 0.02 --save "$model" --json
    cp "$work/out" "$work/trained"
    numbers="$(field dev_loss) $(field dev_accuracy) $(field dev_f1) $(field dev_precision) $(field dev_recall)"
    status_is 0 && holds "$(field dev_f1) > 0 && $(field dev_f1) < 1" &&
        [ "$numbers" = "$(field test_loss) $(field test_accuracy) $(field test_f1) $(field test_precision) $(field test_recall)" ]
    ok $? "$program: entities beside accuracy, on the development and the test set"
    # 9 of 20 words are O; a word's commonest tag is wrong for the two B-PER, and Rome is not known
    holds "$(field dev_majority_accuracy) == 0.45 && $(field dev_word_baseline) == 0.85" &&
        holds "($(field dev_word_baseline_f1) - 8 / 15) ^ 2 < 1e-9"
    ok $? "$program: what the commonest tags would give"

    # shellcheck disable=SC2086
    run $program --init "$model" --epochs 0 --dev "$work/dev.txt" --json $machine
    status_is 0 && [ "$(field dev_loss) $(field dev_accuracy) $(field dev_f1) $(field dev_precision) $(field dev_recall)" = "$numbers" ]
    ok $? "$program: --init alone gives the same numbers"
    # shellcheck disable=SC2086
    run $program --init "$model" --epochs 0 --test "$work/dev.txt" --json $machine
    status_is 0 && [ "$(field test_loss) $(field test_accuracy) $(field test_f1) $(field test_precision) $(field test_recall)" = "$numbers" ]
    ok $? "$program: and on a test set"
    # <unk> and Anna Lee saw Berlin . Otto ACME of
    [ "$(field words)" -eq 9 ] && grep -aq '"embedding":{"dtype":"F32","shape":\[9,8\]' "$model" &&
        grep -aqF '<unk>\nAnna\nLee\nsaw\nBerlin\n.\nOtto\nACME\nof\n"' "$model"
    ok $? "$program: the words of the model are the rows of its embedding"

    # --- predictions -----------------------------------------------------------------------------------

    # shellcheck disable=SC2086
    run $program --init "$model" --predict "$work/dev.txt" --output "$work/tagged" $machine
    cp "$work/trained" "$work/out"
    status_is 0 && words "$work/dev.txt" >"$work/plain" && words "$work/tagged" | cmp - "$work/plain" &&
        matches "$(score "$work/dev.txt" "$work/tagged")"
    ok $? "$program: predictions, counted against the gold tags, give the reported numbers"

    # shellcheck disable=SC2086
    "$apps/$program" --init "$model" --predict - $machine <"$work/plain" >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    status_is 0 && cmp "$work/out" "$work/tagged" >&2
    ok $? "$program: words without tags, from a pipe, get the same"
    # shellcheck disable=SC2086
    run $program --init "$model" --predict "$work/plain" --json $machine
    status_is 0 && [ "$(grep -c '^{"words":\["' "$work/out")" -eq 3 ] &&
        sed 's/.*"tags":\[\([^]]*\)\].*/\1/; s/"//g; s/,/ /g' "$work/out" >"$work/names" &&
        sed 's/[^ ]*|//g' "$work/tagged" | cmp - "$work/names" >&2 &&
        grep -o '{"<unk>":[^}]*}' "$work/out" | tr -d '{}' | awk -F '[:,]' '
            { sum = 0; for (i = 2; i <= NF; i += 2) sum += $i; bad += (sum - 1) ^ 2 > 1e-10 }
            END { exit !(NR == 20 && !bad) }'
    ok $? "$program: JSON has the tags, and probabilities of all that sum to 1"

    printf '\n\nAnna Zoe\n\n  \nsaw Z\303\274rich\t. \n\n' >"$work/gaps.txt"
    # shellcheck disable=SC2086
    run $program --init "$model" --predict "$work/gaps.txt" $machine
    status_is 0 && words "$work/out" >"$work/gaps" &&
        printf '\n\nAnna Zoe\n\n\nsaw Z\303\274rich .\n\n' | cmp - "$work/gaps" >&2
    ok $? "$program: empty lines stay where they are"

    # of a model that has learned nothing, any tag may be the likeliest
    # shellcheck disable=SC2086
    run $program $small --train "$work/train.txt" --epochs 1 --lr 0 --predict "$work/plain"
    status_is 0 && [ "$(grep -o '|' "$work/out" | wc -l)" -eq 20 ] && ! grep -q '|<unk>' "$work/out"
    ok $? "$program: <unk> is no tag"

    # a label that is not known is a mistake, also where a model would say <unk>
    sed 's/|[^O ][^ ]*/|NEW/g' "$work/train.txt" >"$work/new.txt"
    known=$(grep -o '|O' "$work/new.txt" | wc -l)
    all=$(grep -o '|' "$work/new.txt" | wc -l)
    # shellcheck disable=SC2086
    run $program --init "$model" --train "$work/new.txt" --dev "$work/new.txt" --epochs 12 --lr 0.05 --json $machine
    most="$known / $all + 1e-9"
    status_is 0 && holds "$(field dev_loss) < 5 && $(field dev_recall) == 0" &&
        holds "$(field train_accuracy) <= $most && $(field dev_accuracy) <= $most" &&
        holds "$(field dev_word_baseline) <= $most && $(field dev_majority_accuracy) <= $most"
    ok $? "$program: what is labelled with an unknown tag counts as wrong"

    # --- training goes on ------------------------------------------------------------------------------

    train="$small --train $work/train.txt --dev $work/dev.txt --dropout 0.2 --json"
    rm -rf "$work/kept"
    # shellcheck disable=SC2086
    {
        run $program $train --epochs 4 --best f1 --save "$work/whole"
        cp "$work/out" "$work/whole.out"
        run $program $train --epochs 2 --best f1 --checkpoint "$work/kept"
        run $program --resume "$work/kept" --epochs 4 --save "$work/resumed" --json $machine
    }
    status_is 0 && cmp "$work/whole" "$work/resumed" >>"$work/err" 2>&1 &&
        [ "$(grep -o '"epoch_loss":[^]]*' "$work/out")" = "$(grep -o '"epoch_loss":[^]]*' "$work/whole.out")" ]
    ok $? "$program: --resume alone goes on to the same parameters"

    # words that the model does not have change nothing in it, and are rare
    # shellcheck disable=SC2086
    run $program --init "$model" --train "$work/dev.txt" --epochs 1 --json $machine
    status_is 0 && [ "$(field words)" -eq 9 ] && [ "$(field tags)" -eq 5 ]
    ok $? "$program: trained further on another text, the words stay"
done

# --- bilstm_tagger, the last: what has nothing to do with how rare words are read ------------------------

# shellcheck disable=SC2086
run bilstm_tagger --init "$model" --predict "$work/plain" --batch 1 $machine
status_is 0 && cmp "$work/out" "$work/tagged" >&2
ok $? "bilstm_tagger: one sentence at a time, too"

# shellcheck disable=SC2086
run bilstm_tagger --init "$model" --predict /dev/null $machine
status_is 0 && ! [ -s "$work/out" ]
ok $? "bilstm_tagger: of nothing, nothing"

printf 'Anna saw .\nOtto \000 .\nAnna .\n' >"$work/nul.txt"
# shellcheck disable=SC2086
run bilstm_tagger --init "$model" --predict "$work/nul.txt" $machine
status_is 1 && said "$work/nul.txt:2:6: " && [ "$(words "$work/out")" = "Anna saw ." ]
ok $? "bilstm_tagger: what cannot be read is named, what came before is written"

# shellcheck disable=SC2086
run bilstm_tagger --init "$model" --predict "$work/plain" --hidden 9 $machine
status_is 2 && said "--hidden"
ok $? "bilstm_tagger: a model of another width is refused"
# shellcheck disable=SC2086
run bilstm_tagger --init "$model" --predict "$work/plain" --min-count 1 $machine
status_is 2 && said "--min-count"
ok $? "bilstm_tagger: and one of other words"

# so slowly, no epoch finds more than the first
# shellcheck disable=SC2086
run bilstm_tagger $train --epochs 20 --lr 1e-6 --best f1 --patience 2
status_is 0 && [ "$(field best_epoch)" -eq 1 ] && [ "$(field epochs)" -eq 3 ]
ok $? "bilstm_tagger: --best f1 --patience 2 ends the training"

# --- rare words --------------------------------------------------------------------------------------

# distributions PROGRAM WORD...: of different words alone in their sentences
distributions() {
    program=$1
    shift
    printf '%s\n' "$@" >"$work/alone.txt"
    # shellcheck disable=SC2086
    run "$program" --init "$work/$program.safetensors" --predict "$work/alone.txt" --json $machine
    sed 's/.*"probabilities"//' "$work/out" | sort -u | wc -l
}
[ "$(distributions bilstm_tagger Xavier Yvonne ACME man)" -eq 2 ]
ok $? "bilstm_tagger: rare and unknown words are one"
[ "$(distributions bilstm_char_tagger Xavier Yvonne the man)" -eq 4 ]
ok $? "bilstm_char_tagger: rare and unknown words are spelt"

# --- models and data of others -----------------------------------------------------------------------

run bilstm_char_tagger --init "$work/bilstm_tagger.safetensors" --predict "$work/plain"
status_is 1 && said "a model of bilstm_tagger, not of bilstm_char_tagger"
ok $? "a model of another program is refused"

run bilstm_tagger --init "$work/none.safetensors" --predict "$work/plain"
status_is 1 && said "none.safetensors"
ok $? "a model file that is not there"

"$apps/cavs-pack" tagged "$work/train.txt" "$work/train.cavs" --quiet --min-count 2 &&
    "$apps/cavs-pack" tagged "$work/dev.txt" "$work/dev.cavs" --quiet --like "$work/train.cavs" &&
    "$apps/cavs-pack" tagged "$data/mini-tags.txt" "$work/other.cavs" --quiet
# shellcheck disable=SC2086
{
    run bilstm_tagger --init "$work/bilstm_tagger.safetensors" --epochs 0 --packed-dev "$work/dev.cavs" --json $machine
    packed="$(field dev_loss) $(field dev_accuracy) $(field dev_f1)"
    run bilstm_tagger --init "$work/bilstm_tagger.safetensors" --epochs 0 --dev "$work/dev.txt" --json $machine
}
[ -n "$(field dev_f1)" ] && [ "$packed" = "$(field dev_loss) $(field dev_accuracy) $(field dev_f1)" ]
ok $? "packed sentences are evaluated as text is"
# shellcheck disable=SC2086
run bilstm_tagger --init "$work/bilstm_tagger.safetensors" --epochs 1 --packed "$work/other.cavs" $machine
status_is 1 && said "other.cavs: its words are not those of"
ok $? "data packed with other words are refused"
# shellcheck disable=SC2086
run bilstm_tagger --packed "$work/train.cavs" --packed-dev "$work/other.cavs" --epochs 1 $machine
status_is 1 && said "other.cavs: its words are not those of $work/train.cavs"
ok $? "and so is a development set of other words than the training set"

echo "1..$count"
