/* SPDX-License-Identifier: Apache-2.0 */
/*
 * in_place.c - what is kept takes the place of what was kept before: the gradient of a gate lies
 * where the gate's value was, once that is read for the last time, and the value where what had
 * been computed of it ahead of the chain was.
 *
 * Memory is then written that the same step has just read, instead of as much again.  What a part
 * keeps are fields of its bundle, one for each value or concatenation.  A field moves into the
 * bundle of an earlier part, over values that nobody but the part being made still reads, if each
 * of them is read before the field is written there: by an earlier step, or by the element-wise
 * group that writes the very same columns.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/compile/in_place.h"
#include "memory/tensor.h"

/* The columns where an item leaves what it computes or copies. */
static const struct cavs__operand *result(const struct cavs__placer *p,
                                          const struct cavs__item *item)
{
    const struct cavs__local *l = &p->local[item->x->number];

    return item->copy ? &item->dest : l->placed ? &l->at : NULL;
}

/* ---- the fields, and who writes them ---- */

static int by_field(const void *a, const void *b)
{
    const struct cavs__field *x = a, *y = b;

    return (x->col > y->col) - (x->col < y->col);
}

static int by_column(const void *a, const void *b)
{
    const struct cavs__field_writer *x = a, *y = b;

    return (x->col > y->col) - (x->col < y->col);
}

/* The operands of a concatenation are columns of its field. */
static void merge_overlapping(struct cavs__moving *m)
{
    int n = 0;

    qsort(m->fields, (size_t)m->nfields, sizeof *m->fields, by_field);
    for (int i = 0; i < m->nfields; i++) {
        struct cavs__field *last = &m->fields[n > 0 ? n - 1 : 0];

        if (n > 0 && m->fields[i].col < last->end)
            last->end = m->fields[i].end > last->end ? m->fields[i].end : last->end;
        else
            m->fields[n++] = m->fields[i];
    }
    m->nfields = n;
}

static void list_fields(struct cavs__moving *m)
{
    const struct cavs__placer *p = m->p;

    for (int h = 0; h < p->nhere; h++) {
        const struct cavs__local *l = &p->local[p->here[h]];

        if (l->placed && cavs__lies_in(&l->at, &m->bundle))
            m->fields[m->nfields++] =
                (struct cavs__field){.col = l->at.col, .end = l->at.col + l->at.cols, .to = -1};
    }
    merge_overlapping(m);
}

static void list_writers(struct cavs__moving *m)
{
    int at = 0;

    for (int i = 0; i < m->p->nitems; i++) {
        const struct cavs__operand *o = result(m->p, &m->p->items[i]);

        if (o && cavs__lies_in(o, &m->bundle))
            m->writers[m->nwriters++] = (struct cavs__field_writer){i, o->col, o->cols};
    }
    qsort(m->writers, (size_t)m->nwriters, sizeof *m->writers, by_column);
    for (int i = 0; i < m->nfields; i++) {
        struct cavs__field *f = &m->fields[i];

        for (f->first = at; at < m->nwriters && m->writers[at].col < f->end; at++)
            f->n++;
    }
}

/* ---- moving ---- */

static void place_field(struct cavs__moving *m, struct cavs__field *f)
{
    for (int l = m->into.from / CAVS__LINE; l < m->lines.n && f->to < 0; l++) {
        if (!cavs__field_fits(m, f, l * CAVS__LINE))
            continue;
        for (int i = l; i < l + cavs__lines_of(f->end - f->col); i++)
            m->lines.taken[i] = true;
        f->tensor = m->into.tensor;
        f->to = l * CAVS__LINE;
    }
}

static void move(const struct cavs__moving *m, struct cavs__operand *at)
{
    int low = 0, high = m->nfields - 1;

    if (!cavs__lies_in(at, &m->bundle))
        return;
    while (low < high) { /* the last field that does not begin behind it */
        int middle = (low + high + 1) / 2;

        if (m->fields[middle].col <= at->col)
            low = middle;
        else
            high = middle - 1;
    }
    at->col += m->fields[low].to - m->fields[low].col;
    at->buffer = (int16_t)m->fields[low].tensor;
}

