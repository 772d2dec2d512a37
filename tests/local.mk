# SPDX-License-Identifier: Apache-2.0
#
# tests/: programs and scripts that print TAP. `make check` runs all of them.
#
# To add a cmocka program test_x.c:
#     check_PROGRAMS += tests/test_x
#     tests_test_x_SOURCES = tests/test_x.c
#     tests_test_x_LDADD = $(TEST_LIBS)
#     tests_test_x_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
# $(TEST_LIBS) has the whole library as a static archive, so a test may call internal (cavs__...)
# functions, and cmocka. One cmocka group a program: TAP allows one plan.
#
# To add a shell test (executable, with a #! line, prints TAP itself):
#     dist_check_SCRIPTS += tests/x.t
#
# A test that needs no StarPU worker also belongs in the sanitizer run:
#     SANITIZE_TESTS += tests/test_x
#
# Longer cases of the same tests: run them only when $CAVS_TEST_LONG is set. A script that is only
# for `make check-long`:
#     LONG_TESTS += tests/x_long.t
#     EXTRA_DIST += tests/x_long.t
#
# Tests see: CAVS_DATA (folder of data sets, may be absent: then skip), abs_top_srcdir,
# abs_top_builddir, STARPU_HOME and CAVS_CACHE (private to the build), CMOCKA_MESSAGE_OUTPUT=TAP.

# the readers of the programs in apps/
check_PROGRAMS += tests/test_readers
tests_test_readers_SOURCES = tests/test_readers.c
tests_test_readers_LDADD = libapp.la $(CMOCKA_LIBS)
tests_test_readers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_readers
EXTRA_DIST += tests/data/mini.txt tests/data/mini-dev.txt tests/data/mini-any.txt tests/data/mini-wide.txt \
	tests/data/mini-three/sents_idx.txt tests/data/mini-three/parents.txt \
	tests/data/mini-three/labels.txt

# --- the oracle, synthetic inputs and small models, and the tests that use them --------------------

check_LTLIBRARIES += tests/libtrial.la
tests_libtrial_la_SOURCES = \
	tests/graphs.c tests/graphs.h \
	tests/naive.c tests/naive.h \
	tests/naive_math.c \
	tests/naive_ops.c \
	tests/random.h \
	tests/sample.c tests/sample.h \
	tests/trial.c tests/trial.h \
	tests/zoo.c tests/zoo.h \
	tests/zoo_chains.c \
	tests/zoo_lists.c \
	tests/zoo_oddities.c \
	tests/zoo_stages.c \
	tests/zoo_trees.c
tests_libtrial_la_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
TRIAL_LIBS = tests/libtrial.la $(TEST_LIBS)

check_PROGRAMS += tests/test_oracle tests/test_symbols tests/test_declare tests/test_data
tests_test_oracle_SOURCES = tests/test_oracle.c
tests_test_oracle_LDADD = $(TRIAL_LIBS)
tests_test_oracle_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_symbols_SOURCES = tests/test_symbols.c
tests_test_symbols_LDADD = $(TRIAL_LIBS)
tests_test_symbols_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_declare_SOURCES = tests/test_declare.c
tests_test_declare_LDADD = $(TRIAL_LIBS)
tests_test_declare_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_data_SOURCES = tests/test_data.c
tests_test_data_LDADD = $(TRIAL_LIBS)
tests_test_data_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
check_PROGRAMS += tests/test_fusion
tests_test_fusion_SOURCES = tests/test_fusion.c
tests_test_fusion_LDADD = $(TRIAL_LIBS)
tests_test_fusion_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_fusion
SANITIZE_TESTS += tests/test_oracle tests/test_symbols tests/test_declare tests/test_data

check_PROGRAMS += tests/test_gradients tests/test_models tests/test_random_models \
	tests/test_optimizers tests/test_session tests/test_refusals tests/test_checkpoint \
	tests/test_determinism tests/test_dropout tests/test_cells \
	tests/test_resume
