/* SPDX-License-Identifier: Apache-2.0 */
/*
 * applying.h - a declared function on its way to a tape: found unfolded (applied_form.c), and
 * recorded (declared.c).
 */
#ifndef CAVS_CORE_TAPE_APPLYING_H
#define CAVS_CORE_TAPE_APPLYING_H

#include "core/tape/tape.h"
#include "core/tape/unfolded.h"

struct cavs__applying {
    struct cavs_tape *t;
    struct cavs_function *to; /* the recording's */
    const struct cavs_function *f;
    struct cavs_application *a;
    struct cavs_place at;
    struct cavs__unfolded *u;
    struct cavs_symbol **value;  /* for each symbol of f the one on the tape; NULL: none yet */
    struct cavs_symbol children; /* a list of them, which is not recorded */
};

/* What is given for the input; NULL: nothing. */
struct cavs_symbol *cavs__applied_input(const struct cavs__applying *w,
                                        const struct cavs__input *input);
/* The same for a list, of an input or of the children; NULL: it has no entry. */
const struct cavs_symbol *cavs__applied_list(const struct cavs__applying *w,
                                             const struct cavs__input *input);
/* Sets w->u to the unfolded function, which is unfolded now if it was not before.  Returns its
 * number; -1: reported. */
int cavs__find_unfolded(struct cavs__applying *w);

#endif
