#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The programs from outside: their options, what they say to wrong input, and their results.

data=${abs_top_srcdir:-.}/tests/data
apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/apps.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

small="--hidden 8 --embed 8 --workers 2"
mini="--train $data/mini.txt --dev $data/mini-dev.txt --batch 4"

# --- options -----------------------------------------------------------------------------------------

for program in tree_fc tree_lstm; do
    CAVS_DATA=/nonexistent run $program --help
    status_is 0 && grep -q '^Usage: ' "$work/out" && grep -q -- '--no-fusion' "$work/out"
    ok $? "$program --help needs no data"

    CAVS_DATA=/nonexistent run $program --version
    status_is 0 && grep -q "^$program (cavs) [0-9]" "$work/out"
    ok $? "$program --version"
done

# A heading has options below it, a line has room in a terminal, and begins where it should.
fits() {
    awk '
        length($0) > 79 { print "long: " $0 }
        /^ [^ ]/ && !/:$/ { print "begins in column 2: " $0 }
        heading && !/^  / { print "nothing below: " heading }
        { heading = /^ [A-Z].*:$/ ? $0 : "" }' "$1" >>"$work/err"
    [ ! -s "$work/err" ]
}

for program in tree_fc tree_lstm fixed_lstm var_lstm bilstm_tagger bilstm_char_tagger parser seq2seq dag_rnn gcn \
    dep_tree_lstm cavs-pack cavs-trace; do
    COLUMNS=80 run $program --help
    status_is 0 && fits "$work/out"
    ok $? "$program --help is in order on 80 columns"
    case $program in cavs-*) continue ;; esac # tools without a model
    tr -s ' \n' '  ' <"$work/out" >"$work/flat"
    grep -q 'Exit status: 0; 1 failed; 2 a mistake' "$work/flat"
    ok $? "$program --help says what it exits with"
    for default in epochs batch hidden lr seed optimizer; do
        grep -qE -- "--$default=[A-Z]+ [^=]*\\(default [^ ]+\\)" "$work/flat" || echo "no default of --$default" >>"$work/err"
    done
    [ ! -s "$work/err" ]
    ok $? "$program --help has the defaults"
done

while IFS='|' read -r program arguments message; do
    # the arguments are split on purpose
    # shellcheck disable=SC2086
    run "$program" $arguments
    status_is 2 && said "$message" && [ ! -s "$work/out" ]
    ok $? "$program $arguments is a mistake"
done <<'END'
tree_fc|--epochs many|--epochs wants a whole number from 0 up, not 'many'
tree_fc|--batch 0|--batch wants a whole number from 1 up, not '0'
tree_fc|--batch 99999999999|--batch wants a whole number
tree_fc|--lr fast|--lr wants a number
tree_fc|--lr nan|--lr wants a number
tree_fc|--lr -1|--lr wants a number
tree_fc|--seed -1|--seed wants a whole number
tree_fc|--policy best|--policy wants one of serial, depth, frontier, agenda
tree_fc|--optimizer lbfgs|--optimizer wants one of sgd,
tree_fc|--tree bush|--tree wants one of balanced, random, sequence
tree_fc|--leaves 0|--leaves wants a whole number
tree_fc|--workers 0|--workers 0 leaves nothing to compute with
tree_fc|--embed 9|unrecognized option
tree_fc|word|unexpected argument 'word'
tree_lstm|--cell gru|--cell wants one of bench, childsum, nary
tree_lstm|--unknown|unrecognized option
END

# --- wrong input ---------------------------------------------------------------------------------------

CAVS_DATA=/nonexistent run tree_lstm --epochs 1
status_is 1 && said "no data set at /nonexistent/sst/train.txt (from CAVS_DATA)" &&
    said "CAVS_DATA" && [ ! -s "$work/out" ]
ok $? "a missing treebank: where it was looked for"

