/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive_ops.c - every forward operator at one vertex, with its derivative.
 *
 * In each pair, y is the operator's row, x (a, b) its operands, and dy, dx the gradients of the
 * objective with respect to them; gradients are always added, because a row may be used many times.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "tests/naive.h"
#include "tests/random.h"

typedef const struct naive_place *place;
typedef const struct cavs_symbol *symbol;

/* The row of x at this vertex, or at the entry at hand. */
static size_t row(place at, symbol x)
{
    return (size_t)at->offset[x->number] + (x->domain ? (size_t)at->entry * x->width : 0);
}

static double *value(place at, symbol x)
{
    return at->value + row(at, x);
}

static double *grad(place at, symbol x)
{
    return at->grad + row(at, x);
}

/* Where the value of input x for this vertex, edge or entry stands among those of the sample. */
static int position(place at, symbol x)
{
    const struct sample_stage *s = &at->oracle->sample->stages[at->stage->number];
    switch (x->input->per) {
    case CAVS__PER_EDGE: return s->graph->child_ptr[at->vertex] + at->entry;
    case CAVS__PER_ENTRY: return s->ptr[x->input->number][at->vertex] + at->entry;
    default: return at->vertex;
    }
}

/* The id that symbol x, a pulled input of ids, has at this vertex, edge or entry. */
static int id(place at, symbol x)
{
    return at->oracle->sample->stages[at->stage->number].ids[x->input->number][position(at, x)];
}

/* Where child k of this vertex keeps its state in `states`, or NULL if it has no such child. */
static double *child_row(place at, int k, double *states)
{
    const struct graph *g = at->oracle->sample->stages[at->stage->number].graph;
    int edge = g->child_ptr[at->vertex] + k;
    if (edge >= g->child_ptr[at->vertex + 1] || g->children[edge] < 0)
        return NULL;
    return states + (size_t)g->children[edge] * at->stage->state_width;
}

/* The row of `rows` (one per vertex of the fetched stage) that x reads, or NULL for index -1. */
static double *fetched_row(place at, symbol x, double *rows)
{
    const struct cavs_stage *stage = at->stage;
    int v = at->vertex;
    if (x->ninputs)
        v = id(at, x->inputs[0]);
    else if (x->domain)
        v = at->entry;
    for (; !x->ninputs && !x->domain && stage != x->channel->stage; stage = stage->base)
        v = at->oracle->sample->stages[stage->number].under[v];
    return v < 0 ? NULL : rows + (size_t)v * x->channel->width;
}

static struct naive_stage *rows_of(place at, const struct cavs_stage *stage)
{
    return &at->oracle->stages[stage->number];
}

static void copy_or_zero(int n, double *y, const double *x)
{
    for (int i = 0; i < n; i++)
        y[i] = x ? x[i] : 0;
}

static void add_to(int n, double *dx, const double *dy)
{
    for (int i = 0; dx && i < n; i++)
        dx[i] += dy[i];
}

static void nothing(place at, symbol x)
{
    (void)at;
    (void)x;
}

/* ---- sources ---- */

static void pull(place at, symbol x)
{
    const float *rows = at->oracle->sample->stages[at->stage->number].rows[x->input->number];
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = rows[(size_t)position(at, x) * x->width + i];
}

static void fetch(place at, symbol x)
{
    double *rows = rows_of(at, x->channel->stage)->channel[x->channel->number];
    copy_or_zero(x->width, value(at, x), fetched_row(at, x, rows));
}

static void fetch_back(place at, symbol x)
{
    double *rows = rows_of(at, x->channel->stage)->dchannel[x->channel->number];
    add_to(x->width, fetched_row(at, x, rows), grad(at, x));
}

static void gather(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), child_row(at, x->k, rows_of(at, at->stage)->state));
}

static void gather_back(place at, symbol x)
{
    add_to(x->width, child_row(at, x->k, rows_of(at, at->stage)->dstate), grad(at, x));
}

static void each_child(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), child_row(at, at->entry, rows_of(at, at->stage)->state));
}

static void each_child_back(place at, symbol x)
{
    add_to(x->width, child_row(at, at->entry, rows_of(at, at->stage)->dstate), grad(at, x));
}

static void use(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), at->oracle->param[x->param->number]);
}

