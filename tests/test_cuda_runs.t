#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs on GPUs that are none (tests/cuda/gpu.h): one and two, with and without a core, whatever order
# their streams take. With CAVS_TEST_LONG also the tests of devices, all models, and gpu-check.

name=cuda
# shellcheck source=tests/cuda/programs_on_gpus.sh
. "${abs_top_srcdir:-.}/tests/cuda/programs_on_gpus.sh"

# same_loss: as on a core, and nothing to say
same_loss() {
    status_is 0 && holds "($(field loss) / $loss - 1) ^ 2 < 1e-8" && silent
}

fc "devices=2" --workers 1
loss=$(field loss)
status_is 0
ok $? "a core alone"

fc "devices=2 seed=1" --workers 0 --gpus 1
alone=$(field loss)
same_loss && [ "$(field launches)" -gt 0 ] &&
    [ "$(field launches)" -eq $(($(counted launches) + $(counted products))) ]
ok $? "a GPU alone: the same loss, and as many launches as are counted"

[ "$(field tasks)" -eq "$(field batches)" ]
ok $? "a batch is one task there"

[ "$(counted copies_up)" -gt 0 ] && [ "$(counted unpinned_up)" -eq 0 ] && [ "$(counted unpinned_down)" -eq 0 ]
ok $? "all that is copied is pinned" "$work/report"

[ "$(counted allocations)" -eq "$(counted frees)" ] && [ "$(counted bytes0)" -eq 0 ]
ok $? "all memory of the GPU is given back" "$work/report"

fc "devices=2 seed=2 late=1000" --workers 0 --gpus 1
same_loss && [ "$(field loss)" = "$alone" ]
ok $? "streams in another order, and later: the same bits"

fc "devices=2" --workers 1 --gpus 1
same_loss && [ "$(field launches)" -gt 0 ]
ok $? "a core and a GPU together: the same loss"

fc "devices=2 seed=3" --workers 0 --gpus 2
both=$(field loss)
same_loss && [ "$(counted copies_peer)" -gt 0 ]
ok $? "two GPUs: the same loss, and copies from one to the other"

fc "devices=2 seed=4 late=1000" --workers 0 --gpus 2
same_loss && [ "$(field loss)" = "$both" ]
ok $? "two GPUs in another order: the same bits"

[ "$(counted unpinned_up)" -eq 0 ] && [ "$(counted unpinned_down)" -eq 0 ] && [ "$(counted copies_waited)" -eq 0 ] &&
    [ "$(counted waits)" -eq 0 ]
ok $? "no call waits for a copy, a stream, an event or a device" "$work/report"

fc "devices=2" --workers 1 --gpus all --require
same_loss && [ "$(field workers)" -eq 5 ]
ok $? "all GPUs, with a core"

HWLOC_SYNTHETIC="node:1 core:8 pu:1"
HWLOC_THISSYSTEM=1
export HWLOC_SYNTHETIC HWLOC_THISSYSTEM
fc "devices=2" --gpus 1
same_loss && [ "$(field workers)" -eq 8 ] # two of which are the GPU's
ok $? "of eight cores the GPU takes one, and the thread that prepares batches one"
unset HWLOC_SYNTHETIC HWLOC_THISSYSTEM

# --- compilers -----------------------------------------------------------------------------------------

# meeting NAME OTHER COMPILER: one that for fused groups waits until the other one is at work, too, or gives up
meeting() {
    cat >"$work/$1" <<EOF
#!/bin/sh
for last; do :; done
if grep -q group0 "\$last"; then
    touch "$work/$1.at_work"
    tries=100
    until [ -e "$work/$2.at_work" ]; do
        [ \$((tries -= 1)) -gt 0 ] || exit 1
        sleep 0.1
    done
fi
exec $3 "\$@"
EOF
    chmod +x "$work/$1"
}

meeting cores gpus "${CC:-cc}"
meeting gpus cores "${CXX:-c++}"

