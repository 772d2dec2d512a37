/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - a finished model compiled for execution: which dynamic tensors there are, where every
 * symbol's value lives, and which kinds of tasks compute them.  Made once per session, never per
 * sample; pure: nothing here runs or allocates tensor memory.
 *
 * Parts of a function (classes of classify.c, for F and dF) become task kinds: eager and lazy parts
 * run over all rows of their function in a shard, the chain of all functions of a stage is one kind
 * that runs V_t by V_t, and every parameter gradient is a kind of its own over all rows (lazy
 * batching).
 */
#ifndef CAVS_CORE_COMPILE_PLAN_H
#define CAVS_CORE_COMPILE_PLAN_H

#include <starpu.h>
#include <stdio.h>

#include "codelets/copies.h"
#include "codelets/part.h"
#include "core/declare/model.h"

enum cavs__tensor_kind {
    CAVS__T_STATE,       /* scattered states               rows of the stage */
    CAVS__T_EDGE,        /* gradients of gathered slots    child slots of the stage */
    CAVS__T_PUSH,        /* a channel                      rows of the stage */
    CAVS__T_INPUT,       /* pulled float rows              rows, or edges, of the stage */
    CAVS__T_BUNDLE,      /* values kept between parts      the next, by block; or distinct inputs */
    CAVS__T_FETCH_GRAD,  /* gradient of one fetch          rows of the function, or entries */
    CAVS__T_LOOKUP_GRAD, /* gradient of one lookup         rows of the function, or entries */
    CAVS__T_SPREAD_GRAD, /* gradient of one shared value   rows of the function */
    CAVS__T_LINES,       /* of a tape: rows of all widths  lines */
    CAVS__T_INDEX,       /* int32 index sections */
    CAVS__T_METRIC,
    CAVS__T_PARAM,
    CAVS__T_COPY, /* of a parameter, in another layout */
    CAVS__T_GRAD  /* gradient of a dense parameter */
};

struct cavs__tensor_desc {
    enum cavs__tensor_kind kind;
    enum cavs__space space;
    int cols;
    char *name;
    const struct cavs_stage *stage;       /* NULL for parameters and metrics */
    const struct cavs_function *function; /* for rows of one */
    const struct cavs__list *list;        /* for entries of one */
    const struct cavs_param *param;
    const struct cavs_symbol *symbol; /* the FETCH, or the GRAD_LOOKUP */
};

/* Index sections of a stage; all but the CSR ones are in function rows, or in entries of a list of
 * the function. */
enum cavs__section_kind {
    CAVS__S_IDS,        /* function, input, [list] */
    CAVS__S_CHILD,      /* function, slot: state row of that child */
    CAVS__S_FETCH,      /* function, fetch, [list]: row of the fetched stage */
    CAVS__S_LIST_PTR,   /* function, list: first entry of each function row, and one more */
    CAVS__S_LIST_OWNER, /* function, list: function row that has the entry */
    CAVS__S_LIST_CHILD, /* function, list: state row of the child */
    CAVS__S_LIST_NTH,   /* function, list, number: 0 where the entry has it in its list, else -1 */
    CAVS__S_PARENT_PTR, /* CSR over stage rows: child slots that read the row */
    CAVS__S_PARENT_EDGE,
    CAVS__S_CONSUMER_PTR, /* CSR over stage rows: function rows (entries) of fetch's function that
                             fetched the row */
    CAVS__S_CONSUMER_ROW,
    CAVS__S_SHARER,     /* function: number of the row's inputs among the distinct ones */
    CAVS__S_SHARER_PTR, /* CSR over distinct inputs: function rows that have them */
    CAVS__S_SHARER_ROW,
    CAVS__S_DISTINCT_ROW, /* function, distinct inputs: a stage row that has them */
    CAVS__S_DISTINCT_IDS, /* function, input, distinct inputs: the id */
    CAVS__S_NOISE_LOW,    /* function, [list]: the row's key for dropout; see noise.c */
    CAVS__S_NOISE_HIGH
};

