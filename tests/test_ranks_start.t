#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What ranks on one machine take of it: cores and devices of their own; and what they make of an MPI that the user has
# set up, or that a program runs itself.  Skipped where the library was built without MPI.

name=ranks_start
# shellcheck source=tests/mpirun.sh
. "${abs_top_srcdir:-.}/tests/mpirun.sh"

# --- cores ----------------------------------------------------------------------------------------

if [ "$(nproc)" -ne "$(nproc --all)" ]; then
    skip "ranks on one machine take cores of their own, whose first hardware threads" "bound to some of the cores here"
else
    mpirun -np 2 env HWLOC_SYNTHETIC='core:4 pu:2' HWLOC_THISSYSTEM=0 "$tests/ranks_trial" 2 bound >"$work/out" 2>"$work/err"
    sort "$work/out" >"$work/bound"
    printf 'rank 0: 0 2\nrank 1: 4 6\n' | cmp -s - "$work/bound"
    ok $? "ranks on one machine take cores of their own, whose first hardware threads" "$work/err" "$work/bound"
fi

# --- MPI itself -----------------------------------------------------------------------------------

# limit WANTED DESCRIPTION: what the environment says to Open MPI once the library has started it
limit() {
    mkdir -p "$work/home"
    HOME=$work/home mpirun -np 2 "$tests/ranks_trial" 1 limit >"$work/out" 2>"$work/err"
    [ "$(sort "$work/out" | tr '\n' ' ')" = "rank 0: $1 rank 1: $1 " ]
    ok $? "$2" "$work/err" "$work/out"
}
if ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    skip "messages that Open MPI sends at once" "another MPI"
else
    limit 131072 "Open MPI is told to send messages of a batch at once"
    OMPI_MCA_btl_vader_eager_limit=8192 limit 8192 "unless the user has said something else, in the environment"
    mkdir -p "$work/home/.openmpi"
    printf '# btl_sm_eager_limit = 1\n btl_base_verbose=0\n btl_vader_eager_limits = 1\n' >"$work/home/.openmpi/mca-params.conf"
    limit 131072 "files of Open MPI that say nothing of it do not count"
    OMPI_MCA_mca_base_param_files=$work/home/.openmpi/mca-params.conf limit "as it is" \
        "unless the user names files, which are not looked for"
    printf ' btl_vader_eager_limit = 4096\n' >>"$work/home/.openmpi/mca-params.conf"
    limit "as it is" "or in a file of Open MPI's"
fi

# guest LEVEL COMMUNICATOR REGEX DESCRIPTION: four lines that match, of a program with MPI of its own
guest() {
    mpirun -np 4 "$tests/ranks_guest" "$1" "$2" >"$work/out" 2>"$work/err"
    [ "$(grep -cE "^[0-3]: $3; MPI works; MPI has ended in this process" "$work/out")" -eq 4 ]
    ok $? "$4" "$work/err" "$work/out"
}
guest multiple half '[01] of 2' "a program that has started MPI trains in two groups, and goes on with MPI"
guest multiple none '[0-3] of 4' "or in one of all"
for level in single funneled serialized; do
    guest $level all 'MPI runs without MPI_THREAD_MULTIPLE, which several ranks need' "where MPI runs as $level, that several ranks need more is said"
done
guest funneled self '0 of 1' "and each process may train alone"

# --- devices --------------------------------------------------------------------------------------

with_opencl
: "${STARPU_OPENCL_ON_CPUS=1}" "${STARPU_OPENCL_ONLY_ON_CPUS=1}"
export STARPU_OPENCL_ON_CPUS STARPU_OPENCL_ONLY_ON_CPUS
# shellcheck disable=SC2086
run tree_lstm $small --epochs 2 --quiet --json
loss=$(field loss)
# placed PLACEMENT DESCRIPTION
placed() {
    # shellcheck disable=SC2086
    CAVS_PLACEMENT=$1 ranks 2 tree_lstm $small --epochs 2 --quiet --json --opencl 1
    if said "StarPU found 0"; then
        skip "$2" "no OpenCL device"
    else
        status_is 0 && holds "($(field loss) / $loss - 1) ^ 2 < 1e-10" && holds "$(field launches) > 0"
        ok $? "$2" "$work/err" "$work/out"
    fi
}
placed device "ranks whose tasks run on devices: the same loss"
placed alternate "and with tasks in turns on devices and cores"
# shellcheck disable=SC2086
ranks 2 tree_lstm $small --epochs 1 --quiet --opencl 1 --workers 0
! status_is 0 && said 'a rank with devices needs a CPU worker'
ok $? "a rank with nothing but devices is refused"

