/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - a part of a vertex function: the steps that one kind of task runs over its rows.
 *
 * A part is compiled once per function.  Running it walks segments (row ranges of V_t) in tiles of
 * rows, and on each tile takes all steps one after the other, so that a tile's values stay in cache
 * from the gather to the scatter. Operands say where their rows are relative to a segment; at run
 * time they become views (kernel.h).
 */
#ifndef CAVS_CODELETS_PART_H
#define CAVS_CODELETS_PART_H

#include "codelets/kernel.h"

/* Row ranges evaluated together; numbering as in scheduler/schedule.h.  brow0: the function row, counted
 * from the first of the block. */
struct cavs__segment {
    int32_t function;
    int32_t rows;
    int32_t row0, frow0, edge0, brow0;
};

/* Which numbering the rows of a buffer follow. */
enum cavs__space {
    CAVS__FIXED, /* not per vertex: parameters, metrics */
    CAVS__ROWS,  /* rows of the stage */
    CAVS__FROWS, /* rows of the function */
    CAVS__BROWS, /* rows of the function in a block of V_t */
    CAVS__EDGES  /* child slots */
};

enum cavs__mode {
    CAVS__DIRECT,
    CAVS__SAME,    /* one row for all vertices */
    CAVS__INDEXED, /* rows named by an index section, which is in function rows */
    CAVS__SUMMED,  /* sums over rows named by a pair of CSR sections, which is in stage rows */
    CAVS__IDS,     /* the index section itself */
    CAVS__ABSENT
};

enum { CAVS__SCRATCH = -1, CAVS__NO_BUFFER = -2, CAVS__MAX_BUFFERS = 48 };

struct cavs__operand {
    int16_t buffer;      /* number in the task's buffer list, CAVS__SCRATCH or CAVS__NO_BUFFER */
    uint8_t space, mode; /* enum cavs__space, enum cavs__mode */
    int col, cols;
    int region; /* scratch: floats per tile row before the block this value lies in */
    ptrdiff_t ld;
    int slots, slot;          /* CAVS__EDGES: child slots per row, and which */
    int section, ptr_section; /* of the index buffer */
};

/* What a step spends its time on. */
enum cavs__cost {
    CAVS__COST_PRODUCT,
    CAVS__COST_MEMORY /* moves rows, computes nothing */,
    CAVS__COST_OTHER,
    CAVS__COSTS
};

struct cavs__step {
    struct cavs__call call;
    enum cavs__cost cost;
    int nviews, noutputs; /* outputs are the last views */
    struct cavs__operand *v;
    const char *label; /* for people: operators in it */
    double flops;      /* per row, nominal GEMM operations */
};

struct cavs__part {
    char *name;
    int nsteps;
    struct cavs__step *steps;
    int scratch;      /* floats per tile row */
    int tile;         /* rows */
    double flops;     /* per row, of all steps */
    uint64_t adds_to; /* bit b: some step adds to buffer b, over rows */
};

/* The first non-finite value seen, for the session's report. */
struct cavs__fault {
    int state; /* 0 none, 1 being written, 2 set */
    const struct cavs__part *part;
    const struct cavs__step *step;
    int32_t function, row; /* stage row */
    int shard;
    long batch;
};

/* What a task knows besides its buffers. */
struct cavs__part_args {
    const struct cavs__part *const *parts; /* by function number */
    const struct cavs__segment *segments;
    int nsegments;
    int index_buffer; /* number of the buffer that holds the index sections, or CAVS__NO_BUFFER */
    const int32_t *sections;   /* offsets of the sections in it */
    uint64_t first;            /* bit b: reductions into buffer b start from zero */
    struct cavs__fault *fault; /* NULL: do not check */
    uint64_t *nanoseconds;     /* [CAVS__COSTS] added to atomically; NULL: do not measure */
    int shard;
    long batch;
};

/* Floats of scratch that a part needs in one task. */
static inline size_t cavs__part_scratch(const struct cavs__part *p)
{
    return (size_t)p->scratch * (size_t)p->tile;
}

/* Runs on the CPU.  buffers[b]: base address of buffer b. */
void cavs__part_run(const struct cavs__part_args *a, void *const *buffers, float *scratch);

#endif
