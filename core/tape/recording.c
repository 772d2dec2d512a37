/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - see recording.h. */
#include "core/tape/recording.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/tape/recording_parts.h"

/* ---- life ---- */

static void init(struct cavs__recording *r, struct cavs_stage *stage)
{
    cavs__sites_init(&r->sites, 0);
    r->sourced.number = -1;
    for (int i = 0; i < 2; i++)
        r->of[i] = (struct cavs_function){
            .stage = stage, .name = stage->name, .recorder = &r->recorder, .finished = true};
    r->recorder = (struct cavs__recorder){.next = &r->nowhere,
                                          .add = cavs__record_symbol,
                                          .likely = &r->sites.likely,
                                          .again = cavs__record_usual,
                                          .present = &r->of[0]};
}

int cavs__recording_init(struct cavs__recording *r, struct cavs_model *m, int stage, int64_t most)
{
    int rc;

    *r = (struct cavs__recording){.most = most};
    rc = cavs__signatures_init(&r->signatures, m, stage);
    init(r, &r->signatures.stage);
    return rc;
}

void cavs__recording_init_aside(struct cavs__recording *r, struct cavs_stage *stage)
{
    *r = (struct cavs__recording){.most = INT32_MAX};
    init(r, stage);
    r->recorder.aside = true;
}

static void free_uses(struct cavs__uses *uses)
{
    for (size_t i = 0; i < uses->room; i++)
        free(uses->of[i]);
    free(uses->of);
}

void cavs__recording_free(struct cavs__recording *r)
{
    for (int i = 0; i < 2; i++) {
        for (int b = 0; b < r->nodes[i].nchunks; b++)
            free(r->nodes[i].chunks[b]);
        free(r->nodes[i].chunks);
        cavs__arena_free(&r->nodes[i].arena);
        free(r->of[i].message);
        free_uses(&r->uses[i]);
    }
    free(r->entries);
    free(r->places);
    free(r->vertices);
    free(r->marks);
    free(r->signature);
    free(r->reads);
    free(r->turns);
    free(r->given_marks);
    free(r->count);
    free(r->group);
    free(r->unions);
    free(r->runs);
    free(r->sinks);
    free(r->sorts);
    free(r->codes);
    free(r->applied);
    cavs__sites_free(&r->sites);
    if (!r->recorder.aside)
        cavs__signatures_free(&r->signatures);
}

/* ---- room ---- */

/* Places up to the end of the chunk that the next symbol is in. */
static int64_t places_for(const struct cavs__recording *r)
{
    return ((int64_t)cavs__place_of_next(r) / CAVS__NODES_A_CHUNK + 1) * CAVS__NODES_A_CHUNK;
}

static int64_t room_for(const struct cavs__recording *r)
{
    return places_for(r) + r->ahead;
}

static bool has_chunk(const struct cavs__recording *r, const struct cavs__nodes *nodes)
{
    return places_for(r) <= (int64_t)nodes->nchunks * CAVS__NODES_A_CHUNK;
}

static bool add_room(struct cavs__recording *r, struct cavs__nodes *nodes)
{
    size_t most = (size_t)room_for(r);
    struct cavs__node *chunk;

    if (!cavs__array_reserve(&r->marks, &r->mark_room, most, sizeof *r->marks) ||
        !cavs__array_reserve(&r->signature, &r->signature_room, most, sizeof *r->signature) ||
        !cavs__array_reserve(&r->places, &r->place_room, most, sizeof *r->places) ||
        !cavs__array_reserve(&r->entries, &r->entry_room, most, sizeof *r->entries))
        return false;
    if (has_chunk(r, nodes))
        return true;
    chunk = calloc(CAVS__NODES_A_CHUNK, sizeof *chunk); /* builders do not write all of them */
    if (!chunk || !CAVS__APPEND(nodes->chunks, nodes->nchunks, chunk)) {
        free(chunk);
        return false;
    }
    return true;
}

