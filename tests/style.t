#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What holds of the tree's text (make check-style, or this script by itself in a clean checkout):
#
#     tests/style.t [CHECK]...        all of them by default, in the order in which they stand below
#
# Prints TAP, a line a check. What a check finds is a line each, "KEY<tab>what is wrong". Findings whose key stands in
# tests/style/exceptions are left out; an exception without a finding is an error, so that the list only gets shorter.
# A check whose tool is not there, or is of another version than the one whose word was taken, is skipped.

set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 99
style=tests/style
export LC_ALL=C.UTF-8

checks="format cppcheck shell declared rooms names columns members skips licence subjects"
# The tools that judge differently from version to version are pinned: what follows has to be the start of the
# version. Debian 12 has these.
clang_format_version=14. cppcheck_version=2.10

# --- the tree ------------------------------------------------------------------------------------

# files PATTERN...: tracked files, and those that may become so
files() {
    git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done
}

c_files() { files '*.c' '*.h'; }

shell_files() {
    files | while read -r file; do
        case $file in
        *.sh) echo "$file" ;;
        *) head -c 40 "$file" | head -n 1 | grep -qaE '^#!.*[/ ](ba)?sh( |$)' && echo "$file" ;;
        esac
    done
}

# --- checks: each prints its findings ------------------------------------------------------------

skip() {
    echo "$*" >"$work/skipped"
}

# wants VERSION COMMAND: skips unless COMMAND --version says so
wants() {
    local version
    command -v "$2" >/dev/null || { skip "there is no $2" && return 1; }
    version=$("$2" --version | grep -oE '[0-9]+\.[0-9.]+' | head -n 1)
    [[ $version == "$1"* ]] || { skip "$2 is $version; what counts is $1" && return 1; }
}

# the layout of C, as .clang-format says
format() {
    local tool=clang-format-${clang_format_version%.}
    command -v "$tool" >/dev/null || tool=clang-format
    wants "$clang_format_version" "$tool" || return
    c_files | xargs "$tool" --dry-run 2>&1 |
        sed -nE 's/^([^:]+):([0-9]+):.*warning: code should be clang-formatted.*/\1\tline \2/p' |
        sort -t "$tab" -k 1,1 -u
}

# mistakes that cppcheck sees
cppcheck_() {
    wants "$cppcheck_version" cppcheck || return
    files '*.c' | grep -v '^tests/' >"$work/files"
    cppcheck --quiet -j "$(nproc)" --language=c --std=c11 --platform=unix64 --inline-suppr \
        --enable=warning,performance,portability -I . -D_GNU_SOURCE \
        --include=$style/loops.h --template="{file} {id}${tab}line {line}: {message}" \
        --file-list="$work/files" 2>&1
}

# mistakes in shell scripts
shell() {
    command -v shellcheck >/dev/null || { skip "there is no shellcheck" && return; }
    shell_files | xargs shellcheck --external-sources --format=gcc |
        sed -E 's/^([^:]+):([0-9]+):[0-9]+: (.*) \[(SC[0-9]+)\]$/\1 \4\tline \2: \3/'
}

# functions that a header declares and nobody defines, and prototypes outside of headers.  (What is defined and no header
# declares the compiler tells: -Wmissing-prototypes.  core/operators/apply.c makes those of elementwise.def.)
declared() {
    c_files | xargs awk -f $style/functions.awk >"$work/functions"
    sed -nE 's/^CAVS_EW[12]\((\w+),.*/defined\tcavs_\1_at\tcore\/operators\/apply.c/p' codelets/groups/elementwise.def \
        >>"$work/functions"
    awk -F '\t' '
        $1 == "declared" { declared[$2] = $3 }
        $1 == "defined" { defined[$2] = $3 }
        END {
            for (name in declared)
                if (!(name in defined)) print name "\t" declared[name] " declares it, nobody defines it"
                else if (declared[name] !~ /\.h:/) print name "\t" declared[name] " declares it, not a header"
        }' "$work/functions" | sort
}

# who includes whom: tests/style/rooms
rooms() {
    c_files | xargs grep -nH '^ *# *include *"' | awk -f $style/rooms.awk $style/rooms -
}

