/* SPDX-License-Identifier: Apache-2.0 */
/* sorted_rows.c - see sorted_rows.h. */
#include "codelets/kernels/sorted_rows.h"

#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/products/fetch.h"

/* Sorts by one byte of id + 1, stably. */
static void sort_by_byte(const struct cavs__sorted *from, struct cavs__sorted *to, int shift)
{
    int at[257] = {0};

    for (int i = 0; i < from->n; i++)
        at[1 + ((uint32_t)(from->id[i] + 1) >> shift & 255)]++;
    for (int b = 0; b < 256; b++)
        at[b + 1] += at[b];
    to->n = from->n;
    for (int i = 0; i < from->n; i++) {
        int place = at[(uint32_t)(from->id[i] + 1) >> shift & 255]++;

        to->row[place] = from->row[i];
        to->id[place] = from->id[i];
    }
}

void cavs__sort_rows(struct cavs__sorted *s, const struct cavs__view *ids, int first, int rows)
{
    struct cavs__sorted other;
    int32_t largest = 0;

    s->n = rows < CAVS__SORTED ? rows : CAVS__SORTED;
    for (int i = 0; i < s->n; i++) {
        s->row[i] = first + i;
        s->id[i] = ids->index[first + i] < 0 ? -1 : ids->index[first + i];
        largest = s->id[i] > largest ? s->id[i] : largest;
    }
    for (int shift = 0; shift < 32 && ((uint32_t)largest + 1) >> shift > 0; shift += 8) {
        sort_by_byte(s, &other, shift);
        *s = other;
    }
}

int cavs__end_of_run(const struct cavs__sorted *s, int i)
{
    int32_t id = s->id[i];

    while (i < s->n && s->id[i] == id)
        i++;
    return i;
}

void cavs__collect_rows(const struct cavs__view *v, const struct cavs__sorted *s, int from, int end,
                        int c, int cols, float *buffer)
{
    for (int i = from; i < end; i++, buffer += cols) {
        const float *row = cavs__row(v, s->row[i]);

        if (row)
            cavs__copy_row(cols, row + c, buffer);
        else
            memset(buffer, 0, (size_t)cols * sizeof *buffer);
    }
}
