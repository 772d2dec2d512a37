#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What surrounds a program: a home that cannot be written, none at all, what is left in one, closed descriptors, others
# who write to stderr, and a limit to files.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/surroundings.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"
with_opencl # whose driver leaves files, too

small="--hidden 8 --leaves 5 --samples 10 --batch 4 --epochs 1 --workers 2 --json --quiet"
mkdir "$work/tmp"
: >"$work/file"

# run_with SETTING...: tree_fc where StarPU's folder follows from these alone
run_with() {
    # shellcheck disable=SC2086
    env -u STARPU_HOME -u XDG_CACHE_HOME -u STARPU_PERF_MODEL_DIR "$@" TMPDIR="$work/tmp" \
        "$apps/tree_fc" $small >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
}

# went_well: results, not a word, and nothing left in the folder for temporary files
went_well() {
    status_is 0 && [ "$(field samples)" -eq 10 ] && silent &&
        [ -z "$(ls "$work/tmp")" ]
}

# --- HOME ------------------------------------------------------------------------------------------

for home in /proc/no-such-folder /dev/null "$work/file" ""; do
    run_with HOME="$home"
    went_well
    ok $? "HOME=$(basename "$home") is no obstacle"
done

run_with -u HOME
went_well
ok $? "no HOME is no obstacle"

mkdir "$work/locked"
chmod 500 "$work/locked"
if [ -w "$work/locked" ]; then
    skip "a HOME that cannot be written is no obstacle" "root can write everywhere"
else
    run_with HOME="$work/locked"
    went_well
    ok $? "a HOME that cannot be written is no obstacle"
fi

run_with HOME="$work" STARPU_HOME=/proc/no-such-folder
status_is 1 && said "/proc/no-such-folder" && said "set STARPU_HOME" && [ ! -s "$work/out" ]
ok $? "a STARPU_HOME that cannot be made is an error that says what to set"

# --- what is left in the home --------------------------------------------------------------------------

mkdir "$work/home"
run_with -u CAVS_CACHE -u POCL_CACHE_DIR HOME="$work/home"
(cd "$work/home" && find . -mindepth 1 -maxdepth 1 ! -name .cache && find .cache -mindepth 1 -maxdepth 1) 2>/dev/null |
    sed 's|^\./||' >"$work/left"
while read -r name; do
    # shellcheck disable=SC2088 # as the document has it
    grep -qF "~/$name" "${abs_top_srcdir:-.}/README.md" || echo "$name"
done <"$work/left" >"$work/untold"
went_well && [ -s "$work/left" ] && ! [ -s "$work/untold" ]
ok $? "the README tells of all that a run leaves in HOME" "$work/left" "$work/untold"

# --- devices -----------------------------------------------------------------------------------------

# shellcheck disable=SC2086
run tree_fc $small --gpus 99
status_is 0 && said "99 CUDA devices asked for, StarPU found" && said "(--gpus 99)" && [ "$(field samples)" -eq 10 ]
ok $? "devices that are not there: one line, and the run goes on without them"

# shellcheck disable=SC2086
run tree_fc $small --gpus 99 --require
status_is 1 && said "99 CUDA devices asked for, StarPU found" && said "(--gpus 99)" && [ ! -s "$work/out" ]
ok $? "with --require that is an error"

# shellcheck disable=SC2086
CUDA_VISIBLE_DEVICES='' run tree_fc $small --workers 0 --gpus all
status_is 1 && said "(0 CPU workers, all CUDA and 0 OpenCL devices asked for) (--gpus all)"
ok $? "who asks for all devices and no core reads that, where there is none"

# shellcheck disable=SC2086
STARPU_NCPU=0 run tree_fc $small
status_is 1 && said "STARPU_NCPU=0 in the environment goes before that"
ok $? "who has no core by the environment reads that"

# --- closed descriptors ------------------------------------------------------------------------------
# What the program opens first would get the number of a closed one, and then what is meant for it.

: >"$work/out"
# shellcheck disable=SC2086
"$apps/tree_fc" $small --save "$work/model" >&- 2>"$work/err"
echo $? >"$work/status"
status_is 1 && said "cannot write the results to stdout: Bad file descriptor"
ok $? "results cannot be written to a closed stdout"

! grep -q '"app"' "$work/model"
ok $? "and are in no other file"

if [ -w /dev/full ]; then
    for form in --json --quiet --explain; do
        # shellcheck disable=SC2086
        "$apps/tree_fc" $small $form >/dev/full 2>"$work/err"
        echo $? >"$work/status"
        status_is 1 && said "cannot write the results to stdout: No space left on device" || break
    done
    ok $? "and for want of room, which is said"
else
    skip "a stdout without room" "no /dev/full here"
fi

# shellcheck disable=SC2086
"$apps/tree_fc" $small --save "$work/model" >"$work/out" 2>"$work/err" <&-
echo $? >"$work/status"
status_is 0 && [ "$(field samples)" -eq 10 ] && silent
ok $? "a closed stdin is no obstacle"

# shellcheck disable=SC2086
"$apps/tree_fc" $small --save /proc/no-such-folder/model >"$work/out" 2>&- <&-
echo $? >"$work/status"
: >"$work/err"
status_is 1 && ! grep -q 'no-such-folder' "$work/out"
ok $? "messages for a closed stderr go nowhere else"

# --- lines on stderr -----------------------------------------------------------------------------------
# Each write arrives as a packet of its own.

if command -v python3 >/dev/null; then
    python3 -c '
import socket, subprocess, sys
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=theirs)
theirs.close()
packets = iter(lambda: ours.recv(65536), b"")
print(sum([not packet.endswith(b"\n") for packet in packets]), program.wait())' \
        "$apps/tree_lstm" --hidden 8 --epochs 2 --workers 1 --gpus 99 --train "${abs_top_srcdir:-.}/tests/data/mini.txt" \
        --dev "${abs_top_srcdir:-.}/tests/data/mini-dev.txt" >"$work/out" 2>"$work/err"
    [ "$(cat "$work/out")" = "0 0" ]
    ok $? "lines are written to stderr as a whole" "$work/out" "$work/err"
else
    skip "lines are written to stderr as a whole" "no python3 to look at single writes"
fi

# --- a limit to the size of files ----------------------------------------------------------------------

# shellcheck disable=SC2086
(ulimit -f 8 && CAVS_FUSION=interpret run tree_fc $small --hidden 64 --save "$work/limited")
status_is 1 && said "cannot write $work/limited: File too large" && [ -z "$(find "$work" -name 'limited*')" ]
ok $? "a file beyond ulimit -f is an error, and nothing of it is left"

echo "1..$count"
