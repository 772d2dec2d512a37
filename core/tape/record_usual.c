/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_usual.c - see recording_parts.h: the short path.  Nearly all symbols are recorded at the
 * site where the run has always gone on so far, or where a run has begun lately (sites.h), with the
 * operator and the kinds of operands that the last symbol there had.  Once that has been compared
 * (the operator by builders: cavs__add_symbol()) the site, the run and the signature are known, and
 * nothing is looked up.
 */
#include <stddef.h>

#include "core/declare/build.h"
#include "core/tape/recording_parts.h"

/* Notes operand i and its read; 0: it is of the kind that the last one was, and of the present
 * sample. */
static inline uint64_t take_operand(const struct cavs__recording *r, struct cavs__node *node, int i,
                                    struct cavs_symbol *in, const uint64_t *key, int32_t run)
{
    const struct cavs__to_readers *told = cavs__told_by(in);

    node->in[i] = in;
    r->reads[r->nreads + i] = cavs__read_of(told, run);
    return (told->key[0] ^ key[0]) | (told->key[1] ^ key[1]) | (uint32_t)in->domain |
           (uint32_t)((told->sample ^ r->sites.sample) & told->row);
}

/* Copies a number and the one that lies behind it, as one word. */
static inline void copy_pair(int32_t *to, const int32_t *from)
{
    uint64_t word;

    memcpy(&word, from, sizeof word);
    memcpy(to, &word, sizeof word);
}

#define BEHIND(type, second, first) \
    _Static_assert(offsetof(type, second) == offsetof(type, first) + sizeof(int32_t), "a pair")
BEHIND(struct cavs__entry, run, sample);
BEHIND(struct cavs__sites, run, sample);
BEHIND(struct cavs__entry, nreads, site);
BEHIND(struct cavs_symbol, ninputs, number);

static inline void write_entry(struct cavs__entry *e, const struct cavs__recording *r,
                               const struct cavs_symbol *like)
{
    copy_pair(&e->sample, &r->sites.sample);
    copy_pair(&e->site, &like->number);
    e->reads = (int32_t)r->nreads;
    e->member = 0;
}

/* May the symbol be recorded, and was there no mistake before? */
static bool has_room(const struct cavs__recording *r, int number)
{
    return number < r->most && (size_t)r->nreads + 2 <= r->read_room && !r->recorder.present->error;
}

/* It is the last one of its chunk. */
static __attribute__((noinline)) struct cavs_symbol *end_chunk(struct cavs__recording *r,
                                                               struct cavs__node *node)
{
    cavs__find_place(r);
    return &node->x;
}

/* What sort of symbol it is: as struct cavs__site says; one that is not plain; or one with which a
 * run begins.  That is known where record() becomes part of a function, so that nothing of it is
 * asked for there. */
enum sort { PLAIN, OTHER, BEGINNING };

/* May it be recorded, and how? */
static inline bool has_sort(const struct cavs__recording *r, const struct cavs_symbol *like,
                            enum sort sort)
{
    return sort == PLAIN || (like->ninputs >= 1 && like->ninputs <= 2 &&
                             (!like->metric || (size_t)r->nsinks < r->sink_room) &&
                             (sort != BEGINNING || (size_t)r->nruns < r->run_room));
}

/* The sample is that of the last symbol: in a new one, the first symbol is not usual. */
static inline __attribute__((always_inline)) struct cavs_symbol *record(
    struct cavs__recording *r, struct cavs_symbol *const *inputs, enum sort sort)
{
    struct cavs__node *node = (struct cavs__node *)r->recorder.next;
    struct cavs_symbol *x = &node->x;
    const struct cavs_symbol *like = r->sites.likely;
    int number = cavs__symbols_of(r), n = like->ninputs;
    int32_t run = sort == BEGINNING ? number : r->sites.run;
    const struct cavs__site *site = cavs__likely_site(&r->sites);
    const struct cavs__glance *last = &site->last;
    bool metric = sort != PLAIN && like->metric;

    if (!has_sort(r, like, sort) || !has_room(r, number) ||
        take_operand(r, node, 0, inputs[0], last->key[0], run) ||
        (n == 2 && take_operand(r, node, 1, inputs[1], last->key[1], run)))
        return NULL;
    if (sort == BEGINNING) {
        r->sites.run = number;
        r->runs[r->nruns++] =
            (struct cavs__run_begin){number, like->number, (int32_t)r->nreads, r->sites.sample};
    }
    memcpy(x, like, offsetof(struct cavs_symbol, input));
    x->function = r->recorder.present;
    x->number = number;
    x->inputs = node->in;
    node->place = r->count[r->sites.sample]++;
    write_entry(&r->entries[number], r, like);
    r->signature[number] = last->number;
    cavs__tell_of_row(node, r->sites.sample, run);
    r->nreads += n;
    r->marks[number] = metric ? CAVS__SUMMED_UP : 0;
    if (metric)
        r->sinks[r->nsinks++] = number;
    cavs__site_follow(&r->sites, site);
    r->recorder.present->nsymbols++;
    if (!cavs__ends_chunk(r)) {
        r->recorder.next = &node[1].x;
        return x;
    }
    return end_chunk(r, node);
}

static __attribute__((noinline)) struct cavs_symbol *record_other(struct cavs__recording *r,
                                                                  struct cavs_symbol *const *inputs)
{
    return cavs__likely_site(&r->sites)->first ? record(r, inputs, BEGINNING)
                                               : record(r, inputs, OTHER);
}

struct cavs_symbol *cavs__record_usual(struct cavs__recorder *recorder,
                                       struct cavs_symbol *const *inputs)
{
    struct cavs__recording *r = (struct cavs__recording *)recorder;

    return cavs__likely_site(&r->sites)->plain ? record(r, inputs, PLAIN) : record_other(r, inputs);
}
