#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# perf/simulate: several machines, each a rank, that StarPU simulates with SimGrid's MPI. Needs the
# build of ./quickstart --simgrid --mpi, in build-simgrid-mpi beside the source or where
# $SIMULATED_MPI_BUILD says.

# shellcheck source=tests/simulated.sh
. "${abs_top_srcdir:?}/tests/simulated.sh"
simulated=${SIMULATED_MPI_BUILD:-$abs_top_srcdir/build-simgrid-mpi}
programs_in "$simulated" "--simgrid --mpi"

simulate() {
    "$abs_top_srcdir/perf/simulate" --quick --build "${abs_top_builddir:?}" --simulated-mpi "$simulated" \
        --models "$work/models" --only nodes "$@" >"$work/out" 2>"$work/err"
    status=$?
}

simulate --json "$work/first" --svg "$work/figure"
[ $status -eq 0 ] && grep -q '^| strong, h 64, 25 Gbit/s: machines' "$work/out" && grep -q '<svg' "$work/figure"
ok $? "one, two and four machines are simulated" "$work/err"

simulate --json "$work/second"
[ $status -eq 0 ] && [ -s "$work/first" ] && cmp -s "$work/first" "$work/second"
ok $? "a simulation of ranks gives the same numbers again" "$work/err"

python3 - "$work/first" <<'END'
import json, sys
slow, fast, slow_strong, fast_strong = json.load(open(sys.argv[1]))["nodes"]
assert all(r["efficiency"] <= 1.05 for r in slow + fast), (slow, fast)
assert all(a["batch_ms"] > b["batch_ms"] for a, b in zip(fast_strong, fast_strong[1:])), fast_strong
assert all(r["sent"] > 0 for r in slow[1:]), slow
assert all(a["batch_ms"] >= b["batch_ms"] for a, b in zip(slow, fast)), (slow, fast)
END
ok $? "ranks send something, and no network makes them faster than a better one does" "$work/first"

echo "1..$count"
