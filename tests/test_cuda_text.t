#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The CUDA text of every fused group of the programs' models compiles for the GPUs of two
# generations. NVRTC needs no GPU for that.

apps=${abs_top_builddir:-.}/apps
data=${abs_top_srcdir:-.}/tests/data
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

# text NAME PROGRAM ARGUMENT...: writes the text of the program's groups
text() {
    name=$1
    shift
    CAVS_DEVICE_TEXT=$work/$name CAVS_FUSION=interpret run "$@" --epochs 0 --quiet
    if [ "$(cat "$work/status")" -ne 0 ] || ! grep -q group0 "$work/$name"; then
        echo "Bail out! $name: $(cat "$work/err")"
        exit 99
    fi
}

small='--hidden 16 --embed 16 --workers 1'
tree="--train $data/mini.txt"
words="--train $data/mini-text.txt"
tags="--train $data/mini-tags.txt"
conllu="--train $data/mini.conllu --min-count 1"
# shellcheck disable=SC2086
{
    for variant in fold cavs; do
        text tree_fc_$variant tree_fc --variant $variant --hidden 8 --leaves 5 --samples 2 --workers 1
    done
    for cell in bench childsum nary; do
        text tree_lstm_$cell tree_lstm $small $tree --cell $cell --optimizer adam
    done
    text tree_lstm_infer tree_lstm $small $tree --infer
    text fixed_lstm fixed_lstm $small $words
    text var_lstm var_lstm $small $words --dropout 0.5
    text bilstm_tagger bilstm_tagger $small $tags
    text bilstm_char_tagger bilstm_char_tagger $small $tags
    text dep_tree_lstm dep_tree_lstm $small $conllu
    text dag_rnn dag_rnn $small $conllu --min-relation 1
    text parser parser $small $conllu --mlp 16
    text seq2seq seq2seq $small --samples 20 --dev-samples 2 --length 2
    text seq2seq_plain seq2seq $small --samples 20 --dev-samples 2 --length 2 --no-attention
    text gcn gcn --data "$data/mini-cora/mini.content" --hidden 8 --workers 1
}

# The programs are all there: none of apps/ is without its text.
for program in "$apps"/*; do
    name=${program##*/}
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then
        continue
    fi
    # tools without a model; recorded networks, which have no groups
    case $name in cavs-* | dyn_*) continue ;; esac
    if [ -z "$(find "$work" -name "$name*")" ]; then
        echo "Bail out! $name: its groups are not among those compiled"
        exit 99
    fi
done

rm -f "$work/out" "$work/err" "$work/status"
"${abs_top_builddir:-.}/tests/test_cuda_kernels" "$work"/*
