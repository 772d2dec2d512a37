/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - from placed and timed items to the steps of a part: one kernel call each, or one fused
 * element-wise group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/declare/operator.h"
#include "core/compile/place.h"

static enum cavs__cost cost_of(const char *kernel)
{
    if (strncmp(kernel, "gemm", 4) == 0)
        return CAVS__COST_PRODUCT;
    return strcmp(kernel, "sum_rows") == 0 || strcmp(kernel, "list_sum") == 0 ? CAVS__COST_MEMORY
                                                                              : CAVS__COST_OTHER;
}

/* A step of the part; valid until the next one is made. */
static int new_step(struct cavs__placer *p, const char *kernel, int nviews, int noutputs,
                    struct cavs__step **made)
{
    struct cavs__part *out = p->out;
    size_t bytes = ((size_t)out->nsteps + 1) * sizeof *out->steps;
    struct cavs__step *s = realloc(out->steps, bytes);

    if (!s)
        return cavs__fail_nomem("steps of a part", bytes);
    out->steps = s;
    s += out->nsteps;
    *s = (struct cavs__step){.nviews = nviews, .noutputs = noutputs, .cost = cost_of(kernel)};
    s->call.kernel = cavs__kernel_find(kernel);
    s->v = calloc((size_t)nviews + 1, sizeof *s->v);
    if (!s->v)
        return cavs__fail_nomem("steps of a part", (size_t)nviews * sizeof *s->v);
    out->nsteps++;
    *made = s;
    return CAVS_OK;
}

/* For people: what it does, and where the user asked for it. */
static int describe_step(struct cavs__step *s, const char *label, int n,
                         const struct cavs_symbol *const *origin)
{
    s->label = strdup(label);
    s->origin = calloc((size_t)n + 1, sizeof *s->origin);
    if (!s->label || !s->origin)
        return cavs__fail_nomem("steps of a part", strlen(label) + (size_t)n * sizeof *origin);
    if (n > 0)
        memcpy(s->origin, origin, (size_t)n * sizeof *origin);
    return CAVS_OK;
}

/* ---- single steps ---- */

static struct cavs__operand fixed(int tensor, int col, int cols)
{
    return (struct cavs__operand){.buffer = (int16_t)tensor,
                                  .space = CAVS__FIXED,
                                  .mode = CAVS__DIRECT,
                                  .col = col,
                                  .cols = cols};
}

static struct cavs__operand summed(struct cavs__placer *p, int tensor, int cols,
                                   enum cavs__section_kind ptr, enum cavs__section_kind index,
                                   const struct cavs_symbol *fetch)
{
    struct cavs__operand o = fixed(tensor, 0, cols);
    const struct cavs_function *of = ptr == CAVS__S_SHARER_PTR ? p->f : NULL;

    o.mode = CAVS__SUMMED;
    o.ptr_section =
        cavs__section(p, (struct cavs__section){.kind = ptr, .function = of, .fetch = fetch});
    o.section =
        cavs__section(p, (struct cavs__section){.kind = index, .function = of, .fetch = fetch});
    return o;
}

/* Operand i of x, for steps in x's domain. */
static struct cavs__operand read_operand(struct cavs__placer *p, const struct cavs_symbol *x, int i)
{
    return cavs__operand_in(p, cavs__operand_of(p, x->inputs[i], true), x->domain);
}

static int emit_product(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = new_step(p, "gemm", 3, 1, &s);
    int w = x->op == CAVS__OP_MATMUL ? p->plan->param[x->param->number]
                                     : p->plan->param_t[x->param->number];

    if (rc)
        return rc;
    s->v[0] = read_operand(p, x, 0);
    s->v[1] = fixed(w, 0, x->width);
    s->v[2] = p->local[x->number].at;
    s->flops = 2.0 * x->inputs[0]->width * x->width;
    return CAVS_OK;
}

/* The blocks of a stacked parameter lie below one another; those of its transpose side by side. */
static int emit_select(struct cavs__placer *p, const struct cavs_symbol *x)
{
    bool transposed = x->op == CAVS__OP_MATMUL_SELECT_T;
    struct cavs__step *s;
    int rc = new_step(p, transposed ? "gemm_select_t" : "gemm_select", 4, 1, &s);
    int w = transposed ? p->plan->param_t[x->param->number] : p->plan->param[x->param->number];

    if (rc)
        return rc;
    s->v[0] = read_operand(p, x, 0);
    s->v[1] = read_operand(p, x, 1);
    s->v[2] = fixed(w, 0, x->width);
    s->v[3] = p->local[x->number].at;
    s->flops = 2.0 * x->inputs[0]->width * x->width;
    return CAVS_OK;
}

