/* SPDX-License-Identifier: Apache-2.0 */
/* written_samples.c - see scribes.h: samples that scribes have written become part of the tape. */
#include <string.h>

#include "core/base/array.h"
#include "core/tape/recording_parts.h"
#include "core/tape/run_parts.h"
#include "core/tape/scribes.h"

/* ---- where they are to be ---- */

static struct cavs__extent moved_by(struct cavs__extent at, const struct cavs__written *x)
{
    return (struct cavs__extent){
        at.symbols + x->end.symbols - x->from.symbols, at.runs + x->end.runs - x->from.runs,
        at.sinks + x->end.sinks - x->from.sinks, at.vertices + x->end.vertices - x->from.vertices,
        at.reads + x->end.reads - x->from.reads};
}

static bool fits(const struct cavs__recording *r, const struct cavs__extent *end)
{
    size_t n = (size_t)end->symbols;

    return n <= (size_t)r->most && n <= r->mark_room && n <= r->signature_room &&
           n <= r->place_room && n <= r->entry_room && (size_t)end->reads <= r->read_room &&
           (size_t)end->runs <= r->run_room && (size_t)end->sinks <= r->sink_room &&
           (size_t)end->vertices <= r->vertex_room;
}

/* Gives places on the tape to the samples whose turn has come, and returns how many have places.
 * Those for which there is no room wait. */
static int place_samples(struct cavs__writing *w)
{
    int n;

    starpu_pthread_mutex_lock(&w->lock);
    for (; w->placed < w->n && w->samples[w->placed].by; w->placed++) {
        struct cavs__written *x = &w->samples[w->placed];
        struct cavs__extent end = moved_by(w->end, x);

        if (!fits(&w->t->recording, &end))
            break;
        x->to = w->end;
        w->end = end;
    }
    n = w->placed;
    starpu_pthread_mutex_unlock(&w->lock);
    return n;
}

/* ---- copying ---- */

static void copy_symbols(struct cavs__recording *to, const struct cavs__written *x)
{
    const struct cavs__recording *by = x->by;
    int32_t by_symbols = x->to.symbols - x->from.symbols,
            by_reads = (int32_t)(x->to.reads - x->from.reads);

    for (int32_t i = x->from.symbols; i < x->end.symbols; i++) {
        struct cavs__node *node = cavs__node_in(cavs__own_nodes(by), i);
        struct cavs__entry *e = &to->entries[i + by_symbols];

        node->x.function = to->recorder.present;
        node->x.number = i + by_symbols;
        if (node->to_readers.read.from != CAVS__NO_ROW) {
            node->to_readers.read.of += by_symbols;
            node->to_readers.run += by_symbols;
        }
        *e = by->entries[i];
        e->reads += by_reads;
        e->run += by_symbols;
    }
}

/* Vertices that have been foreseen, and where their rows are. */
static void copy_vertices(struct cavs__recording *to, const struct cavs__written *x)
{
    int32_t by_symbols = x->to.symbols - x->from.symbols,
            by_reads = (int32_t)(x->to.reads - x->from.reads), at = x->to.vertices;

    for (int32_t i = x->from.vertices; i < x->end.vertices; i++, at++) {
        struct cavs__vertex *v = &to->vertices[at];

        *v = x->by->vertices[i];
        v->symbol += by_symbols;
        v->operands += by_reads;
        cavs__note_places(to, at);
    }
}

