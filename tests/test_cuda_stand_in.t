#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The stand-ins for NVIDIA's libraries (tests/cuda/gpu.h) have all that StarPU and the library call, and
# notice what a GPU's user may do wrong.

build=${abs_top_builddir:-.}
source=${abs_top_srcdir:-.}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "$source/tests/tap.sh"

gpus=$build/tests/cuda
if [ ! -e "$gpus/libcuda.so.1" ]; then
    echo "1..0 # SKIP built without CUDA"
    exit 0
fi
if ! command -v "${CXX:-c++}" >/dev/null; then
    echo "1..0 # SKIP no C++ compiler"
    exit 0
fi

# --- what is called is there -------------------------------------------------------------------------

# lacking FILE: what it calls of CUDA, with the version, and the stand-ins lack
lacking() {
    nm -D --undefined-only "$1" | sed -n 's/.* U \(\(cu\|nv\)[a-zA-Z0-9_]*@.*\)/\1/p' | sort -u |
        comm -23 - "$work/there"
}

for library in "$gpus"/lib*; do
    nm -D --defined-only "$library" | sed -n 's/.* T \(.*\)/\1/p' | sed 's/@@/@/'
done | sort -u >"$work/there"

starpu=$(ldd "$build/.libs/libcavs.so" | sed -n 's/.*libstarpu-[0-9.a-z]* => \(.*\) (.*/\1/p')
for library in "$build/.libs/libcavs.so" "$starpu"; do
    lacking "$library" >"$work/lacking"
    [ -n "$library" ] && nm -D --undefined-only "$library" | grep -q 'U cuda' && [ ! -s "$work/lacking" ]
    ok $? "all that $(basename "$library") calls of CUDA is there" lacking
done

sed -n 's/.*dlsym(driver.library, "\(.*\)").*/\1/p' "$source/codelets/device/cuda.c" | sort -u >"$work/sought"
comm -23 "$work/sought" "$work/there" >"$work/lacking"
[ -s "$work/sought" ] && [ ! -s "$work/lacking" ]
ok $? "all that is looked up of the driver is there" lacking

# --- what is wrong is noticed ------------------------------------------------------------------------

# wrong NAME TEXT [OPTIONS]: tests/cuda/wrong NAME is ended, and told so
wrong() {
    "$source/tests/cuda/run" "${3:-late=100}" "$gpus/wrong" "$1" >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
    [ "$(cat "$work/status")" -gt 1 ] && grep -q "$2" "$work/err"
}

"$source/tests/cuda/run" "late=2000" "$gpus/wrong" nothing >"$work/out" 2>"$work/err"
echo $? >"$work/status"
[ "$(cat "$work/status")" -eq 0 ]
ok $? "copies up, a kernel with barriers and copies down in a stream's order give what they have to"

"$source/tests/cuda/run" "late=2000" "$gpus/wrong" too-soon >"$work/out" 2>"$work/err"
echo $? >"$work/status"
[ "$(cat "$work/status")" -eq 1 ] && grep -q "is nan" "$work/err"
ok $? "what is read before the stream got there is not the result"

"$source/tests/cuda/run" "late=2000" "$gpus/wrong" other-stream >"$work/out" 2>"$work/err"
echo $? >"$work/status"
[ "$(cat "$work/status")" -eq 1 ]
ok $? "nor is what another stream copies without waiting"

wrong touch "host touches memory of device 0"
ok $? "the host cannot touch a device's memory"
wrong outside "not in what is allocated"
ok $? "a copy ends where the allocation ends"
wrong freed "is not allocated on device 0"
ok $? "a kernel gets no memory that was freed"
wrong beyond "a kernel left its memory"
ok $? "a kernel does not get beyond an allocation"
wrong no-barrier "a barrier that"
ok $? "all threads of a block meet a barrier"
wrong wrong-block "another number of threads"
ok $? "a block has the threads that the kernel was compiled for"

echo "1..${count:?}"
