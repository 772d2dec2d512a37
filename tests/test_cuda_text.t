#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The CUDA text of every fused group of the programs' models compiles for the GPUs of two
# generations. NVRTC needs no GPU for that.

apps=$abs_top_builddir/apps
data=$abs_top_srcdir/tests/data
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$abs_top_srcdir/tests/programs.sh"

# text NAME PROGRAM ARGUMENT...: writes the text of the program's groups
text() {
    name=$1
    shift
    CAVS_DEVICE_TEXT=$work/$name CAVS_FUSION=interpret run "$@" --epochs 0 --quiet
    if [ "$(cat "$work/status")" -ne 0 ] || [ ! -s "$work/$name" ]; then
        echo "Bail out! $name: $(cat "$work/err")"
        exit 99
    fi
}

small='--hidden 16 --embed 16 --workers 1'
tree="--train $data/mini.txt"
words="--train $data/mini-text.txt"
tags="--train $data/mini-tags.txt"
# shellcheck disable=SC2086
{
    text tree_fc_fold tree_fc --hidden 8 --leaves 5 --samples 2 --workers 1
    for cell in bench childsum nary; do
        text tree_lstm_$cell tree_lstm $small $tree --cell $cell --optimizer adam
    done
    text fixed_lstm fixed_lstm $small $words
    text var_lstm var_lstm $small $words
    text bilstm_tagger bilstm_tagger $small $tags
    text bilstm_char_tagger bilstm_char_tagger $small $tags
}

rm -f "$work/out" "$work/err" "$work/status"
"$abs_top_builddir/tests/test_cuda_kernels" "$work"/*
