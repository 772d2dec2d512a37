/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c - recurrent cells, made of the public interface, but for reporting that memory is short;
 * see cavs_cells.h. */
#include "core/cavs_cells.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/declare/model.h"

/* operators at the line where the user asked for the cell */
#define ADD(a, b)  cavs_add_at((a), (b), at)
#define SUB(a, b)  cavs_sub_at((a), (b), at)
#define MUL(a, b)  cavs_mul_at((a), (b), at)
#define SIGMOID(a) cavs_sigmoid_at((a), 0, at)
#define TANH(a)    cavs_tanh_at((a), 0, at)

/* ---- declarations ---------------------------------------------------------------------------- */

/* All gates stand side by side in one parameter, whose columns an int counts.  No cell has its
 * parameters and its stage where that is refused. */
static bool fits(struct cavs_model *m, const char *kind, const char *name, int hidden, int gates)
{
    if (hidden > 0 && hidden <= INT_MAX / gates)
        return true;
    cavs__model_fail(m, CAVS_ESHAPE, "%s %s: hidden %d: 1 to %d is wanted", kind,
                     name ? name : "without a name", hidden, INT_MAX / gates);
    return false;
}

static bool lstm_fits(struct cavs_model *m, const char *name, int hidden)
{
    return fits(m, "LSTM", name, hidden, 4);
}

static bool gru_fits(struct cavs_model *m, const char *name, int hidden)
{
    return fits(m, "GRU", name, hidden, 3);
}

/* Gates side by side are so many matrices, each with its own range.  A parameter without a name is
 * a mistake that the model reports. */
static struct cavs_param *param(struct cavs_model *m, const char *cell, const char *name, int rows,
                                int hidden, int gates)
{
    size_t size = cell ? strlen(cell) + strlen(name) + 2 : 0;
    char *full = cell ? malloc(size) : NULL;
    struct cavs_param *p;

    if (cell && !full) {
        cavs__model_fail(m, CAVS_ENOMEM, "out of memory for parameter %s_%s", cell, name);
        return NULL;
    }
    if (full)
        snprintf(full, size, "%s_%s", cell, name);
    p = cavs_model_param(m, full, rows, gates * hidden,
                         rows > 1 ? cavs_init_glorot(rows, hidden) : CAVS_CONSTANT(0));
    free(full);
    return p;
}

struct cavs_cell cavs_lstm_params(struct cavs_model *m, const char *name, int width, int hidden)
{
    if (!lstm_fits(m, name, hidden))
        return (struct cavs_cell){.kind = CAVS_LSTM, .width = width, .hidden = hidden};
    return (struct cavs_cell){
        .kind = CAVS_LSTM,
        .width = width,
        .hidden = hidden,
        .W = param(m, name, "W", width, hidden, 4),
        .U = param(m, name, "U", hidden, hidden, 4),
        .b = param(m, name, "b", 1, hidden, 4),
    };
}

struct cavs_cell cavs_gru_params(struct cavs_model *m, const char *name, int width, int hidden)
{
    if (!gru_fits(m, name, hidden))
        return (struct cavs_cell){.kind = CAVS_GRU, .width = width, .hidden = hidden};
    return (struct cavs_cell){
        .kind = CAVS_GRU,
        .width = width,
        .hidden = hidden,
        .W = param(m, name, "W", width, hidden, 3),
        .U = param(m, name, "U", hidden, hidden, 3),
        .b = param(m, name, "b", 1, hidden, 3),
        .b_u = param(m, name, "b_u", 1, hidden, 3),
    };
}

struct cavs_cell cavs_lstm_cell(struct cavs_model *m, const char *name, int width, int hidden)
{
    struct cavs_stage *stage =
        lstm_fits(m, name, hidden) ? cavs_stage_create(m, name, 2 * hidden) : NULL;
    struct cavs_cell cell = cavs_lstm_params(m, name, width, hidden);

    cell.stage = stage;
    return cell;
}

