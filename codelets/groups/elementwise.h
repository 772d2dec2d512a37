/* SPDX-License-Identifier: Apache-2.0 */
/*
 * elementwise.h - element-wise operators and fused groups of them.
 *
 * All operators stand in ONE table, elementwise.def: name, arity, the forward expression in the
 * variables a, b, s and the gradient expressions in a, b, s, y (the result), g (the gradient of the
 * result). From it come the interpreter, the reference and the generated source in every dialect. A
 * *group* is a small dataflow graph of such expressions over rows of one width, evaluated in one
 * sweep: values inside the group never reach memory.
 */
#ifndef CAVS_CODELETS_GROUPS_ELEMENTWISE_H
#define CAVS_CODELETS_GROUPS_ELEMENTWISE_H

#include <pthread.h>

#include "codelets/kernels/kernel.h"

#define CAVS__EW_MAX_OPERANDS 4
#define CAVS__EW_MAX_VALUES   2048 /* inputs and nodes of one group */
/* Numbers of a row that compiled groups take at once.  A width above it that is no multiple of it
 * ends with some of them once more, so no output may lie over an input then. */
#define CAVS__EW_VECTOR 16

/* The numbers of operators: CAVS__EW_add is that of add. */
#define CAVS_EW1(name, ...) CAVS__EW_##name,
#define CAVS_EW2(name, ...) CAVS__EW_##name,
enum cavs__ew_operator {
#include "codelets/groups/elementwise.def"
    CAVS__EW_OPERATORS /* how many there are */
};
#undef CAVS_EW1
#undef CAVS_EW2

/* Number of an operator, or -1; `which` below is 0 for the forward expression, 1 / 2 for the
 * gradient with respect to the first / second operand. */
int cavs__ew_find(const char *name);
int cavs__ew_count(void);
const char *cavs__ew_name(int op);
int cavs__ew_arity(int op);
/* The variables that an expression reads, as letters out of "abyg" in that order: forward of mul
 * "ab", gradient of tanh "yg", gradient of add "g". This is what the gradient needs kept. */
const char *cavs__ew_operands(int op, int which);
/* The expression is just one of its variables: the gradient of add, shift and copy is g itself. */
bool cavs__ew_is_identity(int op, int which);

/* Does a gradient of the result pass on to any operand? */
bool cavs__ew_passes(int op);

/* Operand of a node: input i of the group is ~i (negative), the value of an earlier node j is j. */
struct cavs__ew_node {
    int op; /* -1: the constant s */
    int which;
    int in[CAVS__EW_MAX_OPERANDS]; /* in the order of cavs__ew_operands() */
    float s;
};

struct cavs__ew_spec {
    int width; /* columns of the group's values */
    int ninputs;
    const bool *scalar; /* [ninputs] input has one column, repeated over the width */
    int nnodes;
    const struct cavs__ew_node *nodes;
    int noutputs;
    const int *outputs; /* [noutputs] operand notation: a node, or ~i to copy input i */
    const int *over;    /* [noutputs] the input in whose place the output lies, -1: none, which is
                           the rule; NULL: none does */
};

/* Makes a program of a group. AUTO: C, compiled by $CC (or cc) and kept in the folder kernels/ of
 * $CAVS_CACHE (or ${XDG_CACHE_HOME:-~/.cache}/cavs), or else the interpreter, as with INTERPRET and
 * with CAVS_FUSION=interpret in the environment. The description is copied. NULL when out of memory
 * or when the group has more than CAVS__EW_MAX_VALUES values. */
enum cavs__ew_mode { CAVS__EW_AUTO, CAVS__EW_INTERPRET };
struct cavs__ew_program *cavs__ew_program_create(const struct cavs__ew_spec *spec,
                                                 enum cavs__ew_mode mode);
void cavs__ew_program_destroy(struct cavs__ew_program *p);
const struct cavs__ew_spec *cavs__ew_program_spec(const struct cavs__ew_program *p);
/* Numbers of a row that an item of a device takes at once: as many as there are registers for. */
int cavs__ew_at_once(const struct cavs__ew_spec *spec);
bool cavs__ew_program_compiled(const struct cavs__ew_program *p); /* false: interpreted */
/* Why the last group that should have been compiled was not; NULL: none. Valid until the thread's
 * next call. */
const char *cavs__ew_fallback_reason(void);

/* views: the inputs, then the outputs. Inputs may be direct, ld 0 or indexed; outputs are direct
 * and overlap neither inputs nor one another, except that one lies just where the input is that it
 * is `over`. Thread-safe. The reference computes in double, and the values inside the group are not
 * rounded to float there. */
void cavs__ew_run(const struct cavs__ew_program *p, int rows, const struct cavs__view *v);
void cavs__ew_run_reference(const struct cavs__ew_program *p, int rows, const struct cavs__view *v);

/* The first node whose value in this row and column is not finite: where the first bad number
 * arises, if the inputs are sound.  -1: none, which may be at the border of the range, since
 * compilers round differently. */
int cavs__ew_blame(const struct cavs__ew_program *p, const struct cavs__view *v, int row,
                   int column);

/* Programs that this thread creates between begin and end are compiled together, by one compiler
 * run at end; until then they are interpreted. Batches nest. */
void cavs__ew_batch_begin(void);
void cavs__ew_batch_end(void);
/* Ends a batch, too, but leaves its programs to whoever calls cavs__ew_batch_compile() with them,
 * on any thread, while nobody runs or destroys them; NULL: there are none. */
struct cavs__ew_program *cavs__ew_batch_take(void);
void cavs__ew_batch_compile(struct cavs__ew_program *programs);

/* A compiler that is at work while the thread that has started it does something else. */
struct cavs__ew_compiling {
    pthread_t thread;
    bool threaded;
};
/* Ends a batch, too; if it is compiled aside, until cavs__ew_batch_wait() nobody runs or destroys
 * its programs. */
void cavs__ew_batch_end_aside(bool aside, struct cavs__ew_compiling *c);
void cavs__ew_batch_wait(struct cavs__ew_compiling *c);

#endif
