#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What one more V_t costs on a device, in kernels launched: as --explain says, and as counted when
# the same model runs on a graph that is one V_t deeper. Skipped where there is no OpenCL device;
# PoCL is one.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/launches.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

with_opencl
: "${STARPU_OPENCL_ON_CPUS=1}" "${STARPU_OPENCL_ONLY_ON_CPUS=1}"
CAVS_FUSION=interpret # of CPU groups, which take no part
CAVS_DEVICE_PRODUCTS=grouped
CAVS_DEVICE_SEQUENCES=always # on a CPU, too
export STARPU_OPENCL_ON_CPUS STARPU_OPENCL_ONLY_ON_CPUS CAVS_FUSION CAVS_DEVICE_PRODUCTS CAVS_DEVICE_SEQUENCES

device='--opencl 1 --workers 0 --hidden 16 --batch 1 --quiet'

# explained PHASE: launches of the chain's inner function
explained() {
    awk -v phase="$1" '/^task / { chain = index($2, phase ".chain:") }
        chain && sub(/.* function inner.*on a device /, "") { print $1; exit }' "$work/out"
}

# counted PROGRAM ARGUMENT...: launches of one batch
counted() {
    # shellcheck disable=SC2086
    run "$@" $device --epochs 1 --json
    status_is 0 && launches=$(field launches)
}

# costs NAME FORWARD BACKWARD: $shallow and $deep are what the runs launched, the plan is in out
costs() {
    forward=$(explained forward)
    backward=$(explained backward)
    [ "$forward" -le "$2" ] && [ "$backward" -le "$3" ] &&
        [ $((deep - shallow)) -eq $((forward + backward)) ]
    ok $? "$1: a V_t is $forward launches forward, $backward backward, and that is what runs"
}

# tree CELL FORWARD BACKWARD
tree() {
    counted tree_lstm --cell "$1" --embed 16 --train "$work/shallow" && shallow=$launches &&
        counted tree_lstm --cell "$1" --embed 16 --train "$work/deep" && deep=$launches
    # shellcheck disable=SC2086
    run tree_lstm --cell "$1" --embed 16 --train "$work/deep" $device --epochs 0 --explain
    costs "tree_lstm $1" "$2" "$3"
}

echo '(2 (2 (2 a) (2 b)) (2 c))' >"$work/shallow"
echo '(2 (2 (2 (2 a) (2 b)) (2 c)) (2 d))' >"$work/deep"

counted tree_fc --leaves 8 --samples 1
if said "StarPU found 0"; then
    echo "1..0 # SKIP no OpenCL device"
    exit 0
fi
shallow=$launches
counted tree_fc --leaves 16 --samples 1 && deep=$launches
# shellcheck disable=SC2086
run tree_fc --leaves 16 --samples 1 $device --epochs 0 --explain
costs tree_fc 2 2

tree bench 2 2
tree nary 2 3
tree childsum 3 2

# the library on a CPU, or none if it was not there when this was built
CAVS_OPENCL_GEMM=clblast
CAVS_DEVICE_PRODUCTS=library
export CAVS_OPENCL_GEMM
tree bench 5 5
CAVS_OPENCL_GEMM=own
tree bench 3 3
echo "1..$count"
