#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# perf/gpu-check and perf/device_peak where there is no time and no device, and on PoCL. The whole of
# gpu-check takes too long for `make check`; with CAVS_TEST_LONG it runs, with small sizes.

build=${abs_top_builddir:-.}
source=${abs_top_srcdir:-.}
# shellcheck disable=SC2034 # programs.sh runs what is there
apps=$build/perf
work=$(mktemp -d "$build/tests/home/check.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/programs.sh
. "$source/tests/programs.sh"

with_opencl
: "${STARPU_OPENCL_ON_CPUS=1}" "${STARPU_OPENCL_ONLY_ON_CPUS=1}"
export STARPU_OPENCL_ON_CPUS STARPU_OPENCL_ONLY_ON_CPUS

# check ARGUMENT...: gpu-check in $work
check() {
    (cd "$work" && "$source/perf/gpu-check" --build="$build" "$@") \
        >"$work/out" 2>"$work/err"
    echo $? >"$work/status"
}

# report CONDITION: on the report r, as Python has them; without Python only that there is one
report() {
    [ -s "$work/gpu-check.json" ] || return 1
    command -v python3 >/dev/null || return 0
    python3 -c "import json, sys; r = json.load(open(sys.argv[1])); sys.exit(not ($1))" "$work/gpu-check.json"
}

run device_peak --device opencl --most 256 --chain 50 --json
if said "StarPU found"; then
    echo "1..0 # SKIP no OpenCL device"
    exit 0
fi
status_is 0 && holds "$(field gemm_gflops) > 0.01 && $(field task_us) > 0.01 && $(field launch_us) > 0.01" &&
    holds "$(field task_launch_us) > 0.01" && grep -q '"gemm_by":"own kernel"' "$work/out"
ok $? "device_peak: products, tasks and launches, and whose products they are"

run device_peak --device opencl --most 256 --chain 50
status_is 0 && grep -q "products by own kernel" "$work/out"
ok $? "device_peak as text"

check --minutes=soon
status_is 2 && said "whole number"
ok $? "--minutes wants a number"

STARPU_OPENCL_ON_CPUS=0 STARPU_OPENCL_ONLY_ON_CPUS=0 check --device=opencl
status_is 1 && report "len(r['failures']) == 1 and not r['rows']" && grep -q "no device can be used" "$work/gpu-check.txt"
ok $? "no device: a report that says so"

mkdir -p "$work/mute/apps"
printf '#!/bin/sh\nexit 3\n' >"$work/mute/apps/tree_fc"
chmod +x "$work/mute/apps/tree_fc"
built=$build
build=$work/mute
check --device=opencl
build=$built
status_is 1 && grep -q "no device can be used: tree_fc ended with status 3 and said nothing" "$work/gpu-check.txt"
ok $? "a program that ends without a word: the report says how it ended"

check --quick --minutes=0 --device=opencl
status_is 0 && report "r['tests_passed'] == 0 and not r['rows'] and len(r['skipped']) > 5 and r['peak'] is None" &&
    grep -q "^    device_peak: no time left" "$work/gpu-check.txt"
ok $? "no time: all is skipped, and listed as such"

if [ -n "$CAVS_TEST_LONG" ]; then
    check --quick --device=opencl
    status_is 0 && report "r['tests_passed'] > 20 and len(r['tests']) == 4 and r['peak']['gemm_gflops'] > 0" &&
        report "r['quick'] and not r['failures'] and len(r['rows']) >= 3 and r['seconds'] < 480" &&
        [ -s "$work/gpu-check.trace/summary.txt" ] && report "all(x['samples_per_s'] > 0 for x in r['rows'])" &&
        report "all(0 < x['share_of_peak'] < 1 for x in r['rows'] if x['where'] == 'device')" &&
        report "all(x['launches_per_batch'] > 0 for x in r['rows'] if x['where'] == 'device')"
    ok $? "all of it, with small sizes"
else
    skip "all of it, with small sizes" "a long test (CAVS_TEST_LONG=1)"
fi

echo "1..${count:?}"