# on stand-ins for GPUs
gpus=${abs_top_srcdir:-.}/tests/cuda/run
# have GPUS-ASKED-FOR OPTIONS OF-RANK-0 OF-RANK-1 DESCRIPTION
have() {
    mpirun -np 2 "$work/given" "$gpus" "$2" "$tests/ranks_trial" "$1" gpus >"$work/out" 2>"$work/err"
    [ "$(sort "$work/out" | tr '\n' ';')" = "rank 0: $3;rank 1: $4;" ]
    ok $? "$5" "$work/err" "$work/out"
}
# on_gpus OPTIONS ARGUMENT...: two ranks with stand-ins, each as $work/given has it
on_gpus() {
    options=$1
    shift
    # shellcheck disable=SC2086
    CAVS_DEVICE_PRODUCTS=library mpirun -np 2 "$work/given" "$gpus" "$options" "$apps/tree_lstm" $small --quiet --json \
        --gpus 1 "$@" >"$work/out" 2>"$work/err" </dev/null
    echo $? >"$work/status"
}
same() {
    status_is 0 && holds "($(field loss) / $loss - 1) ^ 2 < 1e-10" && holds "$(field launches) > 0"
}
# learns GPUS DESCRIPTION
learns() {
    CAVS_PLACEMENT=device on_gpus "devices=$1" --epochs 2
    same
    ok $? "$2: the same loss" "$work/err" "$work/out"
    on_gpus "devices=$1" --epochs 2
    same && holds "$(field tasks) <= 12 * $(field batches)"
    ok $? "$2: few tasks where a GPU is the home of a rank's shards" "$work/err" "$work/out"
}
a_batch() {
    awk "BEGIN { print $(field launches) / $(field batches) }"
}
if [ ! -e "$tests/cuda/libcuda.so.1" ] || ! command -v "${CXX:-c++}" >/dev/null; then
    skip "ranks on one machine share out its GPUs" "built without CUDA, or no C++ compiler"
else
    printf '#!/bin/sh\nexec "$@"\n' >"$work/given"
    chmod +x "$work/given"
    have 1 devices=4 0 1 "each of two ranks on one machine takes a GPU of its own"
    have -1 devices=4 '0 1' '2 3' "or half of all"
    have 2 devices=3 '0 1' '2 0' "where there are fewer than asked for, they share"
    have 1 devices=1 0 0 "as they do the only one"
    printf '#!/bin/sh\nCUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK$PMI_RANK exec "$@"\n' >"$work/given"
    have -1 devices=2 '0 1' '0 1' "those that their launcher has given GPUs take what they see"
    printf '#!/bin/sh\nexec "$@"\n' >"$work/given"
    learns 2 "two ranks with a GPU each"
    learns 1 "two that share one"

    # rank 1 sees none: "$2" are the stand-in's options
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 0 ] || { run=$1; shift 2; set -- "$run" devices=0 "$@"; }\nexec "$@"\n' \
        >"$work/given"
    on_gpus "devices=1" --epochs 2
    same
    ok $? "a rank with a GPU and one without: the same loss" "$work/err" "$work/out"
    on_gpus "devices=1 slow=0:300" --epochs 2
    begun=$(a_batch)
    on_gpus "devices=1 slow=0:300" --epochs 20
    status_is 0 && holds "$(a_batch) < .7 * $begun"
    ok $? "a rank whose GPU is slow gets fewer shards" "$work/err" "$work/out"
fi

echo "1..$count"
