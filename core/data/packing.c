/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packing.c - data that are to become a packed file: while samples are added, every column is a
 * temporary file (column.c); notes stay in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/data/packed.h"

void cavs__pack_free(struct cavs__pack *p)
{
    if (!p)
        return;
    for (int i = 0; i < p->nnotes; i++) {
        free(p->notes[i].name);
        free(p->notes[i].bytes);
    }
    free(p->notes);
    free(p->path);
    free(p);
}

/* The first name of a stage that the directory, which is JSON, cannot have; NULL: there is none. */
static const char *find_no_utf8(const struct cavs_stage *s)
{
    const char *found = cavs__is_utf8(s->name) ? NULL : s->name;

    for (int i = 0; i < s->nfunctions && !found; i++)
        found = cavs__is_utf8(s->functions[i]->name) ? NULL : s->functions[i]->name;
    for (int i = 0; i < s->ninputs && !found; i++)
        found = cavs__is_utf8(s->inputs[i]->name) ? NULL : s->inputs[i]->name;
    return found;
}

/* Such names are refused now, and not when all samples have been added. */
static int check_names(const struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++) {
        const char *name = find_no_utf8(m->stages[i]);

        if (name)
            return cavs__fail(CAVS_EINVAL,
                              "cavs_data_pack: packed files want names in UTF-8, which %s is not",
                              name);
    }
    return CAVS_OK;
}

int cavs_data_pack(const struct cavs_model *m, const char *path, struct cavs_data **out)
{
    struct cavs_data *d;
    int rc;

    if (!path || !*path || !out)
        return cavs__fail(CAVS_EINVAL, "cavs_data_pack: no path, or nowhere to put the data");
    rc = cavs_data_create(m, &d);
    if (rc)
        return rc;
    rc = check_names(m);
    d->pack = calloc(1, sizeof *d->pack);
    if (!d->pack || !(d->pack->path = strdup(path)))
        rc = cavs__fail_nomem("packed data", sizeof *d->pack + strlen(path) + 1);
    for (int i = 0; i < m->nstages && !rc; i++) {
        struct cavs__stage_data *s = &d->stages[i];

        for (int k = 0; k < cavs__stage_columns(s) && !rc; k++)
            rc = cavs__column_to_file(cavs__stage_column(s, k, NULL, NULL), d->pack->path);
    }
    if (rc) {
        cavs_data_destroy(d);
        return rc;
    }
    *out = d;
    return CAVS_OK;
}

/* The note of that name, new or not; NULL when memory is short. */
static struct cavs__packed_note *find_note(struct cavs__pack *p, const char *name)
{
    struct cavs__packed_note new = {.name = NULL};

    for (int i = 0; i < p->nnotes; i++) {
        if (strcmp(p->notes[i].name, name) == 0)
            return &p->notes[i];
    }
    new.name = strdup(name);
    if (!new.name || !CAVS__APPEND(p->notes, p->nnotes, new)) {
        free(new.name);
        return NULL;
    }
    return &p->notes[p->nnotes - 1];
}

int cavs_data_note(struct cavs_data *d, const char *name, const void *bytes, size_t n)
{
    struct cavs__packed_note *note;
    void *copy;

    if (!d || !d->pack || !name || (n > 0 && !bytes))
        return cavs__fail(CAVS_EINVAL, "cavs_data_note: no data from cavs_data_pack(), or no note");
    if (!cavs__is_utf8(name))
        return cavs__fail(CAVS_EINVAL, "cavs_data_note: the name %s is not UTF-8", name);
    copy = malloc(n + 1);
    note = copy ? find_note(d->pack, name) : NULL;
    if (!note) {
        free(copy);
        return cavs__fail_nomem(name, n + 1 + strlen(name) + 1 +
                                          cavs__array_bytes(d->pack->nnotes, sizeof *note));
    }
    if (n > 0)
        memcpy(copy, bytes, n);
    free(note->bytes);
    note->bytes = copy;
    note->n = n;
    return CAVS_OK;
}
