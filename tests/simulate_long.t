#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# perf/simulate: the same program on machines that StarPU simulates with SimGrid. Needs the build of
# ./quickstart --simgrid, in build-simgrid beside the source or where $SIMULATED_BUILD says.

# shellcheck source=tests/simulated.sh
. "${abs_top_srcdir:?}/tests/simulated.sh"
simulated=${SIMULATED_BUILD:-$abs_top_srcdir/build-simgrid}
programs_in "$simulated" "--simgrid"

# simulate ARGUMENT...: with the models in $work/models
simulate() {
    "$abs_top_srcdir/perf/simulate" --quick --build "${abs_top_builddir:?}" --simulated "$simulated" \
        --models "$work/models" "$@" >"$work/out" 2>"$work/err"
    status=$?
}

simulate
[ $status -eq 0 ] && grep -q '^| h 64, 1 worker' "$work/out" && grep -q '^| strong, h 64' "$work/out" &&
    grep -q '^| weak, h 64' "$work/out"
ok $? "a machine that is there is recorded, predicted, and made larger"

simulate --only cores --json "$work/first"
simulate --only cores --json "$work/second"
[ $status -eq 0 ] && [ -s "$work/first" ] && cmp -s "$work/first" "$work/second"
ok $? "a simulation gives the same numbers again"

python3 - "$work/first" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["strong"][0]
assert all(a["rate"] < b["rate"] for a, b in zip(rows, rows[1:])), rows
assert all(r["rate"] <= 1.05 * r["cores"] * rows[0]["rate"] for r in rows), rows
END
ok $? "more cores are faster, and no more than so many times" "$work/first"

# a millisecond more around each task
mkdir "$work/fast" && mv "$work/models"/* "$work/fast" && cp -r "$work/fast"/* "$work/models" && python3 - "$work/models" <<'END'
import json, pathlib, sys
for file in pathlib.Path(sys.argv[1]).glob("*/costs.json"):
    costs = json.loads(file.read_text())
    file.write_text(json.dumps([*costs[:8], costs[8] + 1000]))
END
edited=$?
simulate --only cores --json "$work/slow"
[ $status -eq 0 ] && [ $edited -eq 0 ] && python3 - "$work/first" "$work/slow" <<'END'
import json, sys
first, slow = (json.load(open(file))["strong"][0] for file in sys.argv[1:])
assert all(b["batch_ms"] > a["busy"] * a["batch_ms"] + 0.8 * a["tasks"] / a["cores"] for a, b in zip(first, slow)), (first, slow)
END
ok $? "what a worker does around a task counts" "$work/err" "$work/slow"
rm -r "$work/models" && mv "$work/fast" "$work/models"

simulate --only gpus # refused where the simulated devices are not there
[ $status -eq 0 ] && [ "$(grep -c '^| [012] ' "$work/out")" = 3 ]
ok $? "GPUs that nobody has are devices of a simulated machine"

simulate --only gpu --json "$work/gpu"
[ $status -eq 0 ] && python3 - "$work/gpu" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["gpu"]
assert rows and all(abs(r["predicted"] / r["measured"] - 1) < 0.25 for r in rows), rows
END
ok $? "a GPU takes about as long as one that was measured" "$work/gpu"

echo "1..$count"
