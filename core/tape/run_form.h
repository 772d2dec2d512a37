/* SPDX-License-Identifier: Apache-2.0 */
/* run_form.h - the form of a run: signatures, and which symbol reads which; and its block. */
#ifndef CAVS_CORE_TAPE_RUN_FORM_H
#define CAVS_CORE_TAPE_RUN_FORM_H

#include "core/tape/known_runs.h"

enum { CAVS__MOST_CODES = 1024 };

/* A run that is being looked at, and the part of it that is to be a vertex. */
struct cavs__formed_run {
    struct cavs__recording *r;
    struct cavs__recorded_run all;
    int n;
    int32_t symbols[CAVS__MOST_MEMBERS];
    int32_t first; /* `member` of the part's first symbol; those of the others follow */
    int ncodes, noperands;
    int32_t codes[CAVS__MOST_CODES];
    int32_t operands[CAVS__MOST_OPERANDS]; /* the first read that each is */
    int32_t width[CAVS__MOST_OPERANDS];
    int nexternal; /* how many there are, of which the first are in `external` */
    struct cavs__external external[CAVS__MOST_EXTERNAL];
    struct cavs__tape_block *block; /* of the part; NULL: none */
    uint64_t members;               /* that others read */
};

/* Finds the codes of the part, its operands, and what it reads that is no member.  false: there are
 * too many. */
bool cavs__code_run(struct cavs__formed_run *x);
/* block_forms.c: the block of a coded part, which may have no signature yet; NULL: out of memory.
 */
struct cavs__tape_block *cavs__block_of_form(struct cavs__blocks *all,
                                             const struct cavs__formed_run *x);

#endif
