/* SPDX-License-Identifier: Apache-2.0 */
/* recording_parts.h - what recording a symbol is made of: record_symbol.c. */
#ifndef CAVS_CORE_TAPE_RECORDING_PARTS_H
#define CAVS_CORE_TAPE_RECORDING_PARTS_H

#include "core/tape/recording.h"

static inline const struct cavs__to_readers *cavs__told_by(const struct cavs_symbol *in)
{
    return &((const struct cavs__node *)in)->to_readers;
}

/* recording.c: where the next symbol is to be; nowhere, if there is no memory. */
void cavs__find_place(struct cavs__recording *r);

/* record_symbol.c: what builders have written to recorder->next is recorded; see struct
 * cavs__recorder. */
struct cavs_symbol *cavs__record_symbol(struct cavs__recorder *recorder, int n,
                                        struct cavs_symbol *const *inputs);

/* record_computed.c: the site and the signature of a symbol that is computed, and what that takes;
 * several: its operands are of several samples.  false: reported. */
bool cavs__record_computed(struct cavs__recording *r, struct cavs__node *node,
                           struct cavs__entry *e, bool several);

/* sample_groups.c: the samples that the operands of this symbol come from are computed together
 * from now on.  false: out of memory. */
bool cavs__unite_samples(struct cavs__recording *r, const struct cavs__node *node);
/* Those are undone that a symbol from that number on is the reason for, but for what has been
 * computed. */
void cavs__part_samples(struct cavs__recording *r, int symbol);

/* operand_sorts.c: what the operand is to the operator that reads it, and how that reads it but for
 * runs. */
struct cavs__read cavs__sort_operand(struct cavs_symbol *in, struct cavs__operand_sort *o);
/* The number of the signature of x; -1: out of memory. */
int cavs__sorted_signature(struct cavs__recording *r, const struct cavs_symbol *x);

#endif
