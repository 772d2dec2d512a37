# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# What tests of perf/simulate begin with: a folder for their files, and what they need of this
# machine, or a reason to skip them.  Sourced.

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:?}/tests/tap.sh"

# programs_in BUILD OPTIONS: simulated ones, which ./quickstart OPTIONS builds
programs_in() {
    if ! command -v python3 >/dev/null; then
        why="no python3"
    elif [ ! -f "$CAVS_DATA/sst/train.txt" ]; then
        why="no $CAVS_DATA/sst/train.txt"
    elif [ ! -x "$1/apps/tree_lstm" ]; then
        why="no simulated programs in $1 (./quickstart $2 builds them)"
    else
        return
    fi
    echo "1..0 # SKIP $why"
    exit 0
}
