/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the one intermediate form: models, stages, vertex functions and their symbols.
 *
 * A vertex function is a list of symbols in topological order (operands come first).  The user's
 * calls append forward symbols; autodiff (autodiff.c) appends backward symbols to the same list, so
 * that classification, placement and execution treat both directions alike: in dF the state
 * gradient plays the part of gather, the slot gradient that of scatter.
 */
#ifndef CAVS_CORE_DECLARE_MODEL_H
#define CAVS_CORE_DECLARE_MODEL_H

#include "core/base/hash_table.h"
#include "core/cavs.h"

enum cavs__op {
#define OPERATOR(NAME, record) CAVS__OP_##NAME,
#include "core/declare/operators.def"
#undef OPERATOR
    CAVS__OP_COUNT
};

/* When a symbol is computed, relative to the chain (Cavs section 3.5, Proposition 2). */
enum cavs__class { CAVS__EAGER, CAVS__CHAIN, CAVS__LAZY };

struct cavs_symbol {
    struct cavs_function *function;
    struct cavs_symbol **inputs;
    int number; /* position in function->symbols */
    int ninputs;
    enum cavs__op op;
    int domain; /* 0: a row per vertex; d > 0: a row per entry of function->lists[d - 1] */
    int width;
    int k, which;
    float s;
    struct cavs_param *param;
    struct cavs__metric *metric;
    struct cavs_place at; /* where the user asked for it */
    bool is_loss;
    /* of a concatenation that a tape records: its columns are read as its own, and not as those of
     * its operands; or not all of them were */
    bool whole, read_past;
    /* set by cavs_model_finish() */
    bool backward;   /* belongs to dF */
    bool live;       /* something asked for depends on it (forward: in training) */
    bool needs_grad; /* depends on something trained */
    bool shared;     /* forward: depends on the vertex's own inputs alone; see share.c */
    /* All up to here is what a tape's symbols have, and recorded anew with each of them; the rest
     * of these is 0. */
    struct cavs__input *input;
    struct cavs__channel *channel;
    struct cavs_symbol *fetch;
    /* gradient of the objective with respect to this symbol, or NULL */
    struct cavs_symbol *adjoint;
    enum cavs__class klass;
};

struct cavs_param {
    struct cavs_model *model;
    char *name;
    int number, rows, cols;
    struct cavs_init init;
    bool frozen;
    /* a declared symbol multiplies or uses it: every session that trains has a dense gradient;
     * where a tape does, its session has one from then on */
    bool dense_use;
    bool lookup_use; /* some symbol looks rows up: sparse gradient, unless there is a dense one */
    /* parameter that holds its numbers (join_products.c), from column merged_col; or NULL */
    struct cavs_param *merged;
    int merged_col;
    int nmembers; /* of a merged parameter */
    struct cavs_param **members;
};

/* The parameter whose tensors hold the numbers of p. */
static inline struct cavs_param *cavs__stored(const struct cavs_param *p)
{
    return p->merged ? p->merged : (struct cavs_param *)p;
}

/* What the rows of an input belong to. */
enum cavs__per { CAVS__PER_VERTEX, CAVS__PER_EDGE, CAVS__PER_ENTRY /* of a list it brings */ };

/* Data the samples bring to a stage, by name. */
struct cavs__input {
    char *name;
    int number; /* in its stage */
    enum cavs__per per;
    bool ids;
    int width; /* float rows: columns */
    int limit; /* ids: smallest bound of what they index (rows of a table, classes), INT32_MAX if
                  none */
    /* the earlier stage of the same sample whose vertices the ids name, or NULL */
    struct cavs_stage *vertices_of;
    bool *pulled; /* [nfunctions] by which functions; set by cavs_model_finish() */
};

/* What vertices of a stage make visible by push. */
struct cavs__channel {
    char *name;
    struct cavs_stage *stage;
    int number, width;
    int nfetches;
    struct cavs_symbol **fetches; /* FETCH symbols of later stages */
};

struct cavs__metric {
    char *name;
    int number;
};

enum { CAVS__TAPE_METRICS = 32 /* room for those that tapes add to a finished model */ };

enum { CAVS__MAX_LISTS = 8, CAVS__ANY_CHILDREN = -1 };

/*
 * A ragged list that every vertex of a function has: of its children, of ids that the samples
 * bring, or of all vertices that its sample has in an earlier stage.  Symbols may have a row for
 * each entry.  Entries are numbered per function, in the order of function rows.
 */
struct cavs__list {
    struct cavs_function *function;
    int number; /* among the lists of its stage */
    bool children;
    struct cavs__input *input; /* that brings it, or NULL */
    struct cavs_stage *whole;  /* the earlier stage, or NULL */
};

/* equal.c: symbols by what makes them equal; all zero at first. */
struct cavs__equals {
    struct cavs__table table;
    int room, n; /* for how many symbols it is, and how many are in it */
};

/* Symbols that stand for parameters of one row, however often these are mentioned. */
struct cavs__uses {
    size_t room;
    struct cavs_symbol **of; /* [room] by parameter; NULL: it was not mentioned yet */
};

/*
 * Takes what the builders make instead of a function's list: a tape (core/tape).  Its symbols are
 * those of the present recording, a function that is there for them alone.
 */
