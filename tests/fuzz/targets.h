/* SPDX-License-Identifier: Apache-2.0 */
/* targets.h - all targets; the list is in targets.c. */
#ifndef CAVS_TESTS_FUZZ_TARGETS_H
#define CAVS_TESTS_FUZZ_TARGETS_H

#include "tests/fuzz/fuzz.h"

typedef void fuzz_run(const uint8_t *data, size_t size);
typedef void fuzz_make(const char *path);

fuzz_run fuzz_brackets, fuzz_threefile, fuzz_number_rows, fuzz_sentences, fuzz_conllu,
    fuzz_edge_list, fuzz_options, fuzz_trace, fuzz_graphs, fuzz_groups, fuzz_packed,
    fuzz_model_file, fuzz_checkpoint, fuzz_word_vectors;
fuzz_make fuzz_make_packed, fuzz_make_model_file, fuzz_make_checkpoint;

#endif