/* Where the next symbol is to be; nowhere, if there is no memory: has_room(). */
void cavs__find_place(struct cavs__recording *r)
{
    struct cavs__nodes *nodes = &r->nodes[r->generation & 1];
    bool room = room_for(r) <= (int64_t)r->entry_room && has_chunk(r, nodes);

    r->recorder.next = &r->nowhere;
    if (room || add_room(r, nodes))
        r->recorder.next = &cavs__node_in(nodes, cavs__place_of_next(r))->x;
    else
        cavs__sites_visit_next(&r->sites); /* it is to be refused */
}

/* ---- recordings ---- */

void cavs__recording_begin(struct cavs__recording *r, enum cavs_tape_run run)
{
    struct cavs_function *f = &r->of[++r->generation & 1];

    r->recorder.present->finished = true;
    free(f->message);
    f->message = NULL;
    f->error = 0;
    f->nsymbols = 0;
    f->finished = false;
    r->recorder.present = f;
    r->recorder.uses = &r->uses[r->generation & 1];
    cavs__arena_reset(&r->nodes[r->generation & 1].arena);
    r->run = run;
    r->nsamples = 0;
    r->nturns = 0;
    r->ngiven = 0;
    r->ahead = 0;
    r->nunions = 0;
    r->nreads = r->block_reads = 0;
    r->nvertices = 0;
    r->nruns = 0;
    r->nsinks = 0;
    cavs__sites_end(&r->sites);
    r->open = true;
    cavs__find_place(r);
}

int cavs__recording_error(const struct cavs__recording *r)
{
    const struct cavs_function *f = r->recorder.present;

    return f->error ? cavs__fail(f->error, "%s", f->message ? f->message : cavs_strerror(f->error))
                    : CAVS_OK;
}

void cavs__recording_spoil(struct cavs__recording *r, int code, const char *format, ...)
{
    struct cavs_function *f = r->recorder.present;
    char why[900], text[1024];
    va_list ap;

    if (f->error)
        return;
    va_start(ap, format);
    vsnprintf(why, sizeof why, format, ap);
    va_end(ap);
    snprintf(text, sizeof text, "%s; this recording has failed, begin another (cavs_tape_begin)",
             why);
    f->error = code;
    f->message = strdup(text);
}

/* ---- samples ---- */

bool cavs__reserve_turns(struct cavs__recording *r, int nsamples)
{
    size_t n = (size_t)nsamples;

    if (cavs__array_reserve(&r->count, &r->count_room, n, sizeof *r->count) &&
        cavs__array_reserve(&r->group, &r->group_room, n, sizeof *r->group))
        return true;
    cavs__fail_nomem("samples of a tape", n * sizeof *r->count);
    return false;
}

struct cavs_function *cavs__take_turn(struct cavs__recording *r, int sample, int nsamples)
{
    if (r->nturns == INT32_MAX ||
        !cavs__array_reserve(&r->turns, &r->turn_room, (size_t)r->nturns + 1, sizeof *r->turns)) {
        cavs__fail_nomem("samples of a tape", (size_t)r->nturns * sizeof *r->turns);
        return NULL;
    }
    r->turns[r->nturns++] =
        (struct cavs__turn){sample, nsamples, cavs__symbols_of(r), r->ahead, cavs__own_nodes(r)};
    r->nsamples = nsamples;
    cavs__sites_visit_next(&r->sites);
    return r->recorder.present;
}

struct cavs_function *cavs__next_sample(struct cavs__recording *r)
{
    int sample = r->nsamples;
    struct cavs_function *f;

    if (!r->open) {
        cavs__fail(CAVS_ESTATE, "cavs_tape_sample: no recording has begun (cavs_tape_begin)");
        return NULL;
    }
    if (sample == INT32_MAX) {
        cavs__fail_nomem("samples of a tape", (size_t)sample * sizeof *r->count);
        return NULL;
    }
    cavs__sites_end(&r->sites); /* as cavs_tape_record() does, though the next may read the last */
    f = cavs__reserve_turns(r, sample + 1) ? cavs__take_turn(r, sample, sample + 1) : NULL;
    if (f) {
        r->count[sample] = 0;
        r->group[sample] = sample;
    }
    return f;
}

