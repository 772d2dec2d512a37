/* SPDX-License-Identifier: Apache-2.0 */
/* alone.c - in place of the other files of this room where there is no MPI: one process, which
 * agrees with itself. */
#include "core/base/error.h"
#include "core/ranks/ranks.h"

int cavs__ranks_open(const void *communicator, struct cavs__ranks **out)
{
    if (communicator)
        return cavs__fail(CAVS_ERUNTIME, "a communicator is of no use here: this library was built "
                                         "without MPI (./quickstart --mpi builds one that has it)");
    *out = NULL;
    return CAVS_OK;
}

int cavs__ranks_init(struct cavs__ranks *r, struct starpu_conf *conf)
{
    (void)r;
    return starpu_init(conf);
}

int cavs__ranks_start(struct cavs__ranks *r, bool traced)
{
    (void)r;
    (void)traced;
    return CAVS_OK;
}

void cavs__ranks_shutdown(struct cavs__ranks *r)
{
    (void)r;
    starpu_shutdown();
}

void cavs__ranks_close(struct cavs__ranks *r)
{
    (void)r;
}

int cavs__rank(const struct cavs__ranks *r)
{
    (void)r;
    return 0;
}

int cavs__ranks_count(const struct cavs__ranks *r)
{
    (void)r;
    return 1;
}

void cavs__ranks_abort(struct cavs__ranks *r, int status)
{
    (void)r;
    (void)status;
}

int cavs__ranks_meet(struct cavs__ranks *r, const struct cavs__meeting *m)
{
    (void)r;
    return m->rc;
}

int cavs__ranks_agree(struct cavs__ranks *r, int rc)
{
    (void)r;
    return rc;
}

int cavs__ranks_agree_on(struct cavs__ranks *r, const char *call, int rc)
{
    (void)r;
    (void)call;
    return rc;
}

int cavs__ranks_gather(struct cavs__ranks *r, const void *mine, size_t bytes, void *all)
{
    (void)r;
    (void)mine;
    (void)bytes;
    (void)all;
    return CAVS_OK;
}

int cavs__ranks_gather_lists(struct cavs__ranks *r, const int32_t *mine, const int64_t *n,
                             int32_t *all)
{
    (void)r;
    (void)mine;
    (void)n;
    (void)all;
    return CAVS_OK;
}

int cavs__ranks_complete(struct cavs__ranks *r, float *rows, size_t n)
{
    (void)r;
    (void)rows;
    (void)n;
    return CAVS_OK;
}

int cavs__ranks_same(struct cavs__ranks *r, const char *what, const char *value)
{
    (void)r;
    (void)what;
    (void)value;
    return CAVS_OK;
}

void cavs__ranks_raise(struct cavs__ranks *r, unsigned bits)
{
    (void)r;
    (void)bits;
}

unsigned cavs__ranks_raised(struct cavs__ranks *r)
{
    (void)r;
    return 0;
}

int cavs__ranks_send(struct cavs__ranks *r, starpu_data_handle_t handle, int to, int64_t tag,
                     cavs__sent *done, void *arg)
{
    (void)r;
    (void)handle;
    (void)to;
    (void)tag;
    (void)done;
    (void)arg;
    return CAVS_OK;
}

int cavs__ranks_receive(struct cavs__ranks *r, starpu_data_handle_t handle, int from, int64_t tag,
                        cavs__sent *done, void *arg)
{
    return cavs__ranks_send(r, handle, from, tag, done, arg);
}

int64_t cavs__ranks_tags(struct cavs__ranks *r)
{
    (void)r;
    return 0;
}

int64_t cavs__ranks_bytes(const struct cavs__ranks *r)
{
    (void)r;
    return 0;
}

void cavs__ranks_wait(struct cavs__ranks *r, double seconds)
{
    (void)r;
    (void)seconds;
}

double cavs__ranks_waited(const struct cavs__ranks *r)
{
    (void)r;
    return 0;
}
