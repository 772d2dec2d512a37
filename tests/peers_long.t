#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The engine, the models by hand, PyTorch and DyNet (where perf/peers/setup finds them) learn the same from the same
# parameters. Too slow for `make check`: PyTorch takes seconds to start.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 0
fi
for file in sst/train.txt wikitext2/wiki.train.tokens wikiner10k/train.txt; do
    if [ ! -f "$CAVS_DATA/$file" ]; then
        echo "1..0 # SKIP no $CAVS_DATA/$file"
        exit 0
    fi
done

"${abs_top_srcdir:?}/perf/compare" --losses --build "${abs_top_builddir:?}" >"$work/out" 2>"$work/err"
status=$?
# the rows that say whether a program agrees
rows=$(grep -c '| *\(yes\|no:.*\|no\) *|$' "$work/out")
sed 's/^/# /' "$work/out"
[ $status -eq 0 ] || sed 's/^/# /' "$work/err"
if [ $status -eq 0 ] && [ "$rows" -ge 2 ]; then
    echo "ok 1 - losses of three epochs agree to 1e-3 in $rows comparisons"
else
    echo "not ok 1 - losses of three epochs agree to 1e-3 (status $status, $rows comparisons)"
fi
echo "1..1"
