/* SPDX-License-Identifier: Apache-2.0 */
/* ew_blame.c - which operator of a group a bad number comes from: the group once more, one number
 * after the other, in one column of one row. */
#include <math.h>
#include <string.h>

#include "codelets/groups/ew_internal.h"

static float input(const struct cavs__ew_program *p, const struct cavs__view *v, int i, int row,
                   int column)
{
    ptrdiff_t at = v[i].index ? v[i].index[row] : row;

    return at < 0 ? 0 : v[i].p[at * v[i].ld + (p->spec.scalar[i] ? 0 : column)];
}

static float node_value(const struct cavs__ew_node *node, const float *values)
{
    const char *letters = node->op < 0 ? "" : cavs__ew_operands(node->op, node->which);
    const float none = 0, *in[4];
    float y;

    if (node->op < 0)
        return node->s;
    for (int l = 0; l < 4; l++) {
        const char *at = strchr(letters, "abyg"[l]);

        in[l] = at ? &values[node->in[at - letters]] : &none;
    }
    cavs__ew_loop_of(node->op, node->which)(1, &y, in[0], in[1], in[2], in[3], node->s);
    return y;
}

int cavs__ew_blame(const struct cavs__ew_program *p, const struct cavs__view *v, int row,
                   int column)
{
    float memory[CAVS__EW_MAX_VALUES], *values = memory + p->spec.ninputs;

    for (int i = 0; i < p->spec.ninputs; i++)
        values[~i] = input(p, v, i, row, column);
    for (int j = 0; j < p->spec.nnodes; j++) {
        values[j] = node_value(&p->spec.nodes[j], values);
        if (!isfinite(values[j]))
            return j;
    }
    return -1;
}
