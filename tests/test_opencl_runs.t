#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A program with an OpenCL device: beside a CPU and alone, with too little memory, and where the
# device cannot be used. Skipped where there is none; PoCL is one.

apps=${abs_top_builddir:-.}/apps
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/opencl.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/programs.sh
. "${abs_top_srcdir:-.}/tests/programs.sh"

with_opencl
: "${STARPU_OPENCL_ON_CPUS=1}" "${STARPU_OPENCL_ONLY_ON_CPUS=1}"
export STARPU_OPENCL_ON_CPUS STARPU_OPENCL_ONLY_ON_CPUS

# fc ARGUMENT...: the same small training; 9 MB of tensors
fc() {
    run tree_fc --epochs 2 --samples 48 --batch 24 --hidden 64 --json --quiet "$@"
}

# same_loss: as without a device
same_loss() {
    status_is 0 && holds "($(field loss) / $loss - 1) ^ 2 < 1e-8"
}

fc --workers 1
loss=$(field loss)
fc --workers 1 --opencl 1
if said "StarPU found 0"; then
    echo "1..0 # SKIP no OpenCL device"
    exit 0
fi

same_loss && ! said "left out"
ok $? "a core and a device together: the same loss"

fc --workers 0 --opencl all
same_loss && holds "$(field launches) > 0" && [ "$(field workers)" -eq 1 ]
ok $? "a device alone: the same loss"

CAVS_PLACEMENT=alternate fc --workers 1 --opencl 1
same_loss && holds "$(field launches) > 0"
ok $? "tasks in turns on both: the same loss"

STARPU_LIMIT_OPENCL_MEM=6 fc --workers 0 --opencl 1
same_loss && holds "$(field tensor_mb) > 6"
ok $? "6 MB of device memory for more than that: what is not used makes room"

# large ARGUMENT...: a model whose parameters have no room where fc()'s have
large() {
    STARPU_LIMIT_OPENCL_MEM=6 run tree_lstm --hidden 256 --embed 256 --epochs 1 --json --quiet \
        --train "${abs_top_srcdir:-.}/tests/data/mini.txt" "$@"
}

large --workers 0 --opencl 1
status_is 1 && said "has 6 MB that StarPU may use; parameters take" && said "no CPU worker takes part"
ok $? "parameters for which a device has no room: an error without a core"

large --workers 1 --opencl 1
status_is 0 && said "CPU workers take all tasks" && [ "$(field launches)" -eq 0 ]
ok $? "with a core they are its"

CAVS_OPENCL_FLAGS=-Dcavs_update=1 fc --workers 1 --opencl 1
same_loss && [ "$(grep -c "is left out" "$work/err")" -eq 1 ] && [ "$(field launches)" -eq 0 ]
ok $? "a device that cannot build the kernels is left out, and said so once"

CAVS_OPENCL_FLAGS=-Dcavs_update=1 fc --workers 1 --opencl 1 --require
status_is 1 && said "is left out" && [ ! -s "$work/out" ]
ok $? "with --require that is an error"

CAVS_OPENCL_FLAGS=-Dcavs_update=1 fc --workers 0 --opencl 1
status_is 1 && said "no device can be used"
ok $? "without a core that is an error"

fc --workers 1 --opencl 5
same_loss && said "5 OpenCL devices asked for, StarPU found 1"
ok $? "fewer devices than asked for are said, and used"

fc --workers 1 --opencl 5 --require
status_is 1 && said "5 OpenCL devices asked for, StarPU found 1"
ok $? "with --require that is an error, too"

fc --workers 1 --opencl all --require
same_loss
ok $? "all devices that are there are no error"

run tree_fc --epochs 0 --workers 1 --opencl 1 --explain --quiet
status_is 0 && grep -q "on a device [0-9]* launches" "$work/out"
ok $? "--explain counts launches"

# recorded ARGUMENT...: a network on a tape, which has blocks after some recordings
recorded() {
    run dyn_tree_lstm --hidden 16 --embed 16 --batch 2 --lr 0.01 --epochs 8 \
        --train "${abs_top_srcdir:-.}/tests/data/mini.txt" --json --quiet --explain "$@"
}

recorded --workers 1
loss=$(field loss)
recorded --workers 0 --opencl 1 --no-blocks
apart=$(field batching_tasks)
same_loss && grep -q "Rows were computed on devices;" "$work/out" && [ "$(field vt_launches_backward)" != null ]
ok $? "a recorded network on a device alone, operator by operator: the same loss"

recorded --workers 0 --opencl 1
same_loss && [ "$(field batching_tasks)" -lt "$apart" ] && [ "$(field vt_launches_backward)" != null ]
ok $? "with blocks, too"

recorded --workers 1 --opencl 1
same_loss && [ "$(field vt_launches_backward)" != null ]
ok $? "and beside a core"

recorded --workers 1 --opencl 1 --check-finite
same_loss && [ "$(field vt_launches_forward)" = null ] && grep -q "Rows were computed on CPUs" "$work/out"
ok $? "numbers are checked on the core"

echo "1..$count"
