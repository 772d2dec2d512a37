/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - model files, and checkpoints, which are model files with more in them:
 *
 *     NAME                  a parameter
 *     cavs.state0.NAME, 1   what the optimizer keeps of it
 *     cavs.metrics          sums and counts since the last reset, a row for each shard
 *     metadata              what metadata.c puts there
 *
 * Loading reads and checks everything before the first number changes.
 */
#include <stdlib.h>
#include <string.h>

#include "codelets/bf16_pack.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/files/metadata.h"
#include "core/files/safetensors.h"
#include "core/run/session.h"

/* A matrix of the file and where it belongs in the session. */
struct item {
    const struct cavs_param *p; /* NULL: the metrics */
    int state;                  /* of the optimizer; -1: the parameter itself */
};

struct file {
    struct cavs_session *s;
    int n;
    struct cavs__matrix *matrix;
    struct item *item;
    char **name;     /* owned names of matrices, NULL where the name is the parameter's */
    double *metrics; /* of all ranks, for a checkpoint that is written */
    float **states;  /* [n] likewise, where the ranks share them; else NULL */
};

/* ---- what is in a file ---- */

static void file_clear(struct file *f)
{
    for (int i = 0; f->name && i < f->n; i++)
        free(f->name[i]);
    free(f->name);
    free(f->matrix);
    free(f->item);
    free(f->metrics);
    for (int i = 0; f->states && i < f->n; i++)
        free(f->states[i]);
    free(f->states);
}

/* size: bytes of a number of a parameter */
static void add_values(struct file *f, int size)
{
    for (int i = 0; i < f->s->model->nparams; i++) {
        const struct cavs_param *p = f->s->model->params[i];

        f->item[f->n] = (struct item){p, -1};
        f->matrix[f->n++] = (struct cavs__matrix){p->name, p->rows, p->cols, size};
    }
}

static bool add_named(struct file *f, struct item item, char *name, int rows, int cols, int size)
{
    if (!name)
        return false;
    f->name[f->n] = name;
    f->item[f->n] = item;
    f->matrix[f->n++] = (struct cavs__matrix){name, rows, cols, size};
    return true;
}

static bool add_states(struct file *f)
{
    for (int i = 0; i < f->s->model->nparams; i++) {
        const struct cavs_param *p = f->s->model->params[i];

        for (int k = 0; k < cavs__states_of(f->s, p); k++) {
            char *name;

            if (asprintf(&name, CAVS__OWN_PREFIX "state%d.%s", k, p->name) < 0)
                name = NULL;
            if (!add_named(f, (struct item){p, k}, name, p->rows, p->cols, sizeof(float)))
                return false;
        }
    }
    return true;
}

/* shards: rows of the metrics; 0 for a model file.  size: bytes of a number of a parameter */
static int file_list(struct file *f, struct cavs_session *s, int shards, int size)
{
    size_t most = 3 * (size_t)s->model->nparams + 2;

    *f = (struct file){.s = s,
                       .matrix = calloc(most, sizeof *f->matrix),
                       .item = calloc(most, sizeof *f->item),
                       .name = calloc(most, sizeof *f->name)};
    if (f->matrix && f->item && f->name) {
        add_values(f, size);
        if (!shards || (add_states(f) &&
                        add_named(f, (struct item){NULL, 0}, strdup(CAVS__OWN_PREFIX "metrics"),
                                  shards, 2 * s->model->nmetrics + 1, sizeof(double))))
            return CAVS_OK;
    }
    return cavs__fail_nomem("list of parameters", most * (sizeof *f->matrix + sizeof *f->item));
}

/* ---- saving ---- */

static size_t floats_of(const struct cavs_param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}

static int get_rounded(struct file *f, int i, uint16_t *values)
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
    struct file *f = context;
    const struct item *item = &f->item[i];

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

static int collect_metrics(struct file *f, int shards)
{
    size_t n = (size_t)shards * (2 * (size_t)f->s->model->nmetrics + 1);

    if (!shards)
        return CAVS_OK;
    f->metrics = calloc(n, sizeof *f->metrics);
    return f->metrics ? cavs__get_metrics(f->s, f->metrics)
                      : cavs__fail_nomem("metrics", n * sizeof *f->metrics);
}

/* What this rank has of a state that the ranks share; nothing of others. */
static int read_state(struct file *f, int i)
{
    const struct item *item = &f->item[i];

    if (!item->p || item->state < 0 || !cavs__shares_state(f->s, item->p))
        return CAVS_OK;
    f->states[i] = malloc(floats_of(item->p) * sizeof **f->states);
    if (!f->states[i])
        return cavs__fail_nomem("states", floats_of(item->p) * sizeof **f->states);
    return cavs__get_state(f->s, item->p, item->state, f->states[i]);
}

