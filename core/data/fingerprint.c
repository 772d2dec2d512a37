/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint.c - a number that tells one set of samples from another. */
#include <string.h>

#include "core/base/hash.h"
#include "core/data/data.h"
#include "core/base/error.h"
#include "core/data/packed.h"

/* The columns one after the other, each with its length: equal bytes cut otherwise are another
 * set. */
static uint64_t add(uint64_t h, const void *bytes, size_t n)
{
    h = cavs__hash(h, &n, sizeof n);
    return n ? cavs__hash(h, bytes, n) : h;
}

/* A packed file has the checksums of its arrays in its directory: no page of them has to be
 * read. */
static uint64_t packed_fingerprint(const struct cavs_packed *p)
{
    return add(CAVS__HASH_START, p->bytes, p->arrays);
}

int cavs_data_fingerprint(const struct cavs_data *d, uint64_t *out)
{
    uint64_t sum;

    if (!d || !out)
        return cavs__fail(CAVS_EINVAL,
                          "cavs_data_fingerprint: no data, or no place for the number");
    if (d->packed) {
        *out = packed_fingerprint(d->packed);
        return CAVS_OK;
    }
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
