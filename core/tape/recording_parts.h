/* SPDX-License-Identifier: Apache-2.0 */
/* recording_parts.h - the steps of recording a symbol, which several files share. */
#ifndef CAVS_CORE_TAPE_RECORDING_PARTS_H
#define CAVS_CORE_TAPE_RECORDING_PARTS_H

#include <string.h>

#include "core/tape/recording.h"

static inline const struct cavs__to_readers *cavs__told_by(const struct cavs_symbol *in)
{
    return &((const struct cavs__node *)in)->to_readers;
}

/* A read of a whole row.  It is written as one word, because it is soon read as one: a load that
 * follows two narrower stores would wait for them. */
static inline struct cavs__read cavs__read_row(int32_t symbol)
{
    uint64_t word = (uint32_t)symbol;
    struct cavs__read read;

    memcpy(&read, &word, sizeof read);
    return read;
}

/* The read of an operand by a symbol of that run.  What readers are told lacks `in_run`. */
static inline struct cavs__read cavs__read_of(const struct cavs__to_readers *in, int32_t run)
{
    const struct cavs__read within = {.in_run = 1}, none = {.in_run = 0};
    struct cavs__read read = in->run == run ? within : none;
    uint64_t word, told;

    memcpy(&word, &read, sizeof word);
    memcpy(&told, &in->read, sizeof told);
    word |= told;
    memcpy(&read, &word, sizeof read);
    return read;
}

/* Notes for its readers what a symbol is that has a row of its own. */
static inline void cavs__tell_of_row(struct cavs__node *node, int32_t sample, int32_t run)
{
    struct cavs__operand_sort o = {
        .kind = CAVS__OPERAND_ROW, .grad = node->x.needs_grad, .width = node->x.width};
    struct cavs__to_readers *told = &node->to_readers;

    cavs__set_key(&o);
    told->key[0] = o.key[0];
    told->key[1] = o.key[1];
    told->read = cavs__read_row(node->x.number);
    told->sample = sample;
    told->run = run;
    told->row = -1;
}

/* The place of the next symbol in the chunks. */
static inline int cavs__place_of_next(const struct cavs__recording *r)
{
    return cavs__symbols_of(r) - r->ahead;
}

/* recording.c: finds the place of the next symbol; it is r->nowhere if there is no memory. */
void cavs__find_place(struct cavs__recording *r);

/* Does the next symbol begin another chunk than the one before it lies in? */
static inline bool cavs__ends_chunk(const struct cavs__recording *r)
{
    return (unsigned)cavs__place_of_next(r) % CAVS__NODES_A_CHUNK == 0;
}

/* Finds the place of the next symbol, where `last` is the symbol before it. */
static inline void cavs__find_following(struct cavs__recording *r, struct cavs__node *last)
{
    if (!cavs__ends_chunk(r))
        r->recorder.next = &last[1].x;
    else
        cavs__find_place(r);
}

/* record_symbol.c: records the symbol whose description a builder has written to recorder->next,
 * as struct cavs__recorder says. */
struct cavs_symbol *cavs__record_symbol(struct cavs__recorder *recorder, int n,
                                        struct cavs_symbol *const *inputs);

/* record_usual.c: records one that is as r->sites.likely says, if its operands are, too; else
 * NULL. */
struct cavs_symbol *cavs__record_usual(struct cavs__recorder *recorder,
                                       struct cavs_symbol *const *inputs);

/* record_computed.c: finds the site and the signature of a symbol that is computed, and notes its
 * reads; several: its operands belong to several samples.  false: reported. */
bool cavs__record_computed(struct cavs__recording *r, struct cavs__node *node,
                           struct cavs__entry *e, bool several);
/* Notes that the symbol is a metric.  false: out of memory. */
bool cavs__add_sink(struct cavs__recording *r, int number);

/* sample_groups.c: the samples that the operands of this symbol belong to become one group, whose
 * samples are computed together.  false: out of memory. */
bool cavs__unite_samples(struct cavs__recording *r, const struct cavs__node *node);
/* Undoes the unions that symbols from that number on have caused. */
void cavs__part_samples(struct cavs__recording *r, int symbol);

/* operand_sorts.c: what kind of operand it is, in *o, and the read of it, without `in_run`. */
struct cavs__read cavs__sort_operand(struct cavs_symbol *in, struct cavs__operand_sort *o);
/* The number of the signature of x, looked up in the table or made; -1: out of memory. */
int cavs__sorted_signature(struct cavs__recording *r, const struct cavs_symbol *x);

#endif
