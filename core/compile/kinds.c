/* SPDX-License-Identifier: Apache-2.0 */
/* kinds.c - task kinds: the parts of functions are gathered into what one StarPU codelet runs. */
#include "core/compile/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"

static const char *const class_names[] = {"eager", "chain", "lazy"};
static const char *const phase_names[] = {"forward", "backward", "gradient"};

struct cavs__task_kind *cavs__find_chain(const struct cavs__stage_plan *sp, enum cavs__phase phase)
{
    for (int i = 0; i < sp->nkinds; i++) {
        if (sp->kinds[i]->klass == CAVS__CHAIN && sp->kinds[i]->phase == phase)
            return sp->kinds[i];
    }
    return NULL;
}

enum { LONGEST_NAME = 160 };

/* The name is STAGE.FUNCTION.PHASE.CLASS. A chain belongs to all functions of its stage, and a part
 * with a name of its own has no class in it. */
static void kind_name(const struct cavs__stage_plan *sp, const struct cavs__part_place *at,
                      char name[LONGEST_NAME])
{
    const char *stage = sp->stage->name, *phase = phase_names[at->phase];
    const char *last = at->what ? at->what : class_names[at->klass];

    if (at->klass == CAVS__CHAIN || sp->stage->recorded)
        snprintf(name, LONGEST_NAME, "%s.%s.%s", stage, phase, last);
    else
        snprintf(name, LONGEST_NAME, "%s.%s.%s.%s", stage, at->function->name, phase, last);
}

/* The kinds of a tape are made while the program goes on, and they add to the same gradients. They
 * are ordered by name, so that the order of sums does not depend on what was recorded first, or by
 * whom. */
static void sort_in(struct cavs__stage_plan *sp)
{
    struct cavs__task_kind *k = sp->kinds[sp->nkinds - 1];
    int i = sp->nkinds - 1;

    for (; i > 0 && strcmp(sp->kinds[i - 1]->name, k->name) > 0; i--)
        sp->kinds[i] = sp->kinds[i - 1];
    sp->kinds[i] = k;
}

static int new_kind(struct cavs__stage_plan *sp, const struct cavs__part_place *at,
                    struct cavs__task_kind **made)
{
    struct cavs__task_kind *k = calloc(1, sizeof *k);
    char name[LONGEST_NAME];

    if (!k)
        return cavs__fail_nomem("plan: task kind", sizeof *k);
    kind_name(sp, at, name);
    k->name = strdup(name);
    k->phase = at->phase;
    k->klass = at->klass;
    k->shared = at->shared;
    k->stage = sp->stage;
    k->function = at->klass == CAVS__CHAIN || sp->stage->recorded ? NULL : at->function;
    k->index_buffer = CAVS__NO_BUFFER;
    if (k->name && CAVS__APPEND(sp->kinds, sp->nkinds, k)) {
        if (sp->stage->recorded)
            sort_in(sp);
        *made = k;
        return CAVS_OK;
    }
    free(k->name);
    free(k);
    return cavs__fail_nomem("plan: task kind",
                            strlen(name) + 1 + cavs__array_bytes(sp->nkinds, sizeof *sp->kinds));
}

static bool has_part(const struct cavs__task_kind *k, const struct cavs_function *f)
{
    return f->number < k->nparts && k->parts[f->number];
}

/* The kind that runs such parts of several functions, if there is one yet: that is the chain, and
 * on a tape every kind. A block that multiplies by one parameter twice has a part in two of
 * them. */
static struct cavs__task_kind *find_kind(struct cavs__stage_plan *sp,
                                         const struct cavs__part_place *at)
{
    char name[LONGEST_NAME];

    if (at->klass == CAVS__CHAIN)
        return cavs__find_chain(sp, at->phase);
    if (!sp->stage->recorded)
        return NULL;
    kind_name(sp, at, name);
    for (int i = 0; i < sp->nkinds; i++) {
        if (strcmp(sp->kinds[i]->name, name) == 0 && !has_part(sp->kinds[i], at->function))
            return sp->kinds[i];
    }
    return NULL;
}