static void use_back(place at, symbol x)
{
    add_to(x->width, at->oracle->gradient[x->param->number], grad(at, x));
}

static void constant(place at, symbol x)
{
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = x->s;
}

/* ---- parameters ---- */

static double *table_row(place at, symbol x, double *table)
{
    int row = id(at, x->inputs[0]);
    return row < 0 ? NULL : table + (size_t)row * x->width;
}

static void lookup(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), table_row(at, x, at->oracle->param[x->param->number]));
}

static void lookup_back(place at, symbol x)
{
    add_to(x->width, table_row(at, x, at->oracle->gradient[x->param->number]), grad(at, x));
}

/* Number (r, c) of a matrix; a merged one is its members side by side. */
static double *entry(double **arrays, const struct cavs_param *p, int r, int c)
{
    for (int i = 0; i < p->nmembers; i++) {
        if (c < p->members[i]->cols)
            return entry(arrays, p->members[i], r, c);
        c -= p->members[i]->cols;
    }
    return &arrays[p->number][(size_t)r * p->cols + c];
}

/* An operand of a product: 8 significant bits of it, if the oracle rounds. */
static double operand(place at, double x)
{
    int exponent;

    if (!at->oracle->rounds || x == 0)
        return x;
    if (at->oracle->noise != 0)
        return x * (1 + random_double(&at->oracle->draws, -0x1p-9, 0x1p-9));
    frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(x, 8 - exponent)), exponent - 8);
}

/* Number (i, j) of the parameter of product x, as an operand. */
static double weight(place at, symbol x, int i, int j)
{
    return operand(at, *entry(at->oracle->param, x->param, i, j));
}

static void matmul(place at, symbol x)
{
    const double *a = value(at, x->inputs[0]);
    double *y = value(at, x);
    for (int j = 0; j < x->width; j++) {
        y[j] = 0;
        for (int i = 0; i < x->inputs[0]->width; i++)
            y[j] += operand(at, a[i]) * weight(at, x, i, j);
    }
}

static void matmul_t(place at, symbol x)
{
    for (int i = 0; i < x->width; i++) {
        value(at, x)[i] = 0;
        for (int j = 0; j < x->inputs[0]->width; j++)
            value(at, x)[i] += operand(at, value(at, x->inputs[0])[j]) * weight(at, x, i, j);
    }
}

static void matmul_t_back(place at, symbol x)
{
    for (int i = 0; i < x->width; i++) {
        for (int j = 0; j < x->inputs[0]->width; j++) {
            const double dy = operand(at, grad(at, x)[i]);
            grad(at, x->inputs[0])[j] += dy * weight(at, x, i, j);
            *entry(at->oracle->gradient, x->param, i, j) +=
                dy * operand(at, value(at, x->inputs[0])[j]);
        }
    }
}

static void matmul_back(place at, symbol x)
{
    const double *a = value(at, x->inputs[0]), *dy = grad(at, x);
    double *da = grad(at, x->inputs[0]);
    for (int i = 0; i < x->inputs[0]->width; i++) {
        for (int j = 0; j < x->width; j++) {
            da[i] += operand(at, dy[j]) * weight(at, x, i, j);
            *entry(at->oracle->gradient, x->param, i, j) += operand(at, a[i]) * operand(at, dy[j]);
        }
    }
}

/* Number (i, j) of the block that the id names. */
static void select_product(place at, symbol x)
{
    int n = x->inputs[0]->width, block = id(at, x->inputs[1]);
    const double *a = value(at, x->inputs[0]);
    for (int j = 0; j < x->width; j++) {
        value(at, x)[j] = 0;
        for (int i = 0; block >= 0 && i < n; i++)
            value(at, x)[j] += a[i] * *entry(at->oracle->param, x->param, block * n + i, j);
    }
}

static void select_product_back(place at, symbol x)
{
    int n = x->inputs[0]->width, block = id(at, x->inputs[1]);
    const double *a = value(at, x->inputs[0]), *dy = grad(at, x);
    for (int i = 0; block >= 0 && i < n; i++) {
        for (int j = 0; j < x->width; j++) {
            grad(at, x->inputs[0])[i] +=
                dy[j] * *entry(at->oracle->param, x->param, block * n + i, j);
            *entry(at->oracle->gradient, x->param, block * n + i, j) += a[i] * dy[j];
        }
    }
}

