/* SPDX-License-Identifier: Apache-2.0 */
/* applied_form.c - which unfolding of a declared function an application takes; see unfolded.h.  A
 * function is unfolded once for each list of codes: one code for each input of its stage, and one
 * for each child. */
#include <stdio.h>
#include <string.h>

#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/tape/applying.h"

/* ---- lengths ---- */

struct cavs_symbol *cavs__applied_input(const struct cavs__applying *w,
                                        const struct cavs__input *input)
{
    for (int i = 0; i < w->a->ninputs; i++) {
        if (w->a->inputs[i].name && strcmp(w->a->inputs[i].name, input->name) == 0)
            return w->a->inputs[i].x;
    }
    return NULL;
}

/* Is x of the present recording?  What another list has may be there no more. */
static bool is_present(const struct cavs__applying *w, const struct cavs__input *input,
                       const struct cavs_symbol *x)
{
    char op[200];

    if (x->function == w->to && x->number < w->to->nsymbols)
        return true;
    snprintf(op, sizeof op, "apply: input %s of function %s", input->name, w->f->name);
    return !cavs__is_no_value(w->to, x, op, w->at);
}

/* The code of an input: 1 + its length, or 0 where it is not given, as an empty list is not. */
static int32_t code_input(const struct cavs__applying *w, const struct cavs__input *input)
{
    const struct cavs_symbol *x = cavs__applied_input(w, input);
    bool list = input->per != CAVS__PER_VERTEX;
    int length = x ? x->domain : 0;

    if (x && !is_present(w, input, x))
        return 0;
    if (!x && !list)
        cavs__function_fail(w->to, CAVS_EDATA, w->at,
                            "apply: function %s pulls input %s, which is not given", w->f->name,
                            input->name);
    else if (x && (length > 0) != list)
        cavs__function_fail(w->to, CAVS_ESHAPE, w->at, "apply: input %s of function %s is %s list",
                            input->name, w->f->name, list ? "a" : "no");
    else if (input->per == CAVS__PER_EDGE && length != w->a->nchildren)
        cavs__function_fail(w->to, CAVS_ESHAPE, w->at,
                            "apply: input %s of function %s has %d entries, but there are %d "
                            "children",
                            input->name, w->f->name, length, w->a->nchildren);
    return length + 1;
}

/* Writes the codes of all inputs and children, by their lengths. false: reported. */
static bool code_lengths(const struct cavs__applying *w, int32_t *codes)
{
    const struct cavs_stage *stage = w->f->stage;

    for (int i = 0; i < stage->ninputs; i++)
        codes[i] = stage->inputs[i]->pulled[w->f->number] ? code_input(w, stage->inputs[i]) : 0;
    for (int i = 0; i < w->a->nchildren; i++)
        codes[stage->ninputs + i] = w->a->children[i] != NULL;
    return w->to->error == 0;
}

/* ---- lists of any length ---- */

const struct cavs_symbol *cavs__applied_list(const struct cavs__applying *w,
                                             const struct cavs__input *input)
{
    if (input)
        return cavs__applied_input(w, input);
    return w->children.ninputs > 0 ? &w->children : NULL;
}

static bool is_alike(const struct cavs__applying *w, const struct cavs__input *input)
{
    const struct cavs_symbol *x = cavs__applied_list(w, input);
    bool there = true;

    for (int i = 0; x && i < x->ninputs; i++)
        there &= x->inputs[i] != NULL;
    return !x || x->op == CAVS__OP_IDS || (there && cavs__are_rows(x));
}

/* Is the input a part of the list? */
static bool is_of_list(const struct cavs__applying *w, const struct cavs__list *list,
                       const struct cavs__input *input)
{
    return input->pulled[w->f->number] &&
           (list->children ? input->per == CAVS__PER_EDGE : input == list->input);
}

