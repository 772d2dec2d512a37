# SPDX-License-Identifier: Apache-2.0
#
# tests/: programs and scripts that print TAP. `make check` runs all of them.
#
# To add a cmocka program tests/test_x.c:
#     check_PROGRAMS += tests/test_x
# It is linked with $(TRIAL_LIBS): what tests share (libtrial.la, below), cmocka, and the whole library as a
# static archive, so that it may call internal (cavs__...) functions. Only a test of more files than that
# names them in tests_test_x_SOURCES, and one of libraries other than that in tests_test_x_LDADD. One cmocka
# group a program: TAP allows one plan.
#
# To add a shell test (executable, with a #! line, prints TAP itself):
#     dist_check_SCRIPTS += tests/x.t
#
# A test that needs no StarPU worker also belongs in the sanitizer run:
#     SANITIZE_TESTS += tests/test_x
# One that shows much of the engine in little time belongs there with its workers:
#     ENGINE_TESTS += tests/test_x
#
# Longer cases of the same tests: run them only when $CAVS_TEST_LONG is set. A script that is only
# for `make check-long`:
#     LONG_TESTS += tests/x_long.t
#     EXTRA_DIST += tests/x_long.t
#
# What reads files of the tree that nothing but a test reads, in little time, shows that the tarball has them:
#     DIST_PROGRAM_TESTS += tests/test_x
#     DIST_SCRIPT_TESTS += tests/x.t
#
# Tests see: CAVS_DATA (folder of data sets, may be absent: then skip), abs_top_srcdir,
# abs_top_builddir, STARPU_HOME and CAVS_CACHE (private to the build), CMOCKA_MESSAGE_OUTPUT=TAP.

# the readers of the programs in apps/, which do not know the library
READER_LIBS = libapp.la $(CMOCKA_LIBS) -lm
check_PROGRAMS += tests/test_readers
tests_test_readers_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_readers
EXTRA_DIST += tests/data/mini.txt tests/data/mini-dev.txt tests/data/mini-any.txt tests/data/mini-wide.txt \
	tests/data/mini-three/sents_idx.txt tests/data/mini-three/parents.txt \
	tests/data/mini-three/labels.txt

# --- what tests share: the oracle, synthetic inputs and small models, inputs of kernels and groups ----------

check_LTLIBRARIES += tests/libtrial.la
tests_libtrial_la_SOURCES = \
	tests/graphs.c tests/graphs.h \
	tests/group_cache.c tests/group_cache.h \
	tests/groups.c tests/groups.h \
	tests/kernel_cases.c tests/kernel_cases.h \
	tests/matrix.c tests/matrix.h \
	tests/product.c tests/product.h \
	tests/naive.c tests/naive.h \
	tests/naive_math.c \
	tests/naive_ops.c \
	tests/naive_rules.c tests/naive_rules.h \
	tests/on_device.c tests/on_device.h \
	tests/probes.c tests/probes.h \
	tests/random.h \
	tests/random_model.c tests/random_model.h tests/random_operators.c tests/random_sources.c \
	tests/random_program.c tests/random_program.def tests/random_program.h \
	tests/random_program_builders.c tests/random_program_builders.h tests/random_program_draw.c \
	tests/random_program_dropout.c tests/random_program_lists.c tests/random_program_operators.c \
	tests/random_program_oracle.c tests/random_program_oracle.h tests/random_program_parts.h \
	tests/random_program_play.c tests/random_program_samples.c tests/random_program_scene.c \
	tests/random_program_scene.h tests/random_program_seen.c tests/random_program_stages.c \
	tests/random_program_text.c tests/random_program_together.c tests/random_program_turns.c \
	tests/random_program_updates.c tests/random_program_updates.h \
	tests/replay.c tests/replay.h \
	tests/sample.c tests/sample.h \
	tests/sanitized.h \
	tests/saved.c tests/saved.h \
	tests/shared_table.h \
	tests/skip.h \
	tests/tape_scene.h \
	tests/tape_step.h \
	tests/tape_walk.h \
	tests/trial.c tests/trial.h tests/trial_checks.c tests/trial_rounding.c tests/trial_runtime.c \
	tests/wide_rows.c tests/wide_rows.h \
	tests/zoo.c tests/zoo.h \
	tests/zoo_chains.c \
	tests/zoo_lists.c \
	tests/zoo_oddities.c \
	tests/zoo_stages.c \
	tests/zoo_trees.c
