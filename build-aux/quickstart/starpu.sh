# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2046,SC2086,SC2034,SC2154
#
# Finding a StarPU that will do: where pkg-config looks, in the cache, or built now
# (starpu_source.sh), or else the distribution's package.

STARPU_OLDEST=1.4.8
# the newest comes last; each has its own name for pkg-config
STARPU_SERIES="1.4 1.5"
STARPU_FEATURES="--enable-fxt --enable-maxcudadev=8 --disable-static --disable-mpi
--disable-build-tests --disable-build-examples --disable-build-doc --disable-fortran --disable-socl
--disable-starpufft --disable-openmp --disable-starpupy --disable-papi --disable-glpk
--disable-hdf5 --disable-leveldb --enable-blas-lib=none"
# and with --starpu-checks
STARPU_CHECKS="--enable-debug --enable-spinlock-check"
# goes into the cache key: raise it when the way of building changes
STARPU_RECIPE=1

# find_cuda: sets cuda to the toolkit's folder, or to nothing.
find_cuda() {
    local nvcc dir
    cuda=
    [ $with_simgrid = no ] || return 0 # its GPUs are simulated, too
    nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc")
    for dir in "${CUDA_HOME:-}" "${nvcc%/bin/nvcc}" /usr/local/cuda; do
        # NVIDIA's wheels on PyPI have no nvcc, and nothing here needs it
        if [ -n "$dir" ] &&
            { [ -x "$dir/bin/nvcc" ] || [ -f "$dir/include/cuda_runtime_api.h" ]; }; then
            cuda=$dir
            return
        fi
    done
}

# find_mpi: sets mpi to the compiler of an MPI, or to nothing. StarPU is then built with it; one that
# simulates is built with SimGrid's, and only if that was asked for.
find_mpi() {
    local compiler=mpicc
    [ $with_simgrid = no ] || compiler=smpicc
    [ "$with_simgrid,$with_mpi" != yes,no ] && mpi=$(command -v $compiler) &&
        "$mpi" -show >/dev/null 2>&1 || mpi=
}

# cpus: how many this machine has, whatever this process may use of them
cpus() {
    getconf _NPROCESSORS_CONF 2>/dev/null || echo 1
}

# features: what StarPU's configure is told. It has arrays of as many workers as it is built for, and takes no more.
features() {
    local mpi_features=--disable-mpi
    [ -z "$mpi" ] || mpi_features="--enable-mpi --disable-mpi-check --with-mpicc=$mpi"
    echo "--enable-maxcpus=$((($(cpus) + 63) / 64 * 64)) ${STARPU_FEATURES/--disable-mpi/$mpi_features}"
}

