# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# What quickstart says, how it runs a command that takes long, and how it stops.

say() { printf '==> %s\n' "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }

die() {
    printf 'quickstart: %s\n' "$*" >&2
    exit 1
}

# step WHAT: announces the next of $steps steps.
step_number=0
step() {
    step_number=$((step_number + 1))
    say "step $step_number of $steps: $*"
}

have() { command -v "$1" >/dev/null 2>&1; }

# --- commands that take long, and signals ---------------------------------------------------------

job=        # process group of the command that runs, or nothing
job_by=user # or root: that of apt under sudo
ticker=     # the process that prints dots
scratch=    # the temporary folder of this run, or nothing

# run_job COMMAND...: runs it in a process group of its own: a signal to us is then handled at once
# (bash would wait for the end of a command in the foreground), and ends everything it started.
run_job() {
    local status
    set -m
    "$@" </dev/null &
    job=$!
    set +m
    wait "$job"
    status=$?
    job=
    return $status
}

# tick: prints dots. Its sleep may outlive us, and must not keep others waiting for what we have locked.
tick() {
    local lock
    for lock in $locks; do
        exec {lock}<&-
    done
    while sleep 5 >/dev/null 2>&1; do printf . >&2; done
}

# watched WHAT LOG COMMAND...: runs COMMAND with its output in LOG; a dot every five seconds, and at
# the end how long it took.
watched() {
    local log=$2 status start=$SECONDS
    printf '    %s ' "$1" >&2
    tick &
    ticker=$!
    run_job "${@:3}" >"$log" 2>&1
    status=$?
    stop_ticker
    printf ' %d s%s\n' $((SECONDS - start)) "$([ $status -eq 0 ] || echo ', failed')" >&2
    return $status
}

# logged WHAT LOG COMMAND...: as watched; if COMMAND failed, says why or shows the log's end.
logged() {
    local status
    watched "$@"
    status=$?
    [ $status -ne 0 ] || return 0
    explain_failure "$2"
    printf 'quickstart: %s failed. The end of %s:\n' "$1" "$2" >&2
    tail -n 15 "$2" | sed 's/^/    | /' >&2
    return $status
}

# explain_failure LOG: stops with one sentence where the reason is known and has nothing to do with
# us.
explain_failure() {
    local unreachable='Temporary failure resolving|Could not resolve|Could not connect'
    unreachable="$unreachable|Unable to connect|Connection timed out|Network is unreachable"
    if grep -qE 'No space left on device|not enough free space|Disk quota exceeded' "$1"; then
        die "a disk is full: the log is $1; TMPDIR and CAVS_CACHE name folders elsewhere"
    elif grep -qE "$unreachable" "$1"; then
        die "the archive of packages cannot be reached; is there a network? The log is $1"
    elif grep -qE 'Could not get lock|Unable to (acquire|lock)' "$1"; then
        die "another program installs packages at this moment: run me again when it is done"
    fi
}

stop_ticker() {
    [ -n "$ticker" ] || return 0
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null
    ticker=
}

end_job() {
    [ -n "$job" ] || return 0
    kill -TERM -- "-$job" 2>/dev/null
    # sudo and its children are not ours to signal
    [ "$job_by" = user ] || as_root -n kill -TERM -- "-$job" 2>/dev/null
    wait "$job" 2>/dev/null
}

# stopped STATUS: what a signal does. A second one does not wait for the command to end.
stopped() {
    trap 'exit 130' INT TERM HUP
    printf '\nquickstart: stopped; run me again to go on\n' >&2
    end_job
    exit "$1"
}

leave() {
    stop_ticker
    [ -z "$scratch" ] || rm -rf "$scratch"
}

handle_signals() {
    trap 'stopped 130' INT
    trap 'stopped 143' TERM
    trap 'stopped 129' HUP
    trap leave EXIT
}

# --- one at a time --------------------------------------------------------------------------------

# only_one FOLDER WHAT: waits until no other quickstart has locked FOLDER, then locks it until we
# end; what we have locked already is ours.
only_one() {
    local folder
    [ "${locked/:$1:/}" = "$locked" ] || return 0
    have flock && exec {folder}<"$1" || return 0
    locked="$locked:$1:" locks="$locks $folder"
    flock -n "$folder" && return
    note "another quickstart $2: waiting until it is done"
    run_job flock "$folder"
}
locked= # folders
locks=  # descriptors
