/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_steps.c - which steps of a chain a device takes in one launch, besides products: those that
 * stand one after the other and compute a vertex's row, or those of its entries, from rows of that
 * vertex and from what other tasks have made.  A launch costs what the arithmetic of a thin V_t
 * does, and a chain has nothing else to do meanwhile.
 *
 * Tiles of a part may be of one vertex, whatever the steps are: so a group of a device's items may
 * take all of them for one vertex.  It is found before scratch is packed, which then keeps blocks
 * of such steps apart: vertices are at different steps at the same time.
 */
#include <stdlib.h>

#include "codelets/device_set.h"
#include "codelets/kernels/kernel_table.h"
#include "core/base/error.h"
#include "core/compile/place.h"

static bool may_be_one_of(const struct cavs__step *s)
{
    const struct cavs__kernel *k = s->call.kernel;

    return k == &cavs__kernel_elementwise || k == &cavs__kernel_list_sum ||
           k == &cavs__kernel_sum_rows;
}

/* A device's compiler takes long for steps of more operands, and next to the work of such a step
 * one more launch costs nothing. */
enum { MOST_OF_SEQUENCE = 64 };

/* How many steps, from this one on, can be one kernel: it must have room for all their
 * arguments. */
static int steps_from(const struct cavs__part *p, int first)
{
    int n = 0, views = 0;

    for (; first + n < p->nsteps && may_be_one_of(&p->steps[first + n]); n++) {
        views += p->steps[first + n].nviews + 1; /* and where its lists are */
        if (views > MOST_OF_SEQUENCE || !cavs__devices->group_fits(views))
            break;
    }
    return n;
}

int cavs__find_sequences(struct cavs__part *p)
{
    for (int first = 0, n; first<p->nsteps; first += n> 1 ? n : p->steps[first].together) {
        struct cavs__sequence *q;

        n = steps_from(p, first);
        if (n < 2)
            continue;
        q = malloc(sizeof *q);
        if (!q)
            return cavs__fail_nomem("plan: sequence of steps", sizeof *q);
        *q = (struct cavs__sequence){.n = n, .steps = &p->steps[first]};
        p->steps[first].sequence = q;
    }
    return CAVS_OK;
}
