# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
#
# What the tests share that run programs on stand-in GPUs (gpu.h); they source it with $name (of their
# folder). They are skipped where there are none.

build=${abs_top_builddir:-.}
source=${abs_top_srcdir:-.}
apps=$build/apps
work=$(mktemp -d "$build/tests/home/$name.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/programs.sh
. "$source/tests/programs.sh"

if [ ! -e "$build/tests/cuda/libcuda.so.1" ]; then
    echo "1..0 # SKIP built without CUDA"
    exit 0
fi
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "1..0 # SKIP no C++ compiler"
    exit 0
fi
# which way is faster is a question to a GPU only
CAVS_DEVICE_PRODUCTS=library
export CAVS_DEVICE_PRODUCTS

# counted NAME: of the stand-ins' report
counted() {
    sed -n "s/^$1 //p" "$work/report"
}

# on_gpus OPTIONS PROGRAM ARGUMENT...: as run() does, on such GPUs
on_gpus() {
    options=$1
    program=$2
    shift 2
    timeout -s KILL 300 "$source/tests/cuda/run" "$options report=$work/report" "$apps/$program" "$@" \
        >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
}

# what fc() trains
small_fc='--samples 24 --batch 12 --leaves 64 --hidden 32 --json --quiet'

# fc OPTIONS ARGUMENT...: a small training
fc() {
    options=$1
    shift
    # shellcheck disable=SC2086
    on_gpus "$options" tree_fc $small_fc --epochs 2 "$@"
}
