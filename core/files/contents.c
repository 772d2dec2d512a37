/* SPDX-License-Identifier: Apache-2.0 */
/* contents.c - lists the matrices of a model file or of a checkpoint; see contents.h. */
#include "core/files/contents.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/own_name.h"

void cavs__contents_clear(struct cavs__contents *f)
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
static void add_values(struct cavs__contents *f, int size)
{
    for (int i = 0; i < f->s->model->nparams; i++) {
        const struct cavs_param *p = f->s->model->params[i];

        f->item[f->n] = (struct cavs__file_item){p, -1};
        f->matrix[f->n++] = (struct cavs__matrix){p->name, p->rows, p->cols, size};
    }
}

static bool add_named(struct cavs__contents *f, struct cavs__file_item item, char *name, int rows,
                      int cols, int size)
{
    if (!name)
        return false;
    f->name[f->n] = name;
    f->item[f->n] = item;
    f->matrix[f->n++] = (struct cavs__matrix){name, rows, cols, size};
    return true;
}

static bool add_states(struct cavs__contents *f)
{
    for (int i = 0; i < f->s->model->nparams; i++) {
        const struct cavs_param *p = f->s->model->params[i];

        for (int k = 0; k < cavs__states_of(f->s, p); k++) {
            char *name;

            if (asprintf(&name, CAVS__OWN_PREFIX "state%d.%s", k, p->name) < 0)
                name = NULL;
            if (!add_named(f, (struct cavs__file_item){p, k}, name, p->rows, p->cols,
                           sizeof(float)))
                return false;
        }
    }
    return true;
}

int cavs__list_contents(struct cavs__contents *f, struct cavs_session *s, int shards, int metrics,
                        int size)
{
    size_t most = 3 * (size_t)s->model->nparams + 2;

    *f = (struct cavs__contents){.s = s,
                                 .matrix = calloc(most, sizeof *f->matrix),
                                 .item = calloc(most, sizeof *f->item),
                                 .name = calloc(most, sizeof *f->name)};
    if (f->matrix && f->item && f->name) {
        add_values(f, size);
        if (!shards || (add_states(f) && add_named(f, (struct cavs__file_item){NULL, 0},
                                                   strdup(CAVS__OWN_PREFIX "metrics"), shards,
                                                   2 * metrics + 1, sizeof(double))))
            return CAVS_OK;
    }
    return cavs__fail_nomem("list of parameters", most * (sizeof *f->matrix + sizeof *f->item));
}
