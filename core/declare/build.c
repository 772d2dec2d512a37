/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - what every call that builds a symbol begins and ends with. */
#include "core/declare/build.h"

#include "core/declare/operator.h"

static const struct cavs_symbol unlikely = {.ninputs = -1};
const struct cavs_symbol *const cavs__unlikely = &unlikely;

/* Every builder starts with one of these questions: may f still grow, is x one of its float
 * symbols? */
bool cavs__is_closed(struct cavs_function *f, const char *op, struct cavs_place at)
{
    if (f->finished)
        FAIL(f, CAVS_ESTATE,
             f->recorder ? "%s before a recording has begun, or of a symbol of an earlier "
                           "recording (cavs_tape_begin)"
                         : "%s after the function was finished",
             op);
    return f->finished;
}

bool cavs__open_for_vertices(struct cavs_function *f, const char *op, struct cavs_place at)
{
    if (!cavs__open_for(f, op, at))
        return false;
    if (f->recorder)
        FAIL(f, CAVS_EPROGRAM,
             "%s: a tape has no vertices: operators take the symbols of others, rows and ids come "
             "from cavs_tape_row() and cavs_tape_id()",
             op);
    return !f->recorder;
}

bool cavs__is_function_for(const struct cavs_function *f, const struct cavs_symbol *x,
                           const char *op, struct cavs_place at)
{
    if (!f && x && cavs__open_for(x->function, op, at))
        FAIL(x->function, CAVS_EINVAL, "%s of %s: the function is NULL", op, cavs__symbol_label(x));
    return f != NULL;
}

/* Does x belong to f? On a tape, it must not have been taken back either. */
static bool belongs(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                    struct cavs_place at)
{
    if (x->function == f && (!f->recorder || x->number < f->nsymbols))
        return true;
    if (x->function == f)
        FAIL(f, CAVS_ESTATE,
             "%s: an operand was taken back (cavs_tape_rewind) or is of a recording long ago", op);
    else if (f->recorder)
        FAIL(f, CAVS_ESTATE, "%s: operand %s (%s:%d) is of %s", op, cavs__symbol_label(x),
             x->at.file, x->at.line,
             !x->function->recorder                 ? "a vertex function"
             : x->function->recorder == f->recorder ? "an earlier recording (cavs_tape_begin)"
                                                    : "another tape");
    else
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s (%s:%d) belongs to function %s.%s", op,
             cavs__symbol_label(x), x->at.file, x->at.line, x->function->stage->name,
             x->function->name);
    return false;
}

bool cavs__is_no_value(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                       struct cavs_place at)
{
    if (!belongs(f, x, op, at))
        return true;
    if (x->op == CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s is an id input; use it with lookup or as labels", op,
             x->input ? x->input->name : "(cavs_tape_id)");
    return x->op == CAVS__OP_IDS;
}

bool cavs__are_no_ids(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                      struct cavs_place at)
{
    if (!belongs(f, x, op, at))
        return true;
    if (x->op != CAVS__OP_IDS)
        FAIL(f, CAVS_EPROGRAM, "%s: operand %s of width %d where ids are wanted (%s)", op,
             cavs__symbol_label(x), x->width, f->recorder ? "cavs_tape_id" : "cavs_pull_ids");
    return x->op != CAVS__OP_IDS;
}

/* A parameter that could not be found or made is reported here, because here is the line that needs
 * it. */
bool cavs__is_no_param(struct cavs_function *f, const struct cavs_param *p, const char *op,
                       struct cavs_place at)
{
    if (!p)
        FAIL(f, CAVS_EINVAL, "%s: the parameter is NULL", op);
    return p == NULL;
}

bool cavs__limit_ids(struct cavs_symbol *ids, int limit, const char *op, struct cavs_place at)
{
    struct cavs_function *f = ids->function;

    if (f->recorder && ids->k >= limit)
        FAIL(f, CAVS_EDATA, "%s: id %d is not below %d", op, ids->k, limit);
    else if (!f->recorder && limit < ids->input->limit)
        ids->input->limit = limit;
    return !f->recorder || ids->k < limit;
}

bool cavs__may_note(struct cavs_function *f, const char *op, struct cavs_place at)
{
    const bool aside = f->recorder && f->recorder->aside;

    if (aside)
        FAIL(f, CAVS_ESTATE,
             "%s: first of its kind; the sample is recorded anew, behind those that workers record",
             op);
    return !aside;
}

bool cavs__note_first(struct cavs_function *f, bool *what, const char *op, struct cavs_place at)
{
    if (!cavs__may_note(f, op, at))
        return false; /* not written: samples beside this one read it */
    *what = true;
    return true;
}

/* ---- rows of vertices and of entries ---- */

static const char *rows_of(const struct cavs_symbol *x)
{
    if (x->domain == 0)
        return "a row per vertex";
    if (!x->function->recorder && x->function->lists[x->domain - 1]->children)
        return "a row per child";
    return "a row per entry of a list";
}

bool cavs__is_of_entries(struct cavs_function *f, const struct cavs_symbol *x, const char *op,
                         struct cavs_place at)
{
    FAIL(f, CAVS_EPROGRAM, "%s: operand %s has %s; take them together first (cavs_sum_children)",
         op, cavs__symbol_label(x), rows_of(x));
    return true;
}

/* Repeats x, which has a row per vertex, for each entry of a list. */
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
        if (xs[i]->domain > 0 && cavs__domain(xs[i]) > 0)
            return xs[i];
    }
    return NULL;
}

bool cavs__repeat_for_lists(struct cavs_function *f, const char *op, int n, struct cavs_symbol **xs,
                            struct cavs_place at)
{
    const struct cavs_symbol *of_list = first_of_list(n, xs);

    for (int i = 0; i < n && of_list; i++) {
        int domain = cavs__domain(xs[i]);

        if (domain < 0 || domain == of_list->domain)
            continue;
        if (domain > 0 || xs[i]->op == CAVS__OP_IDS) {
            FAIL(f, CAVS_EPROGRAM, "%s: operand %s has %s, but %s has %s%s", op,
                 cavs__symbol_label(of_list), rows_of(of_list), cavs__symbol_label(xs[i]),
                 rows_of(xs[i]),
                 domain == 0   ? ", and ids are not repeated"
                 : f->recorder ? ", and the lists differ in length"
                               : ", which is another list");
            return false;
        }
        xs[i] = repeat(xs[i], of_list->domain, at);
        if (!xs[i])
            return false;
    }
    return true;
}

/* ---- the symbol itself ---- */

bool cavs__symbol_nomem(struct cavs_function *f, const struct cavs_symbol *x)
{
    cavs__function_fail(f, CAVS_ENOMEM, x->at, "%s: out of memory", cavs__symbol_label(x));
    return false;
}

struct cavs_symbol *cavs__declare_symbol(struct cavs_function *f, const struct cavs_symbol *like,
                                         int n, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = cavs__symbol_new(f, like, n, inputs);

    if (!x)
        cavs__symbol_nomem(f, like);
    return x;
}