printf '(2 (1 good) (3 film))\n(2 (1 bad)\n(1 next)\n' >"$work/bad.txt"
run tree_lstm --train "$work/bad.txt"
status_is 1 && said "$work/bad.txt:3:1: expected ')' for the '(' at 2:1" && [ ! -s "$work/out" ]
ok $? "malformed brackets: file, line and column"

run tree_lstm --train "$data/mini-any.txt"
status_is 1 && said "mini-any.txt:1: a vertex of this tree has 1 child, --cell bench wants two"
ok $? "a cell for two children refuses others"

mkdir "$work/three"
echo '1 2' >"$work/three/sents_idx.txt"
echo '3 3 4' >"$work/three/parents.txt"
echo '1 1 1' >"$work/three/labels.txt"
run tree_lstm --train "$work/three"
status_is 1 && said "$work/three/parents.txt:1:5: expected a vertex from 1 to 3 or 0 for the root"
ok $? "malformed three-file form: file, line and column"

: >"$work/empty.txt"
run tree_lstm --train "$work/empty.txt"
status_is 1 && said "no trees in it"
ok $? "an empty treebank is refused"

# shellcheck disable=SC2086
run tree_lstm $small $mini --quiet --init "$work/none.safetensors"
status_is 1 && said "none.safetensors"
ok $? "a missing model file is named"

# --- results -------------------------------------------------------------------------------------------

fields="app samples vertices tasks epochs loss seconds samples_per_s vertices_per_s schedule_s
compute_s memory_s flops gflops workers rss_mb epoch_seconds"

run tree_fc --hidden 8 --leaves 5 --samples 10 --batch 4 --epochs 2 --workers 2 --json --quiet
missing=
for name in $fields; do
    tail -n 1 "$work/out" | grep -q "\"$name\":" || missing="$missing $name"
done
status_is 0 && [ -z "$missing" ] && [ "$(field samples)" -eq 20 ] &&
    [ "$(field vertices)" -eq 180 ] && [ "$(field workers)" -eq 2 ] && silent
ok $? "tree_fc --json --quiet has all fields${missing:+, but not$missing}"

if command -v python3 >/dev/null; then
    tail -n 1 "$work/out" | python3 -c 'import json, sys; json.loads(sys.stdin.read())' 2>/dev/null
    ok $? "the last line is JSON"
elif command -v jq >/dev/null; then
    tail -n 1 "$work/out" | jq -e . >/dev/null
    ok $? "the last line is JSON"
else
    skip "the last line is JSON" "no python3 or jq to parse it"
fi

for tree in balanced random sequence; do
    for variant in fold cavs; do
        run tree_fc --hidden 8 --leaves 9 --samples 6 --batch 4 --epochs 1 --workers 2 \
            --tree $tree --variant $variant --json
        # 8 or 17 cells a tree, each 2 x 16 x 8 operations forward and twice that backward
        cells=8
        [ $variant = cavs ] && cells=17
        status_is 0 && holds "$(field flops) == 6 * $cells * 3 * 256" && holds "$(field loss) > 0"
        ok $? "tree_fc --tree $tree --variant $variant counts its arithmetic"
    done
done

diverging="--hidden 16 --leaves 256 --tree sequence --variant cavs --lr 10 --epochs 3 --samples 8"
# shellcheck disable=SC2086
run tree_fc $diverging --json --workers 2
status_is 3 && [ "$(field loss)" = null ] && said "the loss is not finite"
ok $? "a loss that is not finite is null, and is warned of"

# shellcheck disable=SC2086
run tree_fc $diverging --json --workers 2 --check-finite
status_is 1 && said "operator" && said "function tree." && said "vertex"
ok $? "--check-finite stops and says where"

for cell in bench childsum nary; do
    # shellcheck disable=SC2086
    run tree_lstm $small $mini --cell $cell --epochs 60 --lr 0.02 --json --quiet
    status_is 0 && [ "$(field samples)" -eq 360 ] && holds "$(field train_accuracy_all) > 0.9" &&
        holds "$(field loss) < 0.5" && holds "$(field dev_accuracy_root) >= 0"
    ok $? "tree_lstm --cell $cell learns six sentences"
