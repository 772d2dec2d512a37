/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - packed data in place of text: the options, and what cavs-pack notes in files beside the samples. */
#ifndef CAVS_APPS_PACKED_H
#define CAVS_APPS_PACKED_H

#include <argp.h>

#include "apps/common/arities.h"
#include "apps/common/error.h"
#include "apps/common/vocab.h"

/* The options --packed and --packed-dev, a child of the program's argp parser whose input is this struct. */
struct packed_files {
    const char *train, *dev; /* NULL: not given */
};
extern const struct argp packed_argp;
/* For the program's ARGP_KEY_SUCCESS: a mistake if the same set is given as text (the options --train and --dev). */
void packed_check_options(struct argp_state *state, const struct packed_files *f, const char *train,
                          const char *dev);

/* The data of both sets for the finished model; *dev stays as it is if there is none.  Their vocabularies have to be the
 * same. */
int packed_open_data(const struct packed_files *f, const struct cavs_model *m,
                     struct cavs_data **train, struct cavs_data **dev, struct app_error *e);

/* Keeps a vocabulary in the file that is being made: one word a line, in the order of ids. */
int packed_keep_vocab(struct cavs_data *d, const char *name, const struct vocab *v);
/* The vocabulary of that name in a file; *out is to be destroyed by the caller. */
int packed_vocab(const struct cavs_packed *p, const char *path, const char *name,
                 struct vocab **out, struct app_error *e);
/* Words of that vocabulary: rows of an embedding table, classes. */
int packed_vocab_size(const struct cavs_packed *p, const char *path, const char *name, int *size,
                      struct app_error *e);

/* The functions of the stage "tree", added to an empty struct: 0, or a negative code. */
int packed_arities(const struct cavs_packed *p, const char *path, struct arities *a,
                   struct app_error *e);

#endif
