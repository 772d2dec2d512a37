/* SPDX-License-Identifier: Apache-2.0 */
/* packed_data.c - data whose columns are pages of a packed file. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/data/packed.h"
#include "scheduler/schedule.h"

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

/* The column becomes the array of that entry. */
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

/* Starts of samples: from 0, never descending. */
static bool are_starts(const struct cavs__column *c, int samples)
{
    const int64_t *start = c->p;

    if (c->n != (size_t)samples + 1 || start[0] != 0)
        return false;
    for (int i = 0; i < samples; i++) {
        if (start[i + 1] < start[i] || start[i + 1] - start[i] > INT32_MAX / 4)
            return false;
    }
    return true;
}

/* The arrays of one input, in a stage of so many vertices. */
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
        rc = d->checked ? CAVS_OK : cavs__fail_nomem("data", (size_t)d->samples);
    }
    if (rc) {
        cavs_data_destroy(d);
        return rc;
    }
    *out = d;
    return CAVS_OK;
}

/* ---- the first use of a sample ---- */

/* Vertices stood over; whether those are the right ones makes no difference to memory. */
static bool over_is_sound(const struct cavs_data *d, const struct cavs__stage_data *s, int sample,
                          int32_t n)
{
    const int64_t *base = cavs__starts(&d->stages[s->stage->base->number]);
    const int32_t *over = cavs__column_at(&s->over, (size_t)cavs__starts(s)[sample]);

    for (int32_t v = 0; v < n; v++) {
        if (over[v] < 0 || over[v] >= base[sample + 1] - base[sample])
            return false;
    }
    return true;
}

/* count and equal steer the balance of shards and the sharing of rows. */
static bool numbers_are_sound(const struct cavs__stage_data *s, int sample, int32_t n)
{
    int nf = s->stage->nfunctions;
    const int32_t *count = cavs__column_at(&s->count, (size_t)sample * (size_t)nf);
    int64_t sum = 0;

    for (int f = 0; f < nf; f++) {
        if (count[f] < 0)
            return false;
        sum += count[f];
    }
    for (int k = 0; k < s->stage->ninputs; k++) {
        const int64_t *starts = cavs__input_starts(s, k);
        const int32_t *equal = s->equal[k].p;

        for (int64_t i = starts[sample]; equal && i < starts[sample + 1]; i++) {
            if (equal[i] < 0 || equal[i] > i)
                return false;
        }
    }
    return sum == n;
}

/* Lengths of lists add up to what the sample has of entries. */
static bool lists_are_sound(const struct cavs__stage_data *s, int sample, int32_t n)
{
    for (int k = 0; k < s->stage->ninputs; k++) {
        const int64_t *starts = cavs__input_starts(s, k);
        const int32_t *length = (const int32_t *)s->length[k].p;
        int64_t sum = 0, entries = starts[sample + 1] - starts[sample];

        if (s->stage->inputs[k]->per != CAVS__PER_ENTRY)
            continue;
        for (int32_t v = 0; v < n; v++) {
            int32_t l = length[cavs__starts(s)[sample] + v];

            if (l < 0 || l > entries - sum)
                return false;
            sum += l;
        }
        if (sum != entries)
            return false;
    }
    return true;
}

/* child_ptr is made from the degrees; scratch has room for 3 n + 3. */
static bool graph_is_sound(const struct cavs__stage_data *s, int sample, int32_t n,
                           int32_t *scratch)
{
    const int64_t *first = s->first.p;
    int64_t v0 = cavs__starts(s)[sample], e = 0, edges = first[sample + 1] - first[sample];
    const int32_t *degree = cavs__column_at(&s->degree, (size_t)v0);
    int slots[s->stage->nfunctions];
    struct cavs__graph g = {.n = n,
                            .nfunctions = s->stage->nfunctions,
                            .function = cavs__column_at(&s->function, (size_t)v0),
                            .child_ptr = scratch,
                            .child = cavs__column_at(&s->child, (size_t)first[sample]),
                            .slots = slots};
    int32_t vertex, child;

    scratch[0] = 0;
    for (int32_t v = 0; v < n; v++) {
        if (degree[v] < 0 || degree[v] > edges - e)
            return false;
        e += degree[v];
        scratch[v + 1] = (int32_t)e;
    }
    for (int f = 0; f < s->stage->nfunctions; f++)
        slots[f] = s->stage->functions[f]->slots;
    return e == edges && cavs__graph_check(&g, scratch + n + 1, &vertex, &child) == CAVS__GRAPH_OK;
}

static int check_stage(const struct cavs_data *d, const struct cavs__stage_data *s, int sample)
{
    int32_t n = (int32_t)(cavs__starts(s)[sample + 1] - cavs__starts(s)[sample]);
    int32_t *scratch = malloc((3 * (size_t)n + 3) * sizeof *scratch);
    bool sound;

    if (!scratch)
        return cavs__fail_nomem("graph check", (3 * (size_t)n + 3) * sizeof *scratch);
    sound = graph_is_sound(s, sample, n, scratch) && numbers_are_sound(s, sample, n) &&
            lists_are_sound(s, sample, n) && (!s->stage->base || over_is_sound(d, s, sample, n));
    free(scratch);
    return sound ? CAVS_OK
                 : cavs__fail(
                       CAVS_EGRAPH,
                       "%s: sample %d, stage %s: its graph does not fit the model's functions, "
                       "or is damaged (cavs-pack --verify)",
                       d->packed->path, sample, s->stage->name);
}

int cavs__data_check_sample(const struct cavs_data *d, int sample)
{
    int rc = CAVS_OK;

    if (!d->packed || d->checked[sample])
        return CAVS_OK;
    for (int i = 0; i < d->model->nstages && !rc; i++)
        rc = check_stage(d, &d->stages[i], sample);
    d->checked[sample] = !rc;
    return rc;
}