tests_test_random_models_SOURCES = tests/test_random_models.c
tests_test_random_models_LDADD = $(TRIAL_LIBS)
tests_test_random_models_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_gradients_SOURCES = tests/test_gradients.c
tests_test_gradients_LDADD = $(TRIAL_LIBS)
tests_test_gradients_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_models_SOURCES = tests/test_models.c
tests_test_models_LDADD = $(TRIAL_LIBS)
tests_test_models_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_optimizers_SOURCES = tests/test_optimizers.c
tests_test_optimizers_LDADD = $(TRIAL_LIBS)
tests_test_optimizers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_session_SOURCES = tests/test_session.c
tests_test_session_LDADD = $(TRIAL_LIBS)
tests_test_session_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_refusals_SOURCES = tests/test_refusals.c
tests_test_refusals_LDADD = $(TRIAL_LIBS)
tests_test_refusals_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_checkpoint_SOURCES = tests/test_checkpoint.c
tests_test_checkpoint_LDADD = $(TRIAL_LIBS)
tests_test_checkpoint_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_cells_SOURCES = tests/test_cells.c
tests_test_cells_LDADD = $(TRIAL_LIBS)
tests_test_cells_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_resume_SOURCES = tests/test_resume.c
tests_test_resume_LDADD = $(TRIAL_LIBS)
tests_test_resume_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_dropout_SOURCES = tests/test_dropout.c tests/matrix.c tests/matrix.h
tests_test_dropout_LDADD = $(TRIAL_LIBS)
tests_test_dropout_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_determinism_SOURCES = tests/test_determinism.c
tests_test_determinism_LDADD = $(TRIAL_LIBS)
tests_test_determinism_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

check_PROGRAMS += tests/test_locale tests/test_model_file tests/test_packed_graphs tests/test_replace
tests_test_locale_SOURCES = tests/test_locale.c tests/group_cache.c tests/group_cache.h \
	tests/groups.c tests/groups.h
tests_test_locale_LDADD = $(TRIAL_LIBS)
tests_test_locale_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_packed_graphs_SOURCES = tests/test_packed_graphs.c
tests_test_packed_graphs_LDADD = $(TRIAL_LIBS)
tests_test_packed_graphs_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_packed_graphs
tests_test_model_file_SOURCES = tests/test_model_file.c
tests_test_model_file_LDADD = $(TRIAL_LIBS)
tests_test_model_file_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_replace_SOURCES = tests/test_replace.c
tests_test_replace_LDADD = $(TEST_LIBS)
tests_test_replace_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_replace

check_PROGRAMS += tests/test_tree_cells
tests_test_tree_cells_SOURCES = tests/test_tree_cells.c apps/tree_lstm_cells.c
tests_test_tree_cells_LDADD = libapp.la $(TRIAL_LIBS)
tests_test_tree_cells_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

check_PROGRAMS += tests/test_wide
tests_test_wide_SOURCES = tests/test_wide.c
tests_test_wide_LDADD = $(TRIAL_LIBS)
tests_test_wide_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

dist_check_SCRIPTS += tests/test_exports.t tests/test_model_files.t tests/test_best_model.t tests/test_stopping.t tests/test_predict.t

# inputs for some vertices only, and counts that the library gives
check_PROGRAMS += tests/test_pulled
tests_test_pulled_SOURCES = tests/test_pulled.c
tests_test_pulled_LDADD = $(TRIAL_LIBS)
tests_test_pulled_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

# where StarPU's files go, and other things that a program finds or not
check_PROGRAMS += tests/test_folder
tests_test_folder_SOURCES = tests/test_folder.c
tests_test_folder_LDADD = $(TRIAL_LIBS)
tests_test_folder_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_folder
dist_check_SCRIPTS += tests/test_surroundings.t

check_PROGRAMS += tests/test_schedule
tests_test_schedule_SOURCES = tests/test_schedule.c
tests_test_schedule_LDADD = $(TEST_LIBS)
tests_test_schedule_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_schedule

check_PROGRAMS += tests/test_homes
tests_test_homes_SOURCES = tests/test_homes.c
tests_test_homes_LDADD = $(TEST_LIBS)
tests_test_homes_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_homes

# kernels of codelets/
check_PROGRAMS += tests/test_gemm tests/test_kernels tests/test_row_kernels tests/test_update
tests_test_gemm_SOURCES = tests/test_gemm.c tests/matrix.c tests/matrix.h tests/random.h
tests_test_gemm_LDADD = $(TEST_LIBS)
tests_test_gemm_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_kernels_SOURCES = tests/test_kernels.c tests/kernel_cases.c tests/kernel_cases.h \
	tests/matrix.c tests/matrix.h tests/random.h