/* ---- lists: each takes all entries of the vertex ---- */

static int entries(place at, int list)
{
    const struct cavs_stage *stage = at->stage;
    int function = at->oracle->sample->stages[stage->number].graph->functions[at->vertex];
    return naive_entries(at->oracle, stage->functions[function]->lists[list - 1], at->vertex);
}

static struct naive_place at_entry(place at, int entry)
{
    struct naive_place there = *at;
    there.entry = entry;
    return there;
}

static void repeat(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), value(at, x->inputs[0]));
}

static void repeat_back(place at, symbol x)
{
    add_to(x->width, grad(at, x->inputs[0]), grad(at, x));
}

static void list_sum(place at, symbol x)
{
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = 0;
    for (int e = 0; e < entries(at, x->k); e++) {
        struct naive_place there = at_entry(at, e);
        add_to(x->width, value(at, x), value(&there, x->inputs[0]));
    }
}

static void list_sum_back(place at, symbol x)
{
    for (int e = 0; e < entries(at, x->k); e++) {
        struct naive_place there = at_entry(at, e);
        add_to(x->width, grad(&there, x->inputs[0]), grad(at, x));
    }
}

/* The first entry with the largest number in column i, or -1. */
static int largest_entry(place at, symbol x, int i)
{
    int best = -1;
    double most = 0;
    for (int e = 0; e < entries(at, x->k); e++) {
        struct naive_place there = at_entry(at, e);
        if (best >= 0 && value(&there, x->inputs[0])[i] <= most)
            continue;
        best = e;
        most = value(&there, x->inputs[0])[i];
    }
    return best;
}

static void list_max(place at, symbol x)
{
    for (int i = 0; i < x->width; i++) {
        int best = largest_entry(at, x, i);
        struct naive_place there = at_entry(at, best);
        value(at, x)[i] = best < 0 ? 0 : value(&there, x->inputs[0])[i];
    }
}

static void list_max_back(place at, symbol x)
{
    for (int i = 0; i < x->width; i++) {
        int best = largest_entry(at, x, i);
        struct naive_place there = at_entry(at, best);
        if (best >= 0)
            grad(&there, x->inputs[0])[i] += grad(at, x)[i];
    }
}

static void list_share(place at, symbol x)
{
    int n = entries(at, x->k);
    *value(at, x) = n ? 1.0 / n : 0;
}

/* Run once a vertex, at its first entry: all entries are made together. */
static void list_softmax(place at, symbol x)
{
    for (int i = 0; i < x->width && at->entry == 0; i++) {
        struct naive_place best = at_entry(at, largest_entry(at, x, i));
        double most = value(&best, x->inputs[0])[i], sum = 0;
        for (int e = 0; e < entries(at, x->k); e++) {
            struct naive_place there = at_entry(at, e);
            value(&there, x)[i] = exp(value(&there, x->inputs[0])[i] - most);
            sum += value(&there, x)[i];
        }
        for (int e = 0; e < entries(at, x->k); e++) {
            struct naive_place there = at_entry(at, e);
            value(&there, x)[i] /= sum;
        }
    }
}

/* dx_e = sum over f of dy_f y_f (1[e = f] - y_e) */
static void list_softmax_back(place at, symbol x)
{
    for (int i = 0; i < x->width; i++) {
        double ye = value(at, x)[i];
        for (int e = 0; e < entries(at, x->k); e++) {
            struct naive_place other = at_entry(at, e);
            grad(at, x->inputs[0])[i] +=
                grad(&other, x)[i] * value(&other, x)[i] * ((e == at->entry) - ye);
        }
    }
}

/* ---- element-wise ---- */

/* Operand i of x in column j: operands of one column are repeated. */
static int column(symbol x, int i, int j)
{
    return x->inputs[i]->width == 1 ? 0 : j;
}

static struct naive_dual apply(place at, symbol x, int j)
{
    struct naive_dual y = {0, 0, 0};
    double a = value(at, x->inputs[0])[column(x, 0, j)];
    double b = x->ninputs > 1 ? value(at, x->inputs[1])[column(x, 1, j)] : 0;
    if (!naive_elementwise(cavs__ew_name(x->k), a, b, x->s, &y)) {
        fprintf(stderr, "naive: no formula for the operator %s\n", cavs__ew_name(x->k));
        abort();
    }
    return y;
}

