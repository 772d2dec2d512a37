/* SPDX-License-Identifier: Apache-2.0 */
/* cut.c - cuts a schedule into blocks of consecutive V_t. */
#include "scheduler/schedule.h"

int cavs__schedule_cut(const struct cavs__schedule *s, const double *weight, double least, int most,
                       int32_t *cut)
{
    double total = 0, sum = 0;
    int n, made = 0;

    for (int i = 0; i < s->nvt; i++)
        total += s->vt[i].n * weight[s->vt[i].function];
    n = total >= most * least ? most : (int)(total / least);
    cut[0] = 0;
    for (int i = 0; i < s->nvt && made + 1 < n; i++) {
        sum += s->vt[i].n * weight[s->vt[i].function];
        if (sum >= total * (made + 1) / n && i + 1 < s->nvt)
            cut[++made] = i + 1;
    }
    cut[++made] = s->nvt;
    return made;
}
