#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What `make install` installs works for everybody: for root, who may have built it with things that
# only root can read, this asks the user nobody.

build=${abs_top_builddir:-$PWD}
# nobody has to reach it, and the build may be in root's home
work=$(mktemp -d "${TMPDIR:-/tmp}/cavs-install.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS
lent=
# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"

# everybody COMMAND: a shell as nobody, if we are root, with a home of its own
everybody() {
    set -- env -i PATH="$PATH" HOME="$work/home" STARPU_HOME="$work/home" CAVS_CACHE="$work/home" \
        LD_LIBRARY_PATH="$lib" PKG_CONFIG_PATH="$lib/pkgconfig" sh -c "cd '$work/home' && $1"
    [ "$(id -u)" -ne 0 ] || set -- setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    "$@" >"$work/out" 2>&1
}

# In a new tree nothing but rules says what a file includes: what is generated has to be named there.
make -C "$build" -s -f - which <<'END' >"$work/out" 2>&1
include Makefile
which:
	@echo $(device_texts) && grep '^codelets/device/source.lo:.*device_texts' Makefile
END
[ $? -eq 0 ] && grep -q 'products.inc' "$work/out"
ok $? "one file alone can be made in a new tree" "$work/out"

make -C "$build" install DESTDIR="$work/root" >"$work/out" 2>&1
ok $? "make install DESTDIR=..." "$work/out"

! make -C "$build" install DESTDIR="$work/a b" >"$work/out" 2>&1 && [ ! -e "$work/a" ] && [ ! -e "$work/a b" ] &&
    grep -q "DESTDIR='$work/a b': libtool cannot install" "$work/out"
ok $? "a DESTDIR with a space in it is refused in words" "$work/out"

mkdir "$work/configured"
! (cd "$work/configured" && "${abs_top_srcdir:-$PWD}/configure" --prefix="$work/a b") >"$work/out" 2>&1 &&
    grep -q 'error: --prefix and its like: libtool cannot install into a folder with a space' "$work/out"
ok $? "so is such a --prefix, before anything is built" "$work/out"

lib=$(dirname "$(find "$work/root" -name libcavs.so)")
bin=$(dirname "$(find "$work/root" -type f -name cavs-pack)")
doc=$(dirname "$(find "$work/root" -name README.md)")
prefix=$(dirname "$bin")
chmod -R a+rX "$work" && mkdir -m 777 "$work/home"

find "$bin" -mindepth 1 ! -name 'cavs-*' >"$work/wrong"
[ -s "$bin/cavs-parser" ] && [ ! -s "$work/wrong" ]
ok $? "all programs are called cavs-..." "$work/wrong"

# what completes a command line is found by the name of the program
completions=$(dirname "$(find "$work/root" -name cavs-programs)")
for file in "$bin"/cavs-*; do
    grep -qF "${file##*/}" "$completions/${file##*/}" || echo "${file##*/}"
done >"$work/wrong" 2>&1
[ "${completions##*/}" = completions ] && [ ! -s "$work/wrong" ]
ok $? "bash can complete the options of all programs" "$work/wrong"

# a folder that is somebody's own has no place in what all users load, unless it is installed to
to=${lib#"$work/root"}
for file in "$bin"/* "$lib"/libcavs.so "$lib"/cavs/*; do
    readelf -d "$file" | grep -E 'R(UN)?PATH' | sed "s|$to||" |
        grep -E "/home/|/root/|/cavs/starpu-|$work" | sed "s|^|$file|"
done >"$work/wrong" 2>/dev/null
! [ -s "$work/wrong" ]
ok $? "libraries are not loaded from anybody's home or cache" "$work/wrong"

grep -n "dependency_libs='[^']" "$lib/libcavs.la" >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "libcavs.la asks for no other library" "$work/wrong"

small="--leaves 4 --hidden 8 --samples 8 --epochs 1 --workers 1 --quiet"
everybody "'$bin/cavs-tree_fc' --version && '$bin/cavs-tree_fc' $small"
[ $? -eq 0 ] && grep -q '^cavs-tree_fc (cavs) ' "$work/out" && grep -q ' loss ' "$work/out"
ok $? "every user can run a program" "$work/out"

! grep -F '[starpu]' "$work/out" >"$work/wrong"
ok $? "StarPU has nothing to say to that" "$work/wrong"

everybody "cc '$doc/doc/examples/first.c' -o first \
    \$(pkg-config --define-variable=prefix='$prefix' --cflags --libs cavs) && ./first"
[ $? -eq 0 ] && grep -q 'new formulas' "$work/out"
ok $? "every user can build with pkg-config, and run it" "$work/out"

# What the archive is linked with is found by everybody, too, StarPU beside it. There is none without
# --enable-static: that of the tests takes its place.
[ -f "$lib/libcavs.a" ] || {
    lent=$lib/libcavs.a
    cp "$build/.libs/libcavs-static.a" "$lent" && chmod a+r "$lent"
}
everybody "cc '$doc/doc/examples/first.c' -o archive \
    \$(pkg-config --define-variable=prefix='$prefix' --cflags --libs --static cavs |
        sed 's/-lcavs /-l:libcavs.a /') &&
    unset LD_LIBRARY_PATH && ./archive && ! ldd archive | grep libcavs"
[ $? -eq 0 ] && grep -q 'new formulas' "$work/out"
ok $? "every user can link the archive with what pkg-config says, and run it" "$work/out"
[ -z "$lent" ] || rm -f "$lent"

if grep -q '^#define HAVE_STARPU_FXT' "$build/config.h"; then
    everybody "'$bin/cavs-tree_fc' $small --trace trace"
    [ $? -eq 0 ] && [ -s "$work/home/trace/summary.txt" ]
    ok $? "every user can trace" "$work/out"
else
    skip "every user can trace" "this StarPU has no FxT"
fi

if grep -q '^manuals = man/stamp' "$build/Makefile"; then
    for program in "$bin"/cavs-*; do
        name=${program##*/}
        grep -q "^$name .- [a-z]" "$prefix/share/man/man1/$name.1" || echo "$name"
    done >"$work/wrong" 2>&1
    ! [ -s "$work/wrong" ]
    ok $? "every program has a page in the manual that says what it does" "$work/wrong"
else
    skip "every program has a page in the manual" "there is no help2man"
fi

[ -s "$doc/LICENSE" ] && [ -s "$doc/doc/examples/two_ways.c" ]
ok $? "licence and examples are installed"

for document in "$doc/README.md" "$doc"/doc/*.md; do
    folder=$(dirname "$document")
    grep -o ']([^)#:]*[)#]' "$document" | sed 's/^](//; s/[)#]$//' | while read -r link; do
        [ -e "$folder/$link" ] || echo "${document#"$doc/"}: $link (see doc/local.mk)"
    done
done >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "links of the installed documents lead somewhere" "$work/wrong"

make -C "$build" uninstall DESTDIR="$work/root" >"$work/out" 2>&1
find "$work/root" ! -type d >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "make uninstall leaves no file" "$work/wrong"

echo "1..$count"
