# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
#
# What the tests that run programs share; they source it with $work (a folder) and $apps set.

# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"

# The programs themselves: libtool has put scripts in their places, which take a third of a short run.
if [ -x "$apps/.libs/tree_fc" ]; then
    LD_LIBRARY_PATH=$(cd "$apps/../.libs" && pwd)${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    apps=$apps/.libs
fi

# StarPU counts OpenCL's devices when it starts, whether they are asked for or not, and PoCL alone brings a whole compiler:
# 50 ms of each run.
if [ -z "${OCL_ICD_VENDORS+set}" ]; then
    OCL_ICD_VENDORS=/nonexistent
    export OCL_ICD_VENDORS
    without_opencl=yes
fi

# with_opencl: from here on OpenCL's devices are there, if any are
with_opencl() {
    [ -z "${without_opencl:-}" ] || unset OCL_ICD_VENDORS
}

# run PROGRAM ARGUMENT...: its status, stdout and stderr go to files
run() {
    program=$1
    shift
    "$apps/$program" "$@" >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
}

status_is() {
    [ "$(cat "$work/status")" -eq "$1" ]
}

said() {
    grep -qF -- "$1" "$work/err"
}

# Nothing on stderr, but that a compiler takes its time on a busy machine.
silent() {
    ! grep -qv 'note: compiling fused groups of operators' "$work/err"
}

# field NAME: a number of the JSON object in the last line of stdout
field() {
    tail -n 1 "$work/out" | sed -n "s/.*\"$1\":\([^],}]*\).*/\1/p"
}

# policies: what --policy takes, or a word that it does not take
policies() {
    "$apps/tree_fc" --policy none 2>&1 | sed -n "s/.*--policy wants one of \(.*\), not.*/\1/p" | tr -d , |
        grep . || echo unknown
}

# holds CONDITION: on numbers, as awk has them
holds() {
    awk "BEGIN { exit !($1) }" </dev/null
}