struct cavs_function *cavs__resume_sample(struct cavs__recording *r, int sample)
{
    if (!r->open || sample < 0 || sample >= r->nsamples) {
        cavs__fail(CAVS_EINVAL, "cavs_tape_resume: there is no sample %d in this recording",
                   sample);
        return NULL;
    }
    cavs__sites_end(&r->sites);
    return cavs__present_sample(r) == sample ? r->recorder.present
                                             : cavs__take_turn(r, sample, r->nsamples);
}

/* Several may begin at one symbol: it is of the last of them. */
struct cavs__node *cavs__node_of_turn(const struct cavs__recording *r, int number)
{
    int first = 0, end = r->nturns;

    while (end - first > 1) {
        int middle = first + (end - first) / 2;

        if (r->turns[middle].from <= number)
            first = middle;
        else
            end = middle;
    }
    return cavs__node_in(r->turns[first].nodes, number - r->turns[first].ahead);
}

enum { MARK_BITS = 32 };

int64_t cavs__recording_mark(struct cavs__recording *r)
{
    int64_t mark = (int64_t)r->nturns << MARK_BITS | cavs__symbols_of(r);

    if (!r->open)
        return cavs__fail(CAVS_ESTATE, "cavs_tape_mark: no recording has begun (cavs_tape_begin)");
    if (r->ngiven > 0 && r->given_marks[r->ngiven - 1] == mark)
        return mark;
    if (!cavs__array_reserve(&r->given_marks, &r->given_room, (size_t)r->ngiven + 1,
                             sizeof *r->given_marks))
        return cavs__fail_nomem("marks of a tape", ((size_t)r->ngiven + 1) * sizeof mark);
    return r->given_marks[r->ngiven++] = mark;
}

/* How many were given up to this one; 0: it was not, or was taken back itself. */
static int marks_until(const struct cavs__recording *r, int64_t mark)
{
    int n = r->open ? r->ngiven : 0;

    while (n > 0 && r->given_marks[n - 1] > mark)
        n--;
    return n > 0 && r->given_marks[n - 1] == mark ? n : 0;
}

/* Before this symbol, and those of blocks, which lie behind the symbols that there were when the
 * blocks were computed. */
static int64_t reads_left(const struct cavs__recording *r, int symbol)
{
    int64_t reads = r->entries[symbol].reads;

    return reads > r->block_reads ? reads : r->block_reads;
}

/* What workers have recorded in turns that are taken back has no number any more.  Nothing is
 * recorded in its place, as it is in that of the tape's own symbols, so it would stand for whatever
 * has its number later, as wide as it is. */
static void forget_written(struct cavs__recording *r, int turns)
{
    int end = cavs__symbols_of(r);

    for (int i = r->nturns - 1; i >= turns; end = r->turns[i--].from) {
        const struct cavs__turn *turn = &r->turns[i];

        for (int n = turn->from; n < end && turn->nodes != cavs__own_nodes(r); n++)
            cavs__node_in(turn->nodes, n - turn->ahead)->x.number = INT32_MAX;
    }
}

int cavs__recording_rewind(struct cavs__recording *r, int64_t mark)
{
    int64_t turns = mark >> MARK_BITS, symbols = mark & (((int64_t)1 << MARK_BITS) - 1);
    int given = marks_until(r, mark);

    if (given == 0)
        return cavs__fail(CAVS_EINVAL, "cavs_tape_rewind: %lld is no mark of this recording",
                          (long long)mark);
    for (int i = cavs__symbols_of(r) - 1; i >= symbols; i--)
        r->count[r->entries[i].sample]--;
    cavs__sites_leave(&r->sites);
    cavs__part_samples(r, (int)symbols);
    forget_written(r, (int)turns);
    r->ngiven = given;
    r->nturns = (int)turns;
    r->nsamples = turns > 0 ? r->turns[turns - 1].nsamples : 0;
    r->ahead = turns > 0 ? r->turns[turns - 1].ahead : 0;
    if (symbols < cavs__symbols_of(r))
        r->nreads = reads_left(r, (int)symbols);
    r->recorder.present->nsymbols = (int)symbols;
    cavs__find_place(r);
    while (r->nsinks > 0 && r->sinks[r->nsinks - 1] >= symbols)
        r->nsinks--;
    while (r->nruns > 0 && r->runs[r->nruns - 1].first >= symbols)
        r->nruns--;
    return CAVS_OK;
}
