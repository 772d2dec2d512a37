#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Programs with options drawn at random, of a few seeds: what tests/random_runs says has to hold.

if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit
fi

# Without the compiler: other widths are other groups, each a second of it.
CAVS_FUSION=interpret
TMPDIR=${abs_top_builddir:-.}/tests/home
export CAVS_FUSION TMPDIR
exec python3 "${abs_top_srcdir:-.}/tests/random_runs" --from=1 --runs=20
