/* SPDX-License-Identifier: Apache-2.0 */
/* fill_sections.c - see fill_sections.h. */
#include "core/tape/fill_sections.h"

#include <string.h>

/* The symbol of row r of a V_t; NULL: it was taken back. */
static struct cavs__node *row_of(const struct cavs__filling *w, const struct cavs__vt *vt, int r)
{
    const struct cavs__vertex *v = cavs__vertex_of_row(&w->t->recording, w->d, vt->row0 + r);

    return v ? cavs__node_at(&w->t->recording, v->symbol) : NULL;
}

static int32_t *section_of(const struct cavs__filling *w, const struct cavs__vt *vt, int section)
{
    return w->index + w->d->offsets[section] + vt->frow0;
}

static int32_t line_read(const struct cavs__recording *r, const struct cavs__read *read)
{
    return cavs__line_of(r, read->of) + read->from / CAVS__LINE;
}

/* Of an operand that is an id, the ids; of one that is a row, the lines where the rows begin.  What
 * was taken back gets no line: nothing reads it any more. */
static void fill_operand(const struct cavs__filling *w, const struct cavs__vt *vt, int k,
                         const struct cavs__operand_sort *o)
{
    const struct cavs__recording *recording = &w->t->recording;
    int32_t *out = section_of(w, vt, o->section);

    for (int r = 0; r < vt->n; r++) {
        int32_t first = w->d->operands[vt->row0 + r];
        const struct cavs__read *read = first < 0 ? NULL : &recording->reads[first + k];

        if (o->kind != CAVS__OPERAND_ID)
            cavs__fetch_operand(recording, w->d, vt->row0 + r, vt->row0 + vt->n, k);
        if (!read)
            out[r] = -1;
        else if (o->kind == CAVS__OPERAND_ID)
            out[r] = read->of;
        else
            out[r] = line_read(recording, read);
    }
}

/* The first entry of each row's list.  V_t come in the order of the rows of their signature, so
 * what one writes behind its rows is where the next one begins. */
static void fill_first(const struct cavs__filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *first = section_of(w, vt, s->first);

    memcpy(first, w->d->entry0 + vt->row0, (size_t)vt->n * sizeof *first);
    first[vt->n] = w->d->entries[vt->function]; /* or the next V_t begins there */
}

/* For each entry the row of the function that has it in its list. */
static void fill_owner(const struct cavs__filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *out = w->index + w->d->offsets[s->owner];

    for (int r = 0; r < vt->n; r++) {
        for (int32_t i = 0; i < w->d->length[vt->row0 + r]; i++)
            out[w->d->entry0[vt->row0 + r] + i] = vt->frow0 + r;
    }
}

/* The same as fill_operand() where the operand is all entries of the rows' lists. */
static void fill_entries(const struct cavs__filling *w, const struct cavs__vt *vt, int k,
                         const struct cavs__signature *s)
{
    const struct cavs__recording *recording = &w->t->recording;
    const struct cavs__operand_sort *o = &s->operands[k];

    for (int r = 0; r < vt->n; r++) {
        int32_t *out = w->index + w->d->offsets[o->section] + w->d->entry0[vt->row0 + r];
        int32_t n = w->d->length[vt->row0 + r], first = w->d->operands[vt->row0 + r];
        const struct cavs__read *read =
            first < 0 ? NULL : &recording->reads[first + cavs__first_read(s, k, n)];

        for (int32_t i = 0; i < n; i++)
            out[i] = !read                         ? -1
                     : o->kind == CAVS__OPERAND_ID ? read[i].of
                                                   : line_read(recording, &read[i]);
    }
}

static void fill_operands(const struct cavs__filling *w, const struct cavs__vt *vt,
                          const struct cavs__signature *s)
{
    for (int k = 0; k < s->n; k++) {
        if (s->operands[k].section < 0)
            continue;
        if (k < s->n - s->nlisted)
            fill_operand(w, vt, k, &s->operands[k]);
        else
            fill_entries(w, vt, k, s);
    }
}

static void fill_given(struct cavs__filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *out = section_of(w, vt, s->given), lines = cavs__lines_of(s->like.width);

    for (int r = 0; r < vt->n && w->given; r++) {
        out[r] = w->given_so_far;
        memcpy(w->given + (ptrdiff_t)w->given_so_far * CAVS__LINE, row_of(w, vt, r)->row,
               (size_t)s->like.width * sizeof *w->given);
        w->given_so_far += lines;
    }
}

static uint64_t key_of(const struct cavs__filling *w, const struct cavs__node *node)
{
    int sample = cavs__entry_of(&w->t->recording, &node->x)->sample;

    return cavs__vertex_noise(cavs__sample_noise(w->batch, sample), node->place);
}

static void fill_noise(const struct cavs__filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    for (int r = 0; r < vt->n; r++) {
        const struct cavs__node *node = row_of(w, vt, r);
        uint64_t key = node && w->batch ? key_of(w, node) : 0;

        section_of(w, vt, s->noise[0])[r] = (int32_t)(uint32_t)key;
        section_of(w, vt, s->noise[1])[r] = (int32_t)(uint32_t)(key >> 32);
    }
}

void cavs__fill_vt(struct cavs__filling *w, const struct cavs__vt *vt)
{
    const struct cavs__signature *s = cavs__signature_of(w->t, vt);

    fill_operands(w, vt, s);
    if (s->first >= 0)
        fill_first(w, vt, s);
    if (s->owner >= 0)
        fill_owner(w, vt, s);
    if (s->given >= 0)
        fill_given(w, vt, s);
    if (s->noise[0] >= 0)
        fill_noise(w, vt, s);
}