/* May the function's list be of any length? */
static bool is_listed(const struct cavs__applying *w)
{
    const struct cavs__list *list = w->f->nlists == 1 ? w->f->lists[0] : NULL;
    bool alike = list && !list->whole && (!list->children || is_alike(w, NULL));

    for (int i = 0; i < w->f->stage->ninputs && alike; i++) {
        const struct cavs__input *input = w->f->stage->inputs[i];

        alike = !is_of_list(w, list, input) || is_alike(w, input);
    }
    return alike;
}

/* Writes codes that stand for lists of any length, and returns how many codes there are. */
static int code_list(const struct cavs__applying *w, int n, int32_t *codes)
{
    const struct cavs_stage *stage = w->f->stage;
    const struct cavs__list *list = w->f->lists[0];

    for (int i = 0; i < stage->ninputs; i++) {
        if (is_of_list(w, list, stage->inputs[i]))
            codes[i] = CAVS__ANY_LENGTH;
    }
    if (!list->children)
        return n;
    codes[stage->ninputs] = CAVS__ANY_LENGTH;
    return stage->ninputs + 1;
}

/* ---- finding it ---- */

static struct cavs__unfolded *find(const struct cavs__signatures *all,
                                   const struct cavs__applying *w, int n, const int32_t *codes,
                                   int *number)
{
    for (*number = 0; *number < all->nunfolded; ++*number) {
        struct cavs__unfolded *u = all->unfolded[*number];

        if (u->of == w->f && u->ncodes == n &&
            memcmp(u->codes, codes, (size_t)n * sizeof *codes) == 0)
            return u;
    }
    return NULL;
}

/* Are there inputs of the tape's stage for all ids? */
static bool has_inputs(const struct cavs__unfolded_piece *p)
{
    for (int k = CAVS__GIVEN_INPUT; k < p->noperands; k++) {
        if (p->operands[k]->op == CAVS__OP_IDS)
            return false;
    }
    return true;
}

static bool has_ids(const struct cavs__applying *w, const struct cavs__unfolded *u)
{
    for (int i = 0; i < CAVS__PIECES; i++) {
        if (!has_inputs(u->pieces[i])) {
            cavs__function_fail(w->to, CAVS_EPROGRAM, w->at,
                                "apply: function %s reads more than %d ids but for lookups; record "
                                "its operators instead",
                                w->f->name, CAVS__GIVEN_INPUT);
            return false;
        }
    }
    return true;
}

/* Sets w->u to the function unfolded for the first n of the codes, which is unfolded now if it was
 * not before.  Returns its number; -1: reported. */
static int find_unfolded(struct cavs__applying *w, int n)
{
    struct cavs__recording *r = &w->t->recording;
    struct cavs__signatures *all = &r->signatures;
    int number;

    w->u = find(all, w, n, r->codes, &number);
    if (w->u)
        return number;
    if (!cavs__may_note(w->to, "apply", w->at))
        return -1;
    w->u = cavs__unfold(&all->stage, w->f, n, r->codes, w->to, w->at);
    if (!w->u)
        return -1;
    if (has_ids(w, w->u) && CAVS__APPEND(all->unfolded, all->nunfolded, w->u))
        return number;
    cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
    cavs__unfolded_free(w->u);
    return -1;
}

/* Takes the function that is unfolded for lists of any length, if there can be one. */
int cavs__find_unfolded(struct cavs__applying *w)
{
    struct cavs__recording *r = &w->t->recording;
    int n = w->f->stage->ninputs + w->a->nchildren, number;

    if (!cavs__array_reserve(&r->codes, &r->code_room, (size_t)n + 1, sizeof *r->codes)) {
        cavs__function_fail(w->to, CAVS_ENOMEM, w->at, "apply: out of memory");
        return -1;
    }
    if (!code_lengths(w, r->codes))
        return -1;
    if (!is_listed(w))
        return find_unfolded(w, n);
    number = find_unfolded(w, code_list(w, n, r->codes));
    if (number < 0 || !w->u->by_length)
        return number;
    return code_lengths(w, r->codes) ? find_unfolded(w, n) : -1;
}
