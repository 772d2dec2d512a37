/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - reads model files and checkpoints: all of a file is read and checked before the first
 * number of the session changes. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/own_name.h"
#include "core/files/contents.h"
#include "core/files/metadata.h"

/* A checkpoint will do as a model file: what else is in it is left out. */
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

static int set_item(const struct cavs__contents *f, int i, const void *values)
{
    const struct cavs__file_item *item = &f->item[i];

    if (!item->p)
        return cavs__set_metrics(f->s, f->matrix[i].rows, f->matrix[i].cols / 2, values);
    return item->state < 0 ? cavs_session_set_param(f->s, item->p, values)
                           : cavs__set_state(f->s, item->p, item->state, values);
}

/* Loads a model file, or a checkpoint that has so many shards and metrics. */
static int load(struct cavs_session *s, const struct cavs__safetensors *from, int shards,
                int metrics)
{
    struct cavs__contents f;
    int rc = cavs__list_contents(&f, s, shards, metrics, sizeof(float));
    void **values;

    if (rc) {
        cavs__contents_clear(&f);
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
    cavs__contents_clear(&f);
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
    rc = load(s, &f, 0, 0);
    cavs__safetensors_close(&f);
    return rc;
}

static int resume(struct cavs_session *s, const struct cavs__safetensors *f, char **note)
{
    struct cavs__description d = {0};
    char *copy = strdup(cavs__described(f, "note"));
    json_t *found = NULL;
    int metrics = 0;
    int rc = copy ? cavs__read_description(f, &d)
                  : cavs__fail_nomem("note", strlen(cavs__described(f, "note")) + 1);

    if (!rc && d.optimizer != (long)s->options.optimizer)
        rc = cavs__fail(CAVS_EINVAL, "%s: written by a session with %s, this one has %s", f->path,
                        cavs__rules[d.optimizer].title, cavs__rules[s->options.optimizer].title);
    if (!rc)
        rc = cavs__take_metrics(f, (struct cavs_model *)s->model, &metrics);
    if (!rc)
        rc = cavs__read_found(f, &found);
    if (!rc)
        rc = load(s, f, (int)d.shards, metrics);
    if (rc) {
        json_decref(found);
        free(copy);
        return rc;
    }
    json_decref(s->found);
    s->found = found;
    s->resumed++;
    cavs__exchange_given(s->optimizer.exchange, &d.seed, sizeof d.seed);
    cavs__exchange_given(s->optimizer.exchange, &d.lr, sizeof d.lr);
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
