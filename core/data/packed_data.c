/* SPDX-License-Identifier: Apache-2.0 */
/* packed_data.c - data whose columns are pages of a packed file. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/data/packed.h"

/* ---- opening: names and sizes ---- */

static int mismatch(const struct cavs_packed *p, const struct cavs_stage *stage, const char *what)
{
    return cavs__fail(CAVS_EDATA, "%s does not fit the model: stage %s %s", p->path, stage->name,
                      what);
}

static int check_over(const struct cavs_packed *p, const struct cavs_stage *stage,
                      const json_t *entry)
{
    const json_t *over = json_object_get(entry, "over");
    const char *base = json_string_value(json_object_get(over, "stage")),
               *which = json_string_value(json_object_get(over, "which"));

    if (!stage->base)
        return base ? mismatch(p, stage, "stands over another one in the file only") : CAVS_OK;
    if (!base || strcmp(base, stage->base->name) != 0 || !which ||
        strcmp(which, stage->over == CAVS_ROOTS ? "roots" : "all") != 0)
        return mismatch(p, stage, "stands over something else in the file");
    return CAVS_OK;
}

static const json_t *find_input(const json_t *stage, const struct cavs__input *in)
{
    const json_t *inputs = json_object_get(stage, "inputs");

    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *entry = json_array_get(inputs, i);

        if (strcmp(json_string_value(json_object_get(entry, "name")), in->name) == 0)
            return entry;
    }
    return NULL;
}

static int check_input(const struct cavs_packed *p, const struct cavs_stage *stage,
                       const struct cavs__input *in, const json_t *entry)
{
    const char *type = json_string_value(json_object_get(entry, "type")),
               *per = json_string_value(json_object_get(entry, "per"));
    long long width = json_integer_value(json_object_get(entry, "width"));

    if (!entry)
        return cavs__fail(CAVS_EDATA, "%s does not fit the model: stage %s has no input %s in it",
                          p->path, stage->name, in->name);
    if (strcmp(type, in->ids ? "ids" : "rows") != 0 || width != (in->ids ? 1 : in->width))
        return cavs__fail(CAVS_EDATA,
                          "%s does not fit the model: input %s of stage %s is %s of width %lld in "
                          "it, the model wants %s of width %d",
                          p->path, in->name, stage->name, type, width, in->ids ? "ids" : "rows",
                          in->ids ? 1 : in->width);
    if (!per || strcmp(per, cavs__packed_per[in->per]) != 0)
        return cavs__fail(
            CAVS_EDATA,
            "%s does not fit the model: input %s of stage %s has a value per %s in it, "
            "the model wants one per %s",
            p->path, in->name, stage->name, per ? per : "something else",
            cavs__packed_per[in->per]);
    return CAVS_OK;
}

/* Makes the column the array that the entry describes. */
static int use_array(const struct cavs_packed *p, const struct cavs_stage *stage, const char *name,
                     const json_t *entry, struct cavs__column *c)
{
    const void *bytes;
    size_t n;

    if (!cavs__packed_array(p, entry, &bytes, &n) || n % c->size != 0)
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s: no array %s, or not of whole elements",
                          p->path, stage->name, name);
    cavs__column_free(c);
    c->storage = CAVS__IN_PAGES;
    c->p = n ? (void *)bytes : NULL;
    c->n = c->cap = n / c->size;
    return CAVS_OK;
}

/* Where samples start must begin with 0 and never descend. */
static bool are_starts(const struct cavs__column *c, int samples)
{
    const int64_t *start = c->p;

    if (c->n != (size_t)samples + 1 || start[0] != 0)
        return false;
    for (int i = 0; i < samples; i++) {
        if (start[i + 1] < start[i] || start[i + 1] - start[i] > CAVS__MOST_OF_SAMPLE)
            return false;
    }
    return true;
}

/* Finds the arrays of one input, in a stage of so many vertices. */
static bool input_is_whole(const struct cavs__stage_data *s, int k, int samples, size_t vertices)
{
    const struct cavs__input *in = s->stage->inputs[k];
    bool lists = in->per == CAVS__PER_ENTRY, numbered = !in->ids && !s->stage->base;
    size_t n;

    if (lists ? !are_starts(&s->entry[k], samples) : s->entry[k].n == 0)
        return false;
    n = (size_t)cavs__input_starts(s, k)[samples];
    return s->length[k].n == (lists ? vertices : 0) && s->inputs[k].n == n &&
           s->equal[k].n == (numbered ? n : 0);
}

static int check_sizes(const struct cavs_packed *p, const struct cavs__stage_data *s, int samples)
{
    size_t vertices, children;
    bool sound;

    if (!are_starts(&s->start, samples) || !are_starts(&s->first, samples))
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s: starts of samples descend or are missing",
                          p->path, s->stage->name);
    vertices = (size_t)((const int64_t *)s->start.p)[samples];
    children = (size_t)((const int64_t *)s->first.p)[samples];
    sound = s->function.n == vertices && s->degree.n == vertices && s->child.n == children &&
            s->count.n == (size_t)samples * (size_t)s->stage->nfunctions &&
            s->over.n == (s->stage->base ? vertices : 0);
    for (int k = 0; k < s->stage->ninputs && sound; k++)
        sound = input_is_whole(s, k, samples, vertices);
    return sound ? CAVS_OK
                 : cavs__fail(CAVS_EFORMAT, "%s: stage %s: its arrays are of different lengths",
                              p->path, s->stage->name);
}

static int open_stage(const struct cavs_packed *p, struct cavs__stage_data *s)
{
    const struct cavs_stage *stage = s->stage;
    const json_t *entry = cavs__packed_stage(p, stage->name);
    int rc;

    if (!entry)
        return mismatch(p, stage, "is not in it");
    rc = check_over(p, stage, entry);
    if (!rc && json_array_size(json_object_get(entry, "functions")) != (size_t)stage->nfunctions)
        rc = mismatch(p, stage, "has another number of functions in it");
    for (int i = 0; i < stage->ninputs && !rc; i++)
        rc = check_input(p, stage, stage->inputs[i], find_input(entry, stage->inputs[i]));
    for (int i = 0; i < cavs__stage_columns(s) && !rc; i++) {
        const struct cavs__input *in;
        const char *name;
        struct cavs__column *c = cavs__stage_column(s, i, &name, &in);
        const json_t *of = in ? find_input(entry, in) : json_object_get(entry, "arrays");

        rc = use_array(p, stage, in ? in->name : name, json_object_get(of, name), c);
    }
    return rc ? rc : check_sizes(p, s, cavs_packed_size(p));
}

int cavs_data_open(const struct cavs_model *m, const char *path, struct cavs_data **out)
{
    struct cavs_data *d;
    int rc = out ? cavs_data_create(m, &d)
                 : cavs__fail(CAVS_EINVAL, "cavs_data_open: nowhere to put the data (NULL)");

    if (rc)
        return rc;
    rc = cavs_packed_open(path, &d->packed);
    for (int i = 0; i < m->nstages && !rc; i++)
        rc = open_stage(d->packed, &d->stages[i]);
    if (!rc) {
        d->samples = cavs_packed_size(d->packed);
        d->checked = calloc((size_t)d->samples + 1, 1);
        rc = d->checked ? CAVS_OK : cavs__fail_nomem("checks of samples", (size_t)d->samples + 1);
    }
    if (rc) {
        cavs_data_destroy(d);
        return rc;
    }
    *out = d;
    return CAVS_OK;
}
