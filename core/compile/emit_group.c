/* SPDX-License-Identifier: Apache-2.0 */
/* emit_group.c - one step for connected element-wise operators: a fused group. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"
#include "core/base/error.h"
#include "core/compile/emit.h"

struct group {
    struct cavs__placer *p;
    int number, width;
    int nmembers, ninputs, nnodes, noutputs;
    struct cavs__operand *inputs, *places; /* places: of the outputs */
    bool *scalar;
    struct cavs__ew_node *nodes;
    const struct cavs_symbol **made; /* by node: the symbol, NULL for constants */
    int *outputs, *over;
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
    g->over[g->noutputs] = -1;
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
    g->over = calloc(n, sizeof *g->over);
    g->node_of = malloc((size_t)g->p->f->nsymbols * sizeof *g->node_of);
    if (!g->inputs || !g->places || !g->scalar || !g->nodes || !g->made || !g->outputs ||
        !g->over || !g->node_of)
        return cavs__fail_nomem("fused group",
                                n * (2 * sizeof *g->inputs + sizeof *g->scalar + sizeof *g->nodes +
                                     sizeof *g->made + 2 * sizeof *g->outputs) +
                                    (size_t)g->p->f->nsymbols * sizeof *g->node_of);
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
    free(g->over);
    free(g->node_of);
}

/* Finds the outputs that in_place.c has moved to the place of an input. */
static void find_over(struct group *g)
{
    for (int k = 0; k < g->noutputs; k++) {
        for (int i = 0; i < g->ninputs; i++) {
            if (same_operand(&g->inputs[i], &g->places[k]))
                g->over[k] = i;
        }
    }
}

static int group_step(struct group *g)
{
    struct cavs__ew_spec spec = {.width = g->width,
                                 .ninputs = g->ninputs,
                                 .scalar = g->scalar,
                                 .nnodes = g->nnodes,
                                 .nodes = g->nodes,
                                 .noutputs = g->noutputs,
                                 .outputs = g->outputs,
                                 .over = g->over};
    const struct cavs__plan_options *o = &g->p->plan->options;
    /* While a tape records no compiler is at work: single operators are loops that exist already */
    const struct cavs_function *f = g->p->f;
    bool as_it_is = o->no_fusion || o->no_cpus || (f->stage->recorded && !f->compiled);
    struct cavs__step *s;
    int rc;

    if (g->noutputs == 0)
        return CAVS_OK; /* nobody reads it */
    find_over(g);
    rc = cavs__kernel_step(g->p, &cavs__kernel_elementwise, g->ninputs + g->noutputs, g->noutputs,
                           &s);
    if (rc)
        return rc;
    memcpy(s->v, g->inputs, (size_t)g->ninputs * sizeof *s->v);
    memcpy(s->v + g->ninputs, g->places, (size_t)g->noutputs * sizeof *s->v);
    rc = cavs__describe_step(s, g->label, g->nnodes, g->made);
    if (rc)
        return rc;
    s->list = cavs__item_domain(&g->p->items[g->number]);
    if (g->nnodes == 0)
        s->cost = CAVS__COST_MEMORY;
    s->call.program = cavs__ew_program_create(&spec, as_it_is ? CAVS__EW_INTERPRET : CAVS__EW_AUTO);
    return s->call.program ? CAVS_OK : cavs__fail_nomem("fused group", 0);
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

/* Adds such a set, unless the group would become too large. */
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

int cavs__emit_group(struct cavs__placer *p, int number)
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
