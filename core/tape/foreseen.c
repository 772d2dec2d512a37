/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreseen.c - see scribes.h: what becomes of samples, found by the workers that record them.
 *
 * Nearly always all of a recording is computed at one go when it is finished, and all of its runs
 * are known ones.  Then a sample needs no other, so its vertices are found (needed.c, known_runs.c)
 * while its symbols are still in the cache of the worker that has recorded it.  If it turns out
 * that something else is wanted, or that a run is new, what has been foreseen is dropped, and the
 * thread that has the tape finds all vertices as if nothing had been.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/tape/known_runs.h"
#include "core/tape/order_parts.h"
#include "core/tape/scribes.h"

enum { MOST_WAITS = 1 << 8 };

/* ---- scribes ---- */

bool cavs__may_foresee(const struct cavs_tape *t)
{
    return t->at_once && t->foreseen.wait == 0 && t->blocks.used && !t->blocks.coming &&
           cavs__symbols_of(&t->recording) == 0;
}

bool cavs__foresee_begin(struct cavs__scribe *s, const struct cavs_tape *tape)
{
    struct cavs__blocks *b = &s->tape.blocks;

    b->after = tape->blocks.after;
    b->known = tape->blocks.known;
    b->nknown = tape->blocks.nknown;
    if (!cavs__array_reserve(&s->times, &s->time_room, (size_t)b->nknown + 1, sizeof *s->times))
        return false;
    b->alone[CAVS__ALONE_RUN] = 0;
    memset(s->times, 0, (size_t)b->nknown * sizeof *s->times);
    return true;
}

void cavs__foresee_free(struct cavs__scribe *s)
{
    struct cavs__blocks *b = &s->tape.blocks;

    cavs__order_free(&s->tape.order);
    free(b->before);
    free(b->taken);
    free(s->times);
}

/* The marks that recording has made of a symbol, where there are others by now. */
static unsigned recorded_marks(const struct cavs__recording *r, int32_t symbol)
{
    int32_t site = r->entries[symbol].site;
    bool asked = site >= 0 && r->sites.all[site].asked;

    return CAVS__SUMMED_UP | CAVS__SOURCE | (asked ? CAVS__READ_OUTSIDE : 0);
}

/* Takes back the marks that needed.c has made, from this symbol on to that. */
static void unmark(struct cavs__recording *r, int32_t first, int32_t end)
{
    for (int32_t i = first; i < end; i++)
        r->marks[i] &= recorded_marks(r, i);
}

/* Makes a vertex of the symbol that the list begins with, which is a run by itself.  How many
 * places of the list these are, with sources that lie among them; -1: it is no such symbol. */
static int become_single(struct cavs__blocks *b, struct cavs__recording *r, int n,
                         const int32_t *list)
{
    const struct cavs__entry *e = &r->entries[list[0]], *next;
    int places = 1 + cavs__take_sources(r, n - 1, list + 1);

    next = places < n && list[places] >= 0 ? &r->entries[list[places]] : NULL;
    if (e->site == CAVS__NO_SITE || (next && (next->site == CAVS__NO_SITE || next->run == e->run)))
        return -1;
    b->alone[CAVS__ALONE_RUN]++;
    cavs__leave_alone(r, list[0]);
    return places;
}

/* Makes the vertices of the known run that the list begins with. */
static int become_known(struct cavs__scribe *s, int n, const int32_t *list)
{
    s->times[cavs__known_next(&s->tape.blocks)]++;
    return cavs__known_become(&s->tape.blocks, &s->tape.recording, n, list);
}

/* Makes vertices of what is listed.  false: it is not all known, or there is no memory. */
static bool become(struct cavs__scribe *s, int n, const int32_t *list)
{
    struct cavs__blocks *b = &s->tape.blocks;
    struct cavs__recording *r = &s->tape.recording;
    size_t most = (size_t)r->nvertices + (size_t)n + (size_t)b->ntaken * (CAVS__RUN_PARTS - 1);

    if (!cavs__array_reserve(&r->vertices, &r->vertex_room, most, sizeof *r->vertices))
        return false;
    for (int i = 0, taken; i < n; i += taken) {
        taken = cavs__take_sources(r, n - i, list + i);
        if (taken == 0)
            taken = list[i] < 0 ? become_known(s, n - i, list + i)
                                : become_single(b, r, n - i, list + i);
        if (taken < 0)
            return false;
    }
    return true;
}

bool cavs__foresee_sample(struct cavs__scribe *s, const struct cavs__extent *from)
{
    struct cavs__recording *r = &s->tape.recording;
    struct cavs__wanted wanted = {.n = r->nsinks - from->sinks, .symbols = r->sinks + from->sinks};
    struct cavs__needed d = {.o = &s->tape.order,
                             .r = r,
                             .cut = &s->tape.blocks,
                             .run = r->nruns,
                             .lo = INT32_MAX,
                             .hi = -1};
    int symbols = cavs__symbols_of(r);
    int64_t reads = r->nreads;

    d.cut->ntaken = 0;
    if (cavs__reserve_needed(&d, (size_t)symbols)) {
        cavs__find_needed(&d, &wanted, symbols);
        if (become(s, d.n, d.o->list + symbols - d.n))
            return true;
    }
    unmark(r, from->symbols, symbols);
    r->nvertices = from->vertices;
    r->nreads = reads;
    return false;
}

/* ---- the tape ---- */

void cavs__forget_foreseen(struct cavs_tape *t)
{
    unmark(&t->recording, 0, t->foreseen.symbols);
    t->foreseen.symbols = 0;
}

void cavs__keep_foreseen(struct cavs_tape *t, const struct cavs__writing *w, int scribes)
{
    struct cavs__foreseen *f = &t->foreseen;

    if (!w->foresees)
        return;
    f->symbols = w->end.symbols;
    f->vertices = w->end.vertices;
    f->scribes = scribes;
    if (!w->unforeseen)
        return;
    cavs__forget_foreseen(t);
    f->waits = f->waits == 0 ? 1 : f->waits < MOST_WAITS ? 2 * f->waits : MOST_WAITS;
    f->wait = 1 + f->waits;
}

/* Counts the known runs that have been met. */
static void count(struct cavs_tape *t)
{
    for (int i = 0; i < t->foreseen.scribes; i++) {
        const struct cavs__scribe *s = t->scribes[i];

        t->blocks.alone[CAVS__ALONE_RUN] += s->tape.blocks.alone[CAVS__ALONE_RUN];
        for (int k = 0; k < s->tape.blocks.nknown; k++) {
            if (s->times[k] > 0)
                cavs__known_count(&t->blocks, k, s->times[k]);
        }
    }
}

int cavs__take_foreseen(struct cavs_tape *t, bool finish)
{
    int vertices = t->foreseen.vertices;
    bool first = t->recording.nvertices == 0;

    if (finish || first)
        t->at_once = finish && first;
    if (t->foreseen.symbols == 0)
        return 0;
    if (!finish || !first || t->foreseen.symbols != cavs__symbols_of(&t->recording)) {
        cavs__forget_foreseen(t);
        return 0;
    }
    count(t);
    t->foreseen.symbols = t->foreseen.waits = 0;
    t->foreseen.taken++;
    return vertices;
}
