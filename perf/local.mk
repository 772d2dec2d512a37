# SPDX-License-Identifier: Apache-2.0
#
# perf/: benchmarks, comparisons with other programs, trace tools. Nothing here is installed.
#
# To add a program:
#     noinst_PROGRAMS += perf/bench
#     perf_bench_SOURCES = perf/bench.c
#     perf_bench_LDADD = libapp.la $(APP_LIBS)
# A script:
#     EXTRA_DIST += perf/x.sh

# needs internal functions, so it is built by name only: make perf/bench_gemm
EXTRA_PROGRAMS += perf/bench_gemm
perf_bench_gemm_SOURCES = perf/bench_gemm.c
perf_bench_gemm_LDADD = libcavs-static.la $(CAVS_LIBS)