tests_test_kernels_LDADD = $(TEST_LIBS)
tests_test_kernels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_row_kernels_SOURCES = tests/test_row_kernels.c tests/matrix.c tests/matrix.h tests/random.h
tests_test_row_kernels_LDADD = $(TEST_LIBS)
tests_test_row_kernels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_update_SOURCES = tests/test_update.c tests/matrix.c tests/matrix.h tests/random.h
tests_test_update_LDADD = $(TEST_LIBS)
tests_test_update_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_gemm tests/test_kernels tests/test_row_kernels tests/test_update

# element-wise operators and fused groups
check_PROGRAMS += tests/test_elementwise tests/test_element_values tests/test_groups \
	tests/test_group_cache tests/test_group_compiler tests/test_notices
tests_test_elementwise_SOURCES = tests/test_elementwise.c tests/groups.c tests/groups.h tests/random.h
tests_test_elementwise_LDADD = $(TEST_LIBS)
tests_test_elementwise_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_element_values_SOURCES = tests/test_element_values.c tests/groups.c tests/groups.h \
	tests/random.h
tests_test_element_values_LDADD = $(TEST_LIBS)
tests_test_element_values_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_groups_SOURCES = tests/test_groups.c tests/groups.c tests/groups.h tests/random.h
tests_test_groups_LDADD = $(TEST_LIBS)
tests_test_groups_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_group_cache_SOURCES = tests/test_group_cache.c tests/group_cache.c tests/group_cache.h \
	tests/groups.c tests/groups.h tests/random.h
tests_test_group_cache_LDADD = $(TEST_LIBS)
tests_test_group_cache_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_group_compiler_SOURCES = tests/test_group_compiler.c tests/group_cache.c \
	tests/group_cache.h tests/groups.c tests/groups.h tests/random.h
tests_test_group_compiler_LDADD = $(TEST_LIBS)
tests_test_group_compiler_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_notices_SOURCES = tests/test_notices.c tests/group_cache.c tests/group_cache.h \
	tests/groups.c tests/groups.h tests/random.h
tests_test_notices_LDADD = $(TEST_LIBS)
tests_test_notices_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_elementwise tests/test_element_values tests/test_groups \
	tests/test_group_cache tests/test_group_compiler tests/test_notices

# the programs in apps/, from outside
dist_check_SCRIPTS += tests/test_apps.t tests/test_apps_resume.t tests/test_apps_notices.t

check_PROGRAMS += tests/test_progress
tests_test_progress_SOURCES = tests/test_progress.c
tests_test_progress_LDADD = libapp.la $(CMOCKA_LIBS)
tests_test_progress_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_progress

# what README.md and doc/ say, and the programs in doc/examples/
dist_check_SCRIPTS += tests/test_guide.t tests/test_readme.t

# setting up and installing; tests/debian/fresh-root does it for real (make check-debian)
dist_check_SCRIPTS += tests/test_quickstart.t tests/test_install.t
EXTRA_DIST += tests/debian/fresh-root

# text: the reader of sentences, and the programs that use it
check_PROGRAMS += tests/test_text_readers
tests_test_text_readers_SOURCES = tests/test_text_readers.c
tests_test_text_readers_LDADD = libapp.la $(CMOCKA_LIBS)
tests_test_text_readers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_text_readers
check_PROGRAMS += tests/test_stream_readers
tests_test_stream_readers_SOURCES = tests/test_stream_readers.c
tests_test_stream_readers_LDADD = libapp.la $(CMOCKA_LIBS)
tests_test_stream_readers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_stream_readers
check_PROGRAMS += tests/test_entities
tests_test_entities_SOURCES = tests/test_entities.c tests/random.h
tests_test_entities_LDADD = libapp.la $(CMOCKA_LIBS) -lm
tests_test_entities_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_entities
dist_check_SCRIPTS += tests/test_apps_text.t tests/test_predict_tags.t
EXTRA_DIST += tests/data/mini-text.txt tests/data/mini-text-dev.txt tests/data/mini-tags.txt \
	tests/data/mini-tags-dev.txt

