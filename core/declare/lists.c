/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lists.c - symbols with a row for each child of a vertex, or for each entry of another ragged
 * list, and the operators between them and the rows of vertices.
 */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/declare/build.h"

/* ---- domains ---- */

static const char *rows_of(const struct cavs_symbol *x)
{
    if (x->domain == 0)
        return "a row per vertex";
    return x->function->lists[x->domain - 1]->children ? "a row per child"
                                                       : "a row per entry of a list";
}

bool cavs__is_of_vertices(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                          struct cavs_place at)
{
    if (x->domain == 0)
        return true;
    FAIL(f, CAVS_EPROGRAM, "%s: operand %s has %s; take them together first (cavs_sum_children)",
         op, cavs__symbol_label(x), rows_of(x));
    return false;
}

/* x, which has a row per vertex, for each entry of a list. */
static struct cavs_symbol *repeat(struct cavs_symbol *x, int domain, struct cavs_place at)
{
    return cavs__add_symbol(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_REPEAT, .domain = domain, .width = x->width, .at = at},
        1, &x);
}

static struct cavs_symbol *first_of_list(int n, struct cavs_symbol *const *xs)
{
    for (int i = 0; i < n; i++) {
        if (cavs__domain(xs[i]) > 0)
            return xs[i];
    }
    return NULL;
}

bool cavs__to_one_domain(struct cavs_function *f, const char *op, int n, struct cavs_symbol **xs,
                         struct cavs_place at)
{
    const struct cavs_symbol *of_list = first_of_list(n, xs);

    for (int i = 0; i < n && of_list; i++) {
        int domain = cavs__domain(xs[i]);

        if (domain < 0 || domain == of_list->domain)
            continue;
        if (domain > 0 || xs[i]->op == CAVS__OP_IDS) {
            FAIL(f, CAVS_EPROGRAM, "%s: operand %s has %s, but %s has %s%s", op,
                 cavs__symbol_label(of_list), rows_of(of_list), cavs__op_name(xs[i]->op),
                 rows_of(xs[i]), domain > 0 ? " of another list" : ", and ids are not repeated");
            return false;
        }
        xs[i] = repeat(xs[i], of_list->domain, at);
        if (!xs[i])
            return false;
    }
    return true;
}

/* ---- lists ---- */

static bool same_list(const struct cavs__list *a, const struct cavs__list *b)
{
    return a->children == b->children && a->input == b->input && a->whole == b->whole;
}

/* The domain of that list of f, made at first mention; 0: reported. */
static int list_domain(struct cavs_function *f, struct cavs__list like, const char *op,
                       struct cavs_place at)
{
    struct cavs__list *list;

    for (int i = 0; i < f->nlists; i++) {
        if (same_list(f->lists[i], &like))
            return i + 1;
    }
    if (f->nlists == CAVS__MAX_LISTS) {
        FAIL(f, CAVS_EPROGRAM, "%s: a function reads at most %d different lists", op,
             CAVS__MAX_LISTS);
        return 0;
    }
    list = malloc(sizeof *list);
    if (list) {
        *list = like;
        list->function = f;
        list->number = f->stage->nlists;
    }
    if (!list || !CAVS__APPEND(f->stage->lists, f->stage->nlists, list)) {
        free(list);
        FAIL(f, CAVS_ENOMEM, "%s: out of memory", op);
        return 0;
    }
    f->lists[f->nlists++] = list;
    return f->nlists;
}

/* The domain of the children; 0: reported. */
static int children_domain(struct cavs_function *f, const char *op, struct cavs_place at)
{
    if (f->stage->base) {
        FAIL(f, CAVS_EPROGRAM, "%s: stage %s stands over stage %s: its vertices have no children",
             op, f->stage->name, f->stage->base->name);
        return 0;
    }
    if (f->slots == 0) {
        f->slots_at = at;
    }
    f->slots = CAVS__ANY_CHILDREN; /* also if some are gathered by number */
    return list_domain(f, (struct cavs__list){.children = true}, op, at);
}

/* ---- sources ---- */

struct cavs_symbol *cavs_each_child_at(struct cavs_function *f, struct cavs_place at)
{
    int domain;

    if (!cavs__open_for(f, "each_child", at))
        return NULL;
    if (f->stage->state_width == 0) {
        FAIL(f, CAVS_EPROGRAM, "each_child: stage %s has no state", f->stage->name);
        return NULL;
    }
    domain = children_domain(f, "each_child", at);
    return domain ? cavs__add_symbol(f,
                                     (struct cavs_symbol){.op = CAVS__OP_EACH_CHILD,
                                                          .domain = domain,
                                                          .width = f->stage->state_width,
                                                          .at = at},
                                     0, NULL)
                  : NULL;
}

struct cavs_symbol *cavs_pull_edge_at(struct cavs_function *f, const char *name, int width,
                                      struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for(f, "pull_edge", at))
        return NULL;
    if (!name || width <= 0) {
        FAIL(f, CAVS_ESHAPE, "pull_edge %s: width %d is not positive", name ? name : "(null)",
             width);
        return NULL;
    }
    in = cavs__find_input(f, name, CAVS__PER_EDGE, false, width, at);
    domain = in ? children_domain(f, "pull_edge", at) : 0;
    return domain ? cavs__add_symbol(f,
                                     (struct cavs_symbol){.op = CAVS__OP_PULL,
                                                          .domain = domain,
                                                          .width = width,
                                                          .input = in,
                                                          .at = at},
                                     0, NULL)
                  : NULL;
}