static void copy_sample(struct cavs__recording *to, const struct cavs__written *x)
{
    const struct cavs__recording *by = x->by;
    int32_t by_symbols = x->to.symbols - x->from.symbols,
            by_reads = (int32_t)(x->to.reads - x->from.reads);
    size_t n = (size_t)(x->end.symbols - x->from.symbols);

    copy_symbols(to, x);
    memcpy(to->marks + x->to.symbols, by->marks + x->from.symbols, n * sizeof *to->marks);
    memcpy(to->signature + x->to.symbols, by->signature + x->from.symbols,
           n * sizeof *to->signature);
    for (int64_t i = x->from.reads; i < x->end.reads; i++) {
        struct cavs__read read = by->reads[i];

        read.of += read.from != CAVS__NO_ROW ? by_symbols : 0;
        to->reads[i + by_reads] = read;
    }
    for (int32_t i = x->from.runs; i < x->end.runs; i++) {
        struct cavs__run_begin run = by->runs[i];

        run.first += by_symbols;
        run.reads += by_reads;
        to->runs[i - x->from.runs + x->to.runs] = run;
    }
    for (int32_t i = x->from.sinks; i < x->end.sinks; i++)
        to->sinks[i - x->from.sinks + x->to.sinks] = by->sinks[i] + by_symbols;
    copy_vertices(to, x);
}

void cavs__copy_placed(struct cavs__writing *w, struct cavs__scribe *s)
{
    int placed = place_samples(w);

    for (; s->copied < placed; s->copied++) {
        if (w->samples[s->copied].by == &s->tape.recording)
            copy_sample(&w->t->recording, &w->samples[s->copied]);
    }
}

/* ---- what becomes of them ---- */

/* Adds the turns of the samples that are of use; what is recorded next is the tape's own again. */
static bool take_turns(struct cavs__recording *r, const struct cavs__writing *w)
{
    int own = cavs__place_of_next(r);

    for (int i = 0; i < w->n; i++) {
        const struct cavs__written *x = &w->samples[i];
        struct cavs__turn *turn;

        if (!cavs__take_turn(r, w->sample + i, w->sample + i + 1))
            return false;
        turn = &r->turns[r->nturns - 1];
        turn->from = x->to.symbols;
        turn->ahead = x->to.symbols - x->from.symbols;
        turn->nodes = cavs__own_nodes(x->by);
        r->count[w->sample + i] = x->number;
        r->group[w->sample + i] = w->sample + i;
    }
    r->recorder.present->nsymbols = w->end.symbols;
    r->nreads = w->end.reads;
    r->nruns = w->end.runs;
    r->nsinks = w->end.sinks;
    r->ahead = w->end.symbols - own;
    cavs__find_place(r);
    return cavs__take_turn(r, w->sample + w->n - 1, w->sample + w->n) != NULL;
}

static bool reserve(struct cavs__recording *r, const struct cavs__extent *end)
{
    size_t n = (size_t)end->symbols;

    return end->reads <= CAVS__MOST_READS &&
           cavs__array_reserve(&r->marks, &r->mark_room, n, sizeof *r->marks) &&
           cavs__array_reserve(&r->signature, &r->signature_room, n, sizeof *r->signature) &&
           cavs__array_reserve(&r->places, &r->place_room, n, sizeof *r->places) &&
           cavs__array_reserve(&r->entries, &r->entry_room, n, sizeof *r->entries) &&
           cavs__array_reserve(&r->reads, &r->read_room, (size_t)end->reads + 1,
                               sizeof *r->reads) &&
           cavs__array_reserve(&r->runs, &r->run_room, (size_t)end->runs, sizeof *r->runs) &&
           cavs__array_reserve(&r->sinks, &r->sink_room, (size_t)end->sinks, sizeof *r->sinks) &&
           cavs__array_reserve(&r->vertices, &r->vertex_room, (size_t)end->vertices,
                               sizeof *r->vertices);
}

/* When all samples are written: makes room for those of use that had none, and does the copies that
 * still wait. */
static void copy_rest(struct cavs__writing *w, int scribes)
{
    struct cavs__extent end = w->end;

    for (int i = w->placed; i < w->n && w->samples[i].by; i++)
        end = moved_by(end, &w->samples[i]);
    if (reserve(&w->t->recording, &end))
        place_samples(w);
    for (int i = 0; i < scribes; i++)
        cavs__copy_placed(w, w->t->scribes[i]);
    w->n = w->placed;
}

bool cavs__join_written(struct cavs__writing *w, int scribes)
{
    copy_rest(w, scribes);
    cavs__keep_foreseen(w->t, w, scribes);
    return w->n == 0 || take_turns(&w->t->recording, w);
}
