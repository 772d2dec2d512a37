# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2046,SC2086,SC2034,SC2154
#
# Building StarPU from Debian's source package.
#
# Source packages come through apt, which verifies signatures, but with a configuration and package
# lists of our own: the system's apt never hears of the newer suites.

# MB that source and objects take in the temporary folder
STARPU_ROOM=400

# --- fetching -------------------------------------------------------------------------------------

# mirrors: the addresses this machine gets its own release from, one a line.
mirrors() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get update --print-uris 2>/dev/null |
        sed -n "s|^'\(.*\)/dists/$codename/InRelease'.*|\1|p" | sort -u
}

# suites: newer releases that may hold the source, most likely first; with the component and key.
# Debian names its moving suites; Ubuntu calls the coming release "devel".
suites() {
    case $(. /etc/os-release && echo "$ID") in
    ubuntu) component=universe keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
            suites="devel" ;;
    *)      component=main keyring=/usr/share/keyrings/debian-archive-keyring.gpg
            suites="testing unstable stable" ;;
    esac
}

# private_apt_conf DIR MIRROR SUITE: writes DIR/apt.conf and the folders it names. A mirror that
# lags behind will do, as long as its lists are signed: we are not after the newest version.
private_apt_conf() {
    local dir=$1 signed=
    [ ! -r "$keyring" ] || signed="[signed-by=$keyring] "
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    echo "deb-src $signed$2 $3 $component" >"$dir/sources.list"
    cat >"$dir/apt.conf" <<CONF
Dir::Etc::SourceList "$dir/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$dir/lists";
Dir::Cache "$dir/cache";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
APT::Sandbox::User "";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
CONF
}

# accepted VERSION: of a series we know, and new enough
accepted() {
    local series
    for series in $STARPU_SERIES; do
        case $1 in $series.*) dpkg --compare-versions "$1" ge "$STARPU_OLDEST" && return ;; esac
    done
    return 1
}

# newest_source CONF: prints the newest version of StarPU's source package that we accept. Of the
# oldest series, if there is one: that is what was tried most.
newest_source() {
    local version best='' series
    for series in $STARPU_SERIES; do
        for version in $(apt-cache -c "$1" showsrc --only-source starpu 2>/dev/null |
            sed -n "s/^Version: \($series\.\)/\1/p"); do
            accepted "$version" || continue
            [ -z "$best" ] || dpkg --compare-versions "$version" gt "$best" || continue
            best=$version
        done
        [ -z "$best" ] || break
    done
    echo "$best"
}

# fetch_source DIR: downloads the newest accepted source package into DIR.
fetch_source() {
    local dir=$1 mirror suite version
    suites
    for mirror in $(mirrors); do
        for suite in $suites; do
            echo "looking for StarPU's source in $suite"
            private_apt_conf "$dir/apt" "$mirror" "$suite"
            apt-get -c "$dir/apt/apt.conf" update
            version=$(newest_source "$dir/apt/apt.conf")
            [ -n "$version" ] || continue
            echo "found $version"
            (cd "$dir" && apt-get -c "$dir/apt/apt.conf" source --only-source --download-only \
                "starpu=$version") && return 0
        done
    done
    echo "no source package of StarPU of the series $STARPU_SERIES, $STARPU_OLDEST or later"
    return 1
}

# verify_source DIR: checks the files against the SHA-256 sums in the .dsc.
verify_source() {
    (cd "$1" && sed -n '/^Checksums-Sha256:/,/^[^ ]/s/^ \([0-9a-f]\{64\}\) [0-9]* /\1  /p' \
        starpu_*.dsc | sha256sum --check --strict)
}

# get_source DIR: puts a verified source package into DIR.
get_source() {
    mkdir "$1"
    if [ -n "$starpu_source" ]; then
        cp "$starpu_source"/starpu_* "$1" || die "no source package of StarPU in $starpu_source"
    else
        have apt-get || return 1
        logged "fetching StarPU's source" "$logs/starpu-fetch.log" fetch_source "$1" || return 1
    fi
    logged "checking StarPU's source" "$logs/starpu-verify.log" verify_source "$1"
}

# --- building -------------------------------------------------------------------------------------

# CUDA 13 dropped the field computeMode of cudaDeviceProp; the attribute is in every version.
patch_for_cuda() {
    sed -i 's/props\[devid\]\.computeMode/({ int mode = 0; cudaDeviceGetAttribute(\&mode, cudaDevAttrComputeMode, devid); mode; })/' \
        "$1"/src/drivers/cuda/driver_cuda.c "$1"/src/drivers/cuda/driver_cuda1.c
}

