#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The commands that README.md shows with their output: run as they stand there, they say what they say there.
#
# A command is an indented line that begins with "$", with those that follow a "\"; its output are the lines below it, up
# to the next command or the end of the block.  "..." stands for any lines.  Numbers may differ by 2 %, as they do between
# machines; times, speeds and memory are not compared.

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/readme.XXXXXX") || exit 1
work=$(cd "$work" && pwd)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

# --- the commands of the document ----------------------------------------------------------------------

mkdir "$work/shown" "$work/run"
awk -v folder="$work/shown/" '
    /^    \$ / {
        n++
        base = sprintf("%s%02d", folder, n)
        print substr($0, 7) >(base ".command")
        printf "" >(base ".output")
        more = /\\$/
        inside = 1
        next
    }
    inside && more { print >(base ".command"); more = /\\$/; next }
    inside && /^    / { print substr($0, 5) >(base ".output"); next }
    { inside = more = 0 }' "$top/README.md"

set -- "$work"/shown/*.command
[ -f "$1" ] && [ $# -ge 8 ]
ok $? "README.md shows commands"

# the same places as in a tree that was built in build/
ln -s "$(cd "${abs_top_builddir:-.}" && pwd)" "$work/run/build"
ln -s "$(cd "$top/tests" && pwd)" "$work/run/tests"

# compare SHOWN SAID: what is not as it was shown
compare() {
    awk '
        function same(a, b) {
            if (a == b)
                return 1
            if (a !~ /^-?[0-9.]+(e-?[0-9]+)?$/ || b !~ /^-?[0-9.]+(e-?[0-9]+)?$/)
                return 0
            return (a - b) ^ 2 <= (0.02 * a) ^ 2
        }
        function like(a, b,    n, i, x, y) {
            n = split(a, x)
            if (n != split(b, y))
                return 0
            for (i = 1; i <= n; i++)
                if (!same(x[i], y[i]))
                    return 0
            return 1
        }
        /^  (speed|tasks|arithmetic|memory) / { next }
        { sub(/ in [0-9.]+ s$/, " in some seconds") }
        NR == FNR { said[++lines] = $0; next }
        /^ *\.\.\.$/ { any = 1; next }
        {
            do
                at++
            while (any && at < lines && !like($0, said[at]))
            any = 0
            if (at > lines || !like($0, said[at])) {
                print "README.md: " $0
                print "here:      " (at > lines ? "(nothing)" : said[at])
            }
        }
        END {
            if (!any && at < lines)
                print "here, not in README.md: " said[at + 1]
        }' "$2" "$1"
}

for command in "$@"; do
    shown=${command%.command}.output
    (cd "$work/run" && PATH=$PATH sh "$command") >"$work/said" 2>"$work/err" </dev/null
    status=$?
    {
        [ $status -eq 0 ] || { echo "status $status" && cat "$work/err"; }
        compare "$shown" "$work/said"
    } >"$work/wrong"
    ! [ -s "$work/wrong" ]
    ok $? "$(head -n 1 "$command")" "$work/wrong"
done

# --- the comparison itself ----------------------------------------------------------------------------

compared() {
    printf '%b' "$1" >"$work/a"
    printf '%b' "$2" >"$work/b"
    compare "$work/a" "$work/b" >"$work/wrong"
    ! [ -s "$work/wrong" ]
}

compared 'a 1.00\nb 2\n' 'a 1.01\nb 2\n' && compared 'a\n...\nd\n' 'a\nb\nc\nd\n' && compared 'a\n...\n' 'a\nb\n' &&
    compared '  memory 3 MB\n' '  memory 4 MB\n'
ok $? "what is as it was shown"
! compared 'a 1.00\n' 'a 1.05\n' && ! compared 'a\nb\n' 'a\n' && ! compared 'a\n' 'a\nb\n' &&
    ! compared 'a\n...\nd\n' 'a\nb\nc\n' && ! compared '(4 (2 film))\n' '(3 (2 film))\n' && ! compared 'a b\n' 'a\n'
ok $? "what is not is found"

echo "1..$count"
