/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h - dynamic tensors: lists of chunks, each one contiguous row-major block and one StarPU
 * matrix handle.
 *
 * A chunk is registered once and reused for every batch: one chunk per shard for values of
 * vertices, one chunk for parameters.  A batching task V_t lies inside one chunk and names its rows
 * by a range.  A chunk that a batch has outgrown is replaced by a larger one; its old content is
 * not kept.  Rows are padded to whole cache lines.
 */
#ifndef CAVS_MEMORY_TENSOR_H
#define CAVS_MEMORY_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

/* From pinned memory a device's bus copies by itself; but pinning takes longer (StarPU's simulation
 * has 0.65 ms for 1 MB) than filling, so what stays in main memory is not pinned. */
enum cavs__pinning { CAVS__PINNED, CAVS__PAGED };

struct cavs__chunk {
    float *p; /* in main memory, 64-byte aligned; owned */
    enum cavs__pinning pinning;
    int64_t rows;                /* capacity */
    starpu_data_handle_t handle; /* NULL while rows == 0 */
};

struct cavs__tensor {
    const char *name; /* not owned */
    int cols;
    ptrdiff_t ld; /* floats between rows */
    int nchunks;
    struct cavs__chunk *chunks;
};

/* Row stride used for a tensor of that many columns. */
ptrdiff_t cavs__tensor_ld(int cols);

/* name is kept by reference.  0, or -1 when out of memory. */
int cavs__tensor_init(struct cavs__tensor *t, const char *name, int cols, int nchunks);
/* Makes room for so many chunks, if there are fewer.  0, or -1 when out of memory. */
int cavs__tensor_add_chunks(struct cavs__tensor *t, int nchunks);
/* Waits for the tasks that use the chunks, then frees everything. */
void cavs__tensor_free(struct cavs__tensor *t);
/* Makes chunk i at least `rows` rows large; its first `kept` rows stay.  Growing waits for tasks
 * that use the chunk; the new memory, of that kind, is whatever it was, so that the workers touch
 * it first. 0, or -1 when out of memory; the old chunk is then still there. */
int cavs__tensor_extend(struct cavs__tensor *t, int i, int64_t rows, int64_t kept,
                        enum cavs__pinning pinning);
/* Sets chunk i to zero; waits for tasks that use it. */
void cavs__tensor_clear(struct cavs__tensor *t, int i);
/* The content of chunk i, for the caller alone until released; waits for tasks that use it. */
float *cavs__tensor_acquire(struct cavs__tensor *t, int i, enum starpu_data_access_mode mode);
void cavs__tensor_release(struct cavs__tensor *t, int i);
/* Begins to copy chunk i, which nobody writes, to a memory node. */
void cavs__tensor_prefetch(struct cavs__tensor *t, int i, unsigned node);
size_t cavs__tensor_bytes(const struct cavs__tensor *t);

#endif
