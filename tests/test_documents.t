#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Files and names that documents and comments mention exist, what measures has --help, and the reference has no warnings.

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${abs_top_builddir:-$PWD}
work=$(mktemp -d "$build/tests/home/documents.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

cd "$top" || exit 1
folders='apps build-aux codelets core doc memory perf scheduler tests'
# the sources; a build in the tree, and what it makes, are none
# shellcheck disable=SC2086 # a list
find $folders -type f ! -path '*/.libs/*' ! -path 'tests/home/*' ! -path 'doc/reference/*' \
    ! -name '*.inc' >"$work/files"
sed 's|.*/||' "$work/files" | sort -u >"$work/names"
grep -E '\.([ch]|def|cl)$' "$work/files" >"$work/sources"
ls ./*.md doc/*.md perf/*.md >"$work/documents"

# Links lead somewhere.
while read -r document; do
    grep -o ']([^)#: ]*[)#]' "$document" | sed 's/^](//; s/[)#]$//' | while read -r link; do
        [ -e "$(dirname "$document")/$link" ] || echo "$document: $link"
    done
done <"$work/documents" >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "links of documents lead somewhere" "$work/wrong"

# A path from the top names a file.  my_... and test_x are examples, and so is what a document lets its reader make.
grep -hoE '^```[a-z]* new [^ ]+' doc/*.md | sed 's/.* //' >"$work/made"
paths="\\b($(echo "$folders" | tr ' ' '|'))/[A-Za-z0-9_/-]+\\.(c|h|def|cl|md|t|mk|sh|py)\\b"
xargs grep -noE "$paths" <"$work/sources" >"$work/paths"
xargs grep -noE "$paths" <"$work/documents" >>"$work/paths"
sort -t : -k 3 -u "$work/paths" | grep -vE '/(my_|test_x\.)' | while IFS=: read -r document line path; do
    [ -e "$path" ] || grep -qxF "$path" "$work/made" || echo "$document:$line: $path"
done >"$work/wrong"
[ "$(wc -l <"$work/paths")" -gt 500 ] && ! [ -s "$work/wrong" ]
ok $? "paths in documents and sources name files" "$work/wrong"

# So does a name alone, "see share.c", in a document or a comment; names of two letters are fields of structs.
# shellcheck disable=SC2016 # for awk
cat "$work/sources" "$work/documents" | xargs awk '
    FNR == 1 { document = FILENAME ~ /md$/; inside = 0 }
    /^#/ && !document { next }
    /\/\*/ { inside = 1 }
    inside || document {
        text = $0
        while (match(text, /(^|[^A-Za-z0-9_.\/<-])[a-z][a-z0-9_]+[a-z0-9]\.(c|h|def|cl)([^A-Za-z0-9_(]|$)/)) {
            name = substr(text, RSTART, RLENGTH)
            gsub(/^[^a-z]|[^a-z]$/, "", name)
            print FILENAME ":" FNR ":" name
            text = substr(text, RSTART + RLENGTH - 1)
        }
    }
    /\*\// { inside = 0 }' >"$work/mentions"
sort -t : -k 3 -u "$work/mentions" | grep -vE ':(my_.*|test_x|program|config|stdio|stdlib|starpu[a-z_]*)\.[ch]$' |
    while IFS=: read -r source line name; do
        grep -qx "$name" "$work/names" || echo "$source:$line: $name"
    done >"$work/wrong"
[ "$(wc -l <"$work/mentions")" -gt 200 ] && ! [ -s "$work/wrong" ]
ok $? "names of files in documents and comments name files" "$work/wrong"

# So do names of the library and of environment variables, outside blocks of code.
while read -r document; do
    awk '/^```/ { code = !code } !code' "$document" |
        grep -oE '(cavs_|CAVS_|STARPU_)[A-Za-z0-9_]*[A-Za-z0-9]' | sort -u | while read -r name; do
        where="core codelets scheduler memory apps quickstart build-aux Makefile.am"
        case $name in
        STARPU_*) continue ;;
        CAVS_TEST_*) where=tests ;;
        esac
        # the folders are split on purpose
        # shellcheck disable=SC2086
        grep -rqwF -- "$name" $where || echo "$document: $name"
    done
done <"$work/documents" >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "names of functions and variables in documents exist" "$work/wrong"