# pkg_path PREFIX: prints a PKG_CONFIG_PATH that puts the StarPU in PREFIX first.
pkg_path() {
    local dir path=${PKG_CONFIG_PATH:-}
    for dir in "$1"/lib/*/pkgconfig "$1"/lib64/pkgconfig "$1"/lib/pkgconfig; do
        [ -d "$dir" ] && path=$dir${path:+:$path}
    done
    echo "$path"
}

# starpu_module [VERSION]: what pkg-config calls the StarPU it finds, of VERSION at least.
starpu_module() {
    local series
    have pkg-config || return 1
    for series in $STARPU_SERIES $([ $# -gt 0 ] || echo 1.3); do
        pkg-config --atleast-version="${1:-0}" "starpu-$series" 2>/dev/null &&
            echo "starpu-$series" && return
    done
    return 1
}

# starpu_value MODULE NAME: what it was built with as STARPU_NAME
starpu_value() {
    echo '#include <starpu_config.h>' | ${CC:-cc} -E -dM $(pkg-config --cflags-only-I "$1") - 2>/dev/null |
        sed -n "s/^#define STARPU_$2 //p"
}

# starpu_has MODULE FEATURE: was it built with STARPU_FEATURE?
starpu_has() {
    [ -n "$(starpu_value "$1" "$2")" ]
}

# starpu_serves MODULE: was it built for as many CPUs as there are?
starpu_serves() {
    local most
    most=$(starpu_value "$1" MAXCPUS)
    [ "${most:-$(cpus)}" -ge "$(cpus)" ]
}

# starpu_good [PREFIX]: new enough, can trace (but for ranks that are simulated), and drives the GPUs if this machine can build
# for them. Says why not.
starpu_good() {
    local module
    [ $# -eq 0 ] || local -x PKG_CONFIG_PATH
    [ $# -eq 0 ] || PKG_CONFIG_PATH=$(pkg_path "$1")
    why="no StarPU >= $STARPU_OLDEST there"
    module=$(starpu_module $STARPU_OLDEST) || return 1
    why="built without FxT"
    [ "$with_simgrid,$with_mpi" = yes,yes ] || starpu_has $module USE_FXT || return 1
    why="built for fewer CPUs than there are"
    starpu_serves $module || return 1
    why="built without its checks"
    [ $checks = no ] || starpu_has $module DEBUG || return 1
    why="built with SimGrid, or without, unlike what was asked for"
    [ $with_simgrid = "$(starpu_has $module SIMGRID && echo yes || echo no)" ] || return 1
    why="built without CUDA, but nvcc is there"
    [ -z "$cuda" ] || starpu_has $module USE_CUDA || return 1
    # whoever names a StarPU may have one without
    why="built without MPI, but mpicc is there"
    [ -z "$mpi" ] || [ -n "$with_starpu" ] || starpu_has $module USE_MPI
}

# starpu_key: a name for "StarPU as we would build it here": same key, same result.
starpu_key() {
    {
        echo "$STARPU_RECIPE" $(features)
        uname -m
        ${CC:-cc} --version | head -n 1
        ${CXX:-c++} --version 2>&1 | head -n 1
        pkg-config --modversion hwloc fxt OpenCL 2>/dev/null
        [ $with_simgrid = no ] || pkg-config --modversion simgrid 2>/dev/null
        [ -z "$mpi" ] || "$mpi" -show
        [ -z "$cuda" ] || "$cuda/bin/nvcc" --version 2>/dev/null | grep release ||
            grep 'define CUDA_VERSION' "$cuda/include/cuda.h"
    } | sha256sum | cut -c 1-10
}

# starpu_is_there: may well be one that will do, so that nothing need be installed to build one.
starpu_is_there() {
    [ -n "$with_starpu" ] || starpu_module $STARPU_OLDEST >/dev/null ||
        compgen -G "$cache/starpu-1.*-*" >/dev/null
}

# cached_starpu: sets starpu to the newest in the cache that was built as we would build it.
cached_starpu() {
    local dir
    for dir in "$cache"/starpu-1.*-"$key"; do
        [ -d "$dir" ] && starpu_good "$dir" && starpu=$dir
    done
    [ -n "$starpu" ]
}

# find_starpu: sets starpu to the prefix of the StarPU to use, or to nothing if pkg-config finds
# it by itself.
find_starpu() {
    step "StarPU"
    find_cuda
    find_mpi
    starpu=
    if [ -n "$with_starpu" ]; then
        starpu_good "$with_starpu" || die "--with-starpu=$with_starpu: $why"
        starpu=$with_starpu
    elif [ "$packaged" = yes ]; then
        packaged_starpu
    elif ! starpu_good; then
        key=$(starpu_key)
        cached_starpu || build_starpu || without_mpi || {
            [ $with_simgrid = no ] || die "there is no StarPU that simulates"
            note "falling back to the packaged StarPU (CPU and OpenCL, no trace)"
            packaged_starpu
        }
    fi
    note "${starpu:-$(starpu_module), $(pkg-config --modversion "$(starpu_module)"), of the system}"
}

# without_mpi: an MPI that StarPU cannot be built with is no reason to have none.
without_mpi() {
    [ -n "$mpi" ] && [ "$with_mpi" = no ] || return 1
    note "going on without MPI"
    mpi=
    starpu=
    # the system's was good but for this, perhaps
    starpu_good && return
    key=$(starpu_key)
    cached_starpu || build_starpu
}

# packaged_starpu: the distribution's own package. On Debian 12 that is 1.3.10.
packaged_starpu() {
    starpu=
    starpu_module >/dev/null && return
    [ "$allow_apt" = yes ] || die "there is no StarPU, and --no-install forbids to install Debian's"
    { have apt-get && may_install; } ||
        die "there is no StarPU. Have an administrator do this:"$'\n\n'"$(advice libstarpu-dev starpu-tools)"
    apt_install libstarpu-dev starpu-tools
    starpu_module >/dev/null || die "no StarPU to be had"
}