TRIAL_LIBS = tests/libtrial.la $(TEST_LIBS)
$(check_PROGRAMS): LDADD = $(TRIAL_LIBS)
$(check_PROGRAMS): tests/libtrial.la libcavs-static.la

check_PROGRAMS += tests/test_oracle tests/test_symbols tests/test_declare tests/test_data
check_PROGRAMS += tests/test_fusion tests/test_operators
SANITIZE_TESTS += tests/test_fusion tests/test_operators tests/test_oracle tests/test_symbols tests/test_declare tests/test_data

# tapes, as far as they go without a runtime
check_PROGRAMS += tests/test_recording tests/test_stop_gradient tests/test_tape tests/test_tape_lists tests/test_tape_applied_lists tests/test_tape_applied_aside tests/test_tape_cuts tests/test_tape_known tests/test_tape_in_place tests/test_tape_foreseen tests/test_tape_asked tests/test_tape_rewound tests/test_tape_united tests/test_tape_reached tests/test_tape_turns tests/test_tape_workers tests/test_tape_side_by_side tests/test_tape_resumed tests/test_tape_going_on
ENGINE_TESTS += tests/test_tape tests/test_tape_lists tests/test_tape_applied_lists tests/test_tape_applied_aside tests/test_tape_cuts tests/test_tape_known tests/test_tape_in_place tests/test_tape_foreseen tests/test_tape_asked tests/test_tape_rewound tests/test_tape_united tests/test_tape_reached tests/test_tape_turns tests/test_tape_workers tests/test_tape_side_by_side tests/test_tape_resumed tests/test_tape_going_on
SANITIZE_TESTS += tests/test_recording

# whatever a program may record
check_PROGRAMS += tests/test_random_programs
ENGINE_TESTS += tests/test_random_programs

# operators made of others; lists of symbols before and after each pass: test_rewrites.c stands between passes
check_PROGRAMS += tests/test_composites tests/test_rewrites
tests_test_composites_SOURCES = tests/test_composites.c
tests_test_composites_LDADD = $(TRIAL_LIBS)
tests_test_composites_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_rewrites_SOURCES = tests/test_rewrites.c
tests_test_rewrites_LDADD = $(TRIAL_LIBS)
tests_test_rewrites_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_test_rewrites_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=cavs__find_equal -Wl,--wrap=cavs_slice_at \
	-Wl,--wrap=cavs_split_at
SANITIZE_TESTS += tests/test_rewrites

# where chunks are
check_PROGRAMS += tests/test_tensor

check_PROGRAMS += tests/test_gradients tests/test_models tests/test_random_models \
	tests/test_optimizers tests/test_session tests/test_sharing tests/test_refusals tests/test_saving \
	tests/test_determinism tests/test_helpers tests/test_dropout tests/test_cells \
	tests/test_resume tests/test_precision tests/test_kept tests/test_here tests/test_schedulers
ENGINE_TESTS += tests/test_session tests/test_models tests/test_determinism tests/test_helpers tests/test_optimizers \
	tests/test_saving tests/test_dropout tests/test_kept tests/test_here

check_PROGRAMS += tests/test_locale tests/test_model_file tests/test_packed_graphs tests/test_replace
SANITIZE_TESTS += tests/test_packed_graphs
SANITIZE_TESTS += tests/test_replace

check_PROGRAMS += tests/test_tree_cells
tests_test_tree_cells_SOURCES = tests/test_tree_cells.c apps/tree_lstm_cells.c
tests_test_tree_cells_LDADD = libapp.la $(TRIAL_LIBS)

check_PROGRAMS += tests/test_wide tests/test_update_pieces tests/test_made_gradients

# what the documents tell to add; in check-long it is built and tested, too
dist_check_SCRIPTS += tests/test_adding_documents.t

# that kernels are compiled for all the processors that they are meant for
dist_check_SCRIPTS += tests/test_clones.t

EXTRA_DIST += tests/starpu-1.3.names
dist_check_SCRIPTS += tests/test_exports.t tests/test_model_files.t tests/test_best_model.t tests/test_stopping.t tests/test_predict.t

# inputs for some vertices only, and counts that the library gives
check_PROGRAMS += tests/test_pulled

# where StarPU's files go, and other things that a program finds or not
check_PROGRAMS += tests/test_folder
SANITIZE_TESTS += tests/test_folder
dist_check_SCRIPTS += tests/test_surroundings.t

check_PROGRAMS += tests/test_bits tests/test_hash_table tests/test_schedule
SANITIZE_TESTS += tests/test_bits tests/test_hash_table tests/test_schedule