# So do options: of programs, of scripts, of configure, or of other people's tools, which stand here.
others='allow-run-as-root cflags enable-debug enable-fast enable-maxcudadev libs mca no-deps oversubscribe random-source'
{
    cat "$build/apps/completion" configure.ac m4/*.m4
    find quickstart build-aux perf tests/random_runs -type f ! -name '*.md' -exec cat {} +
    # shellcheck disable=SC2086 # a list; --layers is one that a document lets its reader make
    printf -- '--%s\n' $others layers
} | grep -aoE -- '--[a-z][a-z0-9-]+' | sort -u >"$work/options"
while read -r document; do
    grep -oE -- '(^|[^A-Za-z0-9_-])--[a-z][a-z0-9-]+' "$document" | grep -oE -- '--.*' | sort -u |
        grep -vxF -f "$work/options" | sed "s|^|$document: |"
done <"$work/documents" >"$work/wrong"
[ "$(wc -l <"$work/options")" -gt 100 ] && ! [ -s "$work/wrong" ]
ok $? "options that documents speak of exist" "$work/wrong"

# Who is about to run quickstart reads beforehand what that takes.
sed -n '/^## Two commands/,/^## /p' README.md | tr -s ' \n' ' ' >"$work/setup"
grep -q ' minutes,' "$work/setup" && grep -qE '[0-9] [MG]B from the network' "$work/setup" &&
    grep -qE '[0-9] [MG]B of disk' "$work/setup"
ok $? "the README tells the time, the network and the disk that quickstart takes" "$work/setup"

# What the README says that programs reach can be run again.
sed -n '/^| program | model/,/^$/p' README.md | awk -F '|' 'NR > 2 { print $5 }' | grep -o '`[a-z][^`]*`' |
    tr -d '`' | while read -r command; do
    [ -e "apps/${command%% *}.c" ] && echo "$command"
done >"$work/commands"
while read -r command; do
    grep -qF "(\"$command\", [" perf/learning || echo "$command: not in perf/learning"
done <"$work/commands" >"$work/wrong"
[ "$(wc -l <"$work/commands")" -gt 12 ] && ! [ -s "$work/wrong" ]
ok $? "perf/learning has the commands of the README's table of programs" "$work/wrong"

# What measures says how, also where that is not installed which it compares with.
if command -v python3 >/dev/null; then
    mkdir "$work/without"
    for module in numpy torch dynet; do
        echo "raise ImportError('not here')" >"$work/without/$module.py"
    done
    find perf -type f -perm -u+x ! -name '*.*' -exec grep -lE '^#!' {} + >"$work/measuring"
    while read -r program; do
        PYTHONPATH="$work/without" PYTHONDONTWRITEBYTECODE=1 "$program" --help >"$work/out" 2>&1 </dev/null &&
            grep -qiE "^usage|$program " "$work/out" || echo "$program: $(tail -n 1 "$work/out")"
    done <"$work/measuring" >"$work/wrong"
    [ "$(wc -l <"$work/measuring")" -gt 15 ] && ! [ -s "$work/wrong" ]
    ok $? "programs of perf/ have --help, without PyTorch, too" "$work/wrong"

    # Small changes of programs need not touch the document: model and loop together may be a tenth more or less.
    PYTHONDONTWRITEBYTECODE=1 perf/loc >"$work/counted" 2>&1
    awk -F '|' 'FNR == NR { told[$2] = $5 }
        FNR < NR && FNR > 2 && !($5 > 0.9 * told[$2] && $5 < 1.1 * told[$2]) { print $2 ": " $5 " lines" }' \
        doc/lines-of-code.md "$work/counted" >"$work/wrong"
    [ "$(wc -l <"$work/counted")" -gt 12 ] && ! [ -s "$work/wrong" ]
    ok $? "doc/lines-of-code.md has the programs, and nearly the lines, that perf/loc counts" "$work/wrong"
else
    skip "programs of perf/ have --help" "there is no python3"
    skip "doc/lines-of-code.md has what perf/loc counts" "there is no python3"
fi

if command -v doxygen >/dev/null; then
    mkdir "$work/doc"
    SOURCE=$top BUILD=$work VERSION=test doxygen doc/Doxyfile >"$work/wrong" 2>&1 &&
        [ -s "$work/doc/reference/html/index.html" ]
    ok $? "the reference explains every declaration, without a warning" "$work/wrong"
else
    skip "the reference explains every declaration" "there is no doxygen"
fi

echo "1..$count"
