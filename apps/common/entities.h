/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entities.h - spans of words that tags mark, and how many of them were found: as conlleval counts.
 *
 * A tag is O, outside of any entity, or B-TYPE, I-TYPE, E-TYPE or S-TYPE.  An entity begins at a B-
 * or S-, and at an I- or E- that does not go on with one of its type; it ends before the next one,
 * before an O, after an E- or S-, and with the sentence.  So the scheme IOB1, where B- only parts
 * neighbours of one type, and IOB2, where each entity begins with B-, are counted alike.  Any other
 * tag marks one word, an entity of its own.  Words in a row with the tag <unk>, one that training
 * has not seen, are one entity.
 */
#ifndef CAVS_APPS_ENTITIES_H
#define CAVS_APPS_ENTITIES_H

#include <stdint.h>

#include "apps/common/vocab.h"

/* Start from a zeroed struct. */
struct entity_counts {
    int64_t gold, predicted;
    int64_t correct; /* in both: the same words with the same type */
};

/* Adds a sentence of n words: its tags, and those that were predicted, by their ids. */
void entities_count(struct entity_counts *c, const struct vocab *tags, int n, const int *gold,
                    const int *predicted);

/* Shares from 0 to 1: of the predicted entities that are correct, of the gold ones that were found,
 * and the harmonic mean of both; 0 of none. */
double entities_precision(const struct entity_counts *c);
double entities_recall(const struct entity_counts *c);
double entities_f1(const struct entity_counts *c);

#endif