# what there is to choose from: the tables of policies and optimizers, --help and the guide
check_PROGRAMS += tests/test_choices

check_PROGRAMS += tests/test_homes tests/test_deal
SANITIZE_TESTS += tests/test_homes tests/test_deal

# what the main thread prepares, without a runtime
check_PROGRAMS += tests/test_batch
SANITIZE_TESTS += tests/test_batch

# kernels of codelets/
check_PROGRAMS += tests/test_gemm tests/test_claims tests/test_bf16 tests/test_kernels tests/test_row_kernels tests/test_update
SANITIZE_TESTS += tests/test_gemm tests/test_claims tests/test_bf16 tests/test_kernels tests/test_row_kernels tests/test_update

# a part, and a launch of products, as devices take them, without a device, and windows of gradients
check_PROGRAMS += tests/test_walk tests/test_fused_products tests/test_part_window
SANITIZE_TESTS += tests/test_walk tests/test_fused_products tests/test_part_window

# element-wise operators and fused groups
check_PROGRAMS += tests/test_elementwise tests/test_element_values tests/test_groups \
	tests/test_group_cache tests/test_group_compiler tests/test_notices
SANITIZE_TESTS += tests/test_elementwise tests/test_element_values tests/test_groups \
	tests/test_group_cache tests/test_group_compiler tests/test_notices

# the programs in apps/, from outside
dist_check_SCRIPTS += tests/test_programs.t tests/test_dyn_programs.t tests/test_completion.t tests/test_apps.t tests/test_apps_resume.t tests/test_apps_notices.t

check_PROGRAMS += tests/test_progress
tests_test_progress_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_progress

# the text of the tree (make check-style)
EXTRA_DIST += tests/style.t tests/style/exceptions tests/style/rooms \
	tests/style/functions.awk tests/style/loops.h tests/style/rooms.awk

# what README.md and doc/ say, and the programs in doc/examples/
dist_check_SCRIPTS += tests/test_documents.t tests/test_guide.t tests/test_readme.t

# setting up and installing; tests/debian/fresh-root does it for real (make check-debian)
dist_check_SCRIPTS += tests/test_quickstart.t tests/test_install.t
EXTRA_DIST += tests/debian/fresh-root

# text: the reader of sentences, and the programs that use it
check_PROGRAMS += tests/test_text_readers
tests_test_text_readers_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_text_readers
check_PROGRAMS += tests/test_stream_readers
tests_test_stream_readers_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_stream_readers
check_PROGRAMS += tests/test_entities
tests_test_entities_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_entities
dist_check_SCRIPTS += tests/test_apps_text.t tests/test_predict_tags.t
EXTRA_DIST += tests/data/mini-text.txt tests/data/mini-text-dev.txt tests/data/mini-tags.txt \
	tests/data/mini-tags-dev.txt

# the summary of traces, cavs-trace and --trace
check_PROGRAMS += tests/test_trace
tests_test_trace_LDADD = libtrace.la libapp.la $(TRIAL_LIBS) -ldl
SANITIZE_TESTS += tests/test_trace
EXTRA_DIST += tests/data/mini-trace/tasks.rec tests/data/mini-trace/activity.data
dist_check_SCRIPTS += tests/test_trace_option.t

EXTRA_DIST += tests/programs.sh tests/tap.sh

# packed data
check_PROGRAMS += tests/test_packed
dist_check_SCRIPTS += tests/test_pack.t
EXTRA_DIST += tests/data/mini.conllu

# graphs: the readers of CoNLL-U and of edge lists
check_PROGRAMS += tests/test_graph_readers
tests_test_graph_readers_LDADD = $(READER_LIBS)
SANITIZE_TESTS += tests/test_graph_readers

# the parser
check_PROGRAMS += tests/test_transitions
tests_test_transitions_SOURCES = tests/test_transitions.c apps/dynamic_oracle.c apps/dynamic_oracle.h \
	apps/transitions.c apps/transitions.h
tests_test_transitions_LDADD = libapp.la $(CMOCKA_LIBS)
SANITIZE_TESTS += tests/test_transitions
dist_check_SCRIPTS += tests/test_parser.t

# encoder and decoder
dist_check_SCRIPTS += tests/test_seq2seq.t

# devices; skipped where there is none (PoCL is one)
check_PROGRAMS += tests/test_opencl_kernels tests/test_opencl_products tests/test_opencl_models

