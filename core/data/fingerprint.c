/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c - a number that tells one set of samples from another. */
#include "core/base/hash.h"
#include "core/data/data.h"
#include "core/base/error.h"
#include "core/data/packed.h"

/* Hashes the columns one after the other, each with its length, so that the same bytes cut
 * otherwise have another sum. */
static uint64_t add(uint64_t h, const void *bytes, size_t n)
{
    h = cavs__hash(h, &n, sizeof n);
    return n ? cavs__hash(h, bytes, n) : h;
}

/* The directory of a packed file has the checksums of its arrays, so no page of them has to be
 * read. */
static int packed_fingerprint(const struct cavs_packed *p, uint64_t *out)
{
    int rc = cavs__packed_whole(p);

    if (!rc)
        *out = add(CAVS__HASH_START, p->bytes, p->arrays);
    return rc;
}

/* ---- some samples ---- */

static uint32_t sum(const struct cavs__column *c, int64_t first, int64_t end)
{
    const uint32_t *p = c->p;
    uint32_t all = 0;

    for (int64_t i = first; i < end; i++)
        all += p[i];
    return all;
}

/* Hashes the children and ids of a sample. */
static uint64_t sum_of_sample(const struct cavs__stage_data *s, int sample)
{
    const int64_t *first = s->first.p;
    uint64_t all = sum(&s->child, first[sample], first[sample + 1]);

    for (int k = 0; k < s->stage->ninputs; k++) {
        const int64_t *of = cavs__input_starts(s, k);

        if (s->stage->inputs[k]->ids)
            all += sum(&s->inputs[k], of[sample], of[sample + 1]);
    }
    return all;
}

uint64_t cavs__samples_sum(const struct cavs_data *d, const int *samples, int n)
{
    const uint64_t step = 31; /* the same in another order is another sum */
    uint64_t all = 0;

    for (int k = 0; k < d->model->nstages; k++) {
        const int64_t *start = cavs__starts(&d->stages[k]);

        for (int i = 0; i < n; i++)
            all = all * step + (uint64_t)(start[samples[i] + 1] - start[samples[i]]);
        if (n > 0 && !d->packed && !d->lent)
            all += sum_of_sample(&d->stages[k], samples[0]);
    }
    return all;
}

/* ---- all ---- */

int cavs_data_fingerprint(const struct cavs_data *d, uint64_t *out)
{
    uint64_t sum;

    if (!d || !out)
        return cavs__fail(CAVS_EINVAL,
                          "cavs_data_fingerprint: no data, or no place for the number");
    if (d->packed)
        return packed_fingerprint(d->packed, out);
    sum = add(CAVS__HASH_START, &d->samples, sizeof d->samples);
    for (int i = 0; i < d->model->nstages; i++) {
        for (int k = 0; k < cavs__stage_columns(&d->stages[i]); k++) {
            const struct cavs__input *input;
            const char *name;
            const struct cavs__column *c = cavs__stage_column(&d->stages[i], k, &name, &input);

            sum = add(sum, c->p, c->n * c->size);
        }
    }
    *out = sum;
    return CAVS_OK;
}
