/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pulled.c - inputs that a sample brings only for the vertices whose function pulls them.
 *
 * Columns have a value for every vertex (edge, list) in any case, so that everything else may index
 * them; the values that nobody reads are put between the given ones when the sample is complete.
 */
#include <string.h>

#include "core/data/adding.h"

static bool pulls(const struct cavs__stage_data *s, const struct cavs__input *in, size_t v)
{
    return in->pulled[((const int32_t *)s->function.p)[v]];
}

/* Values of an input that vertex v has, if it has any. */
static size_t values_of(const struct cavs__stage_data *s, const struct cavs__input *in, size_t v)
{
    return in->per == CAVS__PER_EDGE ? (size_t)((const int32_t *)s->degree.p)[v] : 1;
}

size_t cavs__count_pulled(const struct cavs_data *d, const struct cavs__stage_data *s, int input)
{
    const struct cavs__input *in = s->stage->inputs[input];
    size_t end = (size_t)cavs__starts(s)[d->samples + 1], n = 0;

    for (size_t v = (size_t)cavs__starts(s)[d->samples]; v < end; v++)
        n += pulls(s, in, v) ? values_of(s, in, v) : 0;
    return n;
}

/* From the last vertex to the first, so that nothing is overwritten before it has moved. */
static void spread(const struct cavs_data *d, struct cavs__stage_data *s,
                   const struct cavs__input *in, struct cavs__column *c, size_t given)
{
    size_t first = (size_t)cavs__starts(s)[d->samples], v = (size_t)cavs__starts(s)[d->samples + 1];
    char *to = (char *)c->p + c->n * c->size, *from = (char *)c->p + given * c->size;

    while (v-- > first) {
        size_t bytes = values_of(s, in, v) * c->size;

        to -= bytes;
        if (pulls(s, in, v))
            memmove(to, from -= bytes, bytes);
        else
            memset(to, in->ids && in->per != CAVS__PER_ENTRY ? 0xff : 0, bytes); /* -1 or 0 */
    }
}

int cavs__spread_pulled(const struct cavs_data *d, struct cavs__stage_data *s, int input,
                        size_t missing)
{
    const struct cavs__input *in = s->stage->inputs[input];
    struct cavs__column *c = in->per == CAVS__PER_ENTRY ? &s->length[input] : &s->inputs[input];
    size_t given = c->n;
    int rc = missing > 0 ? cavs__column_append(c, NULL, missing) : CAVS_OK;

    if (!rc && missing > 0)
        spread(d, s, in, c, given);
    return rc;
}
