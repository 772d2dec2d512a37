/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - see sites.h. */
#include "core/tape/sites.h"

#include <stdlib.h>

#include "core/base/array.h"
#include "core/tape/signature.h"

void cavs__sites_free(struct cavs__sites *s)
{
    free(s->all);
    cavs__table_free(&s->table);
}

void cavs__sites_leave(struct cavs__sites *s)
{
    s->last = CAVS__NO_SITE;
}

void cavs__sites_end(struct cavs__sites *s)
{
    struct cavs__site *last = s->last >= 0 ? &s->all[s->last] : NULL;

    if (last && last->after == CAVS__NO_SITE)
        last->after = CAVS__SAMPLE_ENDS;
    if (last)
        last->branches |= last->after >= 0;
    s->last = CAVS__NO_SITE;
}

/* ---- which site ---- */

static bool is_site(const struct cavs__sites *s, int32_t site, const struct cavs_symbol *x)
{
    const struct cavs__site *at = &s->all[site];

    return at->at.line == x->at.line && at->at.file == x->at.file && at->op == x->op &&
           at->k == x->k && at->width == x->width && at->param == x->param;
}

static int32_t add(struct cavs__sites *s, const struct cavs_symbol *x)
{
    if (!cavs__array_reserve(&s->all, &s->room, (size_t)s->n + 1, sizeof *s->all))
        return CAVS__NO_SITE;
    s->all[s->n] = (struct cavs__site){.at = x->at,
                                       .op = x->op,
                                       .k = x->k,
                                       .width = x->width,
                                       .param = x->param,
                                       .after = CAVS__NO_SITE,
                                       .block = -1,
                                       .signature = -1};
    return s->n++;
}

/* Where a run begins. */
static int32_t first_site(struct cavs__sites *s, const struct cavs_symbol *x)
{
    uint64_t h = cavs__mix(cavs__mix(0, (uintptr_t)x->at.file),
                           (uint64_t)x->at.line << 32 | (uint32_t)x->op << 8 | (uint32_t)x->k);
    struct cavs__probe p;
    int32_t site;

    if (s->nfirst > 0 && is_site(s, s->start, x))
        return s->start;
    if (!cavs__table_grow(&s->table, (size_t)s->nfirst + 1))
        return CAVS__NO_SITE;
    p = cavs__table_probe(&s->table, cavs__mixed(h));
    while ((site = cavs__probe_at(&p)) >= 0 && !is_site(s, site, x))
        cavs__probe_step(&p);
    if (site >= 0)
        return s->start = site;
    site = add(s, x);
    if (site < 0)
        return CAVS__NO_SITE;
    s->nfirst++;
    cavs__probe_put(&p, site);
    return s->start = site;
}

/* ---- the way ---- */

/* Does the run go on from the last site to x? */
static bool goes_on(struct cavs__sites *s, const struct cavs_symbol *x)
{
    struct cavs__site *last = &s->all[s->last];

    if (last->branches || last->alone || last->op == CAVS__OP_DROPOUT ||
        x->op == CAVS__OP_DROPOUT || s->length == CAVS__MOST_MEMBERS)
        return false;
    last->branches =
        last->after == CAVS__SAMPLE_ENDS || (last->after >= 0 && !is_site(s, last->after, x));
    return !last->branches;
}

static int32_t next_site(struct cavs__sites *s, const struct cavs_symbol *x)
{
    int32_t next = s->all[s->last].after;

    if (next < 0) {
        next = add(s, x);
        s->all[s->last].after = next;
    }
    return next;
}

bool cavs__site_visit(struct cavs__sites *s, const struct cavs_symbol *x, int sample, int32_t *site,
                      int32_t *run)
{
    bool on;

    if (sample != s->sample)
        cavs__sites_end(s);
    on = s->last >= 0 && goes_on(s, x);
    *site = on ? next_site(s, x) : first_site(s, x);
    on = on && *site >= 0 && !s->all[*site].alone; /* in no block, and none goes on behind it */
    if (!on) {
        s->run = x->number;
        s->length = 0;
    }
    s->last = *site;
    s->sample = sample;
    s->length++;
    *run = s->run;
    return *site >= 0;
}
