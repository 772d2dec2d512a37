/* SPDX-License-Identifier: Apache-2.0 */
/* ew_spec.c - the description of a group: copied, checked, compared. */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/ew_internal.h"
#include "core/base/hash.h"

/* ---- a copy ---- */

static void *copy(const void *from, int n, size_t size)
{
    void *to = malloc((size_t)n * size + 1);

    if (to && n > 0)
        memcpy(to, from, (size_t)n * size);
    return to;
}

int cavs__ew_copy_spec(struct cavs__ew_spec *to, const struct cavs__ew_spec *from)
{
    *to = *from;
    to->scalar = copy(from->scalar, from->ninputs, sizeof *from->scalar);
    to->nodes = copy(from->nodes, from->nnodes, sizeof *from->nodes);
    to->outputs = copy(from->outputs, from->noutputs, sizeof *from->outputs);
    to->over = from->over ? copy(from->over, from->noutputs, sizeof *from->over) : NULL;
    return to->scalar && to->nodes && to->outputs && !from->over == !to->over ? 0 : -1;
}

void cavs__ew_free_spec(struct cavs__ew_spec *spec)
{
    free((void *)spec->scalar);
    free((void *)spec->nodes);
    free((void *)spec->outputs);
    free((void *)spec->over);
}

/* ---- checks ---- */

/* A number is read before it is written over, if its vector is taken once, and nobody copies it. */
static bool lies_well(const struct cavs__ew_spec *spec)
{
    for (int k = 0; k < spec->noutputs; k++) {
        int input = cavs__ew_over(spec, k);

        if (input >= 0 && (input >= spec->ninputs || spec->scalar[input] || spec->outputs[k] < 0 ||
                           spec->width % CAVS__EW_VECTOR))
            return false;
        for (int i = 0; i < spec->noutputs && input >= 0; i++)
            if (spec->outputs[i] == ~input || (i != k && cavs__ew_over(spec, i) == input))
                return false;
    }
    return true;
}

bool cavs__ew_well_formed(const struct cavs__ew_spec *spec)
{
    if (spec->width < 1)
        return false;
    for (int j = 0; j < spec->nnodes; j++) {
        const struct cavs__ew_node *node = &spec->nodes[j];
        int n = node->op < 0 ? 0 : (int)strlen(cavs__ew_operands(node->op, node->which));

        for (int i = 0; i < n; i++)
            if (node->in[i] >= j || ~node->in[i] >= spec->ninputs)
                return false;
    }
    for (int k = 0; k < spec->noutputs; k++)
        if (spec->outputs[k] >= spec->nnodes || ~spec->outputs[k] >= spec->ninputs)
            return false;
    return lies_well(spec);
}

/* ---- comparing ---- */

uint64_t cavs__ew_hash_spec(const struct cavs__ew_spec *s)
{
    uint64_t h = cavs__hash(CAVS__HASH_START, &s->width, sizeof s->width);

    h = cavs__hash(h, s->scalar, (size_t)s->ninputs * sizeof *s->scalar);
    h = cavs__hash(h, s->nodes, (size_t)s->nnodes * sizeof *s->nodes);
    if (s->over)
        h = cavs__hash(h, s->over, (size_t)s->noutputs * sizeof *s->over);
    return cavs__hash(h, s->outputs, (size_t)s->noutputs * sizeof *s->outputs);
}

static bool same(const void *a, const void *b, int n, size_t size)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

static bool same_over(const struct cavs__ew_spec *a, const struct cavs__ew_spec *b)
{
    for (int k = 0; k < a->noutputs; k++)
        if (cavs__ew_over(a, k) != cavs__ew_over(b, k))
            return false;
    return true;
}

bool cavs__ew_same_spec(const struct cavs__ew_spec *a, const struct cavs__ew_spec *b)
{
    return a->width == b->width && a->ninputs == b->ninputs && a->nnodes == b->nnodes &&
           a->noutputs == b->noutputs &&
           same(a->scalar, b->scalar, a->ninputs, sizeof *a->scalar) &&
           same(a->nodes, b->nodes, a->nnodes, sizeof *a->nodes) &&
           same(a->outputs, b->outputs, a->noutputs, sizeof *a->outputs) && same_over(a, b);
}
