# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
#
# What the tests share that start ranks by mpirun; they source it with $name (of their folder).  They are skipped where
# the library was built without MPI.

apps=${abs_top_builddir:-.}/apps
tests=${abs_top_builddir:-.}/tests
data=$(cd "${abs_top_srcdir:-.}/tests/data" && pwd)
work=$(cd "$tests/home" && mktemp -d "$PWD/$name.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

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

# what programs of ranks are given
small="--train $data/mini.txt --hidden 64 --embed 8 --batch 4 --lr 0.05 --shards 4 --optimizer adam --clip 1 --workers 1"

# ranks N PROGRAM ARGUMENT...: as run, in N processes
ranks() {
    n=$1 program=$2
    shift 2
    mpirun -np "$n" "$apps/$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
}

# results: what of the last run is the same however long it took.
results() {
    tail -n 1 "$work/out" | tr , '\n' | grep -E '"(epochs|samples|vertices|batches|loss|(train|dev|val|test|best)_[a-z_]*)":'
    tail -n 1 "$work/out" | grep -o '"epoch_loss":[^]]*'
}

# appears FILE TRIES: waits for it, so many times a fifth of a second
appears() {
    waited=0
    until [ -e "$1" ] || [ $waited -gt "$2" ]; do
        sleep 0.2
        waited=$((waited + 1))
    done
}