struct cavs__recorder {
    struct cavs_symbol *next; /* where it is to be: builders write there what it is */
    /* That one with n operands, or another; NULL: reported. */
    struct cavs_symbol *(*add)(struct cavs__recorder *r, int n, struct cavs_symbol *const *inputs);
    /* What the next symbol may well be, since it was so when the program was here before; or
     * cavs__unlikely.  A builder whose symbol is like it, with as many operands, all of the present
     * recording, may call again() before it looks at them: that records the symbol if they are of
     * the kinds that they were before.  NULL: they are not, or there is no room, and nothing is
     * reported. */
    const struct cavs_symbol *const *likely;
    struct cavs_symbol *(*again)(struct cavs__recorder *r, struct cavs_symbol *const *inputs);
    struct cavs_function *present; /* where mistakes are noted */
    const struct cavs__uses *uses; /* those that have its function; NULL: it has none */
    bool keeps_lists;              /* operators on lists are operators, not one for each entry */
    bool aside;     /* a worker's, beside others: what they have in common stays as it is */
    bool elsewhere; /* workers record meanwhile, and nothing is recorded here */
    bool asked;     /* of such a one: something was to be, on whichever thread */
};

/* Points to a symbol that no builder's is like. */
extern const struct cavs_symbol *const cavs__unlikely;

struct cavs_function {
    struct cavs_stage *stage;
    char *name;
    int number;                      /* in its stage */
    struct cavs__recorder *recorder; /* of a tape's recording: nsymbols counts, symbols is NULL */
    int slots; /* 1 + largest gathered child slot; 0 without gather; CAVS__ANY_CHILDREN where a row
                   per child is asked for */
    int nlists;
    struct cavs__list *lists[CAVS__MAX_LISTS]; /* [domain - 1] */
    int nsymbols;
    struct cavs_symbol **symbols;
    struct cavs__equals equals;
    struct cavs_symbol *scatter; /* the SCATTER symbol, or NULL */
    /* of a tape: numbers a row keeps between parts, beside its result, and an entry of its list */
    int kept, kept_entries;
    bool compiled; /* of a tape: its groups are, it is made of several operators */
    bool finished;
    int error; /* first mistake, reported by finish */
    char *message;
};

struct cavs_stage {
    struct cavs_model *model;
    char *name;
    int number, state_width;
    struct cavs_stage *base; /* stage it stands over, or NULL */
    enum cavs_over over;
    int nfunctions, ninputs, nchannels;
    struct cavs_function **functions;
    struct cavs__input **inputs;
    struct cavs__channel **channels;
    int nlists;
    struct cavs__list **lists;
    bool state_grad; /* dF of this stage passes gradients through the state */
    bool recorded;   /* its functions are the operators of a tape: core/tape/signature.c */
};

struct cavs_model {
    int nparams, nstages, nmetrics;
    int nstored; /* parameters with the merged ones, which follow the user's nparams */
    struct cavs_param **params;
    struct cavs_stage **stages;
    struct cavs__metric **metrics;
    int most_metrics; /* of a finished model, with those that tapes may add */
    bool has_loss;    /* some declared function has one */
    bool finished;
    int users;      /* data and sessions of it that are there */
    bool destroyed; /* and is freed with the last of them */
    int error;      /* first mistake outside any function */
    char *message;
};

/* equal.c */
/* *found: the first symbol that is equal to what `like` and the operands say; NULL: there is none.
 * false: out of memory. */
bool cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                      struct cavs_symbol *const *inputs, struct cavs_symbol **found);
/* Forgets all, because symbols have been changed or renumbered. */
void cavs__equals_forget(struct cavs__equals *e);
void cavs__equals_clear(struct cavs__equals *e);

/* model.c: data and sessions hold their model, so that it does not matter which is destroyed
 * first. */
void cavs__model_hold(const struct cavs_model *m);
void cavs__model_release(const struct cavs_model *m);

/* stage.c: frees a stage with its functions, a function with its symbols; NULL: nothing. */
void cavs__stage_destroy(struct cavs_stage *s);
void cavs__function_destroy(struct cavs_function *f);

/* symbol.c */
/* Appends a symbol; inputs are copied.  NULL when out of memory.  Equal symbols are shared (common
 * subexpressions). */
struct cavs_symbol *cavs__symbol_new(struct cavs_function *f, const struct cavs_symbol *like,
                                     int ninputs, struct cavs_symbol *const *inputs);
/* The same, whether there is an equal one or not; the domain is the caller's. */
struct cavs_symbol *cavs__symbol_append(struct cavs_function *f, const struct cavs_symbol *like,
                                        int ninputs, struct cavs_symbol *const *inputs);
/* Puts x before position `at` of f; x's own fields but `number` are the caller's. */
bool cavs__symbol_insert(struct cavs_function *f, int at, struct cavs_symbol *x);
/* What x has a row for: 0 vertices, d > 0 entries of list d - 1 of its function, -1: it is the same
 * everywhere (a constant or one-row parameter, or a part of one). */
int cavs__domain(const struct cavs_symbol *x);
/* "tanh", "matmul W", ...: the operator as the user knows it, in a static per-thread buffer */
const char *cavs__symbol_label(const struct cavs_symbol *x);

/* model.c: the first mistake in a function, or in a model, with its code; it is kept.  A place
 * without a file is left out. */
int cavs__function_fail(struct cavs_function *f, int code, struct cavs_place at, const char *format,
                        ...) __attribute__((format(printf, 4, 5)));
int cavs__model_fail(struct cavs_model *m, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The metric of that name; NULL: there is none. */
struct cavs__metric *cavs__known_metric(const struct cavs_model *m, const char *name);
/* The same, made at first mention.  NULL: no memory, or, once the model is finished, no room;
 * nothing is reported. */
struct cavs__metric *cavs__model_metric(struct cavs_model *m, const char *name);
/* check.c: is it well-formed across the functions of a stage?  0 or a cavs_error. */
int cavs__model_check(struct cavs_model *m);

#endif
