/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - what the samples bring: rows and ids of vertices, edges and entries of lists. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/operators/family.h"

static const char *const owners[] = {"vertex", "edge", "entry of a list"};

/* Reports in what the present mention of an input differs from the first one. */
static void report_difference(struct cavs_function *f, const struct cavs__input *in,
                              const struct cavs__input *here, struct cavs_place at)
{
    if (in->per != here->per)
        FAIL(f, CAVS_ESHAPE,
             "pull: input %s has a value per %s here, but one per %s elsewhere in stage %s",
             in->name, owners[here->per], owners[in->per], f->stage->name);
    else
        FAIL(f, CAVS_ESHAPE,
             "pull: input %s is %s of width %d here, but %s of width %d elsewhere in stage %s",
             in->name, here->ids ? "ids" : "rows", here->width, in->ids ? "ids" : "rows", in->width,
             f->stage->name);
}

/* Makes an input; NULL: memory is short. */
static struct cavs__input *add_input(struct cavs_stage *s, const char *name,
                                     const struct cavs__input *like)
{
    struct cavs__input *in = malloc(sizeof *in);

    if (!in)
        return NULL;
    *in = *like;
    in->name = strdup(name);
    in->number = s->ninputs;
    if (in->name && CAVS__APPEND(s->inputs, s->ninputs, in))
        return in;
    free(in->name);
    free(in);
    return NULL;
}

/* The stage's input of that name, made at first mention; NULL (reported) if it was declared
 * otherwise before. */
static struct cavs__input *find_input(struct cavs_function *f, const char *name, enum cavs__per per,
                                      bool ids, int width, struct cavs_place at)
{
    const struct cavs__input here = {.per = per, .ids = ids, .width = width, .limit = INT32_MAX};
    struct cavs_stage *s = f->stage;
    struct cavs__input *in;

    for (int i = 0; i < s->ninputs; i++) {
        in = s->inputs[i];
        if (strcmp(in->name, name) != 0)
            continue;
        if (in->ids == ids && in->width == width && in->per == per)
            return in;
        report_difference(f, in, &here, at);
        return NULL;
    }
    in = add_input(s, name, &here);
    if (!in)
        FAIL(f, CAVS_ENOMEM, "pull: out of memory for input %s", name);
    return in;
}

static bool is_input(struct cavs_function *f, const char *op, const char *name, int width,
                     struct cavs_place at)
{
    if (!name)
        FAIL(f, CAVS_EINVAL, "%s: an input needs a name", op);
    else if (width <= 0)
        FAIL(f, CAVS_ESHAPE, "%s %s: width %d is not positive", op, name, width);
    return name && width > 0;
}

struct cavs_symbol *cavs_pull_at(struct cavs_function *f, const char *name, int width,
                                 struct cavs_place at)
{
    struct cavs__input *in;

    if (!cavs__open_for_vertices(f, "pull", at) || !is_input(f, "pull", name, width, at))
        return NULL;
    in = find_input(f, name, CAVS__PER_VERTEX, false, width, at);
    if (!in)
        return NULL;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = CAVS__OP_PULL, .width = width, .input = in, .at = at}, 0,
        NULL);
}

static struct cavs_symbol *ids_symbol(struct cavs_function *f, struct cavs__input *in, int domain,
                                      struct cavs_place at)
{
    return in ? cavs__add_symbol(f,
                                 (struct cavs_symbol){
                                     .op = CAVS__OP_IDS, .domain = domain, .input = in, .at = at},
                                 0, NULL)
              : NULL;
}

struct cavs_symbol *cavs_pull_ids_at(struct cavs_function *f, const char *name,
                                     struct cavs_place at)
{
    if (!cavs__open_for_vertices(f, "pull_ids", at) || !is_input(f, "pull_ids", name, 1, at))
        return NULL;
    return ids_symbol(f, find_input(f, name, CAVS__PER_VERTEX, true, 0, at), 0, at);
}

struct cavs_symbol *cavs_pull_edge_at(struct cavs_function *f, const char *name, int width,
                                      struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for_vertices(f, "pull_edge", at) || !is_input(f, "pull_edge", name, width, at))
        return NULL;
    in = find_input(f, name, CAVS__PER_EDGE, false, width, at);
    domain = in ? cavs__children_domain(f, "pull_edge", at) : 0;
    return domain ? cavs__add_symbol(f,
                                     (struct cavs_symbol){.op = CAVS__OP_PULL,
                                                          .domain = domain,
                                                          .width = width,
                                                          .input = in,
                                                          .at = at},
                                     0, NULL)
                  : NULL;
}

/* The rows of the samples; where inputs are shared, that of one of the vertices that have them. */
static struct cavs__operand where_pull(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int tensor = p->sp->input[x->input->number];
    struct cavs__operand o;

    if (p->f->stage->recorded)
        return cavs__indexed_operand(
            p, tensor, 0, x->width,
            (struct cavs__section){.kind = CAVS__S_CHILD, .function = p->f});
    if (cavs__in_shared_part(p))
        return cavs__indexed_operand(p, tensor, 0, x->width,
                                     (struct cavs__section){.kind = CAVS__S_DISTINCT_ROW,
                                                            .function = p->f,
                                                            .list = x->domain});
    o = cavs__tensor_operand(tensor, x->domain ? CAVS__EDGES : CAVS__ROWS, CAVS__DIRECT, 0,
                             x->width);
    o.list = (uint8_t)x->domain;
    return o;
}

const struct cavs__operator cavs__operator_pull = {
    .name = "pull",
    .role = CAVS__ROLE_SOURCE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = cavs__not_differentiable,
    .where = where_pull,
};

struct cavs_symbol *cavs_pull_edge_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for_vertices(f, "pull_edge_ids", at))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_edge_ids: the input needs a name");
        return NULL;
    }
    in = find_input(f, name, CAVS__PER_EDGE, true, 0, at);
    domain = in ? cavs__children_domain(f, "pull_edge_ids", at) : 0;
    return domain ? ids_symbol(f, in, domain, at) : NULL;
}

struct cavs_symbol *cavs_pull_list_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for_vertices(f, "pull_list_ids", at))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_list_ids: the input needs a name");
        return NULL;
    }
    in = find_input(f, name, CAVS__PER_ENTRY, true, 0, at);
    domain = in ? cavs__list_domain(f, (struct cavs__list){.input = in}, "pull_list_ids", at) : 0;
    return domain ? ids_symbol(f, in, domain, at) : NULL;
}

static struct cavs__operand where_ids(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return cavs__ids_operand(
        p,
        (struct cavs__section){.kind = cavs__in_shared_part(p) ? CAVS__S_DISTINCT_IDS : CAVS__S_IDS,
                               .function = p->f,
                               .number = x->input->number,
                               .list = x->domain});
}

const struct cavs__operator cavs__operator_ids = {
    .name = "pull_ids",
    .role = CAVS__ROLE_SOURCE,
    .pure = true,
    .domain = cavs__domain_of_operands,
    .diff = cavs__not_differentiable,
    .where = where_ids,
};
