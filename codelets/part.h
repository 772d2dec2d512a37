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

#include "codelets/kernels/kernel.h"

/* Row ranges evaluated together; numbering as in scheduler/schedule.h.  brow0: the function row,
 * counted from the first of the block. */
struct cavs__segment {
    int32_t function;
    int32_t rows;
    int32_t row0, frow0, edge0, brow0;
    const int32_t *lines;    /* CAVS__LINES: where the rows of each value begin; NULL: none do */
    const int32_t *sections; /* its own, instead of the task's; NULL: those */
};

/* Which numbering the rows of a buffer follow. */
enum cavs__space {
    CAVS__FIXED,    /* not per vertex: parameters, metrics */
    CAVS__ROWS,     /* rows of the stage */
    CAVS__FROWS,    /* rows of the function */
    CAVS__BROWS,    /* rows of the function in a block of V_t */
    CAVS__DISTINCT, /* distinct inputs of the function: only for parts that have no other rows */
    CAVS__EDGES,    /* child slots of the stage */
    CAVS__ENTRIES,  /* entries of one list of the function */
    CAVS__BENTRIES, /* the same in a block of V_t */
    CAVS__LINES     /* rows of all widths in one buffer, each from a multiple of CAVS__LINE on */
};

/* A buffer of lines has a pitch of one line, and indices into it count lines: so a view of any
 * width reads its rows by number. */
enum { CAVS__LINE = 16 /* floats */ };

/* Of a segment's lines: of results, of what is kept beside them for another part, by vertex and by
 * entry of its list, and of the gradient of each operand. */
enum { CAVS__LINES_RESULT, CAVS__LINES_KEPT, CAVS__LINES_KEPT_ENTRIES, CAVS__LINES_OPERANDS };

static inline int32_t cavs__lines_of(int width)
{
    return (int32_t)(((int64_t)width + CAVS__LINE - 1) / CAVS__LINE);
}

enum cavs__mode {
    CAVS__DIRECT,
    CAVS__SAME,     /* one row for all vertices */
    CAVS__INDEXED,  /* rows named by an index section, which is in function rows (or entries) */
    CAVS__REPEATED, /* rows of vertices, each for all entries of its vertex in `list`; section: the
                       function row that owns each entry */
    CAVS__SUMMED,   /* sums over rows named by a pair of CSR sections, which is in stage rows, or in
                       function rows where that is the space */
    CAVS__IDS,      /* the index section itself */
    CAVS__ABSENT
};

enum { CAVS__SCRATCH = -1, CAVS__NO_BUFFER = -2, CAVS__MAX_BUFFERS = 48 };

struct cavs__operand {
    int16_t buffer;      /* number in the task's buffer list, CAVS__SCRATCH or CAVS__NO_BUFFER */
    uint8_t space, mode; /* enum cavs__space, enum cavs__mode */
    int col, cols;
    int region; /* scratch: floats per tile row before the block this value lies in */
    ptrdiff_t ld;
    int slots, slot; /* CAVS__EDGES: child slots per row, and which; CAVS__LINES: which lines */
    int section, ptr_section; /* of the index buffer */
    uint8_t list; /* d > 0: a row for each entry of the part's list d - 1; 0: for each vertex */
    bool listed;  /* the step takes vertices, and of this operand all entries of each */
};

struct cavs_symbol; /* core/declare/model.h */

/* What workers spend their time on: a step of a part, or a task of the optimizer. */
enum cavs__cost {
    CAVS__COST_PRODUCT,
    CAVS__COST_MEMORY /* moves rows, computes nothing */,
    CAVS__COST_OTHER,
    CAVS__COST_UPDATE /* no step's */,
    CAVS__COSTS
};

struct cavs__step {
    struct cavs__call call;
    enum cavs__cost cost;
    int nviews, noutputs; /* outputs are the last views */
    struct cavs__operand *v;
    const char *label; /* for people: operators in it */
    /* what core made it from: [nodes of a fused group], NULL for constants, or [1] */
    const struct cavs_symbol **origin;
    double flops; /* per row, nominal GEMM operations */
    int list;     /* rows: 0 of vertices, d > 0 entries of list d - 1 */
    int together; /* so many steps from this one on may run at once: products, no one's result is
                     touched by another; before them a group of copies, after them one of sums */
    struct cavs__sequence *sequence; /* that begins with it; NULL: none does */
};

/* Steps that a device takes in one launch, one after the other for each vertex. */
struct cavs__sequence {
    int n;
    const struct cavs__step *steps;
    const void *elsewhere; /* who has a kernel of it, and the number it has there; NULL: nobody */
    int number_there;
};

/* So many steps from this one on are one launch, if the device takes products together. */
static inline int cavs__steps_of_launch(const struct cavs__step *s)
{
    return s->sequence ? s->sequence->n : s->together;
}

enum { CAVS__PART_LISTS = 8 };

/* A ragged list whose entries some steps of a part take as rows.  Entries are numbered per
 * function; those of a tile's vertices are contiguous. */
struct cavs__part_list {
    bool used;
    int ptr_section; /* first entry of each function row, and one more */
    int scratch;     /* floats per entry */
    double flops;    /* per entry, of all steps over them */
    int tile;        /* most entries of a tile, unless one vertex has more */
};

