#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ./quickstart on machines that are not there: apt, sudo, the compiler, StarPU and make are small
# scripts, so that what is said and left behind can be tested in seconds and without a network.

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/cavs-test.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
unset CAVS_CACHE XDG_CACHE_HOME MAKEFLAGS CC CXX PKG_CONFIG_PATH CUDA_HOME
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"
told="said calls"

said() { grep -qF -- "$1" "$work/said"; }
called() { grep -q -- "$1" "$work/calls"; }

# --- the machine ----------------------------------------------------------------------------------

# What every machine has. The rest of the system is out of sight.
bin=$work/bin
mkdir "$bin"
for tool in awk basename bash cat chmod cmp cp cut date df dirname env find flock fold getent grep \
    head id kill ls mkdir mktemp mv nproc paste printf readlink rm rmdir sed seq sh sha256sum sleep \
    sort tail tee touch tr uname wc; do
    path=$(command -v "$tool") && [ -x "$path" ] && ln -s "$path" "$bin/$tool"
done
ln -sf "$(readlink -f /bin/sh)" "$bin/sh"

# stub NAME: a program NAME from stdin, which first writes down how it was called. It takes the place
# of a link into the system: nothing must be written through that.
stub() {
    rm -f "$bin/$1"
    { printf '#!/bin/bash\necho "%s $*" >>"%s/calls"\n' "$1" "$work" && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

# apt with nothing installed; lists of packages are there after an update
apt_machine() {
    stub apt-get <<'END'
case "$*" in
*indextargets*) [ ! -e "$WORK/lists" ] || echo lists ;;
*--assume-no*)
    [ -e "$WORK/lists" ] || exit 1
    echo "Need to get 184 MB of archives."
    echo "After this operation, 931 MB of additional disk space will be used." ;;
update*) [ ! -e "$WORK/offline" ] || { echo "Temporary failure resolving 'mirror'" && exit; }
    touch "$WORK/lists" ;;
install*) [ ! -e "$WORK/offline" ] || exit 100
    touch "$WORK/installed" ;;
esac
END
    stub apt-cache </dev/null
    stub dpkg </dev/null
    stub dpkg-query <<'END'
[ ! -e "$WORK/installed" ] || echo installed
END
}

# a compiler, autotools, and a StarPU; make and configure do nothing, slowly if told so
building_machine() {
    touch "$work/installed"
    for tool in libtoolize autoreconf dpkg-source xz patch g++; do
        stub $tool </dev/null
    done
    stub cc <<'END'
[ -e "$WORK/no-starpu" ] || printf '#define STARPU_USE_%s 1\n' FXT CUDA
END
    stub pkg-config <<'END'
case "$*" in
*starpu-1.4*) [ ! -e "$WORK/no-starpu" ] ;;
*starpu*) exit 1 ;;
esac
END
    stub autoreconf <<'END'
cat >configure <<'CONFIGURE'
#!/bin/bash
mkdir "$WORK/alone" || exit 1
sleep "$(cat "$WORK/slow" 2>/dev/null || echo 0)"
touch Makefile
echo '#define PACKAGE_VERSION "1"' >config.h
rmdir "$WORK/alone"
CONFIGURE
chmod +x configure
touch config.h.in Makefile.in build-aux/ltmain.sh
END
    stub make <<'END'
case "$*" in
*" check")
    mkdir -p build/tests
    printf ':test-result: %s\n' PASS FAIL SKIP >build/tests/test_x.trs
    printf '%s\n' 'PASS: test_x 1 - one' 'FAIL: test_x 2 - two' '# is not three' >build/tests/test_x.log
    exit 2 ;;
esac
END
}