# no two files of the library, or of it and what programs share, have one name
names() {
    files 'core/*.[ch]' 'codelets/*.[ch]' 'scheduler/*.[ch]' 'memory/*.[ch]' 'apps/common/*.[ch]' | awk '
        {
            folder = name = $0
            sub(/\/[^\/]*$/, "", folder)
            sub(/.*\//, "", name)
            sub(/\.[ch]$/, "", name)
            if (!(name in first)) first[name] = folder
            else if (first[name] != folder) print name "\tin " first[name] " and in " folder
        }' | sort -u
}

# lines of at most 100 columns; clang-format does not wrap comments, nor *.def and *.cl
columns() {
    files '*.c' '*.h' '*.def' '*.cl' |
        xargs grep -nHE '^.{101,}' | awk -F : '{ n[$1]++; line[$1] = $2 }
            END { for (file in n) print file "\tline " line[file] " is over 100 columns, of " n[file] }' | sort
}

# a member stands beside its type: clang-format parts them to make room for a comment that belongs above them
members() {
    c_files | xargs awk '
        FNR > 1 && type ~ /^ +[a-z][a-z0-9_ ]*( ?\*+)?$/ && type !~ /(else|do|return)$/ &&
            /^ +\**[a-z_0-9]+(\[[^]]*\])*[;,] \/\*/ { print FILENAME "\tline " FNR " is parted from its type" }
        { type = $0 }' | sort -t "$tab" -k 1,1 -u
}

# a test that is skipped says why: SKIP("...") of tests/skip.h, which run-test turns into TAP
skips() {
    files 'tests/*.c' | xargs grep -nHE '\<skip\(\)' | awk -F : '{ print $1 "\tline " $2 " skips without a reason" }'
}

# the licence is said at the head of whatever can have a comment there
licence() {
    files | grep -vE '^(LICENSE|README|tests/data/.*|tests/fuzz/corpus/.*|.*\.(json|md|svg|names))$' |
        while read -r file; do
            head -n 5 "$file" | grep -q 'SPDX-License-Identifier: Apache-2\.0' ||
                printf '%s\thas no SPDX line\n' "$file"
        done
}

# the newest commits' subjects are of at most 72 columns
subjects() {
    git log --no-merges -n 50 --format='%h%x09%s' | awk -F '\t' 'length($2) > 72 {
        print $1 "\t" length($2) " columns: " $2 }'
}

# --- TAP -----------------------------------------------------------------------------------------

# judge CHECK: what of $work/found counts, and exceptions that are not needed
judge() {
    awk -F '\t' -v check="$1" '
        function matches(key,    e) {
            for (e in excepted)
                if (key == e || (e ~ /\*$/ && index(key, substr(e, 1, length(e) - 1)) == 1)) {
                    needed[e] = 1
                    return 1
                }
            return 0
        }
        FNR == NR {
            if (split($0, part, ": ") >= 3 && part[1] == check) excepted[part[2]] = 1
            else if ($0 !~ /^(#|$)/ && split($0, part, ": ") < 3) print "exceptions: no reason: " $0
            next
        }
        !matches($1) { print $1 ": " $2 }
        END {
            for (e in excepted)
                if (!(e in needed)) print "tests/style/exceptions has " e ", which is no longer needed"
        }' $style/exceptions "$work/found"
}

# tell CHECK: a line of TAP
tell() {
    count=$((count + 1))
    : >"$work/found"
    rm -f "$work/skipped"
    if [ "$1" = cppcheck ]; then cppcheck_; else "$1"; fi >"$work/found"
    if [ -e "$work/skipped" ]; then
        echo "ok $count - $1 # SKIP $(cat "$work/skipped")"
        return
    fi
    judge "$1" >"$work/wrong"
    if [ -s "$work/wrong" ]; then
        echo "not ok $count - $1"
        sed 's/^/# /' "$work/wrong"
    else
        echo "ok $count - $1"
    fi
}

if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    echo "1..0 # SKIP this is no checkout: which files are the tree's is git's to say"
    exit 0
fi
tab=$(printf '\t')
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || read -ra checks <<<"$checks"
[ $# -eq 0 ] || checks=("$@")
count=0
echo "1..${#checks[@]}"
for check in "${checks[@]}"; do
    tell "$check"
done
