/* SPDX-License-Identifier: Apache-2.0 */
/* --vectors: rows of the embedding from a text of word vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/start.h"
#include "apps/common/word_vectors.h"

#define VOCABULARY "words"

static void say_found(struct app *a, const struct word_vectors *v)
{
    int rows = vocab_size(v->words), n = 0;

    for (int i = 0; i < rows; i++)
        n += v->found[i];
    report_count(&a->report, "vectors_found", n);
    report_count(&a->report, "vectors_missing", rows - n);
    if (n == 0)
        app_notice(a, "%s has a vector for none of the %d words: the embedding starts at random",
                   a->options.vectors, rows);
    else if (!a->options.quiet)
        fprintf(stderr, "%s: %s has vectors for %d of %d words\n", a->program->name,
                a->options.vectors, n, rows);
}

static int fill(struct app *a, const struct cavs_param *p, struct word_vectors *v)
{
    int rc;

    if (!v->values || !v->found)
        return CAVS_ENOMEM;
    if ((rc = cavs_session_get_param(a->session, p, v->values)) < 0 ||
        (rc = word_vectors_read(NULL, a->options.vectors, v, &a->error)) < 0 ||
        (rc = cavs_session_set_param(a->session, p, v->values)) < 0)
        return rc;
    say_found(a, v);
    return 0;
}

/* The parameter with a row for each word, and in v the words; NULL: there is none. */
static const struct cavs_param *embedding(const struct app *a, struct word_vectors *v)
{
    for (int i = 0; i < a->nwords; i++)
        if (strcmp(a->words[i].name, VOCABULARY) == 0 && a->words[i].rows) {
            v->words = a->words[i].vocab;
            return cavs_model_find_param(a->model, a->words[i].rows);
        }
    return NULL;
}

int app_take_vectors(struct app *a)
{
    struct word_vectors v = {0};
    const struct cavs_param *p = embedding(a, &v);
    size_t rows;
    int rc;

    if (!p)
        return app_fail(&a->error, CAVS_EINVAL,
                        "--vectors: the data at hand have no words to look up, or %s has no "
                        "embedding of them",
                        a->program->name);
    rows = cavs_param_rows(p);
    v.cols = cavs_param_cols(p);
    v.values = malloc((rows * v.cols + 1) * sizeof *v.values);
    v.found = calloc(rows + 1, sizeof *v.found);
    rc = fill(a, p, &v);
    free(v.values);
    free(v.found);
    return rc;
}
