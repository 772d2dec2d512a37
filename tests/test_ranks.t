#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Several ranks on one machine, started by mpirun, more of them than cores: the same bits as one process gives, by
# every optimizer, for models of every kind.  Skipped where the library was built without MPI.

tests=${abs_top_builddir:-.}/tests
work=$(cd "$tests/home" && mktemp -d "$PWD/ranks.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"

if ! grep -q '^#define HAVE_MPI' "$tests/../config.h" || ! command -v mpirun >/dev/null; then
    echo "1..0 # SKIP no MPI: ./quickstart --mpi installs one"
    exit
fi

# Root, and more ranks than cores: Open MPI wants both said; MPICH knows no such words.
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
    export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_hwloc_base_binding_policy
fi

# --- the same bits --------------------------------------------------------------------------------

# hashes N SHARDS: what the trial of models says, into N.SHARDS
hashes() {
    if [ "$1" -eq 1 ]; then
        CAVS_FUSION=interpret "$tests/ranks_trial" "$2" ${3:+"$3"}
    else
        CAVS_FUSION=interpret mpirun -np "$1" "$tests/ranks_trial" "$2" ${3:+"$3"}
    fi >"$work/$1.$2" 2>"$work/err"
}

# same RANKS SHARDS [MODEL]: as one process
same() {
    [ -e "$work/1.$2" ] || hashes 1 "$2" "${3:-}"
    hashes "$1" "$2" "${3:-}"
    [ -s "$work/1.$2" ] && cmp -s "$work/1.$2" "$work/$1.$2"
    ok $? "$1 ranks, $2 shards: the bits of one process" "$work/err" "$work/1.$2" "$work/$1.$2"
}

same 2 4
same 4 8 tree_lstm_bench
if [ -n "${CAVS_TEST_LONG:-}" ]; then
    same 3 7
    same 8 16
    same 4 24
fi

echo "1..$count"
