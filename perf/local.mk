# SPDX-License-Identifier: Apache-2.0
#
# perf/: benchmarks, comparisons with other programs, trace tools. Nothing here is installed.
#
# To add a program made from perf/bench.c, linked as programs in apps/ are:
#     noinst_PROGRAMS += perf/bench
# A script:
#     EXTRA_DIST += perf/x.sh

EXTRA_DIST += perf/README.md perf/RESULTS.md perf/ablation perf/batching perf/bench perf/compare \
	perf/figure8 perf/figure9 perf/figures perf/gpu-check perf/gpu-h200.json perf/gpu_model.py \
	perf/latency perf/learning \
	perf/loc perf/machine.py perf/models perf/plot.py perf/policies perf/precision perf/processors.json \
	perf/products \
	perf/ranks perf/report perf/runs.py perf/simulate perf/table1 perf/table2 perf/tape \
	perf/tasks-by-policy perf/turns perf/workloads.py perf/peers/common.py perf/peers/dynet \
	perf/peers/dynet_counts perf/peers/gcn_torch perf/peers/levels.py perf/peers/lstm_torch \
	perf/peers/setup perf/peers/shared.py perf/peers/tagger_torch perf/peers/tree_fc_torch \
	perf/peers/tree_lstm_torch

# The models by hand: of the library only products, updates and formulas, and no StarPU.
noinst_PROGRAMS += perf/floor
perf_floor_SOURCES = perf/floor.c perf/floor.h perf/floor_fc.c perf/floor_levels.c \
	perf/floor_lstm.c perf/floor_math.c perf/floor_params.c perf/floor_run.c perf/floor_run.h \
	perf/floor_update.c
perf_floor_CFLAGS = $(AM_CFLAGS) $(KERNEL_CFLAGS)
# in a simulation libapp.la asks StarPU for the time
perf_floor_LDADD = libapp.la libcavs-static.la $(LIBXSMM_LIBS) $(OPENBLAS_LIBS) $(JANSSON_LIBS) \
	-lpthread -lm $(STARPU_LIBS)

# Into how many batches recorded graphs fall.
noinst_PROGRAMS += perf/tape_counts
perf_tape_counts_SOURCES = perf/tape_counts.c

# How long one tree takes.
noinst_PROGRAMS += perf/one_tree
perf_one_tree_SOURCES = perf/one_tree.c apps/tree_lstm_cells.c
perf_one_tree_LDADD = libapp.la libcavs-static.la $(CAVS_LIBS)

# What a device can do at most.
noinst_PROGRAMS += perf/device_peak
perf_device_peak_SOURCES = perf/device_peak.c perf/device_asked.c perf/device_asked.h
perf_device_peak_LDADD = libapp.la libcavs-static.la $(CAVS_LIBS)

# How far the cores are from one another.
noinst_PROGRAMS += perf/core_to_core
perf_core_to_core_LDADD = -lpthread

# A scheduling policy of our own, which StarPU loads; built by name (make perf/policy_steal.la) and by `make check`
EXTRA_LTLIBRARIES = perf/policy_steal.la
perf_policy_steal_la_SOURCES = perf/policy_steal.c
perf_policy_steal_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# These need internal functions, and are not built until asked for (make perf/bench_gemm) or by `make check`, so that
# none is left behind when the library changes.
benches = perf/bench_gemm perf/bench_elementwise perf/bench_schedule perf/bench_bf16 perf/device_kernels
EXTRA_PROGRAMS += $(benches)
check_DATA += $(benches) perf/policy_steal.la
CLEANFILES += $(benches) perf/policy_steal.la
products_shared = perf/bench_products.c perf/bench_products.h perf/register_peak.c perf/register_peak.h
perf_bench_bf16_SOURCES = perf/bench_bf16.c $(products_shared)
perf_bench_bf16_LDADD = libcavs-static.la $(CAVS_LIBS)
perf_bench_gemm_SOURCES = perf/bench_gemm.c $(products_shared)
perf_bench_gemm_LDADD = libcavs-static.la $(CAVS_LIBS)
perf_bench_elementwise_LDADD = tests/libtrial.la libcavs-static.la $(CAVS_LIBS)
perf_bench_schedule_LDADD = libapp.la libcavs-static.la $(CAVS_LIBS)
perf_device_kernels_SOURCES = perf/device_kernels.c perf/device_asked.c perf/device_asked.h \
	perf/device_shapes.c perf/device_shapes.h
perf_device_kernels_LDADD = tests/libtrial.la libapp.la libcavs-static.la $(CAVS_LIBS)
perf/device_kernels.$(OBJEXT): codelets/device/dialect.inc
