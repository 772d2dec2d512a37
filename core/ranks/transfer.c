/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - data from a task of one rank to a task of another, carried by StarPU. */
#include "core/base/error.h"
#include "core/ranks/mpi.h"

/* StarPU's traces tell messages to a rank apart by their tags alone. */
static int64_t tag_from(const struct cavs__ranks *r, int from, int64_t tag)
{
    return tag * r->count + from;
}

enum {
    TAG_BITS = 34,    /* more than any sender has tags */
    SENDERS = 1 << 16 /* at a time; behind what this room sends itself */
};

int64_t cavs__ranks_tags(struct cavs__ranks *r)
{
    return (1 + r->senders++ % SENDERS) << TAG_BITS;
}

int cavs__ranks_send(struct cavs__ranks *r, starpu_data_handle_t handle, int to, int64_t tag,
                     cavs__sent *done, void *arg)
{
    r->bytes += (int64_t)starpu_data_get_size(handle);
    return starpu_mpi_isend_detached(handle, to, tag_from(r, r->rank, tag), r->carry, done, arg) ==
                   0
               ? CAVS_OK
               : cavs__fail(CAVS_ERUNTIME, "StarPU does not send to rank %d", to);
}

int cavs__ranks_receive(struct cavs__ranks *r, starpu_data_handle_t handle, int from, int64_t tag,
                        cavs__sent *done, void *arg)
{
    return starpu_mpi_irecv_detached(handle, from, tag_from(r, from, tag), r->carry, done, arg) == 0
               ? CAVS_OK
               : cavs__fail(CAVS_ERUNTIME, "StarPU does not receive from rank %d", from);
}

void cavs__ranks_wait(struct cavs__ranks *r, double seconds)
{
    r->waited += seconds;
}

double cavs__ranks_waited(const struct cavs__ranks *r)
{
    return r ? r->waited : 0;
}

int64_t cavs__ranks_bytes(const struct cavs__ranks *r)
{
    return r ? r->bytes : 0;
}
