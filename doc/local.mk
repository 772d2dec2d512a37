# SPDX-License-Identifier: Apache-2.0
#
# doc/: the guide and its programs, how it works, how to add an operator or a model.
#
# To add a document:
#     dist_doc_DATA += doc/x.md
# To add an example: a program that uses cavs.h as an installed program would, and nothing else of
# the tree.  tests/test_guide.t runs it.
#     noinst_PROGRAMS += doc/examples/x
#     doc_examples_x_SOURCES = doc/examples/x.c
#     doc_examples_x_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
#     doc_examples_x_LDADD = libcavs.la

dist_doc_DATA += README.md doc/adding-a-model.md doc/adding-an-operator.md doc/architecture.md \
	doc/gpu.md doc/guide.md doc/lines-of-code.md doc/packed-format.md doc/parameters.md

EXAMPLE_CPPFLAGS = -I$(top_srcdir)/core

noinst_PROGRAMS += doc/examples/first doc/examples/two_ways doc/examples/mistakes
doc_examples_first_SOURCES = doc/examples/first.c
doc_examples_first_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_first_LDADD = libcavs.la
doc_examples_two_ways_SOURCES = doc/examples/two_ways.c
doc_examples_two_ways_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_two_ways_LDADD = libcavs.la
doc_examples_mistakes_SOURCES = doc/examples/mistakes.c
doc_examples_mistakes_CPPFLAGS = $(EXAMPLE_CPPFLAGS)
doc_examples_mistakes_LDADD = libcavs.la