# fresh: a new tree in $tree, a new home, and no calls yet
fresh() {
    tree=$work/tree
    rm -rf "$tree" "${work:?}/home" "$work/alone" "$work/slow" "$work/no-starpu" "$work/offline" \
        "$work/lists" "$work/tmp"
    mkdir -p "$tree/build-aux/quickstart" "$work/home" "$work/tmp"
    cp "$top/quickstart" "$top/configure.ac" "$tree"
    cp "$top"/build-aux/quickstart/*.sh "$tree/build-aux/quickstart"
    : >"$work/calls"
}

# machine COMMAND...: runs it there, with an empty environment
machine() {
    timeout 300 env -i PATH="$bin" HOME="$work/home" TMPDIR="$work/tmp" WORK="$work" "$@"
}

# quickstart ARGUMENT...: in $tree, with its status in $status
quickstart() {
    (cd "$tree" && machine ./quickstart "$@") >"$work/said" 2>&1 </dev/null
    status=$?
}

# --- what is wrong from the start -----------------------------------------------------------------

fresh
quickstart --foo=3
[ $status -eq 2 ] && said "there is no --foo" && ! said "Usage"
ok $? "an unknown option is named"

quickstart --version
[ $status -eq 0 ] && grep -q '^quickstart (cavs) [0-9]' "$work/said"
ok $? "--version"

apt_machine
mkdir "$work/my projects" && cp -a "$tree" "$work/my projects/cavs"
tree="$work/my projects/cavs" quickstart
[ $status -eq 1 ] && said "has a blank" && said "$work/my projects/cavs" && ! called apt-get
ok $? "a folder with a blank is refused before anything is installed"

fresh
touch "$tree/config.status"
quickstart
[ $status -eq 1 ] && said "make distclean" && ! called apt-get
ok $? "after a configure in place it says what to do"

fresh
(cd "$tree" && machine env TMPDIR="$work/none" ./quickstart) >"$work/said" 2>&1
[ $? -eq 1 ] && said "TMPDIR is $work/none" && ! called apt-get
ok $? "a TMPDIR that is not there is named"

fresh
quickstart --no-install
[ $status -eq 1 ] && said "these programs are missing: cc make autoreconf libtoolize pkg-config" &&
    said "apt-get install" && ! said "command not found" && ! called "apt-get install"
ok $? "--no-install on a bare machine names what is missing"

(cd "$tree" && machine env -u HOME CAVS_CACHE="$work/cache" ./quickstart --no-install) \
    >"$work/said" 2>&1
said "these programs are missing" && ! said "unbound"
ok $? "HOME may be unset"

# --- packages -------------------------------------------------------------------------------------

stub id <<'END'
echo 1000
END
fresh
quickstart
line='' missing=''
[ $status -eq 1 ] && [ "$(grep -c 'apt-get' "$work/said")" -eq 1 ] &&
    line=$(grep '^    apt-get update && apt-get install' "$work/said")
for package in gcc libcmocka-dev libfxt-dev dpkg-dev xz-utils patch g++ ca-certificates; do
    case " $line " in *" $package "*) ;; *) missing="$missing $package" ;; esac
done
[ -n "$line" ] && [ -z "$missing" ]
ok $? "without sudo there is one line to paste, with all that is needed"

stub sudo <<'END'
case "$*" in "-n true") exit 1 ;; -v) echo "[sudo] password" >&2 ;; *) exec "$@" ;; esac
END
fresh
touch "$work/lists"
quickstart build
awk '/libhwloc-dev/ && /184 MB to download, 931 MB on disk/ { told = NR }
    /sudo. password/ { asked = NR }
    END { exit !(told && asked && told < asked) }' "$work/said" &&
    called "sudo env .*apt-get install -y"
ok $? "before sudo asks it is said what is installed, and how much"

rm -f "$work/installed"
fresh
touch "$work/lists"
quickstart --mpi build
called "apt-get install .*libopenmpi-dev" && ! { fresh && quickstart build && called libopenmpi-dev; }
ok $? "--mpi installs an MPI, and nothing else does"

rm -f "$work/installed"
fresh
touch "$work/lists"
quickstart --simgrid
called "apt-get install .*libsimgrid-dev" && ! { fresh && quickstart build && called libsimgrid-dev; }
ok $? "--simgrid installs SimGrid, and nothing else does"

rm -f "$work/installed"
fresh
touch "$work/offline"
quickstart build
[ $status -eq 1 ] && said "is there a network?" && ! said "Unable to locate"
ok $? "without a network that is the reason"
rm -f "$bin/sudo" "$work/offline"
stub id <<'END'
echo 0
END

# --- one at a time, and signals -------------------------------------------------------------------

building_machine
fresh
echo 2 >"$work/slow"

# waits for the configure that the last command has started
until_configuring() {
    local i
    for i in $(seq 300); do
        [ ! -d "$work/alone" ] || return
        sleep 0.1
    done
    echo "# configure did not start within ${i}00 ms"
}

(cd "$tree" && machine ./quickstart build) >"$work/first" 2>&1 &
first=$!
until_configuring
quickstart build
wait $first && [ $status -eq 0 ] && said "waiting until it is done" &&
    [ -e "$tree/build/.quickstart" ]
ok $? "two at once: the second waits, and both succeed"

echo >"$tree/build/config.h"
rm -f "$work/slow"
quickstart build
[ $status -eq 0 ] && grep -q PACKAGE_VERSION "$tree/build/config.h"
ok $? "a broken config.h is made again"
flock -n "$tree" true
ok $? "what was locked is free when it ends"

# interrupted SIGNAL: sends it to a quickstart whose configure (or StarPU's) sleeps; sets status
interrupted() {
    (cd "$tree" && exec env -i --default-signal=INT,TERM PATH="$bin" HOME="$work/home" \
        TMPDIR="$work/tmp" WORK="$work" ./quickstart build "${@:2}") >"$work/said" 2>&1 &
    first=$!
    until_configuring
    kill "-$1" $first
    wait $first
    status=$?
}

for signal in INT:130 TERM:143; do
    fresh
    echo 333 >"$work/slow"
    SECONDS=0
    interrupted ${signal%:*}
    [ $status -eq ${signal#*:} ] && [ $SECONDS -lt 300 ] && [ ! -e "$tree/build/.quickstart" ] &&
        ! pgrep -f 'sleep 333' >/dev/null
    ok $? "${signal%:*} stops it and what it started, with ${signal#*:}"
done

# --- StarPU ---------------------------------------------------------------------------------------

# a source package whose configure sleeps, or fails
source=$work/source
mkdir "$source"
echo content >"$source/starpu_1.4.10.tar.xz"
printf 'Checksums-Sha256:\n %s 8 starpu_1.4.10.tar.xz\n' \
    "$(sha256sum <"$source/starpu_1.4.10.tar.xz" | cut -d ' ' -f 1)" >"$source/starpu_1.4.10.dsc"
stub dpkg-source <<'END'
mkdir -p "$3/src/drivers/cuda"
touch "$3"/src/drivers/cuda/driver_cuda.c "$3"/src/drivers/cuda/driver_cuda1.c
cat >"$3/configure" <<'CONFIGURE'
#!/bin/bash
mkdir "$WORK/alone"
echo "$*" >"$WORK/configured"
sleep "$(cat "$WORK/slow" 2>/dev/null || echo 0)"
rmdir "$WORK/alone"
exit 1
CONFIGURE
chmod +x "$3/configure"
END

marks() { ls "$work"/home/.cache/cavs/failed-* >/dev/null 2>&1; }

fresh
touch "$work/no-starpu"
echo 333 >"$work/slow"
interrupted TERM --starpu-source="$source"
[ $status -eq 143 ] && ! marks && [ -z "$(ls "$work/tmp")" ] && said "building StarPU"
ok $? "a signal leaves no mark of a failed StarPU, and no temporary folder"

fresh
touch "$work/no-starpu"
mv "$bin/patch" "$work/patch"
quickstart --starpu-source="$source" build
mv "$work/patch" "$bin/patch"
[ $status -eq 1 ] && said "are missing: patch." && ! marks
ok $? "nor does a missing tool, which is named"

fresh
touch "$work/no-starpu"
stub df <<'END'
printf 'Filesystem 1M-blocks Used Available Use%% Mounted on\nnone 100 97 3 97%% /tmp\n'
END
quickstart --starpu-source="$source" build
rm -f "$bin/df" && ln -s "$(command -v df)" "$bin/df"
[ $status -eq 1 ] && said "and 3 are left;" && ! marks
ok $? "nor does a full disk, which is the reason given"

fresh
touch "$work/no-starpu"
quickstart --starpu-source="$source" --no-install build
[ $status -eq 1 ] && said "configuring StarPU failed" && marks && [ -z "$(ls "$work/tmp")" ]
ok $? "a StarPU that does not compile is marked"

fresh
cp "$bin/cc" "$work/cc"
stub cc <<'END'
printf '#define STARPU_%s\n' 'USE_FXT 1' 'USE_CUDA 1' 'MAXCPUS 64'
END
stub getconf <<'END'
echo 64
END
quickstart --starpu-source="$source" --no-install build
[ $status -eq 0 ] && said "of the system" && {
    echo 'echo 65' | stub getconf
    quickstart --starpu-source="$source" --no-install build
    said "configuring StarPU failed"
} && grep -q -- "--enable-maxcpus=128 .*--enable-maxcudadev=8" "$work/configured"
ok $? "nor does a StarPU for fewer CPUs than there are: one is built for all of them, and 8 GPUs"
mv "$work/cc" "$bin/cc"
rm "$bin/getconf"

fresh
echo 'echo cc -I/mpi' | stub mpicc
quickstart --starpu-source="$source" --no-install build
[ $status -eq 0 ] && said "MPI by $bin/mpicc" && said "going on without MPI" && said "of the system"
ok $? "a StarPU without MPI will not do where there is one, but none is better than no StarPU"

quickstart --with-starpu=/usr --no-install build
[ $status -eq 0 ]
ok $? "nor is it needed of a StarPU that the user names"
rm "$bin/mpicc"

fresh
quickstart --simgrid check
[ $status -eq 1 ] && said "programs compute nothing" && ! called make
ok $? "with --simgrid nothing can be tested or trained"

quickstart --simgrid --starpu-source="$source" --no-install
[ $status -eq 1 ] && said "configuring StarPU failed" && said "no StarPU that simulates" && marks
ok $? "a StarPU without SimGrid will not do for --simgrid"

cp "$bin/cc" "$work/cc"
stub cc <<'END'
printf '#define STARPU_%s 1\n' USE_FXT USE_CUDA SIMGRID
END
fresh
quickstart --simgrid --no-install
[ $status -eq 0 ] && [ -e "$tree/build-simgrid/.quickstart" ] && [ ! -e "$tree/build" ] &&
    grep -q -- --with-mpi=no "$tree/build-simgrid/.quickstart"
ok $? "with it, --simgrid builds beside the usual build, without MPI"

quickstart --starpu-source="$source" --no-install build
said "configuring StarPU failed"
ok $? "and without --simgrid that StarPU will not do"

stub smpicc <<'END'
echo cc
END
stub cc <<'END'
printf '#define STARPU_%s 1\n' USE_MPI SIMGRID
END
fresh
quickstart --simgrid --mpi --no-install
[ $status -eq 0 ] && said "of the system" && [ ! -e "$tree/build-simgrid" ] &&
    grep -q -- "MPICC=smpicc .*--disable-shared" "$tree/build-simgrid-mpi/.quickstart"
ok $? "--simgrid --mpi takes one that has SimGrid's MPI, and builds programs for it in a folder of their own"
rm "$bin/smpicc"
cp "$work/cc" "$bin/cc"

# --- the commands ---------------------------------------------------------------------------------

fresh
quickstart check
[ $status -eq 1 ] && said "3 tests: 1 passed, 1 skipped, 1 failed" && said "tests/test_x.log:" &&
    said "| FAIL: test_x 2 - two" && said "| # is not three" && ! said "PASS" &&
    called "make .*-j[0-9].* check"
ok $? "check ends with what failed"

# make builds three programs, beside the objects that they are made of, in two seconds; here it is a tenth of a
# second from one dot to the next
fresh
real=$(readlink "$bin/sleep")
stub sleep <<END
[ "\$1" != 5 ] || set -- 0.1
exec "$real" "\$@"
END
stub make <<'END'
mkdir -p build/apps
for program in tree_fc tree_lstm gcn; do
    printf '#!/bin/sh\necho "$0 $*"\n' >build/apps/$program
    chmod +x build/apps/$program
    touch build/apps/$program.o
done
sleep 2
END
(cd / && machine "$tree/quickstart") >"$work/said" 2>&1 </dev/null
status=$?
for i in 1 2 3 4 5; do said "==> step $i of 5: " || status=9; done
[ $status -eq 0 ] && grep -qE '^    make \.{3,} [0-9]+ s$' "$work/said"
ok $? "steps are counted, and dots show that something long goes on, and how long it took"

# commands, each with a line about it that stands further in
sed -n '/^What to try next/,$p' "$work/said" >"$work/next"
[ "$(grep -c '^    [^ ]' "$work/next")" -eq 5 ] && grep -qxF "    cd $tree" "$work/next" &&
    grep -qxF '    build/apps/tree_fc --help' "$work/next" &&
    ! grep -qvE '^(What to try next:|    [^ ].*|        [^ ].*)$' "$work/next" &&
    grep -qxE ' {8}gcn tree_lstm ?' "$work/next"
ok $? "it ends with what to try next, from where it was called, and names programs only"
rm -f "$bin/sleep" && ln -s "$real" "$bin/sleep"

quickstart clean
[ $status -eq 0 ] && [ ! -e "$tree/build" ] && [ -e "$tree/quickstart" ]
ok $? "clean removes the build"

mkdir "$tree/mine" && touch "$tree/mine/thesis"
quickstart --build=mine clean
[ $status -eq 1 ] && [ -e "$tree/mine/thesis" ]
ok $? "clean removes nothing but a build"

echo "1..$count"
