/* SPDX-License-Identifier: Apache-2.0 */
/* sites.c - see sites.h. */
#include "core/tape/sites.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"

void cavs__sites_init(struct cavs__sites *s, int64_t changes)
{
    *s = (struct cavs__sites){.last = CAVS__NO_SITE, .changes = changes, .likely = cavs__unlikely};
}

void cavs__sites_free(struct cavs__sites *s)
{
    free(s->all);
    cavs__table_free(&s->table);
}

void cavs__sites_leave(struct cavs__sites *s)
{
    s->last = CAVS__NO_SITE;
    cavs__sites_visit_next(s);
}

bool cavs__sites_become(struct cavs__sites *s, const struct cavs__sites *as)
{
    struct cavs__site *all = s->all;
    struct cavs__table table = s->table;
    size_t room = s->room;

    cavs__sites_visit_next(s); /* the sites may move */
    if (!cavs__array_reserve(&all, &room, (size_t)as->n, sizeof *all))
        return false;
    s->all = all;
    s->room = room;
    if (!cavs__table_become(&table, &as->table)) {
        s->table = table;
        return false;
    }
    *s = *as;
    s->all = all;
    s->room = room;
    s->table = table;
    if (as->n > 0)
        memcpy(s->all, as->all, (size_t)as->n * sizeof *s->all);
    cavs__sites_leave(s);
    return true;
}

/* Notes that a sample has ended behind the site.  Does that change where runs end? */
static bool end(struct cavs__site *last)
{
    bool new = last->after == CAVS__NO_SITE || (last->after >= 0 && !last->branches);

    if (last->after == CAVS__NO_SITE)
        last->after = CAVS__SAMPLE_ENDS;
    last->branches |= last->after >= 0;
    if (new)
        last->usual = last->other = 0;
    return new;
}

void cavs__sites_end(struct cavs__sites *s)
{
    if (s->last >= 0)
        s->changes += end(&s->all[s->last]);
    cavs__sites_leave(s);
}

/* ---- in any process ---- */

static uint64_t mix_text(uint64_t h, const char *text)
{
    return text ? cavs__hash(h, text, strlen(text) + 1) : h;
}

static uint64_t print_of(const struct cavs_symbol *x)
{
    const int32_t numbers[] = {x->at.line, (int32_t)x->op, cavs__lasting_k(x), x->width};

    return mix_text(mix_text(cavs__hash(CAVS__HASH_START, numbers, sizeof numbers), x->at.file),
                    x->param ? x->param->name : NULL);
}

struct cavs__site cavs__site_ended(const struct cavs__sites *s, int32_t site)
{
    struct cavs__site ended = s->all[site];

    if (site == s->last)
        end(&ended);
    return ended;
}

bool cavs__site_expect(struct cavs__sites *s, const struct cavs__site *expected)
{
    if (!cavs__array_reserve(&s->all, &s->room, (size_t)s->n + 1, sizeof *s->all))
        return false;
    s->all[s->n] = *expected;
    s->all[s->n++].met = false;
    s->unmet++;
    s->changes++;
    return true;
}

/* Is it never part of a run: because it draws by its own place, or is always a vertex by itself? */
static bool is_apart(enum cavs__op op)
{
    return op == CAVS__OP_DROPOUT || op == CAVS__OP_APPLY;
}

/* What of x tells its site from others. */
static struct cavs_symbol like_of(const struct cavs_symbol *x, int32_t site)
{
    return (struct cavs_symbol){
        .at = x->at, .op = x->op, .k = x->k, .width = x->width, .param = x->param, .number = site};
}

/* Is x what a checkpoint has described as this site?  Then the site is met. */
static bool meets(struct cavs__sites *s, int32_t site, const struct cavs_symbol *x)
{
    struct cavs__site *at = &s->all[site];

    if (at->met || at->print != print_of(x))
        return false;
    at->last.like = like_of(x, site);
    at->apart = is_apart(x->op);
    at->met = true;
    s->unmet--;
    s->changes++;
    return true;
}

/* The site where a run with x begins, if a checkpoint described it; CAVS__NO_SITE: none did. */
static int32_t meet_first(struct cavs__sites *s, const struct cavs_symbol *x, bool cut_off)
{
    for (int32_t i = 0; s->unmet > 0 && i < s->n; i++) {
        if (s->all[i].first && s->all[i].cut_off == cut_off && meets(s, i, x))
            return i;
    }
    return CAVS__NO_SITE;
}

/* ---- which site ---- */

static bool is_at(const struct cavs__site *site, const struct cavs_symbol *x)
{
    const struct cavs_symbol *like = &site->last.like;

    return like->at.line == x->at.line && like->at.file == x->at.file && like->op == x->op &&
           like->k == x->k && like->width == x->width && like->param == x->param;
}

static bool is_site(struct cavs__sites *s, int32_t site, const struct cavs_symbol *x)
{
    const struct cavs__site *at = &s->all[site];

    if (is_at(at, x))
        return at->met;
    return !at->met && meets(s, site, x);
}

