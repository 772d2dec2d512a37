/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/targets.h"

#include <string.h>

const struct fuzz_target fuzz_targets[] = {{"brackets", fuzz_brackets, NULL},
                                           {"threefile", fuzz_threefile, NULL},
                                           {"number_rows", fuzz_number_rows, NULL},
                                           {"sentences", fuzz_sentences, NULL},
                                           {"word_vectors", fuzz_word_vectors, NULL},
                                           {"conllu", fuzz_conllu, NULL},
                                           {"edge_list", fuzz_edge_list, NULL},
                                           {"options", fuzz_options, NULL},
                                           {"trace", fuzz_trace, NULL},
                                           {"graphs", fuzz_graphs, NULL},
                                           {"groups", fuzz_groups, NULL},
                                           {"packed", fuzz_packed, fuzz_make_packed},
                                           {"model_file", fuzz_model_file, fuzz_make_model_file},
                                           {"checkpoint", fuzz_checkpoint, fuzz_make_checkpoint},
                                           {NULL, NULL, NULL}};

const struct fuzz_target *fuzz_find(const char *name)
{
    for (const struct fuzz_target *t = fuzz_targets; t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}