static void move_all(const struct cavs__moving *m)
{
    struct cavs__placer *p = m->p;

    for (int h = 0; h < p->nhere; h++) {
        move(m, &p->local[p->here[h]].at);
        if (p->value[p->here[h]].placed)
            move(m, &p->value[p->here[h]].at);
    }
    for (int i = 0; i < p->nitems; i++) {
        if (p->items[i].copy)
            move(m, &p->items[i].dest);
    }
}

static int move_into(struct cavs__moving *m)
{
    bool may;
    int rc = cavs__find_room(m, &may);

    for (int i = 0; i < m->nfields && may && !rc; i++) {
        if (m->fields[i].to < 0 && m->fields[i].end - m->fields[i].col > 1)
            place_field(m, &m->fields[i]);
    }
    cavs__free_room(m);
    return rc;
}

/* Fields that stay where they are move together. */
static void close_gaps(struct cavs__moving *m)
{
    const bool recorded = m->p->f->stage->recorded;
    struct cavs__tensor_desc *d = &m->p->plan->tensors[m->bundle.tensor];
    int *end = recorded ? &m->p->f->kept : &d->cols;

    *end = m->bundle.from;
    for (int i = 0; i < m->nfields; i++) {
        struct cavs__field *f = &m->fields[i];
        int cols = f->end - f->col;

        if (f->to >= 0)
            continue;
        f->tensor = m->bundle.tensor;
        f->to = recorded ? cavs__add_recorded_field(end, cols) : cavs__add_field(d, cols);
    }
    if (recorded)
        m->p->kept[m->p->part].end = *end;
}

/* What that part keeps of vertices, to the end of its last line: a concatenation that has moved
 * there may have operands behind what had been there before. */
static struct cavs__bundle bundle_of(const struct cavs__placer *p, int part)
{
    const struct cavs__kept *k = &p->kept[part];
    int tensor = p->bundle[part][0];

    if (p->f->stage->recorded)
        return (struct cavs__bundle){.tensor = k->end > 0 ? p->sp->edge : -1,
                                     .slot = CAVS__LINES_KEPT,
                                     .from = k->from,
                                     .end = cavs__lines_of(k->end) * CAVS__LINE};
    return (struct cavs__bundle){
        .tensor = tensor,
        .end = tensor < 0 ? 0 : cavs__lines_of(p->plan->tensors[tensor].cols) * CAVS__LINE};
}

/* The rows of a tensor of one column are single numbers, not cache lines: nothing wider fits
 * there. */
static bool has_lines(const struct cavs__moving *m)
{
    const struct cavs__tensor_desc *d = &m->p->plan->tensors[m->into.tensor];

    return m->p->f->stage->recorded ||
           (d->space == CAVS__BROWS && cavs__tensor_ld(d->cols) >= CAVS__LINE);
}

/* What ran ahead of the chain comes last: what is free there was read longest ago, but for values
 * of the chain that have moved there. */
static int move_fields(struct cavs__moving *m)
{
    const struct cavs__placer *p = m->p;
    int rc = CAVS_OK;

    list_fields(m);
    list_writers(m);
    for (int i = 1; i <= p->part && !rc; i++) {
        m->from = i % p->part;
        m->into = bundle_of(p, m->from);
        if (m->into.tensor >= 0 && has_lines(m))
            rc = move_into(m);
    }
    close_gaps(m);
    if (m->nfields > 0)
        move_all(m);
    return rc;
}

int cavs__keep_in_place(struct cavs__placer *p)
{
    struct cavs__moving m = {.p = p, .bundle.tensor = -1};
    size_t n = (size_t)p->nhere + (size_t)p->nitems + 1, symbols = (size_t)p->f->nsymbols + 1;
    int rc;

    if (p->part < CAVS__PART_SHARED)
        m.bundle = bundle_of(p, p->part);
    if (!p->plan->options.in_place || m.bundle.tensor < 0 || p->part == CAVS__EAGER ||
        p->part == CAVS__LAZY)
        return CAVS_OK;
    m.fields = calloc(n, sizeof *m.fields);
    m.writers = calloc(n, sizeof *m.writers);
    m.of = calloc(symbols, sizeof *m.of);
    rc = m.fields && m.writers && m.of
             ? move_fields(&m)
             : cavs__fail_nomem("plan: kept values", n * (sizeof *m.fields + sizeof *m.writers) +
                                                         symbols * sizeof *m.of);
    free(m.fields);
    free(m.writers);
    free(m.of);
    return rc;
}
