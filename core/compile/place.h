/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the working state while one function's parts are made: parts.c and move.c say what each
 * of them computes, places.c where values live, operand.c where they are read, fuse.c and delay.c
 * when items run, fuse.c which run as one, emit.c makes the steps, together.c finds those that may
 * run at once, scratch.c packs what is left, tiles.c says how many rows are computed at a time.
 */
#ifndef CAVS_CORE_COMPILE_PLACE_H
#define CAVS_CORE_COMPILE_PLACE_H

#include "core/compile/plan.h"

/* Part numbers of a function: forward and backward classes, shared values, then sums over rows: one
 * per parameter gradient, and one for all metrics. */
enum {
    CAVS__PART_SHARED = 6, /* what vertices with equal inputs share, in F and in dF */
    CAVS__PART_SHARED_BACK,
    CAVS__PARTS_CLASSED,
    CAVS__NO_PART = -1
};

/* A value or a copy that a part computes. */
struct cavs__item {
    struct cavs_symbol *x;     /* what is computed or copied */
    bool copy;                 /* copy x to `dest` instead of computing it */
    struct cavs__operand dest; /* copies */
    struct cavs_symbol *into;  /* copies: the concatenation or sink that wants it */
    int time;                  /* even: single steps, odd: element-wise groups; see fuse.c */
    int group;                 /* union-find parent among items of one time */
    int set;                   /* group before the items were sorted */
    int next;                  /* member of the group after this one, -1: none; since then */
    int piece;    /* of a group that was cut: it reads what the pieces before it made */
    bool emitted; /* first members of groups: there is a step for them */
};

/* Per symbol, while the function is placed. */
struct cavs__value {
    int part;          /* that computes it */
    bool saved;        /* read by another part */
    bool after_spread; /* see cavs__find_sharing() */
    bool placed;
    struct cavs__operand at; /* when placed; tensor numbers in .buffer */
};

/* Per symbol, while one part is made. */
struct cavs__local {
    bool here; /* computed in this part (its own, or a concatenation made again) */
    bool placed;
    struct cavs__operand at;
    int item; /* its item, -1: none */
    int time;
};

/* Items that read symbol i: item[first[i]] up to item[first[i + 1]], without that. */
struct cavs__readers {
    int *first; /* [nsymbols + 1] */
    int *item;
    size_t cap; /* room in item */
};

/* Columns of what a row of a tape keeps. */
struct cavs__kept {
    int from, end;
};

struct cavs__placer {
    struct cavs__plan *plan;
    struct cavs__stage_plan *sp;
    struct cavs_function *f;
    bool shares;  /* evaluates something once per distinct input */
    bool *shared; /* [nsymbols] what has rows of distinct inputs then */
    int nparts;
    struct cavs_symbol **sum_sink; /* [nparts - CAVS__PARTS_CLASSED] a sink of each */
    struct cavs__value *value;     /* [nsymbols] */
    /* symbols by the part that computes them: part i has own[first_own[i]] up to the next */
    int *own;
    int *first_own; /* [nparts + 1] */
    /* tensors of values kept by that part, by domain, -1 */
    int bundle[CAVS__PARTS_CLASSED][1 + CAVS__MAX_LISTS];
    /* on a tape, where all parts keep theirs in one row: the columns of that part, of domain 0 */
    struct cavs__kept kept[CAVS__PARTS_CLASSED];
    /* the part being made */
    int part;
    struct cavs__local *local; /* [nsymbols] */
    int nhere, *here;          /* [nhere] numbers of the symbols that are, increasing */
    int nitems;
    struct cavs__item *items;
    struct cavs__readers readers; /* of a symbol as it is */
    /* of a symbol itself or by way of slices, see cavs__root() */
    struct cavs__readers root_readers;
    int scratch[1 + CAVS__MAX_LISTS]; /* floats per row so far, by domain */
    struct cavs__part *out;
    /* the first error behind an operand; operands are then of no use, and neither is the part */
    int error;
};

/* roles.c */
/* Symbol under any slices, and under what only tells which rows it has; and the column it starts
 * at. */
struct cavs_symbol *cavs__base(const struct cavs__placer *p, struct cavs_symbol *x, int *col);
/* The same, and under a repetition for the entries of a list: what is read in the end. */
struct cavs_symbol *cavs__root(const struct cavs__placer *p, struct cavs_symbol *x);
/* The domain in which an item computes or copies. */
int cavs__item_domain(const struct cavs__item *item);
/* Sources that can be read in any part from where they are. */
bool cavs__is_reference(const struct cavs_symbol *x);
bool cavs__is_constant(const struct cavs_symbol *x);
bool cavs__is_elementwise(const struct cavs_symbol *x);
/* Has a value or an effect of its own that some part must compute. */
bool cavs__is_computed(const struct cavs_symbol *x);
/* Sinks that only say where their operand is to be written. */
bool cavs__is_destination(const struct cavs_symbol *x);
/* A concatenation of what other parts hold: made again by each part that reads it, rather than
 * kept. */