# the tables of devices; needs none
check_PROGRAMS += tests/test_backends
SANITIZE_TESTS += tests/test_backends
dist_check_SCRIPTS += tests/test_device_rooms.t

check_PROGRAMS += tests/test_device_failure tests/test_starpu_checks

dist_check_SCRIPTS += tests/test_opencl_launches.t tests/test_opencl_runs.t tests/test_gpu_check.t

# the CUDA text of kernels and of the programs' groups, compiled by NVRTC
check_PROGRAMS += tests/test_cuda_kernels
dist_check_SCRIPTS += tests/test_cuda_text.t

# CUDA's host code on GPUs that are none
include tests/cuda/local.mk
dist_check_SCRIPTS += tests/test_cuda_stand_in.t tests/test_cuda_runs.t tests/test_cuda_faults.t

# graphs of dependencies
dist_check_SCRIPTS += tests/test_dag_rnn.t tests/test_predict_conllu.t

# rows per child, edge and entry of a list
check_PROGRAMS += tests/test_list_kernels tests/test_lists
SANITIZE_TESTS += tests/test_list_kernels

# programs on graphs
dist_check_SCRIPTS += tests/test_apps_graph.t
EXTRA_DIST += tests/data/mini-cora/mini.content tests/data/mini-cora/mini.cites \
	tests/data/mini-cora/mini.train tests/data/mini-cora/mini.val tests/data/mini-cora/mini.test

# --- memory that runs out ---------------------------------------------------------------------------

# Long tests, which for that are not among the last that `make check` starts: no processor waits for another.

# the archive once more, with allocations that can fail (tests/failing_alloc.h)
tests/failing-libcavs-static.a: libcavs-static.la tests/failing_alloc.names
	$(AM_V_GEN)$(OBJCOPY) --redefine-syms=$(srcdir)/tests/failing_alloc.names \
		.libs/libcavs-static.a $@
check_PROGRAMS += tests/test_allocation
tests_test_allocation_SOURCES = tests/test_allocation.c tests/failing_alloc.c tests/failing_alloc.h
tests_test_allocation_LDADD = tests/libtrial.la tests/failing-libcavs-static.a $(CMOCKA_LIBS) \
	$(CAVS_LIBS)
check_PROGRAMS += tests/test_tape_allocation
tests_test_tape_allocation_SOURCES = tests/test_tape_allocation.c tests/failing_alloc.c \
	tests/failing_alloc.h
tests_test_tape_allocation_LDADD = $(tests_test_allocation_LDADD)
check_PROGRAMS += tests/test_tape_samples
tests_test_tape_samples_SOURCES = tests/test_tape_samples.c tests/failing_alloc.c \
	tests/failing_alloc.h
tests_test_tape_samples_LDADD = $(tests_test_allocation_LDADD)
check_PROGRAMS += tests/test_device_allocation
tests_test_device_allocation_SOURCES = tests/test_device_allocation.c tests/failing_alloc.c \
	tests/failing_alloc.h
tests_test_device_allocation_LDADD = $(tests_test_allocation_LDADD)
check_PROGRAMS += tests/test_task_buffers
tests_test_task_buffers_SOURCES = tests/test_task_buffers.c tests/failing_alloc.c \
	tests/failing_alloc.h
tests_test_task_buffers_LDADD = $(tests_test_allocation_LDADD)
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
tests_failing_tree_lstm_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_failing_tree_lstm_LDADD = tests/failing-tree_lstm.a $(failing_libs)
tests_failing_bilstm_char_tagger_SOURCES = $(failing_sources)
tests_failing_bilstm_char_tagger_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_failing_bilstm_char_tagger_LDADD = tests/failing-bilstm_char_tagger.a $(failing_libs)
tests_failing_parser_SOURCES = $(failing_sources)
tests_failing_parser_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_failing_parser_LDADD = tests/failing-parser.a $(failing_libs)
tests_failing_cavs_pack_SOURCES = $(failing_sources)
tests_failing_cavs_pack_LDFLAGS = $(AM_LDFLAGS) -no-install
tests_failing_cavs_pack_LDADD = tests/failing-cavs-pack.a $(failing_libs)
CLEANFILES += $(failing_apps) tests/failing-libapp.a tests/failing-tree_lstm.a \
	tests/failing-bilstm_char_tagger.a tests/failing-parser.a tests/failing-cavs-pack.a
dist_check_SCRIPTS += tests/test_app_allocation.t

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
	tests/fuzz/fuzz_word_vectors.c \
	tests/fuzz/targets.c tests/fuzz/targets.h

