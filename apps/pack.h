/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - cavs-pack: from text, trees and sentences to packed data.
 *
 * An input is read twice, one sample at a time: first for its words (and whatever else decides on
 * the stages), unless those are taken from another packed file, then for the samples.  A form of
 * input is a struct pack_form.
 *
 * The stages are those of the programs, without their parameters: a function here only pulls what
 * is kept and gathers as many children as there can be.
 */
#ifndef CAVS_APPS_PACK_H
#define CAVS_APPS_PACK_H

#include "apps/common/app_error.h"
#include "apps/common/arities.h"
#include "apps/common/vocab.h"

struct pack_form;

struct pack {
    const struct pack_form *form;
    const char *input, *output, *like;
    int min_count, words_kept; /* rarer words, and all but so many, become <unk>; 0: none */
    int labels, steps;
    bool verbose;

    struct cavs_packed *pattern; /* what `like` names, or NULL */
    struct vocab *words, *tags, *relations;
    bool growing; /* first reading */
    struct arities arities;
    struct cavs_model *model;
    struct cavs_stage *stages[3];
    struct cavs_data *data;
    int *ints; /* scratch of samples */
    size_t ints_cap;
};

struct pack_form {
    const char *name;
    /* Reads the input: while `growing` for its words and numbers of children, otherwise adds the
     * samples. */
    int (*read)(struct pack *p, struct app_error *e);
    /* The stages for what was read, or is in the pattern. */
    int (*declare)(struct pack *p, struct app_error *e);
};

extern const struct pack_form pack_brackets, pack_threefile, pack_text, pack_tagged, pack_conllu;

enum { PACK_ANY_ARITY = -1 };

/* A stage with a graph, a function of it, and a stage over all vertices of another with its one
 * function; functions gather `arity` children, and pull the ids that are named up to NULL. */
struct cavs_stage *pack_stage(struct pack *p, const char *name);
void pack_function(struct cavs_stage *stage, const char *name, int arity,
                   const char *const *inputs);
struct cavs_stage *pack_over(struct pack *p, const char *name, struct cavs_stage *base,
                             const char *const *inputs);
/* Scratch for n ints, until the next call; NULL when memory is short. */
int *pack_ints(struct pack *p, size_t n);

#endif