bool cavs__is_remade(const struct cavs__placer *p, const struct cavs_symbol *x);

/* parts.c: which part computes each symbol, and which values other parts read. */
void cavs__find_parts(struct cavs__placer *p);
/* move.c: gives what need not be computed ahead of it to the part that reads it. */
void cavs__move_to_readers(struct cavs__placer *p);
/* What the part being made computes: its own symbols, and concatenations it reads that are made
 * again. */
void cavs__find_here(struct cavs__placer *p);
/* Does the part being made compute x, and another one read it? */
bool cavs__is_saved_here(const struct cavs__placer *p, const struct cavs_symbol *x);

/* places.c: makes the items of the part being made: where single steps leave their results, and
 * what has to be copied.  0 or a code. */
int cavs__place_steps(struct cavs__placer *p);
/* Likewise for element-wise results, once it is known which of them run as one. */
void cavs__place_elementwise(struct cavs__placer *p);
int cavs__add_item(struct cavs__placer *p, struct cavs__item item);
/* in_place.c: moves what the part being made keeps over what it alone still reads, where it can.
 * When all places are known, before there are steps.  0 or a code. */
int cavs__keep_in_place(struct cavs__placer *p);

/* readers.c */
/* Operand k of an item; NULL: there are no more. */
struct cavs_symbol *cavs__item_operand(const struct cavs__item *item, int k);
/* Finds the readers, when all items are there and as long as they stay in their order. */
int cavs__find_readers(struct cavs__placer *p);
void cavs__free_readers(struct cavs__placer *p);

/* evaluate_once.c */
/* Sets shares and shared, and after_spread of eager element-wise operators on shared values: they
 * cost nothing in the chain, where they are fused with what reads them; ahead of it they would keep
 * a row per vertex. */
int cavs__find_sharing(struct cavs__placer *p);
/* Has the part being made rows of distinct inputs? */
bool cavs__in_shared_part(const struct cavs__placer *p);
/* Does the part being made read b, which has a row per distinct input, for its vertices?  Not a
 * concatenation that it makes again: that has a row per vertex. */
bool cavs__is_spread_here(const struct cavs__placer *p, const struct cavs_symbol *b);

/* operand.c.  Operands always come back; what went wrong with them is in p->error. */
/* The index section, made at first mention; 0 where it cannot be. */
int cavs__section(struct cavs__placer *p, struct cavs__section s);
/* tensor, as cavs__plan_symbol_tensor() and cavs__plan_tensor() give it; 0 for a code, which is
 * noted. */
int cavs__checked(struct cavs__placer *p, int tensor);
/* Where the part being made reads x. */
struct cavs__operand cavs__operand_of(struct cavs__placer *p, struct cavs_symbol *x,
                                      bool contiguous);
struct cavs__operand cavs__scratch_operand(struct cavs__placer *p, int domain, int cols);
/* The same operand for a step over the entries of list `domain`: rows of vertices are repeated. */
struct cavs__operand cavs__operand_in(struct cavs__placer *p, struct cavs__operand o, int domain);
/* The operand of a step over vertices that reads all entries of each. */
struct cavs__operand cavs__listed(struct cavs__placer *p, struct cavs__operand o, int domain);
struct cavs__operand cavs__tensor_operand(int tensor, enum cavs__space space, enum cavs__mode mode,
                                          int col, int cols);
struct cavs__operand cavs__kept_operand(struct cavs__placer *p, int domain, int cols);
/* Adds columns to a tensor of kept values, or to what a row of a tape keeps: the first one, at the
 * begin of a cache line. */
int cavs__add_field(struct cavs__tensor_desc *d, int cols);
int cavs__add_recorded_field(int *kept, int cols);
struct cavs__operand cavs__columns(struct cavs__operand o, int from, int cols);
/* Rows of a tensor named by an index section; the section itself. */
struct cavs__operand cavs__indexed_operand(struct cavs__placer *p, int tensor, int col, int cols,
                                           struct cavs__section s);
struct cavs__operand cavs__ids_operand(struct cavs__placer *p, struct cavs__section s);

