#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What goes wrong on a GPU, on stand-ins (tests/cuda/gpu.h): training goes on, or ends with a message, and the
# checkpoint of before can be read.

name=faults
# shellcheck source=tests/cuda/programs_on_gpus.sh
. "${abs_top_srcdir:-.}/tests/cuda/programs_on_gpus.sh"

# with_gpu OPTIONS ARGUMENT...: fc() on one
with_gpu() {
    options=$1
    shift
    fc "$options" --epochs 4 --gpus 1 "$@"
}

# resumes: from the checkpoint, on a core, to the end, with the loss of a run in which nothing goes wrong
resumes() {
    # shellcheck disable=SC2086
    (unset CAVS_PLACEMENT && run tree_fc $small_fc --epochs 4 --workers 1 --resume "$work/kept")
    status_is 0 && holds "($(field loss) / $loss - 1) ^ 2 < 1e-8"
}

# breaks NAME OPTIONS TEXT: ends with a message, and the checkpoint is whole. All tasks run on the GPU, so that
# what fails comes after the first epoch and before the last one.
breaks() {
    CAVS_PLACEMENT=device
    export CAVS_PLACEMENT
    for workers in "--workers 0" "--workers 1" "--workers 1 --gpus 2"; do
        rm -rf "$work/kept" && mkdir "$work/kept"
        # shellcheck disable=SC2086
        with_gpu "devices=2 $2" $workers --checkpoint "$work/kept"
        ! status_is 0 && said "$3" && [ -s "$work/kept/checkpoint.safetensors" ] && resumes
        ok $? "$1, $workers: a message, and a checkpoint from which nothing is lost"
    done
    unset CAVS_PLACEMENT
}

with_gpu "late=0" --workers 0
loss=$(field loss)
status_is 0
ok $? "nothing goes wrong"

for n in 1 2+; do
    with_gpu "malloc_fails=$n" --workers 0
    status_is 0 && [ "$(field loss)" = "$loss" ]
    ok $? "memory cannot be allocated ($n): what there is has to do"
done

breaks "a launch fails" "launch_fails=200" "a kernel could not be launched: too many resources"
breaks "a product fails" "product_fails=100" "cublasGemmEx: the function failed to launch"
# StarPU ends the process then
breaks "the device is lost" "lost=200" "unspecified launch failure"

with_gpu "memory=64" --workers 0
status_is 1 && said "is left out: StarPU may use 57 MB of its memory, and wants 96"
ok $? "too little memory for StarPU is said"

# a library of that name, in which nothing is
nvrtc=$(basename "$build"/tests/cuda/libnvrtc.so.*)
${CC:-cc} -shared -x c /dev/null -o "$work/$nvrtc" -Wl,-soname,"$nvrtc"
LD_PRELOAD=$work/$nvrtc with_gpu "late=0" --workers 0
status_is 1 && said "is left out: NVRTC cannot be used: $nvrtc has no nvrtcVersion"
ok $? "an NVRTC that is none is said"

# one sample of more than half the memory that StarPU may use
large="--epochs 1 --samples 1 --batch 1 --leaves 65536 --hidden 48"
# shellcheck disable=SC2086
{
    with_gpu "memory=112" --workers 0 $large
    status_is 1 && said "has too little memory for" && said "and no CPU worker takes part"
    ok $? "a sample that is larger than the GPU: an error without a core"

    run tree_fc --json --quiet --workers 1 $large
    loss_of_large=$(field loss)
    with_gpu "memory=112" --workers 1 $large
    status_is 0 && said "CPU workers take them" && holds "($(field loss) / $loss_of_large - 1) ^ 2 < 1e-8"
    ok $? "with a core that computes it, and the same loss"
}

with_gpu "slow=500" --workers 0
status_is 0 && [ "$(field loss)" = "$loss" ]
ok $? "a slow device: the same bits"

echo "1..${count:?}"