struct cavs__section {
    enum cavs__section_kind kind;
    const struct cavs_function *function;
    int number; /* input, slot or place in a list */
    int list;   /* d > 0: of the function, and a value per entry */
    const struct cavs_symbol *fetch;
    int partner; /* of CSR pointers: the section of what they point to, which is filled with them */
};

enum cavs__phase { CAVS__FORWARD, CAVS__BACKWARD, CAVS__GRADIENT };

/* One kind of task: a StarPU codelet with the tensors it touches. */
struct cavs__task_kind {
    char *name;
    enum cavs__phase phase;
    enum cavs__class klass;
    bool shared; /* rows are distinct inputs of the function */
    const struct cavs_stage *stage;
    const struct cavs_function *function; /* NULL: chain, all functions of the stage */
    int nparts;                           /* at least the functions of the stage */
    struct cavs__part **parts; /* by function number; NULL where the function has nothing to do */
    int nbuffers;
    int tensor[CAVS__MAX_BUFFERS];
    bool written[CAVS__MAX_BUFFERS];
    int index_buffer;
    const char *cpu_only; /* why not on devices; NULL: on those that are there, too */
    struct starpu_codelet codelet;
};

/* Whose V_t its tasks take. */
static inline enum cavs__chain cavs__chain_of(const struct cavs__task_kind *k)
{
    return k->klass != CAVS__CHAIN     ? CAVS__NO_CHAIN
           : k->phase == CAVS__FORWARD ? CAVS__CHAIN_FORWARD
                                       : CAVS__CHAIN_BACKWARD;
}

struct cavs__stage_plan {
    const struct cavs_stage *stage;
    int state, edge, index; /* tensor numbers, -1: none */
    int *push;              /* [nchannels] tensor that holds the channel */
    int *push_col;          /* [nchannels] first column of the channel in it */
    int *input;             /* [ninputs] tensor of float rows, -1 for ids */
    int nsections;
    struct cavs__section *sections;
    int nkinds;
    struct cavs__task_kind **kinds; /* in the order of execution */
    /* equal vertices may share a row: nothing in it depends on which vertex it is */
    bool mergeable;
    /* [nfunctions][ninputs] what vertices must have in common to share work; NULL: the function
     * shares nothing */
    bool **shared_inputs;
    bool noisy; /* equal vertices differ by their dropout */
    /* [nfunctions] nominal GEMM operations per vertex, forward + backward (training) */
    double *flops;
    double *flops_forward;                   /* [nfunctions] forward alone */
    double *list_flops, *list_flops_forward; /* [nlists] the same per entry */
    /* [nfunctions] nominal seconds per vertex of eager work that the chain waits for */
    double *streamed;
};

enum { CAVS__RATE_SIZES = 4 /* products of 1, 4, 16, 64 rows */ };

/* How fast work goes on one worker. */
struct cavs__rates {
    double gemm[CAVS__RATE_SIZES]; /* seconds per operation */
    double value;                  /* seconds per number written by element-wise work and copies */
};

struct cavs__plan_options {
    bool no_lazy, no_eager, no_fusion;
    bool no_sharing; /* among vertices with equal inputs */
    bool training;
    bool panels;              /* products read weights in panels; no device does */
    bool in_place;            /* gradients may lie where values were that only they are made from */
    bool few_launches;        /* on a device where each costs something */
    bool bf16;                /* operands of products are rounded to bfloat16; likewise */
    bool device_bf16;         /* they are on devices that can, and there alone */
    bool require;             /* a device that cannot be used is an error */
    bool no_cpus;             /* there are devices alone: no group is compiled for a CPU */
    const char *cpu_only;     /* no task may run on a device, for this reason; NULL: it may */
    int l2_bytes;             /* per core, for tile sizes */
    int64_t l3_bytes;         /* likewise */
    struct cavs__rates rates; /* by which `streamed` is told */
};