/*
 * Limits of one program.  Items: far below CAVS__EW_MAX_VALUES, with up to four operands and a
 * result an item; larger programs take long to compile.  Operands, of groups that share nothing and
 * are joined to save calls and launches only: a core's prefetchers follow about 32 streams, and
 * some devices promise room for the arguments of 42 operands only (device_set.h: group_fits).  The
 * limits are the same on all machines, so that what is computed does not depend on the devices.
 */
enum { CAVS__MOST_FUSED = 64, CAVS__MOST_OPERANDS = 24 };

/* fuse.c; 0 or a code */
int cavs__time_items(struct cavs__placer *p);
int cavs__fuse(struct cavs__placer *p);
int cavs__delay_items(struct cavs__placer *p); /* delay.c, between these two; likewise */
/* Are items i and j computed by one group? */
bool cavs__same_group(struct cavs__placer *p, int i, int j);
/* May the groups of items i and j, which share no value, be one step? */
bool cavs__may_join(const struct cavs__placer *p, int i, int j);
/* An element-wise value needs memory if anything outside its group reads it. */
bool cavs__read_outside(struct cavs__placer *p, const struct cavs_symbol *x);

/* Emits the steps of the items of the part being made. */
int cavs__emit(struct cavs__placer *p);
/* together.c: sets `together` of the steps. */
struct cavs__launch_limits {
    int width;            /* of the stage's state */
    bool lists_with_rows; /* products over entries beside those over vertices: on devices */
};
void cavs__find_together(struct cavs__part *part, const struct cavs__launch_limits *o);
/* row_steps.c: sets `sequence` of the steps.  An error code, reported, if there is no memory. */
int cavs__find_sequences(struct cavs__part *part);
/* scratch.c: lets scratch values share memory where their lives allow it. */
int cavs__pack_scratch(struct cavs__part *part);

/* ---- the plan that is being made ---- */

/* plan_tensors.c */
int cavs__plan_tensor(struct cavs__plan *p, struct cavs__tensor_desc desc, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* number, or a negative code */
int cavs__plan_section(struct cavs__stage_plan *s,
                       struct cavs__section section); /* number, or a negative code */

/* The tensor of that kind that belongs to a fetch, lookup or spread, made at first mention.
 * shared: its rows are distinct inputs. */
int cavs__plan_symbol_tensor(struct cavs__plan *p, enum cavs__tensor_kind kind,
                             const struct cavs_symbol *x, bool shared);
/* The tensors of all parameters, and that of the metrics. */
int cavs__plan_params(struct cavs__plan *p);

/* Which of the parts of a function: what runs it, a task kind, has the same. */
struct cavs__part_place {
    const struct cavs_function *function;
    enum cavs__phase phase;
    enum cavs__class klass;
    bool shared;      /* its rows are distinct inputs */
    const char *what; /* the parameter of a gradient, "metrics" or "shared"; NULL: none of these */
};
/* Hands over such a part, which becomes (part of) a task kind; takes it, also with an error. */
int cavs__plan_add_part(struct cavs__plan *p, const struct cavs__part_place *at,
                        struct cavs__part *part);

/* plan_stage.c: the tensors of a stage and the work of its functions, still without parts. */
int cavs__plan_stage(struct cavs__plan *p, const struct cavs_stage *s);
void cavs__part_destroy(struct cavs__part *part);
void cavs__stage_plan_destroy(struct cavs__stage_plan *sp);

/* kinds.c: puts the kinds of a stage into the order of execution. */
void cavs__sort_kinds(struct cavs__stage_plan *sp);
/* What the stage's chain waits for, once its kinds are bound. */
void cavs__find_streamed(struct cavs__stage_plan *sp, const struct cavs__plan_options *o);

/* bind_kinds.c: binds the operands of a kind to the buffers of its task. */
int cavs__bind_kind(const struct cavs__plan *p, struct cavs__task_kind *k);
/* The same for a part that has been added since. */
int cavs__bind_part(const struct cavs__plan *p, struct cavs__task_kind *k, struct cavs__part *part);
void cavs__name_codelet(struct cavs__task_kind *k);

/* tiles.c: rows of vertices that the part being made computes at a time. */
int cavs__tile_rows(const struct cavs__placer *p);
/* Bytes of the largest parameter of which each row of the part selects a block, if that
 * does not stay in the second-level cache; else 0. */
int64_t cavs__far_blocks(const struct cavs__plan_options *o, const struct cavs__part *part);

/* place.c: parts of one function.  kinds' parts refer to tensors by number until
 * cavs__plan_create() renumbers them. */
int cavs__place_function(struct cavs__plan *p, struct cavs_function *f);

#endif