static void elementwise(place at, symbol x)
{
    for (int j = 0; j < x->width; j++)
        value(at, x)[j] = apply(at, x, j).y;
}

/* A derivative of order one, as it is if made of a rounded y: 1 - y * y for tanh. */
static double derivative(place at, double x)
{
    double noise = at->oracle->noise;
    return noise == 0 ? x : x + random_double(&at->oracle->draws, -noise, noise);
}

/* Where nothing depends on y its derivative, which may be infinite, does not matter. */
static void elementwise_back(place at, symbol x)
{
    for (int j = 0; j < x->width; j++) {
        double dy = grad(at, x)[j];
        if (dy == 0)
            continue;
        struct naive_dual y = apply(at, x, j);
        grad(at, x->inputs[0])[column(x, 0, j)] += dy * derivative(at, y.da);
        if (x->ninputs > 1)
            grad(at, x->inputs[1])[column(x, 1, j)] += dy * derivative(at, y.db);
    }
}

/* ---- shapes ---- */

static void concat(place at, symbol x)
{
    double *y = value(at, x);
    for (int i = 0; i < x->ninputs; y += x->inputs[i++]->width)
        copy_or_zero(x->inputs[i]->width, y, value(at, x->inputs[i]));
}

static void concat_back(place at, symbol x)
{
    const double *dy = grad(at, x);
    for (int i = 0; i < x->ninputs; dy += x->inputs[i++]->width)
        add_to(x->inputs[i]->width, grad(at, x->inputs[i]), dy);
}

static void slice(place at, symbol x)
{
    copy_or_zero(x->width, value(at, x), value(at, x->inputs[0]) + x->k);
}

static void slice_back(place at, symbol x)
{
    add_to(x->width, grad(at, x->inputs[0]) + x->k, grad(at, x));
}

/* Where number (i, p) of the first operand of a product is, and (p, j) of the second. */
static void product_terms(symbol x, int i, int j, int p, int *of_a, int *of_b)
{
    const int m = x->k, n = x->width / m, k = x->inputs[0]->width / m;
    *of_a = x->which == 1 ? p * m + i : i * k + p;
    *of_b = x->which == 2 ? j * k + p : p * n + j;
}

static void product(place at, symbol x)
{
    const int m = x->k, n = x->width / m, k = x->inputs[0]->width / m;
    for (int e = 0; e < x->width; e++) {
        value(at, x)[e] = 0;
        for (int p = 0, a, b; p < k; p++) {
            product_terms(x, e / n, e % n, p, &a, &b);
            value(at, x)[e] += value(at, x->inputs[0])[a] * value(at, x->inputs[1])[b];
        }
    }
}

static void product_back(place at, symbol x)
{
    const int m = x->k, n = x->width / m, k = x->inputs[0]->width / m;
    for (int e = 0; e < x->width; e++) {
        for (int p = 0, a, b; p < k; p++) {
            product_terms(x, e / n, e % n, p, &a, &b);
            grad(at, x->inputs[0])[a] += grad(at, x)[e] * value(at, x->inputs[1])[b];
            grad(at, x->inputs[1])[b] += grad(at, x)[e] * value(at, x->inputs[0])[a];
        }
    }
}

static void row_sum(place at, symbol x)
{
    *value(at, x) = 0;
    for (int i = 0; i < x->inputs[0]->width; i++)
        *value(at, x) += value(at, x->inputs[0])[i];
}

static void row_sum_back(place at, symbol x)
{
    for (int i = 0; i < x->inputs[0]->width; i++)
        grad(at, x->inputs[0])[i] += *grad(at, x);
}

static int first_largest(place at, symbol x)
{
    const double *z = value(at, x);
    int best = 0;
    for (int i = 1; i < x->width; i++)
        best = z[i] > z[best] ? i : best;
    return best;
}

static void row_max(place at, symbol x)
{
    *value(at, x) = value(at, x->inputs[0])[first_largest(at, x->inputs[0])];
}

static void row_max_back(place at, symbol x)
{
    grad(at, x->inputs[0])[first_largest(at, x->inputs[0])] += *grad(at, x);
}

static void pick(place at, symbol x)
{
    int i = id(at, x->inputs[1]);
    *value(at, x) = i < 0 ? 0 : value(at, x->inputs[0])[i];
}