# the summary of traces, and --trace
check_PROGRAMS += tests/test_trace
tests_test_trace_SOURCES = tests/test_trace.c
tests_test_trace_LDADD = $(TEST_LIBS)
tests_test_trace_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_trace
EXTRA_DIST += tests/data/mini-trace/tasks.rec tests/data/mini-trace/activity.data
dist_check_SCRIPTS += tests/test_trace_option.t

EXTRA_DIST += tests/programs.sh

# packed data
check_PROGRAMS += tests/test_packed
tests_test_packed_SOURCES = tests/test_packed.c
tests_test_packed_LDADD = $(TRIAL_LIBS)
tests_test_packed_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
dist_check_SCRIPTS += tests/test_pack.t
EXTRA_DIST += tests/data/mini.conllu

# graphs: the readers of CoNLL-U and of edge lists
check_PROGRAMS += tests/test_graph_readers
tests_test_graph_readers_SOURCES = tests/test_graph_readers.c
tests_test_graph_readers_LDADD = libapp.la $(CMOCKA_LIBS)
tests_test_graph_readers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_graph_readers

# the parser
check_PROGRAMS += tests/test_transitions
tests_test_transitions_SOURCES = tests/test_transitions.c apps/transitions.c apps/transitions.h \
	tests/random.h
tests_test_transitions_LDADD = $(CMOCKA_LIBS)
tests_test_transitions_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_transitions
dist_check_SCRIPTS += tests/test_parser.t

# encoder and decoder
dist_check_SCRIPTS += tests/test_seq2seq.t

# devices; skipped where there is none (PoCL is one)
check_PROGRAMS += tests/test_opencl_kernels tests/test_opencl_products tests/test_opencl_models
tests_test_opencl_kernels_SOURCES = tests/test_opencl_kernels.c tests/groups.c tests/groups.h \
	tests/kernel_cases.c tests/kernel_cases.h tests/matrix.c tests/matrix.h tests/on_device.c \
	tests/on_device.h tests/random.h
tests_test_opencl_kernels_LDADD = $(TEST_LIBS)
tests_test_opencl_kernels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_opencl_products_SOURCES = tests/test_opencl_products.c tests/matrix.c tests/matrix.h \
	tests/on_device.c tests/on_device.h tests/random.h
tests_test_opencl_products_LDADD = $(TEST_LIBS)
tests_test_opencl_products_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_opencl_models_SOURCES = tests/test_opencl_models.c tests/on_device.c tests/on_device.h
tests_test_opencl_models_LDADD = $(TRIAL_LIBS)
tests_test_opencl_models_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

check_PROGRAMS += tests/test_device_failure tests/test_starpu_checks
tests_test_starpu_checks_SOURCES = tests/test_starpu_checks.c tests/on_device.c tests/on_device.h
tests_test_starpu_checks_LDADD = $(TEST_LIBS)
tests_test_starpu_checks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_device_failure_SOURCES = tests/test_device_failure.c tests/on_device.c tests/on_device.h
tests_test_device_failure_LDADD = $(TRIAL_LIBS)
tests_test_device_failure_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

dist_check_SCRIPTS += tests/test_opencl_launches.t tests/test_opencl_runs.t tests/test_gpu_check.t

# the CUDA text of kernels and of the programs' groups, compiled by NVRTC
check_PROGRAMS += tests/test_cuda_kernels
tests_test_cuda_kernels_SOURCES = tests/test_cuda_kernels.c
tests_test_cuda_kernels_LDADD = $(TEST_LIBS)
dist_check_SCRIPTS += tests/test_cuda_text.t

# graphs of dependencies
dist_check_SCRIPTS += tests/test_dag_rnn.t tests/test_predict_conllu.t

# rows per child, edge and entry of a list
check_PROGRAMS += tests/test_list_kernels tests/test_lists
tests_test_list_kernels_SOURCES = tests/test_list_kernels.c tests/matrix.c tests/matrix.h tests/random.h
tests_test_list_kernels_LDADD = $(TEST_LIBS)
tests_test_list_kernels_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
SANITIZE_TESTS += tests/test_list_kernels
tests_test_lists_SOURCES = tests/test_lists.c
tests_test_lists_LDADD = $(TRIAL_LIBS)
tests_test_lists_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)

