#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The documents in doc/ that say how to add something are followed to the letter, in a copy of the tree.
# These blocks of code are what is followed, in the order in which they stand:
#
#     ```c add FILE before TEXT     goes into FILE, before (or `after`) the first line that has TEXT
#     ```c new FILE                 is FILE
#     ```sh run                     commands, which are run in a build of the copy
#
# All documents are followed in one copy, which then has everything that they add.  That is built, and its
# commands are run, only if CAVS_TEST_LONG is set: it takes some minutes.

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${abs_top_builddir:-$PWD}
work=$(mktemp -d "$build/tests/home/adding.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

# copy_tree: all but what was made by building, or is kept by git
copy_tree() {
    mkdir "$work/tree" "$work/build" || return
    (
        cd "$top" || exit
        set -- --exclude=./.git --exclude=./_build --exclude=./_inst --exclude=./tests/home
        for status in config.status */config.status; do
            [ ! -e "$status" ] || set -- "$@" --exclude="./${status%/config.status}"
        done
        tar cf - --mode=u+w "$@" . # the sources may be read-only
    ) | tar xf - -C "$work/tree"
}

# blocks DOCUMENT: the blocks to follow become files N.head (what stands behind the language) and N.text
blocks() {
    rm -f "$work"/block.*
    awk -v to="$work/block." '
        /^```[a-z]+ (add|new) [^ ]+/ || /^```[a-z]+ run$/ {
            name = to sprintf("%03d", ++n)
            sub(/^[^ ]* /, "")
            print >(name ".head")
            printf "" >(name ".text")
            next
        }
        /^```/ { name = "" }
        name { print >(name ".text") }' "$1"
}

# add FILE PLACE TEXT BLOCK
add() {
    [ -f "$1" ] || return
    TEXT=$3 awk -v place="$2" -v block="$4" '
        function put(line) { while ((getline line <block) > 0) print line }
        !done && index($0, ENVIRON["TEXT"]) {
            done = 1
            if (place == "before") put()
            print
            if (place == "after") put()
            next
        }
        { print }
        END { exit !done }' "$1" >"$work/changed" && cat "$work/changed" >"$1"
}

# follow BLOCK: adds it to the copy
follow() {
    read -r verb file place text <"$1.head"
    case $verb/$place in
    new/) [ ! -e "$work/tree/$file" ] && cp "$1.text" "$work/tree/$file" ;;
    add/before | add/after) add "$work/tree/$file" "$place" "$text" "$1.text" ;;
    *) false ;;
    esac || echo "$(cat "$1.head"): there is no such place"
}

# follow_document DOCUMENT: its changes, and its commands to $work/commands
follow_document() {
    blocks "$1"
    for head in "$work"/block.*.head; do
        block=${head%.head}
        if [ "$(cat "$head")" = run ]; then
            cat "$block.text" >>"$work/commands"
        else
            follow "$block"
        fi
    done >"$work/wrong"
    [ ! -s "$work/wrong" ]
    ok $? "${1##*/} can be followed" "$work/wrong"
    [ -s "$work/commands" ]
    ok $? "${1##*/} says how to try it"
}

# configured as this build is
build_copy() {
    (cd "$work/build" && eval "../tree/configure --quiet $("$build/config.status" --config)")
}

copy_tree
ok $? "the tree is copied"

documents=$(grep -lE '^```[a-z]+ (add|new) ' "$top"/doc/*.md)
for document in $documents; do
    rm -f "$work/commands"
    follow_document "$document"
    mv "$work/commands" "$work/${document##*/}.commands" 2>/dev/null
done
[ "$(echo "$documents" | wc -l)" -ge 2 ]
ok $? "the documents were found"

if [ -n "$CAVS_TEST_LONG" ]; then
    build_copy >"$work/out" 2>&1
    ok $? "the copy is configured" "$work/out"
    for document in $documents; do
        name=${document##*/}
        (cd "$work/build" && MAKEFLAGS=-j$(nproc) sh -e "$work/$name.commands") >"$work/out" 2>&1
        ok $? "what $name adds is built and passes its tests" "$work/out"
    done
fi

echo "1..$count"
