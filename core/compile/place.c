/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - the parts of one function, one after the other: what each has to compute (parts.c),
 * where that lives (places.c), when it is computed and what with (fuse.c, delay.c), and the steps
 * that do it.
 */
#include "core/compile/place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/declare/operator.h"

static void cut_tiles(struct cavs__placer *p)
{
    p->out->tile = cavs__tile_rows(p);
    for (int i = 0; i < p->f->nlists; i++)
        p->out->lists[i].tile = 2 * p->out->tile;
}

/* Which lists the steps of the part read, and where their pointers are. */
static void find_lists(struct cavs__placer *p)
{
    bool used[1 + CAVS__MAX_LISTS] = {false};

    for (int s = 0; s < p->out->nsteps; s++) {
        used[p->out->steps[s].list] = true;
        for (int i = 0; i < p->out->steps[s].nviews; i++)
            used[p->out->steps[s].v[i].list] = true;
    }
    for (int d = 1; d <= p->f->nlists; d++) {
        struct cavs__part_list *l = &p->out->lists[d - 1];

        l->used = used[d];
        if (l->used)
            l->ptr_section = cavs__section(
                p, (struct cavs__section){.kind = CAVS__S_LIST_PTR, .function = p->f, .list = d});
    }
}

/* What the part computes and copies, and when. */
static int find_items(struct cavs__placer *p)
{
    int rc;

    memset(p->scratch, 0, sizeof p->scratch);
    cavs__find_here(p);
    rc = cavs__place_steps(p);
    if (!rc)
        rc = cavs__time_items(p);
    return rc ? rc : p->error;
}

/* Which of them wait for others, and which run as one. */
static int group_items(struct cavs__placer *p)
{
    int rc = cavs__find_readers(p);

    if (!rc)
        rc = cavs__delay_items(p);
    return rc ? rc : cavs__fuse(p);
}

static bool is_chain(const struct cavs__placer *p)
{
    return p->part < CAVS__PART_SHARED && p->part % 3 == CAVS__CHAIN;
}

static int make_steps(struct cavs__placer *p)
{
    int rc = cavs__emit(p);

    if (rc)
        return rc;
    find_lists(p);
    cavs__find_together(
        p->out, &(struct cavs__launch_limits){.width = p->sp->stage->state_width,
                                              .lists_with_rows = p->plan->options.few_launches});
    if (p->plan->options.few_launches && is_chain(p))
        rc = cavs__find_sequences(p->out);
    if (!rc)
        rc = cavs__pack_scratch(p->out);
    cut_tiles(p);
    return rc ? rc : p->error;
}

/* Sets p->out to the part, or to NULL where there is nothing to do. */
static int make_part(struct cavs__placer *p)
{
    int rc = find_items(p);

    p->out = NULL;
    if (rc || p->nitems == 0)
        return rc;
    rc = group_items(p);
    if (rc)
        return rc;
    cavs__place_elementwise(p);
    rc = cavs__keep_in_place(p);
    if (rc)
        return rc;
    p->out = calloc(1, sizeof *p->out);
    if (!p->out)
        return cavs__fail_nomem("plan: part", sizeof *p->out);
    rc = make_steps(p);
    if (rc) {
        cavs__part_destroy(p->out);
        p->out = NULL;
    }
    return rc;
}

/* ---- handing parts to task kinds ---- */

static int deliver(struct cavs__placer *p)
{
    bool sums = p->part >= CAVS__PARTS_CLASSED;
    const struct cavs_symbol *sink = sums ? p->sum_sink[p->part - CAVS__PARTS_CLASSED] : NULL;
    bool shared = p->part == CAVS__PART_SHARED || p->part == CAVS__PART_SHARED_BACK;
    bool back = p->part == CAVS__PART_SHARED_BACK || (p->part >= 3 && p->part < CAVS__PART_SHARED);
    struct cavs__part_place at = {.function = p->f, .shared = cavs__in_shared_part(p)};

    at.phase = sums && sink->param ? CAVS__GRADIENT : back ? CAVS__BACKWARD : CAVS__FORWARD;
    at.klass = sums || (shared && back) ? CAVS__LAZY
               : shared                 ? CAVS__EAGER
                                        : (enum cavs__class)(p->part % 3);
    at.what = shared ? "shared" : !sums ? NULL : sink->param ? sink->param->name : "metrics";
    return cavs__plan_add_part(p->plan, &at, p->out);
}

static int make_parts(struct cavs__placer *p)
{
    for (int i = -1; i < p->nparts; i++) {
        int rc;

        if (i == CAVS__PART_SHARED)
            continue;
        p->part = i < 0 ? CAVS__PART_SHARED : i; /* first: all others read it */
        rc = make_part(p);
        if (!rc && p->out)
            rc = deliver(p);
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

int cavs__place_function(struct cavs__plan *plan, struct cavs_function *f)
{
    size_t n = (size_t)f->nsymbols + 1;
    struct cavs__placer p = {
        .plan = plan, .sp = &plan->stages[f->stage->number], .f = f, .nparts = CAVS__PARTS_CLASSED};
    int rc = CAVS_OK;

    for (int i = 0; i < CAVS__PARTS_CLASSED; i++) {
        for (int d = 0; d <= CAVS__MAX_LISTS; d++)
            p.bundle[i][d] = -1;
    }
    p.value = calloc(n, sizeof *p.value);
    p.local = calloc(n, sizeof *p.local);
    p.sum_sink = calloc(n, sizeof *p.sum_sink);
    p.shared = calloc(n, sizeof *p.shared);
    p.here = calloc(n, sizeof *p.here);
    p.own = calloc(n, sizeof *p.own);
    p.first_own = calloc(n + CAVS__PARTS_CLASSED, sizeof *p.first_own);
    for (size_t i = 0; p.local && i < n; i++)
        p.local[i].item = -1;
    if (!p.here || !p.own || !p.first_own || !p.value || !p.local || !p.sum_sink || !p.shared)
        rc = cavs__fail_nomem("plan: places of values",
                              n * (sizeof *p.value + sizeof *p.local + sizeof *p.sum_sink) +
                                  (n + CAVS__PARTS_CLASSED) * sizeof *p.first_own);
    if (!rc)
        rc = cavs__find_sharing(&p);
    if (!rc) {
        cavs__find_parts(&p);
        rc = make_parts(&p);
    }
    free(p.value);
    free(p.local);
    free(p.sum_sink);
    free(p.shared);
    free(p.here);
    free(p.own);
    free(p.first_own);
    free(p.items);
    cavs__free_readers(&p);
    return rc;
}
