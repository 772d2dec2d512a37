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

while IFS='|' read -r arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run seq2seq $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "$arguments is a mistake"
done <<'END'
--task add --length 10|--task add has at most --length 9
--decode 9 --dev-samples 8|--decode 9 is more than --dev-samples 8
--decode 9 --predict - --epochs 1|--decode prints answers to examples, --predict those to FILE: give either
--predict -|--predict wants a model: --init FILE, or --epochs N to train one first
--best accuracy|--best wants one of loss, symbols, exact, not 'accuracy'
--train x|unrecognized option
word|unexpected argument 'word'
END

model=$work/model.safetensors
# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 14 --lr 0.02 --decode 60 --save "$model"
status_is 0 && [ "$(field samples)" -eq 8400 ] && holds "$(field train_symbols) > 0.9" &&
    holds "$(field dev_exact) > 0.5" && [ "$(grep -c -- ' -> ' "$work/out")" -eq 60 ]
ok $? "learns to reverse two letters, and reverses pairs that it has not seen"

holds "$(field dev_exact) == $(field decoded_exact)" &&
    holds "$(field dev_exact) * 60 == 60 - $(grep -c ', not ' "$work/out")"
ok $? "decoding symbol by symbol finds the answers that dev_exact counts"

cp "$work/out" "$work/with"

# --- models and predictions ------------------------------------------------------------------------------

numbers="dev_loss dev_symbols dev_exact"
values() {
    for name; do field "$name"; done
}
# shellcheck disable=SC2086
want=$(values $numbers)

run seq2seq --init "$model" --epochs 0 --dev-samples 60 --batch 16 --workers 2 --json --quiet
# shellcheck disable=SC2086
status_is 0 && [ "$(values $numbers)" = "$want" ] && [ "$(field length)" -eq 2 ] && [ "$(field samples)" -eq 0 ]
ok $? "--init alone evaluates the model to the same numbers"

grep -- ' -> ' "$work/with" | sed 's/ -> .*//' >"$work/sources"
rev "$work/sources" >"$work/gold"
run seq2seq --init "$model" --predict "$work/sources" --workers 2 --quiet
cp "$work/out" "$work/answers"
right=$(paste "$work/answers" "$work/gold" | awk '$1 == $2' | wc -l)
status_is 0 && [ "$(wc -l <"$work/answers")" -eq 60 ] && holds "$right > 30 && $right == 60 * $(echo "$want" | tail -n 1)"
ok $? "--predict answers line by line; those that are right are as many as dev_exact says"

"$apps/seq2seq" --init "$model" --predict - --workers 1 --batch 7 --quiet <"$work/sources" >"$work/out" 2>"$work/err"
echo $? >"$work/status"
status_is 0 && cmp -s "$work/out" "$work/answers"
ok $? "the same from a pipe, in other batches"

run seq2seq --init "$model" --predict "$work/sources" --output "$work/json" --workers 2 --json
# {"source":"ab","answer":"ba","probabilities":[0.9,0.9,0.9]}
status_is 0 && [ "$(field predicted)" -eq 60 ] &&
    sed 's/.*"answer":"\([a-z]*\)".*/\1/' "$work/json" | cmp -s - "$work/answers" &&
    awk -F '["\\[\\]:,{}]+' '{
            n = 0
            for (i = 7; i <= NF && $i != ""; i++) { n++; if ($i <= 0 || $i > 1) exit 1 }
            if (n != length($5) + 1) exit 1
        }' "$work/json"
ok $? "--json: a probability of each symbol and of the end"

# malformed SOURCES MESSAGE OUTPUT: what came before is answered
malformed() {
    printf '%b' "$1" | "$apps/seq2seq" --init "$model" --predict - --workers 1 --quiet >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    status_is 1 && said "standard input:$2" && [ "$(wc -l <"$work/out")" -eq "$3" ]
    ok $? "no source: $2"
}
malformed 'ab\nc3\nd\n' "2:2: expected letters from a to z, 63 at most, found '3'" 1
malformed 'ab\n\nba\n \n d\n' "5:1: expected letters from a to z, 63 at most, found ' d'" 3
malformed "$(printf '%064d' 0 | tr 0 a)" "1:64: expected letters" 0

printf '\nab\n\n \t\r\nba\n\n' >"$work/gaps"
printf '\n\n\n\n\n\n' >"$work/newlines"
for program in seq2seq dyn_seq2seq; do
    run $program --init "$model" --predict "$work/gaps" --workers 1 --quiet
    status_is 0 && tr -d "[:lower:]" <"$work/out" | cmp -s - "$work/newlines" && [ "$(grep -c . "$work/out")" -eq 2 ]
    ok $? "$program: empty lines stay where they are"
    run $program --init "$model" --predict "$work/gaps" --workers 1 --quiet --json
    status_is 0 && [ "$(grep -c '"answer"' "$work/out")" -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 2 ]
    ok $? "$program: of which JSON has none"
