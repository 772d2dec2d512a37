/* SPDX-License-Identifier: Apache-2.0 */
/* save.c - writes model files and checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "codelets/bf16_pack.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/files/contents.h"
#include "core/files/metadata.h"

static size_t floats_of(const struct cavs_param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}

static int get_rounded(struct cavs__contents *f, int i, uint16_t *values)
{
    const struct cavs_param *p = f->item[i].p;
    size_t n = (size_t)p->rows * (size_t)p->cols;
    float *exact = malloc(n * sizeof *exact + 1);
    int rc = exact ? cavs_session_get_param(f->s, p, exact)
                   : cavs__fail_nomem(p->name, n * sizeof *exact + 1);

    for (int r = 0; r < p->rows && !rc; r++)
        cavs__bf16_round(p->cols, exact + (size_t)r * (size_t)p->cols,
                         values + (size_t)r * (size_t)p->cols);
    free(exact);
    return rc;
}

static int get_item(void *context, int i, void *values)
{
    struct cavs__contents *f = context;
    const struct cavs__file_item *item = &f->item[i];

    if (!item->p) {
        memcpy(values, f->metrics,
               (size_t)f->matrix[i].rows * (size_t)f->matrix[i].cols * sizeof *f->metrics);
        return CAVS_OK;
    }
    if (f->matrix[i].size == sizeof(uint16_t))
        return get_rounded(f, i, values);
    if (f->states && f->states[i]) {
        memcpy(values, f->states[i], floats_of(item->p) * sizeof **f->states);
        return CAVS_OK;
    }
    return item->state < 0 ? cavs_session_get_param(f->s, item->p, values)
                           : cavs__get_state(f->s, item->p, item->state, values);
}

/* Prepares all that is needed before any matrix of the file can be collected. */
static int prepare(struct cavs__contents *f, struct cavs_session *s, int shards, int size)
{
    size_t n = (size_t)shards * (2 * (size_t)s->model->nmetrics + 1);
    int rc = cavs__list_contents(f, s, shards, s->model->nmetrics, size);

    if (rc || !shards)
        return rc;
    f->metrics = calloc(n, sizeof *f->metrics);
    return f->metrics ? CAVS_OK : cavs__fail_nomem("metrics", n * sizeof *f->metrics);
}

/* Reads the part that this rank has of a state that the ranks share; the rest stays as it is. */
static int read_state(struct cavs__contents *f, int i)
{
    const struct cavs__file_item *item = &f->item[i];

    if (!item->p || item->state < 0 || !cavs__shares_state(f->s, item->p))
        return CAVS_OK;
    f->states[i] = malloc(floats_of(item->p) * sizeof **f->states);
    if (!f->states[i])
        return cavs__fail_nomem("states", floats_of(item->p) * sizeof **f->states);
    return cavs__get_state(f->s, item->p, item->state, f->states[i]);
}

/* Other ranks have some of what the optimizer keeps; while rank 0 writes, it has all of it. */
static int collect_states(struct cavs__contents *f, int shards)
{
    struct cavs__ranks *ranks = f->s->rt->ranks;
    int rc = CAVS_OK;

    if (!ranks || !shards)
        return CAVS_OK;
    f->states = calloc((size_t)f->n + 1, sizeof *f->states);
    if (!f->states)
        rc = cavs__fail_nomem("states", (size_t)f->n * sizeof *f->states);
    for (int i = 0; i < f->n && !rc; i++)
        rc = read_state(f, i);
    rc = cavs__ranks_agree_on(ranks, "states", rc);
    for (int i = 0; i < f->n && !rc; i++) {
        if (f->states[i])
            rc = cavs__ranks_complete(ranks, f->states[i], floats_of(f->item[i].p));
    }
    return rc;
}

/* Rank 0 writes, and all ranks hear of its failures. Before that, ranks meet again and again, so
 * that none goes on with what another one cannot do. */
static int save(struct cavs_session *s, const char *path, int shards, int size, json_t *metadata)
{
    struct cavs__contents f = {0};
    int rc = cavs__ranks_agree(s->rt->ranks, prepare(&f, s, shards, size));

    if (!rc && shards)
        rc = cavs__get_metrics(s, f.metrics);
    if (!rc)
        rc = collect_states(&f, shards);
    if (rc || cavs__rank(s->rt->ranks) > 0)
        json_decref(metadata);
    else
        rc = cavs__safetensors_write(path, metadata, f.n, f.matrix, get_item, &f);
    cavs__contents_clear(&f);
    return cavs__ranks_agree(s->rt->ranks, rc);
}

int cavs_session_save_as(struct cavs_session *s, const char *path, enum cavs_precision numbers)
{
    int rc;

    if (!path || !*path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_save: no path");
    if (!cavs_precision_name((int)numbers))
        return cavs__fail(CAVS_EINVAL, "cavs_session_save_as: there is no precision %d",
                          (int)numbers);
    rc = cavs__session_ready(s, "cavs_session_save");
    if (rc)
        return rc;
    rc = cavs__settle(s);
    return rc ? rc
              : save(s, path, 0, numbers == CAVS_BFLOAT16 ? sizeof(uint16_t) : sizeof(float),
                     cavs__describe(s, "cavs"));
}

int cavs_session_save(struct cavs_session *s, const char *path)
{
    return cavs_session_save_as(s, path, CAVS_FLOAT32);
}

int cavs_session_checkpoint(struct cavs_session *s, const char *path, const char *note)
{
    int rc;

    if (!path || !*path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_checkpoint: no path");
    if (note && !cavs__is_utf8(note))
        return cavs__fail(CAVS_EINVAL, "cavs_session_checkpoint: the note is not UTF-8");
    rc = cavs__session_ready(s, "cavs_session_checkpoint");
    if (rc)
        return rc;
    if (s->options.inference)
        return cavs__fail(CAVS_ESTATE, "cavs_session_checkpoint: this session was created for "
                                       "inference; cavs_session_save() keeps its parameters");
    rc = cavs__settle(s);
    return rc ? rc
              : save(s, path, s->engine.nshards, sizeof(float),
                     cavs__describe_run(s, note ? note : ""));
}
