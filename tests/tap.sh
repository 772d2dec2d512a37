# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
#
# Lines of TAP, for tests that are shell scripts; they source it with $work (a folder) set.

count=0
# what to show of $work after a failure, unless the caller says: what a program said last
told="status out err"

# ok STATUS DESCRIPTION [FILE]...: one line of TAP; after a failure what the FILEs say
ok() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        printf 'ok %d - %s\n' "$count" "$2"
        return
    fi
    printf 'not ok %d - %s\n' "$count" "$2"
    shift 2
    if [ $# -eq 0 ]; then
        # shellcheck disable=SC2086 # a list
        (cd "$work" && tell $told)
    else
        tell "$@"
    fi
}

# tell FILE...: the last lines of those that are there, as a comment
tell() {
    for told_file; do
        [ ! -s "$told_file" ] || tail -n 40 "$told_file" | sed "s|^|# ${told_file##*/}: |"
    done
}

skip() {
    count=$((count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$count" "$1" "$2"
}