done

# shellcheck disable=SC2086
run tree_lstm $small --train "$data/mini-any.txt" --cell childsum --epochs 2 --json
status_is 0 && [ "$(field vertices)" -eq 32 ]
ok $? "childsum takes any number of children"

{
    printf '(1'
    i=0
    while [ $i -lt 10000 ]; do
        printf ' (%d w%d)' $((i % 5)) $((i % 50))
        i=$((i + 1))
    done
    echo ')'
} >"$work/wide.txt"
# a limit that only the numbers of children could exceed
CAVS_COMPILE_TIMEOUT=60 run tree_lstm --hidden 8 --embed 8 --workers 2 --train "$work/wide.txt" \
    --cell childsum --epochs 2 --json --quiet
status_is 0 && [ "$(field vertices)" -eq 20002 ] && holds "$(field loss) < 1.7" &&
    holds "$(field loss) > 1.5" && silent
ok $? "ten thousand children of one vertex, in little time"

# shellcheck disable=SC2086
(
    # shellcheck disable=SC3045 # dash has it, too
    ulimit -v 8000000
    CAVS_FUSION=interpret run tree_lstm $small $mini --batch 2147483647 --epochs 1 --quiet --json
)
status_is 0 && [ "$(field samples)" -eq 6 ]
ok $? "a batch larger than the data takes no more memory than they do"

# shellcheck disable=SC2086
run tree_lstm $small --train "$data/mini-three" --epochs 2 --json
status_is 0 && [ "$(field vertices)" -eq 26 ] && [ "$(field words)" -eq 7 ]
ok $? "the three-file form is read from a folder"

# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 1
status_is 0 && grep -q '^tree_lstm: 1 epoch' "$work/out" && said "epoch 1/1"
ok $? "without --json results and progress are for people"

reference=
different=
for policy in $(policies); do
    # shellcheck disable=SC2086
    run tree_lstm $small $mini --epochs 3 --json --quiet --policy $policy
    status_is 0 || different="$different $policy"
    : "${reference:=$(field loss)}"
    holds "($(field loss) - $reference) ^ 2 < 1e-10" || different="$different $policy"
done
[ -z "$different" ]
ok $? "all policies give the same loss${different:+, but not$different}"

# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 3 --json --quiet --shards 2 --workers 1
one=$(field loss)
# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 3 --json --quiet --shards 2 --workers 2
[ -n "$one" ] && [ "$one" = "$(field loss)" ]
ok $? "the number of workers changes nothing"

# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 3 --json --quiet --save "$work/model.safetensors"
trained=$(field dev_loss)
# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 1 --json --quiet --infer --init "$work/model.safetensors"
[ -n "$trained" ] && holds "($trained - $(field dev_loss)) ^ 2 < 1e-12"
ok $? "--save, then --init and --infer: the same loss"

# shellcheck disable=SC2086
run tree_lstm $small $mini --epochs 0 --explain --json --quiet
status_is 0 && [ "$(wc -l <"$work/out")" -gt 5 ] && [ "$(field epochs)" -eq 0 ]
ok $? "--explain with --epochs 0 shows the operators"

sst=${CAVS_DATA:-../shared/data}/sst
if [ -r "$sst/train.txt" ] && [ -r "$sst/dev.txt" ]; then
    run tree_lstm --hidden 16 --embed 16 --epochs 1 --json --quiet
    status_is 0 && [ "$(field samples)" -eq 8544 ] && [ "$(field vertices)" -eq 318582 ] &&
        [ "$(field words)" -eq 18281 ] && holds "$(field loss) < 1.5" &&
        holds "$(field dev_accuracy_all) > 0.6"
    ok $? "an epoch on the Stanford Sentiment Treebank"
else
    skip "an epoch on the Stanford Sentiment Treebank" "no data set at $sst"
fi

echo "1..$count"