struct cavs__part {
    char *name;
    int nsteps;
    struct cavs__step *steps;
    int scratch;         /* floats per tile row */
    int tile;            /* rows */
    double flops;        /* per row, of all steps over vertices */
    int64_t panel_bytes; /* of weights in panels, that it reads for each V_t */
    struct cavs__part_list lists[CAVS__PART_LISTS]; /* of its function */
    uint64_t adds_to; /* bit b: some step adds to buffer b, over rows */
    bool stage_rows;  /* an operand lies by rows or edges of the stage: else a segment may be any
                         consecutive rows of the function */
    bool coming; /* of a tape: nobody runs it yet, and devices have no kernels for its groups */
    /* Of a tape: kinds of devices, as in starpu_codelet::where, that cannot run it, and why. */
    uint32_t not_on;
    const char *why_not;
};

/* The first non-finite value seen, for the session's report. */
struct cavs__fault {
    int state; /* 0 none, 1 being written, 2 set */
    const struct cavs__part *part;
    const struct cavs__step *step;
    int32_t function;
    int32_t row;             /* of the stage, in a part with stage_rows */
    int32_t frow;            /* of the function, or the number of a distinct input */
    const int32_t *sections; /* of the segment, see there */
    int node;                /* of the step's origin, -1: not known */
    int shard;
    long batch;
};

/* The chain whose V_t the segments of a task are. */
enum cavs__chain { CAVS__NO_CHAIN, CAVS__CHAIN_FORWARD, CAVS__CHAIN_BACKWARD, CAVS__CHAINS };

/* Other workers may help with what tasks do, of which one runs at a time. */
struct cavs__claims; /* products/claims.h */

struct cavs__helping {
    struct cavs__claims *claims;
    void (*begin)(struct cavs__helping *h); /* in the task, first and last */
    void (*end)(struct cavs__helping *h);
};

/* What a task knows besides its buffers. */
struct cavs__part_args {
    const struct cavs__part *const *parts; /* by function number */
    const struct cavs__segment *segments;
    int nsegments;
    enum cavs__chain chain;
    int nbuffers;           /* of its kind, and one of scratch */
    const int16_t *numbers; /* [nbuffers] by which its parts know them; NULL: as they come */
    int most;               /* the largest of these numbers */
    int index_buffer; /* number of the buffer that holds the index sections, or CAVS__NO_BUFFER */
    const int32_t *sections;   /* offsets of the sections in it */
    const int32_t *host_index; /* the sections in main memory, for who counts there; NULL: none */
    uint64_t first;            /* bit b: reductions into buffer b start from zero */
    struct cavs__fault *fault; /* NULL: do not check */
    uint64_t *nanoseconds;     /* [CAVS__COSTS] added to atomically; NULL: do not measure */
    uint64_t *busy;            /* likewise: what the task has taken on a CPU; NULL: nobody asks */
    double seconds;            /* what the task should take; 0: not known */
    struct cavs__helping *helping; /* NULL: it runs alone */
    int shard;
    long batch;
};

/* Rows of a scratch block with room for n entries: blocks begin at cache lines. */
static inline size_t cavs__entry_room(int64_t n)
{
    return (size_t)(n + 15) / 16 * 16;
}

/* Floats of scratch that a part needs in one task; longest[d - 1]: most entries of one vertex in
 * list d, NULL: no more than a tile has. */
static inline size_t cavs__part_scratch(const struct cavs__part *p, const int32_t *longest)
{
    size_t floats = (size_t)p->scratch * (size_t)p->tile;

    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        const struct cavs__part_list *l = &p->lists[i];
        int most = longest && l->used && longest[i] > l->tile ? longest[i] : l->tile;

        if (l->used)
            floats += (size_t)l->scratch * cavs__entry_room(most);
    }
    return floats;
}

/* Runs on the CPU.  buffers[b]: base address of buffer b. */
void cavs__part_run(const struct cavs__part_args *a, void *const *buffers, float *scratch);

/* Some rows of a gradient dw = x^T dy, which is what a step of a part adds up; where rows select
 * blocks, of one block. */
struct cavs__window {
    int step;
    int from, rows; /* none: only what else the part does */
    float *out;     /* instead of the part's buffer */
    ptrdiff_t ld;
    bool begins; /* the first in this scratch: steps before that one are taken, too */
    bool sums;   /* and what else the part adds up */
    bool *added; /* set where a row has something to add; else nothing is written to `out` */
};

/* A gradient that is made while its parameter is updated: it need not lie anywhere then. */
struct cavs__made {
    const struct cavs__part_args *args; /* of the task that would make it */
    int step;                           /* of its part, that adds it up */
    int buffer;                         /* of its buffers, that it would lie in */
    int partial;                        /* which one of the parameter's gradients it is */
    const struct cavs__made *next;      /* those of other shards; NULL: there are none */
};

/* Makes them, of a part and segments that are one tile, or of a part of sums alone. */
void cavs__part_run_window(const struct cavs__part_args *a, void *const *buffers, float *scratch,
                           const struct cavs__window *window);

#endif
