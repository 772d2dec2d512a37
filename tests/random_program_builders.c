/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_builders.c - see random_program_builders.h. */
#include "tests/random_program_builders.h"

#include <stdio.h>

#include "codelets/groups/elementwise.h"
#include "tests/random.h"
#include "tests/trial.h"

typedef struct cavs_symbol *symbol;
typedef const struct program_step *step;

static struct cavs_param *param(const struct program_player *to, const struct cavs_param *p)
{
    return p ? cavs_model_param_at(to->m, p->number) : NULL;
}

/* ---- sources: inputs of a function are known by the number of the step ---- */

static symbol row(const struct program_player *to, step s, const char *name)
{
    float numbers[PROGRAM_WIDEST];
    uint64_t seed = s->seed;

    assert_in_range(s->width, 1, PROGRAM_WIDEST);
    for (int i = 0; i < s->width; i++)
        numbers[i] = (float)random_double(&seed, -1, 1);
    return to->t ? cavs_tape_row_at(to->t, s->width, numbers, program_place(s))
                 : cavs_pull_at(to->f, name, s->width, program_place(s));
}

symbol program_source(const struct program_player *to, int number)
{
    step s = &to->p->steps[number];
    char name[16];

    snprintf(name, sizeof name, "%d", number);
    switch (s->op) {
    case PROGRAM_ROW: return row(to, s, name);
    case PROGRAM_ID:
        return to->t ? cavs_tape_id_at(to->t, s->k, program_place(s))
                     : cavs_pull_ids_at(to->f, name, program_place(s));
    case PROGRAM_CONSTANT: return cavs_constant_at(to->f, s->width, s->s, program_place(s));
    case PROGRAM_FORMAL: return cavs_gather_at(to->f, number, program_place(s));
    default: return cavs_use_at(to->f, param(to, s->param), program_place(s));
    }
}

/* ---- operators ---- */

/* Columns as they are: a function to be compiled reads the columns of what x is made of, past x,
 * which has no gradient then. */
static symbol columns(const struct program_player *to, step s, const symbol *in)
{
    struct cavs_symbol like = {.op = s->op == PROGRAM_SLICE ? CAVS__OP_SLICE : CAVS__OP_CONCAT,
                               .width = s->width,
                               .k = s->k,
                               .at = program_place(s)};

    if (to->plain)
        return cavs__symbol_append(to->f, &like, s->n, in);
    return s->op == PROGRAM_SLICE ? cavs_slice_at(in[0], s->k, s->width, program_place(s))
                                  : cavs_concat_at(s->n, in, program_place(s));
}

static symbol elementwise(step s, const symbol *in)
{
    const char *name = cavs__ew_name(s->k);

    return s->n == 1 ? cavs_apply1_at(name, in[0], s->s, program_place(s))
                     : cavs_apply2_at(name, in[0], in[1], program_place(s));
}

static symbol of_rows(const struct program_player *to, step s, const symbol *in)
{
    struct cavs_param *p = param(to, s->param), *bias = param(to, s->bias);

    switch (s->op) {
    case PROGRAM_SUM: return cavs_sum_at(in[0], program_place(s));
    case PROGRAM_MEAN: return cavs_mean_at(in[0], program_place(s));
    case PROGRAM_LARGEST: return cavs_largest_at(in[0], program_place(s));
    case PROGRAM_PICK: return cavs_pick_at(in[0], in[1], program_place(s));
    case PROGRAM_SOFTMAX: return cavs_softmax_at(in[0], program_place(s));
    case PROGRAM_LOG_SOFTMAX: return cavs_log_softmax_at(in[0], program_place(s));
    case PROGRAM_LAYER_NORM: return cavs_layer_norm_at(in[0], p, bias, program_place(s));
    case PROGRAM_RMS_NORM: return cavs_rms_norm_at(in[0], p, program_place(s));
    case PROGRAM_CROSS_ENTROPY:
        return cavs_softmax_cross_entropy_at(in[0], in[1], program_place(s));
    case PROGRAM_HINGE: return cavs_hinge_at(in[0], in[1], s->s, program_place(s));
    case PROGRAM_SQUARED_ERROR: return cavs_squared_error_at(in[0], in[1], program_place(s));
    case PROGRAM_ABSOLUTE_ERROR: return cavs_absolute_error_at(in[0], in[1], program_place(s));
    case PROGRAM_HUBER_ERROR: return cavs_huber_error_at(in[0], in[1], s->s, program_place(s));
    case PROGRAM_BINARY_CROSS_ENTROPY:
        return cavs_binary_cross_entropy_at(in[0], in[1], program_place(s));
    case PROGRAM_CORRECT: return cavs_correct_at(in[0], in[1], program_place(s));
    default: fail_msg("%s is played nowhere", program_op_names[s->op]);
    }
    return NULL;
}

/* The oracle knows no dropout.  What is dropped is an input of its own there, "step:entry". */
static symbol dropout(const struct program_player *to, int number, int entry, symbol x)
{
    step s = &to->p->steps[number];
    char name[32];

    if (!to->plain || to->p->run == CAVS_TAPE_EVALUATE)
        return cavs_dropout_at(x, s->s, program_place(s));
    snprintf(name, sizeof name, "%d:%d", number, entry);
    return cavs_mul_at(x, cavs_pull_at(to->f, name, s->width, program_place(s)), program_place(s));
}

symbol program_operator(const struct program_player *to, int number, int entry, const symbol *in)
{
    step s = &to->p->steps[number];
    struct cavs_param *p = param(to, s->param), *bias = param(to, s->bias);

    switch (s->op) {
    case PROGRAM_ELEMENTWISE: return elementwise(s, in);
    case PROGRAM_DROPOUT: return dropout(to, number, entry, in[0]);
    case PROGRAM_LOOKUP: return cavs_lookup_at(p, in[0], program_place(s));
    case PROGRAM_MATMUL: return cavs_matmul_at(in[0], p, program_place(s));
    case PROGRAM_MATMUL_T: return cavs_matmul_t_at(in[0], p, program_place(s));
    case PROGRAM_AFFINE: return cavs_affine_at(in[0], p, bias, program_place(s));
    case PROGRAM_SELECT: return cavs_matmul_select_at(in[0], p, s->k, in[1], program_place(s));
    case PROGRAM_PRODUCT:
        return cavs_product_at(in[0], in[1], s->k, s->width / s->k, s->which, program_place(s));
    case PROGRAM_DOT: return cavs_dot_at(in[0], in[1], program_place(s));
    case PROGRAM_OUTER: return cavs_outer_at(in[0], in[1], program_place(s));
    case PROGRAM_SLICE:
    case PROGRAM_CONCAT: return columns(to, s, in);
    default: return of_rows(to, s, in);
    }
}
