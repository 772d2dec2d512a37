/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_usual.c - see recording_parts.h: the short path.  Nearly all symbols are recorded at the
 * site where the run has always gone on so far (sites.h), with the operator and the kinds of
 * operands that the last symbol there had.  Once that has been compared the site, the run and the
 * signature are known, and nothing has to be looked up.
 */
#include "core/tape/recording_parts.h"

static inline uint32_t bits(float s)
{
    uint32_t u;

    memcpy(&u, &s, sizeof u);
    return u;
}

/* 0: the operator is like the last one at the site, and there was no mistake before.  All of it is
 * compared without a branch, because nearly always nothing differs. */
static inline uint64_t differs(const struct cavs__recording *r, const struct cavs__site *at,
                               const struct cavs_symbol *x, int n)
{
    const struct cavs__glance *g = &at->last;
    uint64_t words = ((uintptr_t)x->param ^ (uintptr_t)g->param) |
                     ((uintptr_t)x->metric ^ (uintptr_t)g->metric) |
                     ((uintptr_t)x->at.file ^ (uintptr_t)at->at.file);
    uint32_t numbers = ((uint32_t)x->op ^ (uint32_t)g->op) | (uint32_t)(x->width ^ g->width) |
                       (uint32_t)(x->k ^ g->k) | (uint32_t)(x->which ^ g->which) |
                       (bits(x->s) ^ bits(g->s)) | (uint32_t)(x->at.line ^ at->at.line) |
                       (uint32_t)x->domain | (uint32_t)(n ^ g->n) |
                       (uint32_t)(x->is_loss ^ g->is_loss) | (uint32_t)r->recorder.present->error;

    return words | numbers;
}

/* Notes operand i and its read; 0: it is of the kind that the last one was, and of the present
 * sample. */
static inline uint64_t take_operand(const struct cavs__recording *r, struct cavs__node *node, int i,
                                    struct cavs_symbol *in, const uint64_t *key,
                                    struct cavs__read *read)
{
    const struct cavs__to_readers *told = cavs__told_by(in);

    node->in[i] = in;
    *read = cavs__read_of(told, r->sites.run);
    return (told->key[0] ^ key[0]) | (told->key[1] ^ key[1]) | (uint32_t)in->domain |
           (uint32_t)((told->sample ^ cavs__present_sample(r)) & told->row);
}

static inline void write_entry(struct cavs__recording *r, int number, int sample, int n,
                               int32_t site)
{
    r->entries[number] = (struct cavs__entry){.sample = sample,
                                              .reads = (int32_t)r->nreads,
                                              .nreads = n,
                                              .site = site,
                                              .run = r->sites.run};
}

static inline bool has_room(const struct cavs__recording *r, int number)
{
    return number < r->most && (size_t)r->nreads + 2 <= r->read_room;
}

struct cavs_symbol *cavs__record_symbol(struct cavs__recorder *recorder, int n,
                                        struct cavs_symbol *const *inputs)
{
    struct cavs__recording *r = (struct cavs__recording *)recorder;
    struct cavs__node *node = (struct cavs__node *)recorder->next;
    struct cavs_symbol *x = &node->x;
    int number = cavs__symbols_of(r);
    int32_t site = r->sites.usual - 1;
    const struct cavs__site *at;
    struct cavs__read *reads;
    int sample;

    if (site < 0)
        return cavs__record_other(recorder, n, inputs);
    at = &r->sites.all[site];
    reads = r->reads + r->nreads;
    if (n < 1 || n > 2 || !has_room(r, number) ||
        (differs(r, at, x, n) | take_operand(r, node, 0, inputs[0], at->last.key[0], &reads[0])) ||
        (n == 2 && take_operand(r, node, 1, inputs[1], at->last.key[1], &reads[1])) ||
        (x->metric && !cavs__add_sink(r, number)))
        return cavs__record_other(recorder, n, inputs);
    sample = cavs__present_sample(r);
    x->function = recorder->present;
    x->number = number;
    x->ninputs = n;
    x->inputs = node->in;
    x->needs_grad = at->last.needs_grad;
    x->whole = x->read_past = false;
    node->place = r->count[sample]++;
    write_entry(r, number, sample, n, site);
    r->signature[number] = at->last.number;
    cavs__tell_of_row(node, sample, r->sites.run);
    r->nreads += n;
    r->marks[number] = x->metric ? CAVS__SUMMED_UP : 0;
    cavs__site_follow(&r->sites, site);
    recorder->present->nsymbols++;
    cavs__find_following(r, node);
    return x;
}