done

run seq2seq --init "$model" --predict /dev/null --workers 1 --quiet
status_is 0 && [ ! -s "$work/out" ]
ok $? "no sources, no answers"

echo "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk" >"$work/long"
run seq2seq --init "$model" --predict "$work/long" --workers 1 --quiet
status_is 0 && [ "$(wc -l <"$work/out")" -eq 1 ] && [ "$(wc -c <"$work/out")" -le 65 ]
ok $? "a source longer than any in training is answered, too"

while IFS='|' read -r arguments message; do
    # shellcheck disable=SC2086
    run seq2seq --init "$model" --epochs 0 $arguments
    status_is 2 && said "$message" && said "$model"
    ok $? "a model with another $arguments"
done <<'END'
--task add|task
--length 5|length
--no-attention|no-attention
--embed 8|embed
END

run tree_fc --leaves 2 --hidden 4 --samples 2 --epochs 1 --workers 1 --quiet --save "$work/other.safetensors"
run seq2seq --init "$work/other.safetensors" --epochs 0
status_is 1 && said "$work/other.safetensors: a model of tree_fc, not of seq2seq"
ok $? "a model of another program"

# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 30 --lr 0.05 --best exact --patience 2
status_is 0 && [ "$(field epochs)" -eq $(($(field best_epoch) + 2)) ] && holds "$(field best) >= $(field dev_exact)"
ok $? "--best exact, --patience"

# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 3 --save "$work/whole.safetensors"
# shellcheck disable=SC2086
whole=$(values loss $numbers)
# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 1 --checkpoint "$work/kept"
run seq2seq --resume "$work/kept" --epochs 3 --save "$work/resumed.safetensors" --workers 1 --json --quiet
# shellcheck disable=SC2086
status_is 0 && [ "$(values loss $numbers)" = "$whole" ] && cmp "$work/whole.safetensors" "$work/resumed.safetensors"
ok $? "--resume DIR goes on to the same bits"

# --- other models ----------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run seq2seq $small --length 2 --epochs 14 --lr 0.02 --decode 60 --no-attention
status_is 0 && holds "$(field train_symbols) > 0.9" && holds "$(field dev_exact) == $(field decoded_exact)" &&
    [ "$(field attention)" -eq 0 ] && ! cmp -s "$work/out" "$work/with"
ok $? "the same without attention"

# every answer that is called right is the source backwards
grep -v ', not ' "$work/out" | sed -n 's/ -> / /p' |
    while read -r source answer; do [ "$(echo "$source" | rev)" = "$answer" ] || echo "$source"; done >"$work/wrong"
[ ! -s "$work/wrong" ]
ok $? "what is called right is right"

# shellcheck disable=SC2086
run seq2seq $small --task add --length 1 --epochs 20 --lr 0.02 --decode 60 --save "$model"
status_is 0 && holds "$(field train_symbols) > 0.9" && holds "$(field dev_exact) == $(field decoded_exact)"
ok $? "learns to add digits"

grep -v ', not ' "$work/out" | sed -n 's/+/ /; s/ -> / /p' |
    while read -r a b sum; do [ "$(echo $((a + b)) | rev)" = "$sum" ] || echo "$a + $b"; done >"$work/wrong"
[ ! -s "$work/wrong" ]
ok $? "sums that are called right are right, from their last digit"

grep -- ' -> ' "$work/out" | sed 's/ -> \([0-9]*\).*/ \1/' >"$work/sums"
cut -d ' ' -f 1 "$work/sums" >"$work/sources"
run seq2seq --init "$model" --predict "$work/sources" --workers 2 --quiet
status_is 0 && [ -s "$work/out" ] && cut -d ' ' -f 2 "$work/sums" | cmp -s - "$work/out"
ok $? "--predict adds as --decode does"

malformed '1+2\n12\n' "2:3: expected two numbers with a + between them, 63 characters at most, found the end of the line" 1
malformed '12+\n' "1:4: expected two numbers" 0
malformed '+1\n' "1:1: expected two numbers" 0
malformed '1++2\n' "1:3: expected two numbers" 0
malformed '1-2\n' "1:2: expected two numbers" 0

# shellcheck disable=SC2086
run seq2seq $small --epochs 1
reference=$(field loss)
# shellcheck disable=SC2086
run seq2seq $small --epochs 1 --workers 1
status_is 0 && [ "$(field loss)" = "$reference" ]
ok $? "the same for any number of workers"

different=
for policy in $(policies); do
    # shellcheck disable=SC2086
    run seq2seq $small --epochs 1 --policy $policy
    status_is 0 && holds "($(field loss) - $reference) ^ 2 < 1e-8" || different="$different $policy"
done
[ -z "$different" ]
ok $? "all policies give the same loss${different:+, but not$different}"

echo "1..$count"
