# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2086,SC2154
#
# What quickstart does with the tree: autoreconf, configure, make, and the commands.

# check_place: refuses what autoconf or we cannot work with, before anything is installed.
check_place() {
    local awkward='*[]["#$&'"'"'`\ '$'\t\n'']*'
    # shellcheck disable=SC2254 # it is a pattern
    case $top in
    $awkward) die "the name of this folder, $top, has a blank or another character in it" \
        "with which autoconf cannot work: move the tree to a folder without" ;;
    esac
    # shellcheck disable=SC2254
    case $cache in
    $awkward) die "the cache folder, $cache, has a blank or another character in its name" \
        "with which autoconf cannot work: set CAVS_CACHE" ;;
    esac
    [ ! -e "$top/config.status" ] ||
        die "this tree was configured in place (./configure); make distclean, then run me again"
    [ -z "${TMPDIR:-}" ] || { [ -d "$TMPDIR" ] && [ -w "$TMPDIR" ]; } ||
        die "TMPDIR is $TMPDIR, which is no folder that you can write to: make it, or unset TMPDIR"
}

# configured ARGUMENT...: whether the build is, with these arguments, and to the end.
configured() {
    [ "$(cat "$build/.quickstart" 2>/dev/null)" = "$*" ] && [ -e "$build/Makefile" ] &&
        grep -q 'define PACKAGE_VERSION' "$build/config.h" 2>/dev/null
}

# configure_tree: autoreconf and configure, if they were not run yet with the same arguments.
configure_tree() {
    local args="--with-starpu=${starpu:-yes}${*:+ $*}"
    step "configure"
    if [ ! -e configure ] || [ ! -e config.h.in ] || [ ! -e Makefile.in ] ||
        [ ! -e build-aux/ltmain.sh ]; then
        logged "autoreconf" "$build/quickstart-autoreconf.log" autoreconf -i || exit 1
    fi
    if configured $args; then
        note "done before"
        return
    fi
    rm -f "$build/.quickstart"
    # objects do not depend on flags: start afresh if these changed
    [ ! -e "$build/Makefile" ] || make -C "$build" clean >/dev/null 2>&1
    logged "configure $args" "$build/quickstart-configure.log" run_configure $args || exit 1
    sed -n '/^cavs [0-9]/,$p' "$build/quickstart-configure.log" >&2
    echo "$args" >"$build/.quickstart"
}

run_configure() { (cd "$build" && "$top/configure" "$@"); }

build_tree() {
    step "make"
    logged "make" "$build/quickstart-make.log" make -C "$build" -j"$(nproc)" "$@" || exit 1
}

# --- the commands ---------------------------------------------------------------------------------

build() { build_tree all; }

# programs FOLDER: their names; there are objects beside them.
programs() {
    find "$1" -maxdepth 1 -type f -perm -u+x ! -name tree_fc -printf '%f\n' | sort | tr '\n' ' '
}

train() {
    local programs=${build#"$top"/}/apps there=''
    local command="$programs/tree_fc --leaves 32 --hidden 64 --samples 256 --epochs 3"
    build_tree all
    step "training Tree-FC: 256 binary trees of 32 leaves, three times over"
    note "$command"
    run_job $command ||
        die "tree_fc failed, see above (log of the build: $build/quickstart-make.log)"
    [ "$came_from" = "$top" ] || there="    cd $top
"
    cat >&2 <<NEXT

Done: packages${starpu:+, StarPU in $starpu}, the build in $build, a first training run.
What to try next:
$there    ./quickstart check
        runs the tests
    $programs/tree_fc --help
        all options; --json prints the numbers as JSON
    $programs/NAME --help
        the other models (README.md has a table of them, doc/data.md their data):
$(programs "$programs" | fold -s -w 72 | sed 's/^/        /')
    less README.md doc/guide.md
        where to read on
NEXT
}

check() {
    local log=$build/quickstart-check.log status start
    build_tree check-build
    step "make check"
    find "$build/tests" -name '*.trs' -delete
    start=$SECONDS
    watched "make -j$(nproc) check" "$log" make -C "$build" -j"$(nproc)" -k check
    status=$?
    summarise $((SECONDS - start))
    [ $status -eq 0 ] || die "tests failed, see above or $log"
}

# summarise SECONDS: how many tests there were, and from the logs which failed, with what they say.
summarise() {
    local log
    find "$build/tests" -name '*.trs' | sort | while read -r log; do
        sed -n "s|^:test-result: \([A-Z]*\).*|\1 ${log%.trs}.log|p" "$log"
    done >"$build/quickstart-results"
    awk -v seconds="$1" '
        { n++; count[$1]++ }
        END {
            printf "%d tests: %d passed, %d skipped, %d failed, in %d s\n", n,
                count["PASS"] + count["XFAIL"], count["SKIP"],
                count["FAIL"] + count["XPASS"] + count["ERROR"], seconds
        }' "$build/quickstart-results" >&2
    sed -nE 's/^(FAIL|XPASS|ERROR) //p' "$build/quickstart-results" | sort -u |
        while read -r log; do
            echo "$log:"
            grep -E -A 12 '^(FAIL|XPASS|ERROR): ' "$log" | grep -vE '^(ok |PASS: )' | sed 's/^/    | /'
        done >&2
}

print_env() {
    [ -n "$starpu" ] || return 0
    echo "export PKG_CONFIG_PATH='$(pkg_path "$starpu")'"
    echo "export PATH='$starpu/bin':\"\$PATH\""
    echo "export LD_LIBRARY_PATH='$starpu/lib'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
}

# clean: removes the build and what was kept of earlier attempts; not packages, and not StarPU.
clean() {
    if [ -d "$build" ]; then
        compgen -G "$build/quickstart-*.log" >/dev/null || [ -e "$build/config.status" ] ||
            die "$build does not look like a build of mine: it stays"
        rm -rf "$build"
    fi
    rm -rf "$cache"/failed-* "$logs"
    note "removed: $build, the logs in $logs"
    ! compgen -G "$cache/starpu-*" >/dev/null || note "StarPU stays, in $cache"
}