# programs on graphs
dist_check_SCRIPTS += tests/test_apps_graph.t
EXTRA_DIST += tests/data/mini-cora/mini.content tests/data/mini-cora/mini.cites \
	tests/data/mini-cora/mini.train tests/data/mini-cora/mini.val tests/data/mini-cora/mini.test

# --- readers and checks against any input (tests/fuzz/fuzz.h) ------------------------------------------

fuzz_sources = \
	tests/fuzz/fuzz.c tests/fuzz/fuzz.h \
	tests/fuzz/fuzz_brackets.c \
	tests/fuzz/fuzz_checkpoint.c \
	tests/fuzz/fuzz_conllu.c \
	tests/fuzz/fuzz_edge_list.c \
	tests/fuzz/fuzz_graphs.c \
	tests/fuzz/fuzz_groups.c \
	tests/fuzz/fuzz_model.c tests/fuzz/fuzz_model.h \
	tests/fuzz/fuzz_model_file.c \
	tests/fuzz/fuzz_options.c \
	tests/fuzz/fuzz_packed.c \
	tests/fuzz/fuzz_sentences.c \
	tests/fuzz/fuzz_threefile.c \
	tests/fuzz/fuzz_trace.c \
	tests/fuzz/targets.c tests/fuzz/targets.h \
	tests/groups.c tests/groups.h \
	tests/random.h

check_PROGRAMS += tests/test_fuzz_corpus
tests_test_fuzz_corpus_SOURCES = $(fuzz_sources) tests/fuzz/mutate.c tests/fuzz/mutate.h tests/fuzz/replay.c
tests_test_fuzz_corpus_LDADD = libapp.la $(TEST_LIBS)
tests_test_fuzz_corpus_CFLAGS = $(AM_CFLAGS)
SANITIZE_TESTS += tests/test_fuzz_corpus
EXTRA_DIST += tests/fuzz/corpus

# make fuzz: libFuzzer over each target for some seconds.  What it finds is kept in fuzz/.
.PHONY: fuzz
if FUZZING
noinst_PROGRAMS += tests/fuzz/explore
tests_fuzz_explore_SOURCES = $(fuzz_sources) tests/fuzz/libfuzzer.c
tests_fuzz_explore_LDADD = libapp.la $(TEST_LIBS)
tests_fuzz_explore_CFLAGS = $(AM_CFLAGS)
tests_fuzz_explore_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

FUZZ_TARGETS = brackets threefile number_rows sentences conllu edge_list options trace graphs groups packed \
	model_file checkpoint
FUZZ_SECONDS = 60

fuzz: tests/fuzz/explore tests/test_fuzz_corpus
	$(AM_TESTS_ENVIRONMENT) \
	for target in $(FUZZ_TARGETS); do \
		$(MKDIR_P) fuzz/$$target; \
		tests/test_fuzz_corpus --make $$target fuzz/$$target/made 2>/dev/null; \
		tests/fuzz/explore --target=$$target -max_total_time=$(FUZZ_SECONDS) -timeout=20 \
			-artifact_prefix=fuzz/$$target- -print_final_stats=1 \
			fuzz/$$target $(srcdir)/tests/fuzz/corpus/$$target || exit 1; \
	done
else
fuzz:
	@echo 'make fuzz wants a build by clang with --enable-fuzzing' >&2; exit 1
endif

# --- what is killed, damaged, in a hurry, large or long --------------------------------------------------

fuzz_model_sources = tests/fuzz/fuzz.c tests/fuzz/fuzz.h tests/fuzz/fuzz_model.c tests/fuzz/fuzz_model.h
check_PROGRAMS += tests/test_mutated_files tests/test_soak
tests_test_mutated_files_SOURCES = tests/test_mutated_files.c $(fuzz_model_sources) \
	tests/fuzz/fuzz_checkpoint.c tests/fuzz/fuzz_model_file.c tests/fuzz/targets.h
tests_test_mutated_files_LDADD = $(TEST_LIBS)
tests_test_mutated_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_soak_SOURCES = tests/test_soak.c $(fuzz_model_sources)
tests_test_soak_LDADD = $(TRIAL_LIBS)
tests_test_soak_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
dist_check_SCRIPTS += tests/test_kills.t tests/test_large.t tests/test_racing_starts.t

