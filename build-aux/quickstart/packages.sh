# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2046,SC2086,SC2034,SC2154
#
# The packages of Debian and Ubuntu that quickstart wants, and how it gets them.

# without these nothing can be built
REQUIRED_PACKAGES="autoconf automake libtool pkgconf gcc libc6-dev make libhwloc-dev libopenblas-dev
libjansson-dev libcmocka-dev"
# without these StarPU cannot be built from its source package
STARPU_PACKAGES="dpkg-dev xz-utils patch ca-certificates g++ libfxt-dev"
# each of these adds something: small products of matrices, OpenCL (with a device for its tests),
# the scripts of perf/
OPTIONAL_PACKAGES="libxsmm-dev ocl-icd-opencl-dev opencl-headers pocl-opencl-icd libclblast-dev
python3"
# with --mpi
MPI_PACKAGES="openmpi-bin libopenmpi-dev"
# with --simgrid
SIMGRID_PACKAGES="libsimgrid-dev"
# all of them on a bare system, as apt counts
USUAL_SIZE="about 190 MB to download, 970 MB on disk"

# as_root [-n] COMMAND...; with -n sudo does not ask for a password
as_root() {
    if [ "$(id -u)" -ne 0 ]; then
        sudo "$@"
    elif [ "$1" = -n ]; then
        "${@:2}"
    else
        "$@"
    fi
}

may_install() { [ "$(id -u)" -eq 0 ] || have sudo; }

# missing PACKAGE...: prints those which are not installed.
missing() {
    local package
    for package; do
        case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) in
        installed*) ;;
        *) echo "$package" ;;
        esac
    done
}

# shellcheck disable=SC2016 # for apt
# lists: does apt have lists of packages? A new image may have none.
lists() {
    [ -n "$(apt-get indextargets --format '$(FILENAME)' 'Created-By: Packages' 2>/dev/null)" ]
}

# known PACKAGE...: prints those which apt can install; all of them as long as there are no lists.
known() {
    local package
    lists || { echo "$@" && return; }
    for package; do
        apt-cache show "$package" >/dev/null 2>&1 && echo "$package"
    done
}

# wanted_packages: sets required and optional to what is missing of the lists above.
wanted_packages() {
    local mpi_packages
    if [ "$packaged" = yes ] && ! starpu_module >/dev/null; then
        required=$(missing $REQUIRED_PACKAGES libstarpu-dev)
        optional=$(missing $OPTIONAL_PACKAGES starpu-tools)
    elif starpu_is_there; then
        required=$(missing $REQUIRED_PACKAGES)
        optional=$(missing $OPTIONAL_PACKAGES $STARPU_PACKAGES)
    else
        required=$(missing $REQUIRED_PACKAGES $STARPU_PACKAGES)
        optional=$(missing $OPTIONAL_PACKAGES)
    fi
    [ $with_mpi = no ] || [ $with_simgrid = yes ] || have mpicc || {
        mpi_packages=$(missing $MPI_PACKAGES)
        required=$required${mpi_packages:+ $mpi_packages}
    }
    [ $with_simgrid = no ] || required="$required $(missing $SIMGRID_PACKAGES)" required=${required% }
    # libxsmm is for this processor only, and we may not know yet what apt knows
    [ "$(uname -m)" = x86_64 ] || optional=$(echo "$optional" | grep -vx libxsmm-dev)
}

# install_packages: brings the system up to the lists. One call of apt, and only if something is
# missing.
install_packages() {
    local required optional
    step "packages"
    if ! have dpkg-query || ! have apt-get; then
        note "no apt here: what is missing has to be installed by other means"
        need_tools
        return
    fi
    wanted_packages
    if [ -z "$required$optional" ]; then
        note "all of them are there"
    elif [ "$allow_apt" = yes ] && may_install; then
        apt_install $required $optional
    elif [ -z "$required" ]; then
        note "not installed, but of use:" $optional
    elif [ "$allow_apt" = yes ]; then
        die "packages are missing, and you are neither root nor is there sudo. Have this done by" \
            "an administrator, then run me again:"$'\n\n'"$(advice $required $optional)"
    else
        note "not installed (--no-install):" $required
        need_tools
    fi
}

# Whatever the packages are called here: these have to be there before configure can say what is
# missing.
need_tools() {
    local tool lacking=
    for tool in "${CC:-cc}" make autoreconf libtoolize pkg-config; do
        have "${tool%% *}" || lacking="$lacking $tool"
    done
    [ -z "$lacking" ] || die "these programs are missing:$lacking. On Debian and Ubuntu all that" \
        "is needed comes with"$'\n\n'\
"$(advice $REQUIRED_PACKAGES $STARPU_PACKAGES $OPTIONAL_PACKAGES)"
}

# advice PACKAGE...: one line to paste.
advice() {
    echo "    apt-get update && apt-get install -y --no-install-recommends" $(known "$@")
}

# size PACKAGE...: what apt would download and take, in words; nothing if it does not know. The
# first two expressions are for apt 2, the others for apt 3.
size() {
    LC_ALL=C apt-get install --assume-no -o Debug::NoLocking=true --no-install-recommends "$@" \
        2>/dev/null </dev/null |
        sed -n 's|^Need to get \([^/]*\)\(/.*\)* of archives.*|\1 to download|p
            s|^After this operation, \(.*\) of additional.*|\1 on disk|p
            s|^ *Download size: \([^/]*\)\( /.*\)*$|\1 to download|p
            s|^ *Space needed: \([^/]*\)\( /.*\)*$|\1 on disk|p' |
        sed 's/ *$//; s/  */ /g' | paste -sd, | sed 's/,/, /g'
}

# ask_for_root: any password is asked for here, after it was said what for.
ask_for_root() {
    [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null && return
    note "sudo wants your password for apt-get:"
    sudo -v || die "sudo does not let you: have an administrator do this:"$'\n\n'"$(advice "$@")"
}

# apt_job WHAT LOG COMMAND...: COMMAND as root.
apt_job() {
    local status
    job_by=root
    logged "$1" "$2" as_root env DEBIAN_FRONTEND=noninteractive "${@:3}"
    status=$?
    job_by=user
    return $status
}

# apt_install PACKAGE...
apt_install() {
    local figures packages
    figures=$(size "$@")
    say "apt installs, with what they need (${figures:-$USUAL_SIZE}):" "$@"
    ask_for_root "$@"
    # A dead third-party repository must not stop us: the installation decides.
    apt_job "apt-get update" "$logs/apt-update.log" apt-get update ||
        note "going on with the old lists"
    lists || explain_failure "$logs/apt-update.log"
    packages=$(known "$@")
    [ -n "$figures" ] || note "$(size $packages)"
    # what an interrupted run of apt may have left
    [ -z "$(dpkg --audit 2>/dev/null)" ] ||
        apt_job "dpkg --configure -a" "$logs/dpkg-configure.log" dpkg --configure -a
    apt_job "apt-get install" "$logs/apt-install.log" \
        apt-get install -y --no-install-recommends $packages ||
        die "the packages could not be installed. By hand:"$'\n\n'"$(advice "$@")"
}