/* Room for the parts of all functions that the stage has by now. */
static int reserve_parts(struct cavs__task_kind *k)
{
    int n = k->stage->nfunctions;
    size_t room = (size_t)k->nparts;

    if (n <= k->nparts)
        return CAVS_OK;
    if (!cavs__array_reserve(&k->parts, &room, (size_t)n, sizeof *k->parts))
        return cavs__fail_nomem("plan: task kind", 2 * (size_t)n * sizeof *k->parts);
    memset(k->parts + k->nparts, 0, (room - (size_t)k->nparts) * sizeof *k->parts);
    k->nparts = (int)room;
    return CAVS_OK;
}

int cavs__plan_add_part(struct cavs__plan *p, const struct cavs__part_place *at,
                        struct cavs__part *part)
{
    struct cavs__stage_plan *sp = &p->stages[at->function->stage->number];
    struct cavs__task_kind *k = find_kind(sp, at);
    int rc = k ? CAVS_OK : new_kind(sp, at, &k);

    if (!rc)
        rc = reserve_parts(k);
    if (rc) {
        cavs__part_destroy(part);
        return rc;
    }
    k->parts[at->function->number] = part;
    part->name = strdup(k->name);
    if (!part->name)
        return cavs__fail_nomem("plan: task kind", strlen(k->name) + 1);
    if (cavs__part_scratch(part, NULL) > p->scratch)
        p->scratch = cavs__part_scratch(part, NULL);
    return CAVS_OK;
}

static int order_of(const struct cavs__task_kind *k)
{
    int when = k->klass == CAVS__EAGER ? !k->shared : 1 + (int)k->klass;

    return 5 * (int)k->phase + when + (k->klass == CAVS__LAZY && k->shared);
}

/* Forward shared values, eager, chain, lazy; backward eager, chain, lazy, shared ones; then
 * gradients.  Stable: functions keep their order. */
void cavs__sort_kinds(struct cavs__stage_plan *sp)
{
    for (int i = 1; i < sp->nkinds; i++) {
        struct cavs__task_kind *k = sp->kinds[i];
        int j = i;

        for (; j > 0 && order_of(sp->kinds[j - 1]) > order_of(k); j--)
            sp->kinds[j] = sp->kinds[j - 1];
        sp->kinds[j] = k;
    }
}

/* Lists are assumed to have two entries. */
static void add_streamed(struct cavs__stage_plan *sp, const struct cavs__task_kind *eager,
                         const struct cavs__rates *rates)
{
    enum { ROWS = 1024 };
    double entries[CAVS__PART_LISTS];
    const struct cavs__task_kind *chain = cavs__find_chain(sp, eager->phase);
    int f = eager->function->number;

    for (int i = 0; i < CAVS__PART_LISTS; i++)
        entries[i] = 2;
    if (chain && chain->parts[f])
        sp->streamed[f] += cavs__part_seconds(rates, eager->parts[f], ROWS, entries) / ROWS;
}

/* Is it a gradient that every block of V_t would fetch again? Then more is lost by that than is
 * gained by starting the chain sooner. */
static bool adds_from_afar(const struct cavs__task_kind *k, const struct cavs__plan_options *o)
{
    return k->phase == CAVS__GRADIENT && cavs__far_blocks(o, k->parts[k->function->number]) > 0;
}

void cavs__find_streamed(struct cavs__stage_plan *sp, const struct cavs__plan_options *o)
{
    for (int i = 0; i < sp->nkinds; i++) {
        if (adds_from_afar(sp->kinds[i], o))
            return;
    }
    for (int i = 0; i < sp->nkinds; i++) {
        if (sp->kinds[i]->klass == CAVS__EAGER && !sp->kinds[i]->shared)
            add_streamed(sp, sp->kinds[i], &o->rates);
    }
}