static void pick_back(place at, symbol x)
{
    int i = id(at, x->inputs[1]);
    if (i >= 0)
        grad(at, x->inputs[0])[i] += *grad(at, x);
}

static void mask(place at, symbol x)
{
    *value(at, x) = id(at, x->inputs[0]) >= 0;
}

/* ---- losses ---- */

static double log_of_sum_of_exp(int n, const double *z)
{
    double largest = z[0], sum = 0;
    for (int i = 1; i < n; i++)
        largest = fmax(largest, z[i]);
    for (int i = 0; i < n; i++)
        sum += exp(z[i] - largest);
    return largest + log(sum);
}

static void log_softmax(place at, symbol x)
{
    const double *z = value(at, x->inputs[0]);
    double norm = log_of_sum_of_exp(x->width, z);
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = z[i] - norm;
}

/* The derivative of log p[i] with respect to z[j] is (i == j) - p[j]. */
static void log_softmax_back(place at, symbol x)
{
    for (int i = 0; i < x->width; i++)
        for (int j = 0; j < x->width; j++)
            grad(at, x->inputs[0])[j] += grad(at, x)[i] * ((i == j) - exp(value(at, x)[j]));
}

static double mean_square(place at, symbol x)
{
    double sum = 0;
    for (int i = 0; i < x->width; i++)
        sum += value(at, x)[i] * value(at, x)[i];
    return sum / x->width + 1e-5;
}

static void rms_norm(place at, symbol x)
{
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = value(at, x->inputs[0])[i] / sqrt(mean_square(at, x->inputs[0]));
}

/* The derivative of column i of the result to column j of the operand z is (i = j) m^-1/2 - z_i z_j
 * m^-3/2 / n, with m the mean square. */
static void rms_norm_back(place at, symbol x)
{
    const double *z = value(at, x->inputs[0]), m = mean_square(at, x->inputs[0]);
    for (int i = 0; i < x->width; i++)
        for (int j = 0; j < x->width; j++)
            grad(at, x->inputs[0])[j] +=
                grad(at, x)[i] * ((i == j) / sqrt(m) - z[i] * z[j] / (x->width * pow(m, 1.5)));
}

static void softmax(place at, symbol x)
{
    const double *z = value(at, x->inputs[0]);
    double norm = log_of_sum_of_exp(x->width, z);
    for (int i = 0; i < x->width; i++)
        value(at, x)[i] = exp(z[i] - norm);
}

/* The derivative of p[i] with respect to z[j] is p[i] ((i == j) - p[j]). */
static void softmax_back(place at, symbol x)
{
    const double *p = value(at, x);
    for (int i = 0; i < x->width; i++)
        for (int j = 0; j < x->width; j++)
            grad(at, x->inputs[0])[j] += grad(at, x)[i] * p[i] * ((i == j) - p[j]);
}

static void xent(place at, symbol x)
{
    int label = id(at, x->inputs[1]);
    const double *z = value(at, x->inputs[0]);
    *value(at, x) = label < 0 ? 0 : log_of_sum_of_exp(x->inputs[0]->width, z) - z[label];
}

static void xent_back(place at, symbol x)
{
    int label = id(at, x->inputs[1]), n = x->inputs[0]->width;
    const double *z = value(at, x->inputs[0]);
    double norm = log_of_sum_of_exp(n, z);
    for (int i = 0; label >= 0 && i < n; i++)
        grad(at, x->inputs[0])[i] += *grad(at, x) * derivative(at, exp(z[i] - norm) - (i == label));
}

static void correct(place at, symbol x)
{
    *value(at, x) = first_largest(at, x->inputs[0]) == id(at, x->inputs[1]);
}

/* ---- sinks ---- */

static void scatter(place at, symbol x)
{
    int n = at->stage->state_width;
    copy_or_zero(n, rows_of(at, at->stage)->state + (size_t)at->vertex * n,
                 value(at, x->inputs[0]));
}

static void scatter_back(place at, symbol x)
{
    int n = at->stage->state_width;
    add_to(n, grad(at, x->inputs[0]), rows_of(at, at->stage)->dstate + (size_t)at->vertex * n);
}

static void push(place at, symbol x)
{
    int n = x->channel->width;
    double *rows = rows_of(at, at->stage)->channel[x->channel->number];
    copy_or_zero(n, rows + (size_t)at->vertex * n, value(at, x->inputs[0]));
}

