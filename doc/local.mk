# SPDX-License-Identifier: Apache-2.0
#
# doc/: the guide and its programs, how it works, how to add something.
#
# To add a document:
#     nobase_dist_doc_DATA += doc/x.md
# It is installed with its folder, so that links between documents work.
# To add an example: a program that uses cavs.h as an installed program would, and nothing else of
# the tree.  tests/test_guide.t runs it.
#     noinst_PROGRAMS += doc/examples/x
#     doc_examples_x_SOURCES = doc/examples/x.c
#     doc_examples_x_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
#     doc_examples_x_LDADD = libcavs.la

nobase_dist_doc_DATA += CONTRIBUTING.md LICENSE NEWS.md README.md doc/adding-a-device.md \
	doc/adding-a-model.md doc/adding-a-policy.md doc/adding-an-operator.md doc/adding-an-optimizer.md \
	doc/architecture.md doc/data.md doc/define-by-run.md doc/gpu.md doc/guide.md doc/lines-of-code.md \
	doc/packed-format.md doc/parameters.md doc/results.md doc/scaling.md
# what these have links to (tests/test_install.t)
nobase_dist_doc_DATA += apps/dyn_tree_lstm.c apps/tree_fc.c apps/tree_lstm.c apps/tree_lstm_program.c apps/tree_lstm_cells.c \
	codelets/device/device.h codelets/device/dialect.cl codelets/device/fused_products.c codelets/device/kernels.cl \
	codelets/device/opencl.c codelets/device/products.cl codelets/device/sequences.c codelets/device/walk.c codelets/device_set.h \
	codelets/groups/elementwise.def codelets/kernels/kernel.h codelets/part.h codelets/update.def \
	core/cavs.h core/cavs_cells.h core/run/homes.c core/declare/model.h core/declare/operator.h core/declare/operators.def \
	core/prepare/prepare.h core/ranks/ranks.h core/run/engine.h core/run/exchange.h core/tape/tape.h core/compile/plan.h core/declare/symbol.c \
	doc/examples/first.c doc/examples/mistakes.c doc/examples/recorded.c doc/examples/two_ways.c memory/tensor.h \
	perf/figures/simulated-gpus.svg \
	perf/figures/simulated-nodes.svg \
	scheduler/internal.h scheduler/policies.c scheduler/schedule.h

EXAMPLE_CPPFLAGS = -I$(top_srcdir)/core

noinst_PROGRAMS += doc/examples/first doc/examples/two_ways doc/examples/recorded doc/examples/mistakes
doc_examples_first_SOURCES = doc/examples/first.c
doc_examples_first_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_first_LDADD = libcavs.la
doc_examples_two_ways_SOURCES = doc/examples/two_ways.c
doc_examples_two_ways_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_two_ways_LDADD = libcavs.la
doc_examples_recorded_SOURCES = doc/examples/recorded.c
doc_examples_recorded_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_recorded_LDADD = libcavs.la
doc_examples_mistakes_SOURCES = doc/examples/mistakes.c
doc_examples_mistakes_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_mistakes_LDADD = libcavs.la

# --- the reference of cavs.h and cavs_cells.h ------------------------------------------------------

EXTRA_DIST += doc/Doxyfile
.PHONY: doc
if REFERENCE
doc:
	$(AM_V_GEN)$(MKDIR_P) doc && SOURCE='$(abs_top_srcdir)' BUILD='$(abs_top_builddir)' \
		VERSION='$(VERSION)' $(DOXYGEN) $(srcdir)/doc/Doxyfile
else
doc:
	@echo 'make doc wants doxygen; configure again when it is there' >&2; exit 1
endif

# --- pages of the manual ---------------------------------------------------------------------------

# man/cavs-NAME.1 for each of $(APPS).  Makefile.am installs what is there: what was made here, or
# what the tarball brought along.
EXTRA_DIST += build-aux/manual
if MANUALS
manuals = man/stamp
man/stamp: $(APPS) build-aux/manual
	$(AM_V_GEN)$(MKDIR_P) man && for p in $(APPS); do \
		$(SHELL) $(srcdir)/build-aux/manual '$(HELP2MAN)' $$p man || exit 1; \
	done
	$(AM_V_at)touch $@
else
manuals =
endif
