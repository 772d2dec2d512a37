/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - see store.h. */
#include "core/run/store.h"

#include <stdlib.h>
#include <string.h>

#include "codelets/update.h"
#include "core/base/array.h"
#include "core/base/error.h"

/* ---- life ---- */

int cavs__store_open(struct cavs__store *other, struct cavs__store **out)
{
    struct cavs__store *s = other ? other : calloc(1, sizeof *s);

    if (!s)
        return cavs__fail_nomem("parameters", sizeof *s);
    s->users++;
    *out = s;
    return CAVS_OK;
}

void cavs__store_close(struct cavs__store *s)
{
    if (!s || --s->users > 0)
        return;
    free(s->all);
    free(s);
}

int cavs__store_check_rule(const struct cavs__store *s, int rule)
{
    if (s->trained && s->rule != rule)
        return cavs__fail(CAVS_EINVAL,
                          "sessions that share parameters have one optimizer: this one has %s, "
                          "another has %s",
                          cavs__rules[rule].title, cavs__rules[s->rule].title);
    return CAVS_OK;
}

void cavs__store_set_rule(struct cavs__store *s, int rule)
{
    s->trained = true;
    s->rule = rule;
}

/* ---- parameters ---- */

static int count_members(const struct cavs_param *p)
{
    return p->nmembers > 0 ? p->nmembers : 1;
}

static const char *member_name(const struct cavs_param *p, int i)
{
    return p->nmembers > 0 ? p->members[i]->name : p->name;
}

/* Names one after the other, each with its end. */
static char *names_of(const struct cavs_param *p)
{
    size_t length = 1;
    char *names, *end;

    for (int i = 0; i < count_members(p); i++)
        length += strlen(member_name(p, i)) + 1;
    names = end = calloc(1, length);
    for (int i = 0; i < count_members(p) && names; i++)
        end = stpcpy(end, member_name(p, i)) + 1;
    return names;
}

static bool holds(const struct cavs__store_entry *x, const char *name)
{
    for (const char *n = x->names; *n; n += strlen(n) + 1) {
        if (strcmp(n, name) == 0)
            return true;
    }
    return false;
}

static bool holds_the_same(const struct cavs__store_entry *x, const struct cavs_param *p)
{
    const char *n = x->names;

    for (int i = 0; i < count_members(p); i++) {
        if (strcmp(n, member_name(p, i)) != 0)
            return false;
        n += strlen(n) + 1;
    }
    return *n == '\0';
}

/* What holds one of p's, or NULL. */
static struct cavs__store_entry *find(const struct cavs__store *s, const struct cavs_param *p)
{
    for (int i = 0; i < s->n; i++) {
        for (int k = 0; k < count_members(p); k++) {
            if (holds(s->all[i], member_name(p, k)))
                return s->all[i];
        }
    }
    return NULL;
}

static int check_same(const struct cavs__store_entry *x, const struct cavs_param *p)
{
    if (!holds_the_same(x, p))
        return cavs__fail(CAVS_ESHAPE,
                          "parameter %s cannot be shared: products by it and by others are one in "
                          "one of the models, but not in the other; both have to multiply the same "
                          "operands by the same parameters",
                          p->name);
    if (x->rows != p->rows || x->cols != p->cols)
        return cavs__fail(CAVS_ESHAPE,
                          "parameter %s cannot be shared: it is %d x %d in this model, and %d x %d "
                          "in the other one",
                          p->name, p->rows, p->cols, x->rows, x->cols);
    return CAVS_OK;
}

static struct cavs__store_entry *add(struct cavs__store *s, const struct cavs_param *p)
{
    struct cavs__store_entry *x = calloc(1, sizeof *x);

    if (x)
        *x = (struct cavs__store_entry){.names = names_of(p), .rows = p->rows, .cols = p->cols};
    if (x && x->names && CAVS__APPEND(s->all, s->n, x))
        return x;
    if (x)
        free(x->names);
    free(x);
    return NULL;
}

int cavs__store_take(struct cavs__store *s, const struct cavs_param *p,
                     struct cavs__store_entry **out)
{
    struct cavs__store_entry *x = find(s, p);
    int rc = x ? check_same(x, p) : CAVS_OK;

    if (rc)
        return rc;
    x = x ? x : add(s, p);
    if (!x)
        return cavs__fail_nomem("parameters", sizeof *x);
    x->users++;
    *out = x;
    return CAVS_OK;
}

static void remove_from(struct cavs__store *s, const struct cavs__store_entry *x)
{
    for (int i = 0; i < s->n; i++) {
        if (s->all[i] == x)
            s->all[i--] = s->all[--s->n];
    }
}

void cavs__store_give_back(struct cavs__store *s, struct cavs__store_entry *x)
{
    if (!x || --x->users > 0)
        return;
    remove_from(s, x);
    cavs__tensor_free(&x->value);
    for (int i = 0; i < 2; i++)
        cavs__tensor_free(&x->state[i]);
    for (int i = 0; i < CAVS__LAYOUTS; i++)
        cavs__tensor_free(&x->copies[i]);
    free(x->names);
    free(x);
}
