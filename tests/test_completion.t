#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What bash completes the command lines of the installed programs with.

file=${abs_top_builddir:-.}/apps/completion
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/completion.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"

# completed WORD...: what is offered for the last of these words, between blanks
completed() {
    COMP_WORDS=("$@")
    COMP_CWD=$(($# - 1))
    COMPREPLY=()
    _cavs "$1" "${COMP_WORDS[COMP_CWD]}" "${COMP_WORDS[COMP_CWD - 1]}"
    offered="${COMPREPLY[*]}"
    printf '%s\n' "${COMPREPLY[@]}" >"$work/out"
}

# shellcheck disable=SC1090 # it is made by the build
. "$file" 2>"$work/err" && [ ! -s "$work/err" ]
ok $? "the file can be sourced"

top=${abs_top_srcdir:-.}
sed -n 's/^APPS += //p' "$top/apps/local.mk" "$top"/apps/*/local.mk | tr ' ' '\n' | while read -r program; do
    program=${program##*/}
    complete -p "cavs-${program#cavs-}" >"$work/out" 2>&1 && grep -q -- '-F _cavs' "$work/out" || echo "$program"
done >"$work/missing"
[ ! -s "$work/missing" ]
ok $? "it is for every program of the lists"

completed cavs-parser --ml
[ "$offered" = --mlp ]
ok $? "an option of one program"
completed cavs-tree_fc --ml
[ -z "$offered" ]
ok $? "is none of another"
completed cavs-parser --lr
[ "$offered" = "--lr --lr-schedule --lr-step --lr-factor" ]
ok $? "options of all programs"
completed cavs-pack --inf && [ "$offered" = --info ]
ok $? "options of a tool"
completed cavs-tree_fc --optimizer ada
[ "${offered%%m*}" = "adagrad ada" ]
ok $? "choices"
completed cavs-tree_lstm --cell = ch
[ "$offered" = childsum ]
ok $? "choices behind ="
completed cavs-tree_lstm --cell =
[ "$offered" = "bench childsum nary" ]
ok $? "all choices behind ="
mkdir "$work/folder with blanks"
: >"$work/file"
completed cavs-tree_lstm --init "$work/f"
[ ${#COMPREPLY[@]} -eq 2 ]
ok $? "files and folders"
completed cavs-tree_lstm --checkpoint "$work/f"
[ "$offered" = "$work/folder with blanks" ]
ok $? "folders alone where a folder is wanted"
completed cavs-tree_lstm --epochs 1
[ -z "$offered" ]
ok $? "nothing for a number"

echo "1..$count"
