#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every program that trains, by every optimizer, plain and with all that goes beside it (clipping, weight decay, dropout
# where there is some): 2, 4 and 8 ranks come to the numbers and to the model file of one process, bit by bit.  Skipped where
# the library was built without MPI.  Arguments name programs: only these are run.

name=ranks_long
# shellcheck source=tests/mpirun.sh
. "${abs_top_srcdir:-.}/tests/mpirun.sh"

# trained RANKS PROGRAM ARGUMENT...: its results and its model are those of one process, which comes first
trained() {
    n=$1
    shift
    rm -f "$work/model"
    if [ "$n" -eq 1 ]; then
        run "$@" --save "$work/model"
    else
        ranks "$n" "$@" --save "$work/model"
    fi
    results >"$work/$n.results"
    status_is 0 && [ -s "$work/model" ] || return 1
    [ "$n" -gt 1 ] || mv "$work/model" "$work/one.model"
    [ "$n" -eq 1 ] || { cmp "$work/one.model" "$work/model" && cmp "$work/1.results" "$work/$n.results"; } >>"$work/err" 2>&1
}

# offers PROGRAM OPTION
offers() {
    "$apps/$1" --list-options | grep -q "^$2	"
}

# every_optimizer NAME PROGRAM ARGUMENT...
every_optimizer() {
    title=$1
    shift
    beside="--clip 0.5 --weight-decay 0.01"
    ! offers "$1" dropout || beside="$beside --dropout 0.3"
    for optimizer in $optimizers; do
        for options in "" "$beside"; do
            # shellcheck disable=SC2086 # a list
            for n in 1 2 4 8; do
                trained "$n" "$@" --optimizer "$optimizer" $options || break
            done
            [ "$n" -eq 8 ] && status_is 0 && cmp -s "$work/one.model" "$work/model" && cmp -s "$work/1.results" "$work/8.results"
            ok $? "$title by $optimizer${options:+ $options}, 1, 2, 4 and 8 ranks: the same bits" \
                "$work/err" "$work/1.results" "$work/$n.results"
        done
    done
}

optimizers=$("$apps/tree_fc" --optimizer none 2>&1 | sed -n "s/.*--optimizer wants one of \(.*\), not.*/\1/p" | tr -d ,)
[ "$(echo "$optimizers" | wc -w)" -ge 7 ]
ok $? "the optimizers are told"

pack() {
    form=$1
    shift
    "$apps/cavs-pack" "$form" "$1" "$work/$form.cavs" --quiet &&
        "$apps/cavs-pack" "$form" "$2" "$work/$form-dev.cavs" --quiet --like "$work/$form.cavs"
}
pack text "$data/mini-text.txt" "$data/mini-text-dev.txt" && pack tagged "$data/mini-tags.txt" "$data/mini-tags-dev.txt" &&
    pack brackets "$data/mini.txt" "$data/mini-dev.txt" && pack conllu "$data/mini.conllu" "$data/mini.conllu"
ok $? "packed data"

common="--hidden 8 --lr 0.02 --shards 8 --workers 1 --epochs 2 --quiet --json"
embedded="$common --embed 8 --batch 8"
trees="--train $data/mini.txt --dev $data/mini-dev.txt $embedded"
text="--train $data/mini-text.txt --dev $data/mini-text-dev.txt $embedded"
tags="--train $data/mini-tags.txt --dev $data/mini-tags-dev.txt --min-count 1 $embedded"
words="--train $data/mini.conllu --dev $data/mini.conllu --min-count 1 $embedded"
made="--samples 24 --dev-samples 8 --length 5 $embedded"
while IFS='|' read -r program arguments; do
    case " ${*:-$program} " in *" $program "*) ;; *) continue ;; esac
    echo "$program" >>"$work/tried"
    # shellcheck disable=SC2086 # lists
    case $arguments in
    packed*) every_optimizer "$program of a packed file" $program --packed "$work/${arguments#packed }.cavs" \
        --packed-dev "$work/${arguments#packed }-dev.cavs" $embedded </dev/null ;;
    *) every_optimizer $program $program $arguments </dev/null ;;
    esac
done <<END
tree_fc|--leaves 8 --samples 44 --batch 8 $common
tree_lstm|$trees
tree_lstm|packed brackets
fixed_lstm|$text --steps 4
var_lstm|$text
var_lstm|packed text
bilstm_tagger|$tags
bilstm_tagger|packed tagged
bilstm_char_tagger|$tags
parser|$words --mlp 8
dep_tree_lstm|$words
dep_tree_lstm|packed conllu
dag_rnn|$words --cycles cut
seq2seq|$made
gcn|--data $data/mini-cora/mini.content $common
dyn_tree_lstm|$trees
dyn_spinn|$trees
dyn_tagger|$tags
dyn_char_tagger|$tags
dyn_parser|$words --mlp 8 --explore-after 0
dyn_seq2seq|$made
END

# all but tools without a model
sed -n 's/^APPS += //p' "${abs_top_srcdir:-.}/apps/local.mk" | tr ' ' '\n' | sed 's|.*/||' | grep -v '^cavs-' | sort >"$work/programs"
sort -u "$work/tried" | comm -13 - "$work/programs" >"$work/left"
[ $# -gt 0 ] || { [ -s "$work/programs" ] && [ ! -s "$work/left" ]; }
ok $? "these are all programs" "$work/left"

echo "1..$count"