static int32_t add(struct cavs__sites *s, const struct cavs_symbol *x)
{
    if (!cavs__array_reserve(&s->all, &s->room, (size_t)s->n + 1, sizeof *s->all))
        return CAVS__NO_SITE;
    s->changes++;
    s->all[s->n] = (struct cavs__site){.met = true,
                                       .print = print_of(x),
                                       .apart = is_apart(x->op),
                                       .after = CAVS__NO_SITE,
                                       .block = -1,
                                       .known = -1,
                                       .last = {.number = -1, .like = like_of(x, s->n)}};
    return s->n++;
}

static bool is_first(struct cavs__sites *s, int32_t site, const struct cavs_symbol *x, bool cut_off)
{
    return s->all[site].cut_off == cut_off && is_site(s, site, x);
}

/* The site of x, with which a run begins. */
static int32_t first_site(struct cavs__sites *s, const struct cavs_symbol *x, bool cut_off)
{
    uint64_t h = cavs__mix(cavs__mix(cut_off, (uintptr_t)x->at.file),
                           (uint64_t)x->at.line << 32 | (uint32_t)x->op << 8 | (uint32_t)x->k);
    struct cavs__probe p;
    int32_t site;

    if (s->nfirst > 0 && is_first(s, s->start, x, cut_off))
        return s->start;
    if (!cavs__table_grow(&s->table, (size_t)s->nfirst + 1))
        return CAVS__NO_SITE;
    p = cavs__table_probe(&s->table, cavs__mixed(h));
    while ((site = cavs__probe_at(&p)) >= 0 && !is_first(s, site, x, cut_off))
        cavs__probe_step(&p);
    if (site >= 0)
        return s->start = site;
    site = meet_first(s, x, cut_off);
    if (site < 0)
        site = add(s, x);
    if (site < 0)
        return CAVS__NO_SITE;
    s->all[site].first = true;
    s->all[site].cut_off = cut_off;
    s->nfirst++;
    cavs__probe_put(&p, site);
    return s->start = site;
}

/* ---- the way ---- */

/* Does the run go on from the last site to x? */
static bool goes_on(struct cavs__sites *s, const struct cavs_symbol *x)
{
    struct cavs__site *last = &s->all[s->last];

    if (last->branches || last->alone || last->apart || is_apart(x->op) ||
        last->length == CAVS__MOST_MEMBERS)
        return false;
    last->branches =
        last->after == CAVS__SAMPLE_ENDS || (last->after >= 0 && !is_site(s, last->after, x));
    if (last->branches) {
        last->usual = 0;
        s->changes++;
    }
    return !last->branches;
}

static int32_t next_site(struct cavs__sites *s, const struct cavs_symbol *x)
{
    int32_t next = s->all[s->last].after;

    if (next < 0) {
        next = add(s, x);
        s->all[s->last].after = next;
        s->changes++;
    }
    return next;
}

void cavs__site_lists(struct cavs__sites *s, int32_t site, int entries)
{
    struct cavs__site *at = &s->all[site];
    bool alone = at->alone;

    if (at->entries == 0) {
        at->entries = entries;
        s->changes++;
    }
    at->alone |= at->entries != entries || entries > CAVS__MOST_OPERANDS / 2;
    s->changes += at->alone != alone;
    if (at->alone) {
        at->usual = at->other = 0;
        cavs__sites_visit_next(s);
    }
}

/* May the short path (record_usual.c) record what comes to this site from the one before? */
static bool is_usual(const struct cavs__site *at)
{
    return !at->alone && !at->apart && !at->asked && !cavs__takes_list(at->last.like.op);
}

/* Notes that this site has followed the last one, which a run may begin with. */
static void note_usual(struct cavs__sites *s, int32_t site, bool on)
{
    struct cavs__site *last = &s->all[s->last];
    ptrdiff_t far = (site - s->last) * (ptrdiff_t)sizeof *s->all;

    if (!is_usual(&s->all[site]) || far == last->usual)
        return;
    last->other = on ? 0 : last->usual;
    last->usual = far;
}

/* Do runs always end at the site, whatever follows? */
static bool ends_runs(const struct cavs__site *at)
{
    return at->branches || at->alone || at->apart || at->length == CAVS__MOST_MEMBERS;
}

void cavs__sites_visit_all(struct cavs__sites *s)
{
    for (int i = 0; i < s->n; i++)
        s->all[i].usual = s->all[i].other = 0;
    cavs__sites_visit_next(s);
    s->changes++;
}

int32_t cavs__site_visit(struct cavs__sites *s, const struct cavs_symbol *x, int sample)
{
    bool on, cut_off;
    int32_t site;
    int length;

    if (sample != s->sample)
        cavs__sites_end(s);
    on = s->last >= 0 && goes_on(s, x);
    cut_off = !on && s->last >= 0 && s->all[s->last].length == CAVS__MOST_MEMBERS;
    site = on ? next_site(s, x) : first_site(s, x, cut_off);
    on = on && site >= 0 && !s->all[site].alone; /* in no block, and none goes on behind it */
    length = on ? s->all[s->last].length + 1 : 1;
    if (site >= 0 && s->last >= 0 && (on || ends_runs(&s->all[s->last])))
        note_usual(s, site, on);
    if (!on)
        s->run = x->number;
    s->sample = sample;
    if (site < 0) {
        cavs__sites_leave(s);
        return site;
    }
    s->all[site].length = length;
    cavs__site_follow(s, &s->all[site]);
    return site;
}
