#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The stand-ins for NVIDIA's libraries (tests/cuda/gpu.h) have all that StarPU and the library call, under the names
# and versions that NVIDIA gives them, and notice what a GPU's user may do wrong. With CAVS_TEST_TOOLKIT=DIR names and
# versions of another toolkit are looked at, too: of CUDA 12, where this is built with 13.

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

# here it is about NVIDIA's own, all of them (Makefile.am)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#"$gpus/unused"}
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}

# --- what is called is there -------------------------------------------------------------------------

# lacking FILE: what it calls of CUDA, with the version if it has one, and the stand-ins lack
lacking() {
    nm -D --undefined-only "$1" | sed -n 's/.* U \(\(cu\|nv\)[a-zA-Z0-9_]*\(@.*\)*\)$/\1/p' | sort -u |
        comm -23 - "$work/there"
}

# symbols FILE...: what they define, with versions
symbols() {
    nm -D --defined-only "$@" | sed -n 's/.* [TW] \(.*\)/\1/p' | sed 's/@@/@/' | sort -u
}

symbols "$gpus"/lib* >"$work/there"

starpu=$(ldd "$build/.libs/libcavs.so" | sed -n 's/.*libstarpu-[0-9.a-z]* => \(.*\) (.*/\1/p')
for library in "$build/.libs/libcavs.so" "$starpu"; do
    lacking "$library" >"$work/lacking"
    [ -n "$library" ] && nm -D --undefined-only "$library" | grep -q 'U cuda' && [ ! -s "$work/lacking" ]
    ok $? "all that $(basename "$library") calls of CUDA is there" "$work/lacking"
done

echo 'int nvmlInit(void), cudaNew(void); int call(void) { return nvmlInit() + cudaNew(); }' >"$work/new.c"
${CC:-cc} -shared -fPIC "$work/new.c" -o "$work/new.so" && lacking "$work/new.so" >"$work/lacking"
[ "$(paste -sd , "$work/lacking")" = cudaNew,nvmlInit ]
ok $? "a call that has no stand-in is noticed"

sed 's/@.*//' "$work/there" | sort -u >"$work/names"
{
    sed -n 's/.*dlsym(.*library, "\(.*\)").*/\1/p' "$source"/codelets/device/cuda*.c
    sed -n 's/.* F(\(nvrtc.*\)).*/\1/p' "$source/codelets/device/nvrtc.c"
} | sort -u >"$work/sought"
comm -23 "$work/sought" "$work/names" >"$work/lacking"
grep -q '^cu' "$work/sought" && grep -q '^nvrtc' "$work/sought" && [ ! -s "$work/lacking" ]
ok $? "all that is looked up of the driver and of NVRTC is there" "$work/lacking"

# --- under NVIDIA's names and versions ---------------------------------------------------------------

# named FOLDER REAL...: all that the stand-ins in the folder have is in these libraries of NVIDIA's, in files of the
# same name. The driver's has no versions, and is not there without a GPU.
named() {
    folder=$1
    shift
    symbols "$@" >"$work/real"
    for library in "$folder"/libcu[!d]*.so.* "$folder"/libcudart.so.* "$folder"/libnvrtc.so.*; do
        symbols "$library" | comm -23 - "$work/real"
        printf '%s\n' "$@" | grep -q "/$(basename "$library")$" || echo "no $(basename "$library")"
    done >"$work/unknown"
    [ -s "$work/real" ] && [ ! -s "$work/unknown" ]
}

# shellcheck disable=SC2046 # files
named "$gpus" $(ldd "$gpus/no_driver" "$starpu" | sed -n 's/.* => \(.*lib\(cu\|nvrtc\).*\) (.*/\1/p' | sort -u)
ok $? "what the stand-ins have is called as in the toolkit" "$work/unknown"

if [ -n "$CAVS_TEST_TOOLKIT" ]; then
    CUDA_CFLAGS="-isystem $CAVS_TEST_TOOLKIT/include" CUDA_LIBS="-L$CAVS_TEST_TOOLKIT/lib64" "$source/tests/cuda/build" \
        "$work/other" >"$work/out" 2>&1 && named "$work/other" "$CAVS_TEST_TOOLKIT"/lib64/lib*.so.*
    ok $? "and as in the one in $CAVS_TEST_TOOLKIT, with its headers" "$work/unknown"
    # before 13 the header says which version of a function is meant
    sed 's/\(_v2\)*@.*//' "$work/there" | sort -u >"$work/names"
    symbols "$work/other"/lib* | sed 's/\(_v2\)*@.*//' | sort -u | comm -3 "$work/names" - >"$work/unknown"
    [ ! -s "$work/unknown" ]
    ok $? "all of it is there, too" "$work/unknown"
else
    skip "as in another toolkit" "none in CAVS_TEST_TOOLKIT"
fi

# --- what is never called ----------------------------------------------------------------------------

LD_LIBRARY_PATH="$gpus/unused:$LD_LIBRARY_PATH" "$gpus/no_driver" 2>"$work/err"
[ $? -le 1 ]
ok $? "programs start on the libraries without content that tests use where there is no driver" "$work/err"

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
wrong row-too-many "not in what is allocated"
ok $? "so does each row of one that has several"
wrong freed "is not allocated on device 0"
ok $? "a kernel gets no memory that was freed"
wrong beyond "a kernel left its memory"
ok $? "a kernel does not get beyond an allocation"
wrong no-barrier "a barrier that"
ok $? "all threads of a block meet a barrier"
wrong wrong-block "another number of threads"
ok $? "a block has the threads that the kernel was compiled for"
wrong blocks "so many blocks cannot be"
ok $? "a launch has no more blocks than CUDA allows"
wrong early "does not wait"
ok $? "a kernel that may begin before the launch before has ended waits for it"
wrong product-pitch "gave 7"
ok $? "a product's pitch is no shorter than its rows"
wrong product-outside "64 floats at .*, is not in an allocation of device 0"
ok $? "a product's operands end where the allocation ends"

echo "1..${count:?}"