check_PROGRAMS += tests/test_fuzz_corpus
tests_test_fuzz_corpus_SOURCES = $(fuzz_sources) tests/fuzz/mutate.c tests/fuzz/mutate.h tests/fuzz/replay.c
tests_test_fuzz_corpus_LDADD = libtrace.la libapp.la $(TRIAL_LIBS) -ldl
SANITIZE_TESTS += tests/test_fuzz_corpus
EXTRA_DIST += tests/fuzz/corpus

# make fuzz: libFuzzer over each target for some seconds.  What it finds is kept in fuzz/.  hwloc's plugins
# for devices leak, and are unloaded before LeakSanitizer could tell whose that was.
.PHONY: fuzz
if FUZZING
noinst_PROGRAMS += tests/fuzz/explore
tests_fuzz_explore_SOURCES = $(fuzz_sources) tests/fuzz/libfuzzer.c
tests_fuzz_explore_LDADD = libtrace.la libapp.la $(TRIAL_LIBS) -ldl
tests_fuzz_explore_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer

FUZZ_TARGETS = brackets threefile number_rows sentences word_vectors conllu edge_list options trace graphs groups packed \
	model_file checkpoint
FUZZ_SECONDS = 60

fuzz: tests/fuzz/explore tests/test_fuzz_corpus
	$(AM_TESTS_ENVIRONMENT) \
	HWLOC_PLUGINS_PATH=/nonexistent; export HWLOC_PLUGINS_PATH; \
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
tests_test_soak_SOURCES = tests/test_soak.c $(fuzz_model_sources)
dist_check_SCRIPTS += tests/test_kills.t tests/test_large.t tests/test_racing_starts.t

# --- several processes that train together -----------------------------------------------------------

EXTRA_PROGRAMS += tests/ranks_trial
check_DATA += tests/ranks_trial
tests_ranks_trial_SOURCES = tests/ranks_trial.c tests/failing_alloc.c tests/failing_alloc.h
tests_ranks_trial_LDADD = $(tests_test_allocation_LDADD)
CLEANFILES += tests/ranks_trial
if HAVE_MPI
mpi_programs = tests/ranks_guest tests/ranks_unread
EXTRA_PROGRAMS += $(mpi_programs)
check_DATA += $(mpi_programs)
CLEANFILES += $(mpi_programs)
tests_ranks_guest_SOURCES = tests/ranks_guest.c
tests_ranks_guest_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_ranks_guest_LDADD = $(LDADD) $(MPI_LIBS)
tests_ranks_unread_SOURCES = tests/ranks_unread.c
tests_ranks_unread_CPPFLAGS = $(AM_CPPFLAGS) $(MPI_CFLAGS)
tests_ranks_unread_LDADD = $(LDADD) $(MPI_LIBS)
endif
dist_check_SCRIPTS += tests/test_ranks.t tests/test_ranks_start.t tests/test_ranks_resume.t
LONG_TESTS += tests/ranks_long.t tests/ranks_hosts_long.t
EXTRA_DIST += tests/mpirun.sh tests/ranks_long.t tests/ranks_hosts_long.t

# --- programs with options drawn at random: tests/random_runs has a command line for more of them ---------

LONG_TESTS += tests/random_runs_long.t
EXTRA_DIST += tests/random_runs tests/random_runs_long.t

# --- programs beside the same models by hand and in PyTorch ------------------------------------------

LONG_TESTS += tests/peers_long.t tests/perf_long.t
EXTRA_DIST += tests/peers_long.t tests/perf_long.t

# --- simulated machines --------------------------------------------------------------------------------

dist_check_SCRIPTS += tests/test_cost.t
LONG_TESTS += tests/simulate_long.t tests/simulate_nodes_long.t
EXTRA_DIST += tests/simulate_long.t tests/simulate_nodes_long.t tests/simulated.sh

# calls that are wrong, in every way that the header allows
check_PROGRAMS += tests/test_misuse

# --- what is run from the tarball (make distcheck) ---------------------------------------------------

DIST_PROGRAM_TESTS += tests/test_session tests/test_readers tests/test_text_readers tests/test_graph_readers \
	tests/test_operators tests/test_choices tests/test_trace tests/test_fuzz_corpus
DIST_SCRIPT_TESTS += tests/test_adding_documents.t tests/test_completion.t tests/test_device_rooms.t \
	tests/test_documents.t tests/test_exports.t tests/test_guide.t tests/test_install.t