struct cavs__plan {
    const struct cavs_model *model;
    struct cavs__plan_options options;
    int ntensors;
    struct cavs__tensor_desc *tensors;
    int nstages;                     /* the model's, and behind them those of tapes */
    struct cavs__stage_plan *stages; /* [nstages] */
    int *param, *grad;               /* [nparams] tensor numbers, -1: none */
    int (*copies)[CAVS__LAYOUTS];    /* [nparams] the same of copies in each layout */
    int metric;
    size_t scratch;                     /* floats: the largest scratch of any part */
    struct cavs__device_groups *groups; /* kernels of fused groups on devices; NULL: none */
};

int cavs__plan_create(const struct cavs_model *m, const struct cavs__plan_options *options,
                      struct cavs__plan **out);
void cavs__plan_destroy(struct cavs__plan *p);
/* The tensor that holds the parameter's values in that layout, or in rows instead of panels where
 * the plan is without: a copy is added if there is none yet.  An error code, reported, if there is
 * no memory. */
int cavs__plan_weights(struct cavs__plan *p, const struct cavs_param *w, enum cavs__layout layout);
/* tiles.c: do all parameters that rows are multiplied by, in the copies that products read, stay in
 * the second-level cache from batch to batch? */
bool cavs__weights_stay(const struct cavs__plan *p);
/* kinds.c: the kind of the stage's chain in that phase; NULL: there is none. */
struct cavs__task_kind *cavs__find_chain(const struct cavs__stage_plan *sp, enum cavs__phase phase);
/* recorded.c: the plan grows by the operators of a tape, a stage for it with a function each. */
/* The number of the next such stage: that of one that was dropped, if there is one. */
int cavs__plan_next_stage(const struct cavs__plan *p);
/* The tensors of a stage of that number; after an error there is none. */
int cavs__plan_add_stage(struct cavs__plan *p, const struct cavs_stage *s);
/* The parts of a function that has been added to it; what they need of parameters is then in the
 * plan, too. */
int cavs__plan_add_function(struct cavs__plan *p, struct cavs_function *f);
/* Nothing of it runs any more.  Its tensors stay, for the next stage of a tape. */
void cavs__plan_drop_stage(struct cavs__plan *p, int stage);
/* The gradient of a parameter that the model itself does not train. */
int cavs__plan_gradient(struct cavs__plan *p, const struct cavs_param *w);

/* Does the plan have a dense gradient of a parameter, or of what it is columns of? */
static inline bool cavs__has_dense_gradient(const struct cavs__plan *p, const struct cavs_param *w)
{
    return p->grad[cavs__stored(w)->number] >= 0;
}

/* Is the gradient of a parameter one of the rows that were looked up alone? */
static inline bool cavs__has_row_gradient(const struct cavs__plan *p, const struct cavs_param *w)
{
    return w->lookup_use && !cavs__has_dense_gradient(p, w);
}

/* Is a parameter both looked up and multiplied (tied weights)?  Then its gradient is dense. */
static inline bool cavs__is_tied(const struct cavs__plan *p, const struct cavs_param *w)
{
    return w->lookup_use && cavs__has_dense_gradient(p, w);
}

/* Nominal operations of products, of a vertex (domain 0) or of an entry of one of the function's
 * lists; backward: those of dF and of parameters' gradients, too. */
double cavs__function_flops(const struct cavs_function *f, int domain, bool backward);

/* explain.c: what became of every operator, as text. */
void cavs__plan_explain(const struct cavs__plan *p, FILE *out);

/* worth.c: seconds for so many rows of a part in one task, which have so many entries each in the
 * lists of the part. */
double cavs__part_seconds(const struct cavs__rates *r, const struct cavs__part *p, int rows,
                          const double entries[CAVS__PART_LISTS]);

#endif