# --- programs beside the same models by hand and in PyTorch ------------------------------------------

LONG_TESTS += tests/peers_long.t
EXTRA_DIST += tests/peers_long.t

# memory that runs out: the archive once more, with allocations that can fail (tests/failing_alloc.h)
tests/failing-libcavs-static.a: libcavs-static.la tests/failing_alloc.names
	$(AM_V_GEN)$(OBJCOPY) --redefine-syms=$(srcdir)/tests/failing_alloc.names \
		.libs/libcavs-static.a $@
check_PROGRAMS += tests/test_allocation
tests_test_allocation_SOURCES = tests/test_allocation.c tests/failing_alloc.c tests/failing_alloc.h
tests_test_allocation_LDADD = tests/libtrial.la tests/failing-libcavs-static.a $(CMOCKA_LIBS) \
	$(CAVS_LIBS)
tests_test_allocation_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
EXTRA_DIST += tests/failing_alloc.names
CLEANFILES += tests/failing-libcavs-static.a

# the same of programs: their own objects, and what they share
failing_apps = tests/failing-tree_lstm tests/failing-bilstm_char_tagger tests/failing-parser \
	tests/failing-cavs-pack
EXTRA_PROGRAMS += $(failing_apps)
check_DATA += $(failing_apps)
failing_sources = tests/failing_program.c tests/failing_alloc.c tests/failing_alloc.h
failing_libs = tests/failing-libapp.a $(APP_LIBS) $(STARPU_LIBS) -ldl
failing_names = $(srcdir)/tests/failing_alloc.names
failing_archive = rm -f $@ && $(AR) cr $@
tests/failing-libapp.a: libapp.la tests/failing_alloc.names
	$(AM_V_GEN)$(OBJCOPY) --redefine-syms=$(failing_names) .libs/libapp.a $@
tests/failing-tree_lstm.a: $(apps_tree_lstm_OBJECTS) tests/failing_alloc.names
	$(AM_V_GEN)$(failing_archive) $(apps_tree_lstm_OBJECTS) && \
		$(OBJCOPY) --redefine-syms=$(failing_names) $@
tests/failing-bilstm_char_tagger.a: $(apps_bilstm_char_tagger_OBJECTS) tests/failing_alloc.names
	$(AM_V_GEN)$(failing_archive) $(apps_bilstm_char_tagger_OBJECTS) && \
		$(OBJCOPY) --redefine-syms=$(failing_names) $@
tests/failing-parser.a: $(apps_parser_OBJECTS) tests/failing_alloc.names
	$(AM_V_GEN)$(failing_archive) $(apps_parser_OBJECTS) && \
		$(OBJCOPY) --redefine-syms=$(failing_names) $@
tests/failing-cavs-pack.a: $(apps_cavs_pack_OBJECTS) tests/failing_alloc.names
	$(AM_V_GEN)$(failing_archive) $(apps_cavs_pack_OBJECTS) && \
		$(OBJCOPY) --redefine-syms=$(failing_names) $@
tests_failing_tree_lstm_SOURCES = $(failing_sources)
tests_failing_tree_lstm_LDADD = tests/failing-tree_lstm.a $(failing_libs)
tests_failing_bilstm_char_tagger_SOURCES = $(failing_sources)
tests_failing_bilstm_char_tagger_LDADD = tests/failing-bilstm_char_tagger.a $(failing_libs)
tests_failing_parser_SOURCES = $(failing_sources)
tests_failing_parser_LDADD = tests/failing-parser.a $(failing_libs)
tests_failing_cavs_pack_SOURCES = $(failing_sources)
tests_failing_cavs_pack_LDADD = tests/failing-cavs-pack.a $(failing_libs)
CLEANFILES += $(failing_apps) tests/failing-libapp.a tests/failing-tree_lstm.a \
	tests/failing-bilstm_char_tagger.a tests/failing-parser.a tests/failing-cavs-pack.a
dist_check_SCRIPTS += tests/test_app_allocation.t

# calls that are wrong, in every way that the header allows
check_PROGRAMS += tests/test_misuse
tests_test_misuse_SOURCES = tests/test_misuse.c
tests_test_misuse_LDADD = $(TRIAL_LIBS)
tests_test_misuse_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