/* Some of what the optimizer has is another rank's: rank 0 has all of it while it writes. */
static int collect_states(struct file *f, int shards)
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
    rc = cavs__ranks_agree(ranks, rc);
    for (int i = 0; i < f->n && !rc; i++) {
        if (f->states[i])
            rc = cavs__ranks_complete(ranks, f->states[i], floats_of(f->item[i].p));
    }
    return rc;
}

/* Rank 0 writes; what goes wrong there, all ranks hear. */
static int save(struct cavs_session *s, const char *path, int shards, int size, json_t *metadata)
{
    struct file f = {0};
    int rc = file_list(&f, s, shards, size);

    if (!rc)
        rc = collect_metrics(&f, shards);
    if (!rc)
        rc = collect_states(&f, shards);
    if (rc || cavs__rank(s->rt->ranks) > 0)
        json_decref(metadata);
    else
        rc = cavs__safetensors_write(path, metadata, f.n, f.matrix, get_item, &f);
    file_clear(&f);
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

/* ---- loading ---- */

/* A checkpoint will do as a model file: what else it holds is left out. */
static int check_names(const struct cavs__safetensors *f, const struct cavs_model *m)
{
    const char *name;
    json_t *value;

    json_object_foreach(f->header, name, value)
    {
        if (strcmp(name, "__metadata__") != 0 && !cavs_model_find_param(m, name) &&
            !cavs__is_own(name))
            return cavs__fail(CAVS_EFORMAT, "%s: the model has no parameter named %s", f->path,
                              name);
    }
    return CAVS_OK;
}

static int set_item(const struct file *f, int i, const void *values)
{
    const struct item *item = &f->item[i];

    if (!item->p)
        return cavs__set_metrics(f->s, f->matrix[i].rows, values);
    return item->state < 0 ? cavs_session_set_param(f->s, item->p, values)
                           : cavs__set_state(f->s, item->p, item->state, values);
}

static int load(struct cavs_session *s, const struct cavs__safetensors *from, int shards)
{
    struct file f;
    int rc = file_list(&f, s, shards, sizeof(float));
    void **values;

    if (rc) {
        file_clear(&f);
        return rc;
    }
    values = calloc((size_t)f.n + 1, sizeof *values);
    rc = values ? check_names(from, s->model)
                : cavs__fail_nomem("parameters", ((size_t)f.n + 1) * sizeof *values);
    for (int i = 0; i < f.n && !rc; i++)
        rc = cavs__safetensors_read(from, &f.matrix[i], &values[i]);
    for (int i = 0; i < f.n && !rc; i++)
        rc = set_item(&f, i, values[i]);
    for (int i = 0; values && i < f.n; i++)
        free(values[i]);
    free(values);
    file_clear(&f);
    return rc;
}

int cavs_session_load(struct cavs_session *s, const char *path)
{
    struct cavs__safetensors f;
    int rc;

    if (!path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_load: no path");
    rc = cavs__session_ready(s, "cavs_session_load");
    if (rc)
        return rc;
    rc = cavs__safetensors_open(&f, path);
    if (rc)
        return rc;
    rc = load(s, &f, 0);
    cavs__safetensors_close(&f);
    return rc;
}

static int resume(struct cavs_session *s, const struct cavs__safetensors *f, char **note)
{
    struct cavs__description d = {0};
    char *copy = strdup(cavs__described(f, "note"));
    json_t *found = NULL;
    int rc = copy ? cavs__read_description(f, &d)
                  : cavs__fail_nomem("note", strlen(cavs__described(f, "note")) + 1);

    if (!rc && d.optimizer != (long)s->options.optimizer)
        rc = cavs__fail(CAVS_EINVAL, "%s: written by a session with %s, this one has %s", f->path,
                        cavs__rules[d.optimizer].title, cavs__rules[s->options.optimizer].title);
    if (!rc)
        rc = cavs__take_metrics(f, (struct cavs_model *)s->model);
    if (!rc)
        rc = cavs__read_found(f, &found);
    if (!rc)
        rc = load(s, f, (int)d.shards);
    if (rc) {
        json_decref(found);
        free(copy);
        return rc;
    }
    json_decref(s->found);
    s->found = found;
    s->resumed++;
    s->optimizer.store->step = d.step;
    s->options.seed = d.seed;
    s->optimizer.rule.lr = (float)d.lr;
    if (note)
        *note = copy;
    else
        free(copy);
    return CAVS_OK;
}

int cavs_session_resume(struct cavs_session *s, const char *path, char **note)
{
    struct cavs__safetensors f;
    int rc;

    if (!path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_resume: no path");
    rc = cavs__session_ready(s, "cavs_session_resume");
    if (rc)
        return rc;
    if (s->options.inference)
        return cavs__fail(CAVS_ESTATE, "cavs_session_resume: this session was created for "
                                       "inference; cavs_session_load() reads a checkpoint, too");
    cavs__wait_slots(&s->engine);
    rc = cavs__safetensors_open(&f, path);
    if (rc)
        return rc;
    rc = resume(s, &f, note);
    cavs__safetensors_close(&f);
    return rc;
}
