/* SPDX-License-Identifier: Apache-2.0 */
/* packed_data.c - data whose columns are in a packed file. */
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
        return json_is_object(over) ? mismatch(p, stage, "stands over another one in the file only")
                                    : CAVS_OK;
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

static int no_array(const struct cavs_packed *p, const struct cavs_stage *stage, const char *name)
{
    return cavs__fail(CAVS_EFORMAT, "%s: stage %s: no array %s, or not of whole elements", p->path,
                      stage->name, name);
}

/* Makes the column the array that the entry describes. */
static int use_array(const struct cavs_packed *p, const struct cavs_stage *stage, const char *name,
                     const json_t *entry, struct cavs__column *c)
{
    const void *bytes;
    size_t n;

    if (!cavs__packed_array(p, entry, &bytes, &n) || n % c->size != 0)
        return no_array(p, stage, name);
    cavs__column_free(c);
    c->storage = CAVS__IN_PAGES;
    c->p = n ? (void *)bytes : NULL;
    c->n = c->cap = n / c->size;
    return CAVS_OK;
}

/* Makes the column a part of the records, of so many values in all; one that the stage or the input
 * has not stays empty. */
static void use_part(const struct cavs_packed *p, int part, const int64_t *starts,
                     struct cavs__column *c)
{
    size_t n = part < 0 ? 0 : (size_t)starts[cavs_packed_size(p)];

    cavs__column_free(c);
    c->storage = CAVS__IN_RECORDS;
    c->p = n ? (void *)p->records.p : NULL;
    c->n = c->cap = n;
    c->number = part;
}

/* Starts that are all 0 are not in the file. */
static int use_zeros(int samples, struct cavs__column *c)
{
    size_t n = (size_t)samples + 1;

    c->storage = CAVS__IN_MEMORY;
    c->p = calloc(n, c->size);
    c->n = c->cap = c->p ? n : 0;
    return c->p ? CAVS_OK : cavs__fail_nomem("starts of samples", n * c->size);
}

/* What of a stage's entry a column belongs to: an input, or the arrays that each stage has. */
static const json_t *owner_of(const json_t *stage, const struct cavs__input *in)
{
    return in ? find_input(stage, in) : json_object_get(stage, "arrays");
}

/* The columns that count the values of others first. */
static int use_arrays(const struct cavs_packed *p, struct cavs__stage_data *s, const json_t *entry)
{
    int rc = CAVS_OK;

    for (int i = 0; i < cavs__stage_columns(s) && !rc; i++) {
        const struct cavs__input *in;
        const char *name;
        struct cavs__column *c = cavs__stage_column(s, i, &name, &in);
        const json_t *of = owner_of(entry, in);

        if (cavs__is_ahead(s, i, in))
            rc = use_array(p, s->stage, in ? in->name : name, json_object_get(of, name), c);
        if (!rc && c->storage == CAVS__IN_PAGES && c->n == 0 && c != &s->count)
            rc = use_zeros(cavs_packed_size(p), c);
    }
    return rc;
}

static void use_parts(const struct cavs_packed *p, struct cavs__stage_data *s, const json_t *entry)
{
    for (int i = 0; i < cavs__stage_columns(s); i++) {
        const int64_t *starts = cavs__stage_column_starts(s, i);
        const struct cavs__input *in;
        const char *name;
        struct cavs__column *c = cavs__stage_column(s, i, &name, &in);
        const json_t *of = owner_of(entry, in);

        if (starts)
            use_part(p, cavs__records_find(&p->records, of, name), starts, c);
    }
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
    if (!rc)
        rc = use_arrays(p, s, entry);
    if (!rc && stage->nfunctions > 1 &&
        s->count.n != (size_t)cavs_packed_size(p) * (size_t)stage->nfunctions)
        rc = no_array(p, stage, "count");
    if (!rc)
        use_parts(p, s, entry);
    return rc;
}

static int make_checks(struct cavs_data *d)
{
    size_t bytes;

    d->samples = cavs_packed_size(d->packed);
    bytes = sizeof *d->checks + (size_t)d->samples * sizeof *d->checks->in;
    d->checks = calloc(1, bytes);
    return d->checks ? CAVS_OK : cavs__fail_nomem("checks of samples", bytes);
}

int cavs_data_open(const struct cavs_model *m, const char *path, struct cavs_data **out)
{
    struct cavs_data *d;
    int rc = out ? cavs_data_create(m, &d)
                 : cavs__fail(CAVS_EINVAL, "cavs_data_open: nowhere to put the data (NULL)");

    if (rc)
        return rc;
    rc = cavs_packed_open(path, &d->packed);
    if (!rc)
        rc = cavs__records_open(d->packed);
    for (int i = 0; i < m->nstages && !rc; i++)
        rc = open_stage(d->packed, &d->stages[i]);
    if (!rc)
        rc = make_checks(d);
    if (rc) {
        cavs_data_destroy(d);
        return rc;
    }
    cavs__packed_read_by_samples(d->packed);
    *out = d;
    return CAVS_OK;
}