static int emit_param_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int grad = p->plan->grad[x->param->number];
    bool product = x->op != CAVS__OP_GRAD_USE;
    const char *kernel = !product                        ? "column_sum"
                         : x->op == CAVS__OP_GRAD_MATMUL ? "gemm_tn"
                                                         : "gemm_tn_select";
    struct cavs__step *s;
    int rc = new_step(p, kernel, x->ninputs + 1, 1, &s);

    if (rc)
        return rc;
    for (int i = 0; i < x->ninputs; i++)
        s->v[i] = read_operand(p, x, i);
    s->v[x->ninputs] = fixed(grad, 0, x->param->cols);
    s->call.rows = x->param->rows;
    if (product)
        s->flops = 2.0 * x->inputs[0]->width * x->param->cols;
    return CAVS_OK;
}

static int emit_metric(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = new_step(p, "metric", 3, 1, &s);

    if (rc)
        return rc;
    s->v[0] = cavs__operand_of(p, x->inputs[0], true);
    s->v[1] = (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
    if (x->ninputs == 2)
        s->v[1] = cavs__operand_of(p, x->inputs[1], true);
    s->v[2] = fixed(p->plan->metric, 4 * x->metric->number, 4);
    return CAVS_OK;
}

static int emit_sum_rows(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = new_step(p, "sum_rows", 2, 1, &s);

    if (rc)
        return rc;
    if (x->op == CAVS__OP_STATE_GRAD)
        s->v[0] = summed(p, p->sp->edge, x->width, CAVS__S_PARENT_PTR, CAVS__S_PARENT_EDGE, NULL);
    else if (x->op == CAVS__OP_COLLECT)
        s->v[0] = summed(p,
                         cavs__checked(p, cavs__plan_symbol_tensor(p->plan, CAVS__T_SPREAD_GRAD,
                                                                   x->fetch, false)),
                         x->width, CAVS__S_SHARER_PTR, CAVS__S_SHARER_ROW, NULL);
    else
        s->v[0] = summed(p,
                         cavs__checked(p, cavs__plan_symbol_tensor(p->plan, CAVS__T_FETCH_GRAD,
                                                                   x->fetch, false)),
                         x->width, CAVS__S_CONSUMER_PTR, CAVS__S_CONSUMER_ROW, x->fetch);
    s->v[1] = p->local[x->number].at;
    return CAVS_OK;
}

/* Kernels whose views are the operands, then the result. */
static int emit_plain(struct cavs__placer *p, const struct cavs_symbol *x, const char *kernel)
{
    struct cavs__step *s;
    int rc = new_step(p, kernel, x->ninputs + 1, 1, &s);

    if (rc)
        return rc;
    for (int i = 0; i < x->ninputs; i++)
        s->v[i] = read_operand(p, x, i);
    s->v[x->ninputs] = p->local[x->number].at;
    return CAVS_OK;
}

static struct cavs__operand noise(struct cavs__placer *p, enum cavs__section_kind half, int domain)
{
    struct cavs__operand o = {.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};

    if (!p->plan->options.training)
        return o;
    o.mode = CAVS__IDS;
    o.list = (uint8_t)domain;
    o.section =
        cavs__section(p, (struct cavs__section){.kind = half, .function = p->f, .list = domain});
    return o;
}

static int emit_dropout(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = new_step(p, "dropout", 4, 1, &s);

    if (rc)
        return rc;
    s->v[0] = read_operand(p, x, 0);
    s->v[1] = noise(p, CAVS__S_NOISE_LOW, x->domain);
    s->v[2] = noise(p, CAVS__S_NOISE_HIGH, x->domain);
    s->v[3] = p->local[x->number].at;
    s->call.rate = x->s;
    s->call.site = (uint32_t)x->k;
    return CAVS_OK;
}

/* Kernels that take the entries of each vertex together. */
static int emit_listed(struct cavs__placer *p, const struct cavs_symbol *x, const char *kernel)
{
    int nviews = x->ninputs > 0 ? x->ninputs + 1 : 2;
    struct cavs__step *s;
    int rc = new_step(p, kernel, nviews, 1, &s);

    if (rc)
        return rc;
    if (x->ninputs == 0)
        s->v[0] = cavs__listed(
            p, (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT}, x->k);
    for (int i = 0; i < x->ninputs; i++) {
        s->v[i] = cavs__operand_of(p, x->inputs[i], true);
        if (i == 0 || x->op == CAVS__OP_LIST_SOFTMAX_GRAD)
            s->v[i] = cavs__listed(p, s->v[i], x->k);
    }
    s->v[nviews - 1] = p->local[x->number].at;
    if (x->domain > 0)
        s->v[nviews - 1] = cavs__listed(p, s->v[nviews - 1], x->k);
    return CAVS_OK;
}

static int emit_single(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int rc;

    switch (x->op) {
    case CAVS__OP_MATMUL:
    case CAVS__OP_MATMUL_T: rc = emit_product(p, x); break;
    case CAVS__OP_MATMUL_SELECT:
    case CAVS__OP_MATMUL_SELECT_T: rc = emit_select(p, x); break;
    case CAVS__OP_GRAD_MATMUL:
    case CAVS__OP_GRAD_MATMUL_SELECT:
    case CAVS__OP_GRAD_USE: rc = emit_param_grad(p, x); break;
    case CAVS__OP_LIST_SUM: rc = emit_listed(p, x, "list_sum"); break;
    case CAVS__OP_LIST_MAX: rc = emit_listed(p, x, "list_max"); break;
    case CAVS__OP_LIST_MAX_GRAD: rc = emit_listed(p, x, "list_max_grad"); break;
    case CAVS__OP_LIST_SHARE: rc = emit_listed(p, x, "list_share"); break;
    case CAVS__OP_LIST_SOFTMAX: rc = emit_listed(p, x, "list_softmax"); break;
    case CAVS__OP_LIST_SOFTMAX_GRAD: rc = emit_listed(p, x, "list_softmax_grad"); break;
    case CAVS__OP_METRIC: rc = emit_metric(p, x); break;
    case CAVS__OP_STATE_GRAD:
    case CAVS__OP_COLLECT:
    case CAVS__OP_PUSH_GRAD: rc = emit_sum_rows(p, x); break;
    case CAVS__OP_ROW_SUM: rc = emit_plain(p, x, "row_sum"); break;
    case CAVS__OP_ROW_MAX: rc = emit_plain(p, x, "row_max"); break;
    case CAVS__OP_ROW_MAX_GRAD: rc = emit_plain(p, x, "row_max_grad"); break;
    case CAVS__OP_SOFTMAX: rc = emit_plain(p, x, "softmax"); break;
    case CAVS__OP_LOG_SOFTMAX: rc = emit_plain(p, x, "log_softmax"); break;
    case CAVS__OP_DROPOUT: rc = emit_dropout(p, x); break;
    case CAVS__OP_PICK: rc = emit_plain(p, x, "pick"); break;
    case CAVS__OP_PICK_GRAD: rc = emit_plain(p, x, "pick_grad"); break;
    case CAVS__OP_XENT: rc = emit_plain(p, x, "softmax_xent"); break;
    case CAVS__OP_XENT_GRAD: rc = emit_plain(p, x, "softmax_xent_grad"); break;
    case CAVS__OP_CORRECT: rc = emit_plain(p, x, "correct"); break;
    case CAVS__OP_MASK: rc = emit_plain(p, x, "mask"); break;
    default: rc = cavs__fail(CAVS_EPROGRAM, "no kernel for operator %s", cavs__symbol_label(x));
    }
    if (rc)
        return rc;
    p->out->steps[p->out->nsteps - 1].list =
        cavs__has_role(x, CAVS__ROLE_SINGLE_LIST) ? 0 : x->domain;
    return describe_step(&p->out->steps[p->out->nsteps - 1], cavs__symbol_label(x), 1, &x);
}

/* ---- element-wise groups ---- */

struct group {
    struct cavs__placer *p;
    int number, width;
    int nmembers, ninputs, nnodes, noutputs;
    struct cavs__operand *inputs, *places; /* places: of the outputs */
    bool *scalar;
    struct cavs__ew_node *nodes;
    const struct cavs_symbol **made; /* by node: the symbol, NULL for constants */
    int *outputs;
    int *node_of; /* [nsymbols] node that computes the symbol in this group, -1 */
    char label[256];
};

static bool same_operand(const struct cavs__operand *a, const struct cavs__operand *b)
{
    return a->buffer == b->buffer && a->mode == b->mode && a->space == b->space &&
           a->col == b->col && a->cols == b->cols && a->region == b->region &&
           a->slots == b->slots && a->slot == b->slot && a->section == b->section &&
           a->list == b->list;
}

static int group_input(struct group *g, struct cavs_symbol *x)
{
    struct cavs__operand o = cavs__operand_of(g->p, x, false);

    for (int i = 0; i < g->ninputs; i++) {
        if (same_operand(&g->inputs[i], &o))
            return ~i;
    }
    g->inputs[g->ninputs] = o;
    g->scalar[g->ninputs] = x->width == 1 && g->width > 1;
    return ~g->ninputs++;
}

static int group_operand(struct group *g, struct cavs_symbol *x)
{
    int col;
    const struct cavs_symbol *b = cavs__base(g->p, x, &col);

    if (b->op == CAVS__OP_CONST) {
        g->nodes[g->nnodes] = (struct cavs__ew_node){.op = -1, .s = b->s};
        g->made[g->nnodes] = NULL;
        return g->nnodes++;
    }
    return g->node_of[x->number] >= 0 ? g->node_of[x->number] : group_input(g, x);
}

static void group_output(struct group *g, int value, struct cavs__operand place)
{
    g->outputs[g->noutputs] = value;
    g->places[g->noutputs++] = place;
}

static void group_label(struct group *g, const char *name)
{
    size_t n = strlen(g->label);

    snprintf(g->label + n, sizeof g->label - n, "%s%s", n ? " " : "", name);
}

static void group_add(struct group *g, const struct cavs__item *item)
{
    struct cavs_symbol *x = item->x;
    struct cavs__ew_node node = {.op = x->k, .which = x->which, .s = x->s};

    g->nmembers++;
    if (item->copy) {
        group_output(g, group_operand(g, x), item->dest);
        group_label(g, "copy");
        return;
    }
    for (int i = 0; i < x->ninputs; i++)
        node.in[i] = group_operand(g, x->inputs[i]);
    g->node_of[x->number] = g->nnodes;
    g->made[g->nnodes] = x;
    g->nodes[g->nnodes++] = node;
    if (g->p->local[x->number].placed)
        group_output(g, g->node_of[x->number], g->p->local[x->number].at);
    group_label(g, cavs__symbol_label(x));
}

static int group_alloc(struct group *g)
{
    /* an item has at most four operands, each of which may be a constant's node */
    size_t n = 5 * ((size_t)g->p->nitems + 1);

    g->inputs = calloc(n, sizeof *g->inputs);
    g->places = calloc(n, sizeof *g->places);
    g->scalar = calloc(n, sizeof *g->scalar);
    g->nodes = calloc(n, sizeof *g->nodes);
    g->made = calloc(n, sizeof *g->made);
    g->outputs = calloc(n, sizeof *g->outputs);
    g->node_of = malloc((size_t)g->p->f->nsymbols * sizeof *g->node_of);
    if (!g->inputs || !g->places || !g->scalar || !g->nodes || !g->made || !g->outputs ||
        !g->node_of)
        return cavs__fail_nomem("fused group", n * sizeof *g->nodes);
    for (int i = 0; i < g->p->f->nsymbols; i++)
        g->node_of[i] = -1;
    return CAVS_OK;
}

static void group_free(struct group *g)
{
    free(g->inputs);
    free(g->places);
    free(g->scalar);
    free(g->nodes);
    free(g->made);
    free(g->outputs);
    free(g->node_of);
}

static int group_step(struct group *g)
{
    struct cavs__ew_spec spec = {.width = g->width,
                                 .ninputs = g->ninputs,
                                 .scalar = g->scalar,
                                 .nnodes = g->nnodes,
                                 .nodes = g->nodes,
                                 .noutputs = g->noutputs,
                                 .outputs = g->outputs};
    enum cavs__ew_mode mode = g->p->plan->options.no_fusion ? CAVS__EW_INTERPRET : CAVS__EW_AUTO;
    struct cavs__step *s;
    int rc;

    if (g->noutputs == 0)
        return CAVS_OK; /* nobody reads it */
    rc = new_step(g->p, "elementwise", g->ninputs + g->noutputs, g->noutputs, &s);
    if (rc)
        return rc;
    memcpy(s->v, g->inputs, (size_t)g->ninputs * sizeof *s->v);
    memcpy(s->v + g->ninputs, g->places, (size_t)g->noutputs * sizeof *s->v);
    rc = describe_step(s, g->label, g->nnodes, g->made);
    if (rc)
        return rc;
    s->list = cavs__item_domain(&g->p->items[g->number]);
    if (g->nnodes == 0)
        s->cost = CAVS__COST_MEMORY;
    s->call.program = cavs__ew_program_create(&spec, mode);
    return s->call.program ? CAVS_OK : cavs__fail_nomem("fused group", sizeof *s);
}

/* Adds a set of connected items, of which the first is at `head`. */
static void group_add_set(struct group *g, int head)
{
    struct cavs__placer *p = g->p;

    /* copies are last: what they copy is then a node */
    for (int i = head; i >= 0; i = p->items[i].next)
        group_add(g, &p->items[i]);
    p->items[head].emitted = true;
}

/* The same, unless the group would become too large. */
static void group_join_set(struct group *g, int head)
{
    struct cavs__placer *p = g->p;
    struct group before = *g;

    group_add_set(g, head);
    if (g->nmembers <= CAVS__MOST_FUSED && g->ninputs + g->noutputs <= CAVS__MOST_OPERANDS)
        return;
    for (int i = head; i >= 0; i = p->items[i].next) {
        if (!p->items[i].copy)
            g->node_of[p->items[i].x->number] = -1;
    }
    *g = before;
    p->items[head].emitted = false;
}

/* One step for the set that begins at `number`, and for later ones that have the same rows. */
static int emit_group(struct cavs__placer *p, int number)
{
    struct group g = {.p = p, .number = number, .width = p->items[number].x->width};
    int rc = group_alloc(&g);

    if (!rc)
        group_add_set(&g, number);
    for (int i = number + 1; i < p->nitems && !rc; i++) {
        if (p->items[i].group == i && !p->items[i].emitted && cavs__may_join(p, number, i))
            group_join_set(&g, i);
    }
    if (!rc)
        rc = p->error ? p->error : group_step(&g);
    group_free(&g);
    return rc;
}

/* ---- all ---- */

/* Within a time: operands before what reads them, copies last. */
static int by_time_and_symbol(const void *a, const void *b)
{
    const struct cavs__item *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy ? 1 : -1;
    return (x->x->number > y->x->number) - (x->x->number < y->x->number);
}

/* Renames every group to the new position of its first member, and links its members. */
static int link_groups(struct cavs__placer *p)
{
    int *last = malloc(((size_t)p->nitems + 1) * sizeof *last);

    if (!last)
        return cavs__fail_nomem("steps of a part", (size_t)p->nitems * sizeof *last);
    for (int i = 0; i < p->nitems; i++)
        last[i] = -1;
    for (int i = 0; i < p->nitems; i++) {
        struct cavs__item *item = &p->items[i];
        int before = last[item->set];

        item->group = before < 0 ? i : p->items[before].group;
        item->next = -1;
        if (before >= 0)
            p->items[before].next = i;
        last[item->set] = i;
    }
    free(last);
    return CAVS_OK;
}

static int sort_items(struct cavs__placer *p)
{
    for (int i = 0; i < p->nitems; i++) {
        while (p->items[i].group != p->items[p->items[i].group].group)
            p->items[i].group = p->items[p->items[i].group].group;
    }
    for (int i = 0; i < p->nitems; i++)
        p->items[i].set = p->items[i].group;
    qsort(p->items, (size_t)p->nitems, sizeof *p->items, by_time_and_symbol);
    return link_groups(p);
}

int cavs__emit(struct cavs__placer *p)
{
    int rc = sort_items(p);

    for (int i = 0; i < p->nitems && !rc; i++) {
        if (!(p->items[i].time & 1))
            rc = emit_single(p, p->items[i].x);
        else if (p->items[i].group == i && !p->items[i].emitted)
            rc = emit_group(p, i);
    }
    return rc ? rc : p->error;
}
