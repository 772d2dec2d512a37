/* SPDX-License-Identifier: Apache-2.0 */
/* tensor.c - see tensor.h. */
#include "memory/tensor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/handover.h"

enum { LINE = 16 }; /* floats in a cache line */

ptrdiff_t cavs__tensor_ld(int cols)
{
    return cols <= 1 ? 1 : ((ptrdiff_t)cols + LINE - 1) / LINE * LINE;
}

int cavs__tensor_init(struct cavs__tensor *t, const char *name, int cols, int nchunks)
{
    t->name = name;
    t->cols = cols;
    t->ld = cavs__tensor_ld(cols);
    t->nchunks = 0;
    t->chunks = calloc((size_t)nchunks + 1, sizeof *t->chunks);
    if (!t->chunks)
        return -1;
    t->nchunks = nchunks;
    return 0;
}

int cavs__tensor_add_chunks(struct cavs__tensor *t, int nchunks)
{
    struct cavs__chunk *chunks;

    if (nchunks <= t->nchunks)
        return 0;
    chunks = realloc(t->chunks, ((size_t)nchunks + 1) * sizeof *chunks);
    if (!chunks)
        return -1;
    memset(chunks + t->nchunks, 0, (size_t)(nchunks - t->nchunks) * sizeof *chunks);
    t->chunks = chunks;
    t->nchunks = nchunks;
    return 0;
}

static size_t chunk_bytes(const struct cavs__tensor *t, int64_t rows)
{
    return (size_t)rows * (size_t)t->ld * sizeof(float);
}

static int flags_of(enum cavs__pinning pinning)
{
    return pinning == CAVS__PINNED ? STARPU_MALLOC_PINNED : 0;
}

/* What goes over a batch in pages of 4 KB looks up more addresses than the processor keeps, and on
 * a virtual machine each look-up takes two.  Linux gives larger pages to who asks, whole ones:
 * those at both ends are asked for with what lies beside, since chunks lie side by side and few
 * have a page for themselves.  Nothing is lost where the system has none, or says no.  In a
 * simulation no task touches them, and a page takes memory only when it is touched. */
enum { LARGE_PAGE = 2 << 20, WORTH_ASKING = 1 << 16 };

static void ask_for_large_pages(const void *p, size_t bytes)
{
#if defined MADV_HUGEPAGE && !defined CAVS_SIMULATED
    uintptr_t from = (uintptr_t)p / LARGE_PAGE * LARGE_PAGE,
              to = ((uintptr_t)p + bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;

    if (bytes >= WORTH_ASKING)
        madvise((void *)from, to - from, MADV_HUGEPAGE);
#else
    (void)p;
    (void)bytes;
#endif
}

static void chunk_free(const struct cavs__tensor *t, struct cavs__chunk *c)
{
    if (!c->handle)
        return;
    starpu_data_unregister_no_coherency(c->handle);
    starpu_free_flags(c->p, chunk_bytes(t, c->rows), flags_of(c->pinning));
    *c = (struct cavs__chunk){0};
}

void cavs__tensor_free(struct cavs__tensor *t)
{
    for (int i = 0; i < t->nchunks; i++)
        chunk_free(t, &t->chunks[i]);
    free(t->chunks);
    t->chunks = NULL;
    t->nchunks = 0;
}

int cavs__tensor_extend(struct cavs__tensor *t, int i, int64_t rows, int64_t kept,
                        enum cavs__pinning pinning)
{
    struct cavs__chunk *c = &t->chunks[i], grown = {.rows = rows, .pinning = pinning};

    if (rows <= c->rows)
        return 0;
    if (c->rows > 0)
        grown.rows += rows / 4; /* batches differ in size: do not grow by every few rows */
    if (starpu_malloc_flags((void **)&grown.p, chunk_bytes(t, grown.rows), flags_of(pinning)) !=
            0 ||
        !grown.p)
        return -1;
    ask_for_large_pages(grown.p, chunk_bytes(t, grown.rows));
    if (kept > 0) {
        memcpy(grown.p, cavs__tensor_acquire(t, i, STARPU_R), chunk_bytes(t, kept));
        cavs__tensor_release(t, i);
    }
    chunk_free(t, c);
    starpu_matrix_data_register(&grown.handle, STARPU_MAIN_RAM, (uintptr_t)grown.p, (uint32_t)t->ld,
                                (uint32_t)t->ld, (uint32_t)grown.rows, sizeof(float));
    starpu_data_set_name(grown.handle, t->name);
    *c = grown;
    return 0;
}

static void set_to_zero(void *p, size_t bytes)
{
#ifdef CAVS_SIMULATED
    /* Pages that are given back read as zeros, and all ranks share this machine's memory. */
    enum { PAGE = 1 << 16 }; /* or smaller ones */
    uintptr_t from = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE,
              to = ((uintptr_t)p + bytes) / PAGE * PAGE;

    if (to > from && madvise((void *)from, to - from, MADV_DONTNEED) == 0) {
        memset(p, 0, from - (uintptr_t)p);
        memset((void *)to, 0, (uintptr_t)p + bytes - to);
        return;
    }
#endif
    memset(p, 0, bytes);
}

void cavs__tensor_clear(struct cavs__tensor *t, int i)
{
    if (!t->chunks[i].handle)
        return;
    cavs__tensor_acquire(t, i, STARPU_W);
    set_to_zero(t->chunks[i].p, chunk_bytes(t, t->chunks[i].rows));
    cavs__tensor_release(t, i);
}

float *cavs__tensor_acquire(struct cavs__tensor *t, int i, enum starpu_data_access_mode mode)
{
    struct cavs__chunk *c = &t->chunks[i];

    if (!c->handle)
        return NULL;
    starpu_data_acquire(c->handle, mode);
    cavs__handover_acquired(c->handle);
    return c->p;
}

void cavs__tensor_release(struct cavs__tensor *t, int i)
{
    if (!t->chunks[i].handle)
        return;
    cavs__handover_released(t->chunks[i].handle);
    starpu_data_release(t->chunks[i].handle);
}

void cavs__tensor_prefetch(struct cavs__tensor *t, int i, unsigned node)
{
    if (t->chunks[i].handle)
        starpu_data_prefetch_on_node(t->chunks[i].handle, node, 1);
}

size_t cavs__tensor_bytes(const struct cavs__tensor *t)
{
    size_t sum = 0;

    for (int i = 0; i < t->nchunks; i++)
        sum += chunk_bytes(t, t->chunks[i].rows);
    return sum;
}