struct cavs_symbol *cavs_pull_edge_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for(f, "pull_edge_ids", at))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_edge_ids: the input needs a name");
        return NULL;
    }
    in = cavs__find_input(f, name, CAVS__PER_EDGE, true, 0, at);
    domain = in ? children_domain(f, "pull_edge_ids", at) : 0;
    return domain ? cavs__ids_symbol(f, in, domain, at) : NULL;
}

struct cavs_symbol *cavs_pull_list_ids_at(struct cavs_function *f, const char *name,
                                          struct cavs_place at)
{
    struct cavs__input *in;
    int domain;

    if (!cavs__open_for(f, "pull_list_ids", at))
        return NULL;
    if (!name) {
        FAIL(f, CAVS_EINVAL, "pull_list_ids: the input needs a name");
        return NULL;
    }
    in = cavs__find_input(f, name, CAVS__PER_ENTRY, true, 0, at);
    domain = in ? list_domain(f, (struct cavs__list){.input = in}, "pull_list_ids", at) : 0;
    return domain ? cavs__ids_symbol(f, in, domain, at) : NULL;
}

struct cavs_symbol *cavs_pull_from_each_at(struct cavs_function *f, struct cavs_stage *from,
                                           const char *channel, const char *name,
                                           struct cavs_place at)
{
    static const char op[] = "pull_from_each";
    struct cavs_symbol *ids = NULL;
    struct cavs__channel *c;
    int domain;

    if (!cavs__open_for(f, op, at))
        return NULL;
    c = cavs__channel_to_fetch(f, op, from, channel, at);
    if (!c)
        return NULL;
    if (name) {
        ids = cavs_pull_list_ids_at(f, name, at);
        domain = ids ? ids->domain : 0;
    } else {
        domain = list_domain(f, (struct cavs__list){.whole = from}, op, at);
    }
    return domain ? cavs__fetch_symbol(f, op, c, ids, domain, at) : NULL;
}

/* ---- reductions ---- */

static bool is_of_list(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                       struct cavs_place at)
{
    if (!cavs__open_for(f, op, at) || !cavs__is_value(f, x, op, at))
        return false;
    if (cavs__domain(x) > 0)
        return true;
    FAIL(f, CAVS_EPROGRAM,
         "%s: operand %s does not have a row per child or entry of a list (cavs_each_child, "
         "cavs_pull_edge, cavs_pull_from_each)",
         op, cavs__symbol_label(x));
    return false;
}

static struct cavs_symbol *over_list(enum cavs__op op, struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;

    if (!x || !is_of_list(f, x, cavs__op_name(op), at))
        return NULL;
    return cavs__add_symbol(
        f, (struct cavs_symbol){.op = op, .width = x->width, .k = x->domain, .at = at}, 1, &x);
}

struct cavs_symbol *cavs_sum_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_SUM, x, at);
}

struct cavs_symbol *cavs_max_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_MAX, x, at);
}

struct cavs_symbol *cavs_softmax_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    return over_list(CAVS__OP_LIST_SOFTMAX, x, at);
}

struct cavs_symbol *cavs_mean_children_at(struct cavs_symbol *x, struct cavs_place at)
{
    struct cavs_symbol *sum, *share;

    if (!x || !is_of_list(x->function, x, "mean_children", at))
        return NULL;
    sum = cavs_sum_children_at(x, at);
    share = cavs__add_symbol(
        x->function,
        (struct cavs_symbol){.op = CAVS__OP_LIST_SHARE, .width = 1, .k = x->domain, .at = at}, 0,
        NULL);
    return sum && share ? cavs_apply2_at("mul", sum, share, at) : NULL;
}

/* ---- products with a selected block ---- */

struct cavs_symbol *cavs_matmul_select_at(struct cavs_symbol *x, struct cavs_param *w, int nselect,
                                          struct cavs_symbol *ids, struct cavs_place at)
{
    struct cavs_function *f = x ? x->function : NULL;
    struct cavs_symbol *in[2] = {x, ids};
    static const char op[] = "matmul_select";

    if (!ids || !cavs__open_for(f, op, at) || !cavs__is_value(f, x, op, at) ||
        !cavs__is_ids(f, ids, op, at) || !cavs__is_param(f, w, op, at))
        return NULL;
    if (w->model != f->stage->model) {
        FAIL(f, CAVS_EPROGRAM, "matmul_select: parameter %s belongs to another model", w->name);
        return NULL;
    }
    if (nselect <= 0 || (int64_t)nselect * x->width != w->rows) {
        FAIL(
            f, CAVS_ESHAPE,
            "matmul_select: %s of width %d times one of %d blocks of parameter %s (%d x %d), which "
            "should have %d rows for each",
            cavs__symbol_label(x), x->width, nselect, w->name, w->rows, w->cols, x->width);
        return NULL;
    }
    if (!cavs__to_one_domain(f, op, 2, in, at))
        return NULL;
    cavs__limit_ids(ids, nselect);
    w->dense_use = true;
    return cavs__add_symbol(
        f,
        (struct cavs_symbol){.op = CAVS__OP_MATMUL_SELECT, .width = w->cols, .param = w, .at = at},
        2, in);
}