struct cavs_cell cavs_gru_cell(struct cavs_model *m, const char *name, int width, int hidden)
{
    struct cavs_stage *stage =
        gru_fits(m, name, hidden) ? cavs_stage_create(m, name, hidden) : NULL;
    struct cavs_cell cell = cavs_gru_params(m, name, width, hidden);

    cell.stage = stage;
    return cell;
}

/* ---- one step -------------------------------------------------------------------------------- */

static struct cavs_symbol *lstm_next(const struct cavs_cell *l, struct cavs_symbol *x,
                                     struct cavs_symbol *before, struct cavs_place at)
{
    struct cavs_symbol *last[2] = {NULL}, *gate[4] = {NULL}, *state[2], *c, *forget;

    cavs_split_at(before, 2, last, at); /* c', h' */
    cavs_split_at(ADD(cavs_affine_at(x, l->W, l->b, at), cavs_matmul_at(last[1], l->U, at)), 4,
                  gate, at);
    forget = SIGMOID(cavs_shift_at(gate[1], 1, at));
    c = ADD(MUL(SIGMOID(gate[0]), TANH(gate[3])), MUL(forget, last[0]));
    state[0] = c;
    state[1] = MUL(SIGMOID(gate[2]), TANH(c));
    return cavs_concat_at(2, state, at);
}

static struct cavs_symbol *gru_next(const struct cavs_cell *g, struct cavs_symbol *x,
                                    struct cavs_symbol *before, struct cavs_place at)
{
    struct cavs_symbol *own[3] = {NULL}, *last[3] = {NULL}, *r, *z, *n;

    cavs_split_at(cavs_affine_at(x, g->W, g->b, at), 3, own, at);
    cavs_split_at(cavs_affine_at(before, g->U, g->b_u, at), 3, last, at);
    r = SIGMOID(ADD(own[0], last[0]));
    z = SIGMOID(ADD(own[1], last[1]));
    n = TANH(ADD(own[2], MUL(r, last[2])));
    return ADD(n, MUL(z, SUB(before, n)));
}

struct cavs_symbol *cavs_cell_next_at(const struct cavs_cell *cell, struct cavs_symbol *x,
                                      struct cavs_symbol *before, struct cavs_place at)
{
    if (!cell)
        return NULL;
    return cell->kind == CAVS_LSTM ? lstm_next(cell, x, before, at) : gru_next(cell, x, before, at);
}

struct cavs_symbol *cavs_cell_output_at(const struct cavs_cell *cell, struct cavs_symbol *state,
                                        struct cavs_place at)
{
    if (!cell)
        return NULL;
    return cell->kind == CAVS_LSTM ? cavs_slice_at(state, cell->hidden, cell->hidden, at) : state;
}

void cavs_cell_define_at(const struct cavs_cell *cell, struct cavs_function *f,
                         struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *state;

    if (!cell)
        return;
    state = cavs_cell_next_at(cell, x, cavs_gather_at(f, 0, at), at);
    cavs_scatter_at(f, state, at);
    cavs_push_at(f, "h", cavs_cell_output_at(cell, state, at), at);
}

/* ---- chains ---------------------------------------------------------------------------------- */

void cavs_chain_graph(enum cavs_way way, int n, int *child_ptr, int *children)
{
    for (int v = 0; v <= n && child_ptr; v++)
        child_ptr[v] = v;
    if (!children)
        return;
    for (int v = 0; v < n; v++)
        children[v] = way == CAVS_WAY_FORWARD ? v - 1 : v + 1;
    if (n > 0 && way == CAVS_WAY_BACKWARD)
        children[n - 1] = -1;
}

struct cavs_symbol *cavs_both_ways_at(struct cavs_function *f, const struct cavs_cell *forward,
                                      const struct cavs_cell *backward, const char *position,
                                      struct cavs_place at)
{
    struct cavs_symbol *both[2] = {
        cavs_pull_from_at(f, forward ? forward->stage : NULL, "h", NULL, at),
        cavs_pull_from_at(f, backward ? backward->stage : NULL, "h", position, at),
    };

    return cavs_concat_at(2, both, at);
}
