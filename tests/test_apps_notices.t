#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What goes on otherwise than asked for: programs say it once on stderr, and have it in their results.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/notices.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

# trained VARIABLE=VALUE...: a small run in this environment
trained() {
    (
        # shellcheck disable=SC2163 # NAME=VALUE...
        export "$@"
        run tree_fc --hidden 8 --leaves 4 --samples 8 --batch 4 --epochs 1 --workers 1 --quiet --json
    )
}

# noted TEXT: this is all that was said, in both places, and the run succeeded
noted() {
    status_is 0 && [ "$(wc -l <"$work/err")" -eq 1 ] && said "tree_fc: note: " && said "$1" &&
        tail -n 1 "$work/out" | grep -qF -- "\"notices\":[\"" &&
        tail -n 1 "$work/out" | grep -qF -- "$1"
}

trained CAVS_GEMM= CAVS_FUSION= CAVS_PLACEMENT=
status_is 0 && silent && { [ -s "$work/err" ] || tail -n 1 "$work/out" | grep -qF '"notices":[]'; }
ok $? "a sound run has nothing to say"

trained CAVS_CACHE="$work/cache" CC=/nonexistent/cc
noted "fused groups of operators are interpreted, which is slower: there is no C compiler /nonexistent/cc"
ok $? "no compiler is said"

trained CAVS_CACHE="$work/cache" CC=false
noted "fused groups of operators are interpreted, which is slower: false failed: it does not say why"
ok $? "a compiler that fails without a word is said"

trained CAVS_CACHE=/dev/null/cache
noted "cannot use the folder /dev/null/cache/kernels"
ok $? "a cache that cannot be made is said"

mkdir -p "$work/open/kernels"
chmod 777 "$work/open/kernels"
trained CAVS_CACHE="$work/open"
noted "the folder $work/open/kernels is not private"
ok $? "a cache that others may write to is said"

trained CAVS_GEMM=fastest
noted "CAVS_GEMM=fastest: no such source of matrix products works here; "
ok $? "an unknown CAVS_GEMM is said"

trained CAVS_FUSION=never
noted "CAVS_FUSION=never means nothing"
ok $? "an unknown CAVS_FUSION is said"

trained CAVS_PLACEMENT=sideways
noted "CAVS_PLACEMENT=sideways means nothing"
ok $? "an unknown CAVS_PLACEMENT is said"

# StarPU knows of more workers than it can have CPU workers: the others are of devices.
run tree_fc --workers 4096 --quiet
most=$(sed -n 's/.*4096 workers: not in 0\.\.\([0-9]*\).*/\1/p' "$work/err")
run tree_fc --hidden 8 --leaves 4 --samples 8 --batch 4 --epochs 1 --workers "${most:-0}" --quiet --json
noted "of the $most wanted: ./quickstart builds one for all cores of a machine"
ok $? "more workers than this StarPU was built for are said"

data=${abs_top_srcdir:-.}/tests/data
small="--epochs 1 --hidden 8 --embed 8 --workers 1 --quiet --json"
# shellcheck disable=SC2086
run bilstm_tagger $small --train "$data/mini-tags.txt" --save "$work/tagger"
sed 's/|LOC/|GPE/' "$data/mini-tags.txt" >"$work/other.txt"
# shellcheck disable=SC2086
run bilstm_tagger $small --train "$work/other.txt" --init "$work/tagger"
text="$work/other.txt: 3 tags are none that $work/tagger knows, and are trained as <unk>"
status_is 0 && said "bilstm_tagger: note: $text" && tail -n 1 "$work/out" | grep -qF "\"notices\":[\"$text\"]"
ok $? "tags that the model of --init does not know are said"
# shellcheck disable=SC2086
run bilstm_tagger $small --train "$data/mini-tags.txt" --init "$work/tagger"
status_is 0 && silent
ok $? "tags that it knows are not"
for program in dep_tree_lstm dag_rnn parser; do
    # shellcheck disable=SC2086
    run $program $small --train "$data/mini.conllu" --min-count 1 --save "$work/$program"
    sed 's/NOUN/NAME/; s/\tnsubj\t/\tsubject\t/' "$data/mini.conllu" >"$work/other.conllu"
    # shellcheck disable=SC2086
    run $program $small --train "$work/other.conllu" --init "$work/$program"
    status_is 0 && said "$program: note: $work/other.conllu: " && said " are none that $work/$program knows"
    ok $? "$program: the same of what stands in columns"
done

printf '#!/bin/sh\nsleep 600\n' >"$work/cc"
chmod 700 "$work/cc"
trained CAVS_CACHE="$work/cache" CC="$work/cc" CAVS_COMPILE_TIMEOUT=1
noted "$work/cc took more than 1 s (CAVS_COMPILE_TIMEOUT) and is not tried again"
ok $? "a compiler that hangs is ended, and said"

printf '#!/bin/sh\nsleep 2.5\nexec cc "$@"\n' >"$work/cc"
trained CAVS_CACHE="$work/cache" CC="$work/cc" CAVS_COMPILE_TIMEOUT=500
noted "compiling fused groups of operators with $work/cc takes more than 2 s, 500 s at most"
ok $? "a compiler that takes long is said"

echo "1..$count"
