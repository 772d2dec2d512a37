/* SPDX-License-Identifier: Apache-2.0 */
/* recording_parts.h - what recording a symbol is made of: record_symbol.c. */
#ifndef CAVS_CORE_TAPE_RECORDING_PARTS_H
#define CAVS_CORE_TAPE_RECORDING_PARTS_H

#include "core/tape/recording.h"

static inline const struct cavs__to_readers *cavs__told_by(const struct cavs_symbol *in)
{
    return &((const struct cavs__node *)in)->to_readers;
}

/* All of the row.  One word, since it is read as one soon: cavs__set_key(). */
static inline struct cavs__read cavs__read_row(int32_t symbol)
{
    uint64_t word = (uint32_t)symbol;
    struct cavs__read read;

    memcpy(&read, &word, sizeof read);
    return read;
}

/* As a symbol of that run reads it. */
static inline struct cavs__read cavs__read_of(const struct cavs__to_readers *in, int32_t run)
{
    struct cavs__read read = in->read;

    read.in_run = in->run == run;
    return read;
}

/* What readers need to know of a symbol that is computed. */
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

/* Where it is to be, in the chunks. */
static inline int cavs__place_of_next(const struct cavs__recording *r)
{
    return cavs__symbols_of(r) - r->ahead;
}

/* recording.c: finds the next symbol's place; nowhere, if there is no memory. */
void cavs__find_place(struct cavs__recording *r);

/* The same behind this one, which is the last. */
static inline void cavs__find_following(struct cavs__recording *r, struct cavs__node *last)
{
    if ((unsigned)cavs__place_of_next(r) % CAVS__NODES_A_CHUNK != 0)
        r->recorder.next = &last[1].x;
    else
        cavs__find_place(r);
}

/* record_usual.c: what builders have written to recorder->next is recorded; see struct
 * cavs__recorder. */
struct cavs_symbol *cavs__record_symbol(struct cavs__recorder *recorder, int n,
                                        struct cavs_symbol *const *inputs);

/* record_symbol.c: the same, whatever it is. */
struct cavs_symbol *cavs__record_other(struct cavs__recorder *recorder, int n,
                                       struct cavs_symbol *const *inputs);

/* record_computed.c: the site and the signature of a symbol that is computed, and what that takes;
 * several: its operands are of several samples.  false: reported. */
bool cavs__record_computed(struct cavs__recording *r, struct cavs__node *node,
                           struct cavs__entry *e, bool several);
/* The symbol is a metric.  false: out of memory. */
bool cavs__add_sink(struct cavs__recording *r, int number);

/* sample_groups.c: the samples that the operands of this symbol come from are computed together
 * from now on.  false: out of memory. */
bool cavs__unite_samples(struct cavs__recording *r, const struct cavs__node *node);
/* Those are undone that a symbol from that number on is the reason for. */
void cavs__part_samples(struct cavs__recording *r, int symbol);

/* operand_sorts.c: what the operand is to the operator that reads it, and how that reads it but for
 * runs. */
struct cavs__read cavs__sort_operand(struct cavs_symbol *in, struct cavs__operand_sort *o);
/* The number of the signature of x; -1: out of memory. */
int cavs__sorted_signature(struct cavs__recording *r, const struct cavs_symbol *x);

#endif
