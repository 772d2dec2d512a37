/* SPDX-License-Identifier: Apache-2.0 */
/* packed_set.h - packed data in place of text, and what cavs-pack notes in files beside the
 * samples. */
#ifndef CAVS_APPS_PACKED_SET_H
#define CAVS_APPS_PACKED_SET_H

#include "apps/common/arities.h"
#include "apps/common/program.h"

/* a->data[set] from its packed file, for the finished model; words have to be those of the first
 * packed set. */
int packed_open_set(struct app *a, enum app_set set);

/* Keeps a vocabulary in the file that is being made: one word a line, in the order of ids. */
int packed_keep_vocab(struct cavs_data *d, const char *name, const struct vocab *v);
/* The vocabulary of that name in a file; *out is to be destroyed by the caller. */
int packed_vocab(const struct cavs_packed *p, const char *path, const char *name,
                 struct vocab **out, struct app_error *e);

/* All vocabularies `names` of a packed file, ended by NULL, for the `out` of each; with --init they
 * have to be those of the model.  0 or a negative code. */
int packed_vocabs(struct app *a, const char *path, const char *const *names,
                  struct vocab **const *out);

/* The functions of the stage "tree", added to an empty struct: 0, or a negative code. */
int packed_arities(const struct cavs_packed *p, const char *path, struct arities *a,
                   struct app_error *e);

#endif