static void push_back(place at, symbol x)
{
    int n = x->channel->width;
    const double *rows = rows_of(at, at->stage)->dchannel[x->channel->number];
    add_to(n, grad(at, x->inputs[0]), rows + (size_t)at->vertex * n);
}

static bool counted(place at, symbol x)
{
    return x->ninputs < 2 || id(at, x->inputs[1]) >= 0;
}

static void metric(place at, symbol x)
{
    if (counted(at, x)) {
        at->oracle->sum[x->metric->number] += *value(at, x->inputs[0]);
        at->oracle->count[x->metric->number]++;
    }
}

static void metric_back(place at, symbol x)
{
    if (x->is_loss && counted(at, x))
        *grad(at, x->inputs[0]) += 1;
}

typedef void operation(place at, symbol x);

static const struct {
    operation *forward, *backward;
} operations[CAVS__OP_COUNT] = {
    [CAVS__OP_PULL] = {pull, nothing},
    [CAVS__OP_IDS] = {nothing, nothing},
    [CAVS__OP_FETCH] = {fetch, fetch_back},
    [CAVS__OP_GATHER] = {gather, gather_back},
    [CAVS__OP_EACH_CHILD] = {each_child, each_child_back},
    [CAVS__OP_USE] = {use, use_back},
    [CAVS__OP_CONST] = {constant, nothing},
    [CAVS__OP_LOOKUP] = {lookup, lookup_back},
    [CAVS__OP_MATMUL] = {matmul, matmul_back},
    [CAVS__OP_MATMUL_T] = {matmul_t, matmul_t_back},
    [CAVS__OP_MATMUL_SELECT] = {select_product, select_product_back},
    [CAVS__OP_PRODUCT] = {product, product_back},
    [CAVS__OP_REPEAT] = {repeat, repeat_back},
    [CAVS__OP_LIST_SUM] = {list_sum, list_sum_back},
    [CAVS__OP_LIST_MAX] = {list_max, list_max_back},
    [CAVS__OP_LIST_SOFTMAX] = {list_softmax, list_softmax_back},
    [CAVS__OP_LIST_SHARE] = {list_share, nothing},
    [CAVS__OP_ELEMENTWISE] = {elementwise, elementwise_back},
    [CAVS__OP_DROPOUT] = {repeat, repeat_back}, /* as in evaluation */
    [CAVS__OP_CONCAT] = {concat, concat_back},
    [CAVS__OP_SLICE] = {slice, slice_back},
    [CAVS__OP_SPREAD] = {slice, slice_back}, /* all columns; nothing is shared here */
    [CAVS__OP_ROW_SUM] = {row_sum, row_sum_back},
    [CAVS__OP_ROW_MAX] = {row_max, row_max_back},
    [CAVS__OP_SOFTMAX] = {softmax, softmax_back},
    [CAVS__OP_LOG_SOFTMAX] = {log_softmax, log_softmax_back},
    [CAVS__OP_RMS_NORM] = {rms_norm, rms_norm_back},
    [CAVS__OP_PICK] = {pick, pick_back},
    [CAVS__OP_MASK] = {mask, nothing},
    [CAVS__OP_XENT] = {xent, xent_back},
    [CAVS__OP_CORRECT] = {correct, nothing},
    [CAVS__OP_SCATTER] = {scatter, scatter_back},
    [CAVS__OP_PUSH] = {push, push_back},
    [CAVS__OP_METRIC] = {metric, metric_back},
};

static operation *known(operation *f, symbol x)
{
    if (!f) {
        fprintf(stderr, "naive: operator %d is not a forward one\n", (int)x->op);
        abort();
    }
    return f;
}

/* Once, or for each entry of the list that x has rows for. */
static void run(operation *f, place at, symbol x)
{
    int n = x->domain ? entries(at, x->domain) : 1;
    for (int e = 0; e < n; e++) {
        struct naive_place there = at_entry(at, e);
        known(f, x)(&there, x);
    }
}

bool naive_knows(enum cavs__op op)
{
    return operations[op].forward && operations[op].backward;
}

void naive_forward(place at, symbol x)
{
    run(operations[x->op].forward, at, x);
}

void naive_backward(place at, symbol x)
{
    run(operations[x->op].backward, at, x);
}
