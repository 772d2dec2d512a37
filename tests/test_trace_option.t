#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --trace DIR from outside: what it puts into the folder, and which folders it refuses; and cavs-trace, which makes
# summary and picture.

build=${abs_top_builddir:-.}
work=$(mktemp -d "$build/tests/home/trace.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"

# run ARGUMENT...: a small training, whose tasks would be joined but for the policy; its status, stdout and stderr go
# to variables and files
run() {
    "$build/apps/tree_fc" --hidden 8 --leaves 16 --samples 40 --batch 8 --epochs 2 --workers 2 \
        --policy serial --quiet --json "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# refused TEXT: the program said so, before it trained
refused() {
    [ $status -eq 1 ] && grep -qF -- "$1" "$work/err" && [ ! -s "$work/out" ]
}

# analyse ARGUMENT...: cavs-trace; its status, stdout and stderr go to variables and files
analyse() {
    "$build/apps/cavs-trace" "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# --- cavs-trace without a record ---

mkdir "$work/records" && cp "${abs_top_srcdir:-.}"/tests/data/mini-trace/* "$work/records"
analyse "$work/records"
[ $status -eq 0 ] && grep -q '^8 tasks on 2 workers in 14.000 ms' "$work/out" &&
    cmp "$work/out" "$work/records/summary.txt" && [ -s "$work/records/gantt.svg" ]
ok $? "a folder that was converted before can be summarised"

echo 'no record' >"$work/records/tasks.rec"
analyse "$work/records"
[ $status -eq 1 ] && grep -qF "tasks.rec:1: expected 'Key: value', not 'no record'" "$work/err"
ok $? "records that cannot be understood are refused"

mkdir "$work/nothing"
analyse "$work/nothing"
[ $status -eq 1 ] && grep -qF "cavs-trace: no trace in the folder $work/nothing" "$work/err"
ok $? "a folder without a trace is refused"
analyse ""
[ $status -eq 2 ] && grep -qF "cavs-trace: expected the folder of a trace" "$work/err"
ok $? "a folder without a name is a mistake on the command line"

analyse "$work/nowhere"
[ $status -eq 1 ] && grep -qF "cavs-trace: $work/nowhere: No such file or directory" "$work/err" &&
    analyse "$0" && [ $status -eq 1 ] && grep -qF "$0: it is a file, and the folder of a trace is wanted" "$work/err"
ok $? "and so is one that is not there, or is a file"

analyse --input "$work/nowhere" "$work/nothing"
[ $status -eq 1 ] && grep -qF "cavs-trace: $work/nowhere: No such file or directory" "$work/err" &&
    analyse --input "$work/records" "$work/nothing" && [ $status -eq 1 ] &&
    grep -qF "cavs-trace: $work/records: it is a folder, and what StarPU recorded is wanted" "$work/err" &&
    : >"$work/blank" && analyse --input "$work/blank" "$work/nothing" && [ $status -eq 1 ] &&
    grep -qF "cavs-trace: $work/blank: it is empty: no record" "$work/err" && [ -z "$(ls "$work/nothing")" ]
ok $? "so is a record that is not there, a folder or empty, and nothing is left" "$work/err"

analyse
[ $status -eq 2 ] && grep -qF 'expected the folder of a trace' "$work/err"
ok $? "without a folder: a mistake on the command line"

analyse "$work/nothing" more
[ $status -eq 2 ] && grep -qF "unexpected argument 'more'" "$work/err"
ok $? "and so are two"

analyse --version
[ $status -eq 0 ] && grep -q '^cavs-trace (cavs) [0-9]' "$work/out"
ok $? "--version"

# --- --trace ---

run --trace "$work/new"

if ! grep -q '^#define HAVE_STARPU_FXT 1' "$build/config.h"; then
    [ $status -eq 0 ] && grep -qF 'no trace: this StarPU was built without FxT' "$work/err" &&
        [ -s "$work/out" ] && [ ! -e "$work/new" ]
    ok $? "without FxT: one line about it, and the run goes on"
    run --trace "$work/new" --require
    refused 'no trace: this StarPU'
    ok $? "with --require that is an error"
    echo "1..$count"
    exit 0
fi

[ $status -eq 0 ] && tail -n 1 "$work/out" | grep -q '^{.*"tasks":.*}$' &&
    ! grep -qv 'note: compiling fused groups' "$work/err"
ok $? "a traced run succeeds"

for file in summary.txt gantt.svg paje.trace dag.dot tasks.rec trace.rec data.rec activity.data \
    distrib.data trace.fxt; do
    [ -s "$work/new/$file" ]
    ok $? "$file"
done

[ -z "$(find "$work/new" -size 0)" ] && ! [ -e "$work/new/trace.html" ]
ok $? "no file is empty, none wants the net"

tasks=$(tail -n 1 "$work/out" | sed -n 's/.*"tasks":\([0-9]*\).*/\1/p')
grep -q "^$tasks tasks on 2 workers in" "$work/new/summary.txt"
ok $? "the summary has all tasks"
grep -q '^  batches  *10$' "$work/new/summary.txt"
ok $? "and all batches"
grep -q '^  chain backward' "$work/new/summary.txt" && grep -q '^  update' "$work/new/summary.txt"
ok $? "and phases"

if command -v xmllint >/dev/null; then
    xmllint --noout "$work/new/gantt.svg" 2>"$work/err"
else
    head -n 1 "$work/new/gantt.svg" | grep -q '^<svg ' && tail -n 1 "$work/new/gantt.svg" | grep -q '</svg>$'
fi
ok $? "gantt.svg is well formed"

mkdir "$work/empty"
STARPU_FXT_SUFFIX=mine run --trace "$work/empty"
[ $status -eq 0 ] && [ -s "$work/empty/mine_0" ] && [ -s "$work/empty/gantt.svg" ]
ok $? "an empty folder is taken; STARPU_FXT_SUFFIX stays as it was set"

mkdir "$work/mine"
STARPU_FXT_PREFIX=$work/mine run --trace "$work/theirs"
[ $status -eq 0 ] && [ -s "$work/mine/trace.fxt_0" ] && [ -h "$work/theirs/trace.fxt" ] &&
    [ -s "$work/theirs/gantt.svg" ]
ok $? "STARPU_FXT_PREFIX stays, too, and the folder has a link"

# StarPU cuts names of more than 127 bytes
long=$work/$(printf '%0150d' 0)
run --trace "$long"
[ $status -eq 0 ] && [ -s "$long/trace.fxt" ] && [ -s "$long/gantt.svg" ]
ok $? "a folder with a long name"

cd "$work" || exit 1
case $build in /*) ;; *) build=$OLDPWD/$build ;; esac
run --trace relative
[ $status -eq 0 ] && [ -s "$work/relative/gantt.svg" ]
ok $? "a relative path"

run --trace "$work/new"
refused "the folder $work/new for the trace is not empty: name a new or an empty one"
ok $? "a folder that is not empty is refused"

mkdir "$work/theirs_now"
(
    exec 9<"$work/theirs_now"
    flock 9
    run --trace "$work/theirs_now"
    refused "the folder $work/theirs_now for the trace is that of another run"
)
ok $? "a folder that another run has is refused"

run --trace "$work/none/new"
refused "cannot make the folder $work/none/new for the trace: No such file or directory"
ok $? "a folder in a missing one is refused"

: >"$work/file"
run --trace "$work/file"
refused "$work/file: a folder is wanted for the trace, this is none"
ok $? "a file in place of a folder is refused"

run --trace "$work/out2/../out"
refused "cannot make the folder"
ok $? "a path through nothing is refused"

: >"$work/file"
run --trace "$work/file"
refused "$work/file"
ok $? "a file is refused"

mkdir -m 555 "$work/closed"
if [ -w "$work/closed" ]; then
    skip "a closed folder is refused" "everything is writable for this user"
else
    run --trace "$work/closed"
    refused "cannot write into the folder $work/closed"
    ok $? "a closed folder is refused"
fi

# a disk without room for it: FxT goes on, so that it is found at the end
mkdir "$work/small"
if unshare --mount mount -t tmpfs -o size=64k none "$work/small" 2>/dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount sh -c '
        mount -t tmpfs -o size=64k none "$1" && exec "$2" --hidden 8 --leaves 16 --samples 200 --batch 8 --epochs 2 \
            --workers 2 --policy serial --quiet --json --trace "$1/trace"' sh "$work/small" "$build/apps/tree_fc" \
        >"$work/out" 2>"$work/err"
    status=$?
    [ $status -eq 1 ] && tail -n 1 "$work/out" | grep -q '^{.*"tasks":.*}$' &&
        grep -q '^tree_fc: there is no trace: .*/trace.fxt_0 may be cut short: No space left on device' "$work/err"
    ok $? "a full disk: results are there, and it is said that there is no trace"
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount sh -c '
        mount -t tmpfs -o size=64k none "$1" && mkdir "$1/trace" && cat /dev/zero >"$1/full" 2>/dev/null
        exec "$2" --hidden 8 --leaves 16 --samples 8 --epochs 1 --quiet --json --trace "$1/trace"' \
        sh "$work/small" "$build/apps/tree_fc" >"$work/out" 2>"$work/err"
    status=$?
    refused "cannot write into the folder $work/small/trace for the trace: No space left on device"
    ok $? "a disk that is full already is found at the beginning"
else
    skip "a full disk" "this user cannot mount one"
    skip "a disk that is full already" "this user cannot mount one"
fi

# --- cavs-trace by itself ---

cp "$work/new/summary.txt" "$work/before" && rm "$work/new/summary.txt" "$work/new/gantt.svg"
analyse "$work/new"
[ $status -eq 0 ] && cmp "$work/before" "$work/new/summary.txt" && cmp "$work/before" "$work/out" &&
    [ -s "$work/new/gantt.svg" ]
ok $? "cavs-trace can be repeated, and prints the summary"

analyse --quiet "$work/new"
[ $status -eq 0 ] && [ ! -s "$work/out" ]
ok $? "--quiet prints nothing"

mkdir "$work/starpu" && cp "$work/new/trace.fxt" "$work/starpu/prof_file_me_0"
analyse "$work/starpu"
[ $status -eq 0 ] && [ -s "$work/starpu/paje.trace" ] && cmp "$work/before" "$work/out"
ok $? "a record with the name that StarPU gives it"

mkdir "$work/other"
analyse --input "$work/new/trace.fxt" "$work/other"
[ $status -eq 0 ] && [ -s "$work/other/gantt.svg" ] && cmp "$work/before" "$work/out"
ok $? "--input: a record elsewhere"

run --epochs 0 --trace "$work/idle"
[ $status -eq 0 ] && grep -q '^No task ran' "$work/idle/summary.txt"
ok $? "a run without tasks"

echo "1..$count"