# compiled WHAT PROGRAM ARGUMENT...: with an empty cache, on a GPU beside a core
compiled() {
    what=$1
    shift
    rm -rf "$work/cache" "$work"/*.at_work
    CAVS_CACHE="$work/cache" CC="$work/cores" CXX="$work/gpus" on_gpus "devices=1" "$@" --workers 1 --gpus 1
    status_is 0 && silent && [ -e "$work/cores.at_work" ] && [ -e "$work/gpus.at_work" ]
    ok $? "groups of $what are compiled for a GPU and for cores at the same time" "$work/err"
}

# shellcheck disable=SC2086
compiled "a declared model" tree_fc $small_fc --epochs 1
compiled "declared functions on a tape" dyn_tree_lstm --apply --embed 16 --hidden 16 --train "$source/tests/data/mini.txt" \
    --epochs 1 --json --quiet

# --- rounded operands ----------------------------------------------------------------------------------

# rounded WHAT: all products of the GPU were
rounded() {
    status_is 0 && silent && [ "$(counted "products_$1")" -gt 0 ] && [ "$(counted "products_$1")" -eq "$(counted products)" ]
}

# near NUMBER: the loss is, compared to what rounding to bfloat16 changes on a core, and is no float32's
near() {
    holds "($(field loss) - $1) ^ 2 < ($exact - $of_a_core) ^ 2 / 25 && $(field loss) != $exact"
}

# forward: the loss of a pass without an update; trained: and after some
forward() {
    fc "devices=1" --batch 24 --epochs 1 "$@"
}
trained() {
    on_gpus "devices=1" tree_lstm --hidden 32 --embed 16 --train "$source/tests/data/mini.txt" --lr 0.05 --epochs 3 \
        --json --quiet "$@"
}

for pass in forward trained; do
    $pass --workers 1
    exact=$(field loss)
    $pass --workers 1 --precision bfloat16
    of_a_core=$(field loss)
    $pass --workers 0 --gpus 1 --tf32
    rounded tf32 && near "$exact"
    ok $? "$pass with --tf32: all products are asked for in TF32" "$work/report"
    $pass --workers 0 --gpus 1 --precision bfloat16
    rounded bf16 && near "$of_a_core"
    ok $? "$pass with --precision bfloat16: in bfloat16, with the loss of a core that rounds" "$work/report"
done

trained --workers 1 --gpus 1 --precision bfloat16
status_is 0 && said "CPU workers beside devices, and devices whose library does not round, multiply float32 numbers"
ok $? "a core beside a GPU does not round, which is said"

fc "devices=0" --workers 1 --gpus 1
status_is 0 && said "1 CUDA device asked for, StarPU found 0"
ok $? "no GPU is said"

# --- launches a V_t ------------------------------------------------------------------------------------

small="--hidden 16 --json --quiet"
alone="--gpus 1 --workers 0"

# explained PHASE: most launches of a chain of that phase, for one row
explained() {
    awk -v phase="$1" '/^task / { chain = index($2, phase ".chain:") }
        chain && sub(/.* on a device /, "") && $1 > most { most = $1 } END { print most + 0 }' "$work/out"
}

# costs PROGRAM ARGUMENT...: at most 3 launches forward and 5 backward, as the plan says and, on average, as counted
costs() {
    # shellcheck disable=SC2086
    CAVS_DEVICE_PRODUCTS=grouped on_gpus "devices=1" "$@" $small $alone --epochs 1 --explain
    forward=$(explained forward)
    backward=$(explained backward)
    status_is 0 && [ "$forward" -le 3 ] && [ "$backward" -le 5 ] &&
        holds "0 < $(field vt_launches_forward) && $(field vt_launches_forward) <= $forward" &&
        holds "0 < $(field vt_launches_backward) && $(field vt_launches_backward) <= $backward"
    ok $? "$1: a V_t is $(field vt_launches_forward) launches forward, $(field vt_launches_backward) backward"
}

costs tree_lstm --embed 16 --train "$source/tests/data/mini.txt"
[ "$forward" -eq 2 ] && [ "$backward" -eq 2 ] && [ "$(field vt_launches_forward)" = 2.0 ] &&
    [ "$(field vt_launches_backward)" = 2.0 ]
ok $? "copies before products and sums after them are no launches of their own"
on_gpu=$(field loss)
# shellcheck disable=SC2086
on_gpus "devices=0" tree_lstm --embed 16 --train "$source/tests/data/mini.txt" $small --workers 1 --epochs 1
holds "($(field loss) / $on_gpu - 1) ^ 2 < 1e-10"
ok $? "and the loss is that of a core"

# launched PROGRAM ARGUMENT...: launches of one batch
launched() {
    # shellcheck disable=SC2086
    CAVS_DEVICE_PRODUCTS=grouped on_gpus "devices=1" "$@" $small $alone --embed 16 --batch 1 --epochs 1
    status_is 0 && launches=$(field launches) &&
        [ "$launches" -eq $(($(counted launches) + $(counted products))) ]
}

# chain N: a sentence of N words, each of which depends on the next one
chain() {
    i=0
    while [ $((i += 1)) -le "$1" ]; do
        head=$(((i + 1) % ($1 + 1)))
        printf '%d\tword\tword\tX\t_\t_\t%d\tdep\t%d:dep\t_\n' "$i" "$head" "$head"
    done
    echo
}

chain 4 >"$work/shallow"
chain 5 >"$work/deep"
for program in dep_tree_lstm dag_rnn; do
    costs "$program" --train "$work/deep" --min-count 1
    launched "$program" --train "$work/shallow" --min-count 1 && shallow=$launches &&
        launched "$program" --train "$work/deep" --min-count 1 &&
        [ $((launches - shallow)) -eq $((forward + backward)) ]
    ok $? "$program: and one more V_t of all functions is $forward and $backward more"
done

# --- recorded networks ---------------------------------------------------------------------------------

# recorded ARGUMENT...: a tape's losses, on two GPUs of which some are used
recorded() {
    on_gpus "devices=2" dyn_tree_lstm --hidden 16 --embed 16 --batch 2 --lr 0.01 --epochs 8 \
        --train "$source/tests/data/mini.txt" --json --quiet "$@"
}

recorded --workers 1
loss=$(field loss)
status_is 0
ok $? "a tape on a core alone"
recorded --workers 0 --gpus 1 --no-blocks
apart=$(field batching_tasks)
same_loss &&
    [ "$(field vt_launches_forward)" != null ] && [ "$(field vt_launches_backward)" != null ] &&
    [ "$(field launches)" -eq $(($(counted launches) + $(counted products))) ]
ok $? "on a GPU alone, operator by operator: the same loss" "$work/report"
recorded --workers 0 --gpus 1
same_loss && [ "$(field batching_tasks)" -lt "$apart" ] && [ "$(field launches)" -eq $(($(counted launches) + $(counted products))) ] &&
    [ "$(counted copies_waited)" -eq 0 ] && [ "$(counted bytes0)" -eq 0 ]
ok $? "with blocks, too, and no call waits for a copy" "$work/report"
recorded --workers 0 --gpus 2
same_loss && [ "$(counted blocks0)" -gt 0 ] && [ "$(counted blocks1)" -gt 0 ]
ok $? "on two, which both compute: the same loss" "$work/report"
recorded --workers 1 --gpus 1 --explain
same_loss && grep -q "Rows were computed on devices and CPUs;" "$work/out" && [ "$(field vt_launches_forward)" != null ] && [ "$(field vt_launches_backward)" != null ]
ok $? "and on one beside a core"

# shellcheck disable=SC2086
on_gpus "devices=1" dyn_parser $small --embed 16 --mlp 16 --min-count 1 --explore-after 0 --batch 4 --epochs 2 $alone \
    --train "$source/tests/data/mini.conllu"
status_is 0 && holds "$(counted copies_down) > 40" && holds "$(counted bytes_down) < 1000000"
ok $? "scores that a tape is asked for travel, not all rows that there are" "$work/report"

# all_of NAME OPTIONS PROGRAM: a test of devices
all_of() {
    "$source/tests/cuda/run" "$2" "$build/tests/$3" >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    status_is 0 && grep -q '^ok' "$work/out"
    ok $? "$3: $1"
}

# against_oracle PROGRAM...: short tests of what any worker computes, with no core beside the GPU
against_oracle() {
    long=$CAVS_TEST_LONG
    unset CAVS_TEST_LONG
    CAVS_TEST_WORKERS=0
    CAVS_TEST_CUDA=1
    export CAVS_TEST_WORKERS CAVS_TEST_CUDA
    for program in "$@"; do
        all_of "a GPU alone, against the oracle" "devices=1" "$program"
    done
    unset CAVS_TEST_WORKERS CAVS_TEST_CUDA
    [ -z "$long" ] || export CAVS_TEST_LONG="$long"
}

against_oracle test_lists test_dropout

if [ -z "$CAVS_TEST_LONG" ]; then
    skip "tests of devices, all models, and gpu-check" "long tests (CAVS_TEST_LONG=1)"
    echo "1..$count"
    exit 0
fi

fc "devices=1" --workers 1 --epochs 8
of_a_core=$(field loss)
fc "devices=2 memory=256:112 slow=0:2000" --workers 0 --gpus 2 --epochs 8
status_is 0 && holds "($(field loss) / $of_a_core - 1) ^ 2 < 1e-8" && silent && holds "$(counted blocks1) < 0.7 * $(counted blocks0)"
ok $? "two GPUs, one with less memory and slower: the same loss, and it gets less to do" "$work/report"

# 134 MB of tensors, and a GPU of which StarPU may use 100
large="--epochs 1 --samples 32 --batch 32 --leaves 2048 --hidden 96"
# shellcheck disable=SC2086
fc "devices=1" --workers 1 $large
of_a_core=$(field loss)
# shellcheck disable=SC2086
fc "devices=1 memory=112" --workers 0 --gpus 1 $large
status_is 0 && holds "($(field loss) / $of_a_core - 1) ^ 2 < 1e-8" && holds "$(field tensor_mb) > 112" && silent
ok $? "a batch that is larger than the GPU's memory: the same loss"

# same_on GPUS CORES PROGRAM ARGUMENT...: the loss of a core alone, by launches
same_on() {
    gpus=$1
    cores=$2
    shift 2
    # shellcheck disable=SC2086
    on_gpus "devices=2" "$@" $small --epochs 2 --workers "$cores" --gpus "$gpus"
    status_is 0 && silent && holds "($(field loss) / $of_a_core - 1) ^ 2 < 1e-10" && [ "$(field launches)" -gt 0 ]
}

# program NAME ARGUMENT...: costs(), and the same loss everywhere
program() {
    costs "$@"
    # shellcheck disable=SC2086
    on_gpus "devices=0" "$@" $small --epochs 2 --workers 1
    of_a_core=$(field loss)
    status_is 0 && same_on 1 0 "$@" && same_on 2 0 "$@" && same_on 1 1 "$@"
    ok $? "$1: a core's loss on one GPU, on two, and on one and a core"
    echo "$1" >>"$work/tried"
}

data=$source/tests/data
program tree_fc --leaves 16 --samples 16
for cell in bench childsum nary; do
    program tree_lstm --cell $cell --embed 16 --train "$data/mini.txt"
done
for name in fixed_lstm var_lstm; do
    program $name --embed 16 --train "$data/mini-text.txt"
done
for name in bilstm_tagger bilstm_char_tagger; do
    program $name --embed 16 --train "$data/mini-tags.txt"
done
for name in dep_tree_lstm dag_rnn; do
    program $name --train "$data/mini.conllu" --min-count 1
done
program parser --embed 16 --mlp 16 --min-count 1 --train "$data/mini.conllu"
program seq2seq --embed 16 --samples 20 --dev-samples 2 --length 2
program gcn --data "$data/mini-cora/mini.content"

# tape PROGRAM ARGUMENT...: the same for tapes, which need not be few launches
tape() {
    # shellcheck disable=SC2086
    on_gpus "devices=0" "$@" $small --epochs 2 --workers 1
    of_a_core=$(field loss)
    status_is 0 && same_on 1 0 "$@" && same_on 2 0 "$@" && same_on 1 1 "$@"
    ok $? "$1: a core's loss on one GPU, on two, and on one and a core"
    echo "$1" >>"$work/tried"
}

tape dyn_tree_lstm --embed 16 --train "$data/mini.txt"
tape dyn_spinn --embed 16 --train "$data/mini.txt"
for name in dyn_tagger dyn_char_tagger; do
    tape $name --embed 16 --train "$data/mini-tags.txt"
done
tape dyn_parser --embed 16 --mlp 16 --min-count 1 --explore-after 0 --train "$data/mini.conllu"
tape dyn_seq2seq --embed 16 --samples 20 --dev-samples 2 --length 2

# all but tools without a model
for name in "$apps"/*; do
    [ -f "$name" ] && [ -x "$name" ] && basename "$name"
done | grep -v '^cavs-' | sort >"$work/programs"
sort -u "$work/tried" | comm -13 - "$work/programs" >"$work/left"
[ -s "$work/programs" ] && [ ! -s "$work/left" ]
ok $? "these are all programs" "$work/left"

unset CAVS_DEVICE_PRODUCTS
nvrtc=$(ldd "$build/tests/cuda/no_driver" | sed -n 's/.*libnvrtc.* => \(.*\) (.*/check_nvrtc=\1/p')
all_of "one GPU" "devices=1" test_opencl_kernels
all_of "one GPU" "devices=1" test_opencl_products
all_of "one GPU, and NVIDIA's compiler takes all texts" "devices=1 $nvrtc" test_opencl_models
CAVS_TEST_DEVICES=2
export CAVS_TEST_DEVICES
all_of "two GPUs, one of them smaller and slow" "devices=2 memory=256:128 slow=0:300" test_opencl_models
unset CAVS_TEST_DEVICES
all_of "a GPU" "devices=1" test_device_failure
against_oracle test_gradients test_models test_random_models test_tape test_tape_lists test_tape_asked

(cd "$work" && "$source/tests/cuda/run" "devices=1" "$source/perf/gpu-check" --build="$build" --quick \
    --device=cuda --minutes=30 >"$work/out" 2>"$work/err")
echo $? >"$work/status"
status_is 0 && grep -q '"failures":\[\]' "$work/gpu-check.json" &&
    grep -q '"stand_in":true' "$work/gpu-check.json" && grep -q "no speed of a GPU is claimed" "$work/gpu-check.txt" &&
    [ -s "$work/gpu-check.trace/summary.txt" ]
ok $? "gpu-check to its end, which says that this was no GPU"

echo "1..$count"
