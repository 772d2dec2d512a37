/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collect_simulated.c - collect.c on machines that are simulated.
 *
 * There a main thread has no part in MPI, which knows only the thread of StarPU that carries
 * messages: so what the ranks bring together travels as data of StarPU's.  In each round a rank
 * sends on all that it has to one that is twice as far away as in the round before, as MPI's own
 * libraries do with few bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/ranks/mpi.h"

enum { FIRST_TAG = 1 << 29 };

/* Makes one round: sends `bytes` to one rank, and receives as many from another. */
static int pass_on(struct cavs__ranks *r, int round, char *out, int to, char *in, int from,
                   size_t bytes)
{
    starpu_data_handle_t sent, came;
    int rc;

    starpu_vector_data_register(&sent, STARPU_MAIN_RAM, (uintptr_t)out, (uint32_t)bytes, 1);
    starpu_vector_data_register(&came, STARPU_MAIN_RAM, (uintptr_t)in, (uint32_t)bytes, 1);
    rc = cavs__ranks_send(r, sent, to, FIRST_TAG + round, NULL, NULL);
    if (!rc)
        rc = cavs__ranks_receive(r, came, from, FIRST_TAG + round, NULL, NULL);
    starpu_data_unregister(sent);
    starpu_data_unregister(came);
    r->bytes -= (int64_t)bytes; /* what ranks tell one another is not of their gradients */
    return rc;
}

/* Where StarPU has not started, all ranks have the same: they come from one command line. */
int cavs__ranks_gather(struct cavs__ranks *r, const void *mine, size_t bytes, void *all)
{
    char *have = malloc((size_t)r->count * bytes + 1); /* of this rank, and of those after it */
    int rc = CAVS_OK, n = 1;

    if (!have)
        return cavs__fail_nomem("ranks", (size_t)r->count * bytes);
    memcpy(have, mine, bytes);
    for (; !starpu_is_initialized() && n < r->count; n++)
        memcpy(have + (size_t)n * bytes, mine, bytes);
    for (int round = 0; n < r->count && !rc; round++, n *= 2) {
        int more = 2 * n > r->count ? r->count - n : n;

        rc = pass_on(r, round, have, (r->rank + r->count - n) % r->count, have + (size_t)n * bytes,
                     (r->rank + n) % r->count, (size_t)more * bytes);
    }
    for (int i = 0; i < r->count && !rc; i++)
        memcpy((char *)all + (size_t)((r->rank + i) % r->count) * bytes, have + (size_t)i * bytes,
               bytes);
    free(have);
    return rc;
}

/* All contributions are made as long as the longest. */
int cavs__ranks_gather_lists(struct cavs__ranks *r, const int32_t *mine, const int64_t *n,
                             int32_t *all)
{
    int64_t most = 1;
    int32_t *padded, *at = all;
    int rc;

    for (int i = 0; i < r->count; i++)
        most = n[i] > most ? n[i] : most;
    padded = calloc((size_t)most * ((size_t)r->count + 1), sizeof *padded);
    if (!padded)
        return cavs__fail_nomem("lists of ranks", (size_t)most * ((size_t)r->count + 1) * 4);
    memcpy(padded, mine, (size_t)n[r->rank] * sizeof *mine);
    rc = cavs__ranks_gather(r, padded, (size_t)most * sizeof *mine, padded + most);
    for (int i = 0; i < r->count && !rc; at += n[i++])
        memcpy(at, padded + (i + 1) * most, (size_t)n[i] * sizeof *at);
    free(padded);
    return rc;
}

/* Nothing is computed in a simulation, so other ranks lack nothing. */
int cavs__ranks_complete(struct cavs__ranks *r, float *rows, size_t n)
{
    (void)rows;
    (void)n;
    return cavs__ranks_agree_on(r, "rows", CAVS_OK);
}