starpu_configure() {
    local gpu=--disable-cuda
    [ -z "$cuda" ] || gpu="--enable-cuda --with-cuda-dir=$cuda"
    mkdir "$scratch/build" &&
        (cd "$scratch/build" && "$scratch/starpu/configure" --prefix="$1" $(features) $gpu)
}

# need_room FOLDER MB: stops if FOLDER has less left.
need_room() {
    local left
    left=$(df -Pm "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')
    [ -z "$left" ] || [ "$left" -ge "$2" ] ||
        die "building StarPU takes $2 MB in $1, and $left are left; TMPDIR names another place"
}

# starpu_tools: stops if StarPU cannot be built for want of a program or header.
starpu_tools() {
    local tool lacking=
    for tool in dpkg-source xz patch "${CXX:-g++}"; do
        have "${tool%% *}" || lacking="$lacking $tool"
    done
    pkg-config --exists fxt || lacking="$lacking libfxt"
    [ -z "$lacking" ] || die "StarPU has to be built, and for that these are missing:$lacking." \
        "On Debian and Ubuntu:"$'\n\n'"$(advice $STARPU_PACKAGES)"
}

# failure_mark: the name of the mark that says "StarPU could not be compiled like this": with this
# key, and these versions of what it is built with.
failure_mark() {
    local tools
    tools=$(dpkg-query -W $REQUIRED_PACKAGES $STARPU_PACKAGES 2>/dev/null | sha256sum | cut -c 1-10)
    echo "$cache/failed-$key-$tools"
}

# failed_before: whether there is such a mark; a week later there may be a newer source.
failed_before() {
    [ -z "$starpu_source" ] && [ -n "$(find "$1" -mtime -7 2>/dev/null)" ]
}

# build_starpu: fetches, builds and installs StarPU into the cache and sets starpu to its prefix.
# All is made in a temporary folder; only a complete installation is moved into the cache.
build_starpu() {
    local mark
    starpu_tools
    only_one "$cache" "builds StarPU"
    cached_starpu && return
    mark=$(failure_mark)
    if failed_before "$mark"; then
        note "StarPU did not compile here before (logs: $logs/starpu-*.log; to try again: rm $mark)"
        return 1
    fi
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/cavs-starpu.XXXXXX") ||
        die "no temporary folder can be made in ${TMPDIR:-/tmp}"
    need_room "$scratch" $STARPU_ROOM
    say "building StarPU (once; some two minutes on two cores; logs: $logs/starpu-*.log)"
    get_source "$scratch/source" && make_starpu "$mark"
    rm -rf "$scratch"
    scratch=
    [ -n "$starpu" ]
}

# attempt MARK WHAT LOG COMMAND...: as logged; leaves the mark if the command failed by itself.
attempt() {
    local status
    logged "${@:2}" && return
    status=$?
    [ $status -gt 128 ] || touch "$1"
    return $status
}

# make_starpu MARK: source -> staged, in the temporary folder -> $cache/starpu-VERSION-KEY
make_starpu() {
    local version prefix
    version=$(basename "$scratch"/source/starpu_*.dsc .dsc | sed 's/^starpu_//; s/[+-].*//')
    prefix=$cache/starpu-$version-$key
    note "version $version, $([ -n "$cuda" ] && echo "CUDA from $cuda" || echo "without CUDA")," \
        "$([ -n "$mpi" ] && echo "MPI by $mpi" || echo "without MPI")"
    logged "unpacking StarPU" "$logs/starpu-unpack.log" \
        dpkg-source -x "$scratch"/source/starpu_*.dsc "$scratch/starpu" || return 1
    [ -z "$cuda" ] || patch_for_cuda "$scratch/starpu" || return 1
    attempt "$1" "configuring StarPU" "$logs/starpu-configure.log" starpu_configure "$prefix" &&
        attempt "$1" "compiling StarPU" "$logs/starpu-make.log" \
            make -C "$scratch/build" -j"$(nproc)" &&
        logged "installing StarPU" "$logs/starpu-install.log" \
            make -C "$scratch/build" install DESTDIR="$scratch/staged" &&
        publish "$scratch/staged$prefix" "$prefix" || return 1
    if ! starpu_good "$prefix"; then
        note "the StarPU built in $prefix is of no use: $why"
        touch "$1"
        return 1
    fi
    starpu=$prefix
}

# publish NEW PREFIX: moves NEW to PREFIX. If another quickstart was faster, keeps its result.
publish() {
    local near
    near=$(mktemp -d "$cache/.new.XXXXXX") && cp -a "$1/." "$near" && chmod 755 "$near" || return 1
    mv -T "$near" "$2" 2>/dev/null && return
    rm -rf "$near"
    [ -d "$2" ]
}
