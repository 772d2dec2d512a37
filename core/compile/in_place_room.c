/* SPDX-License-Identifier: Apache-2.0 */
/* in_place_room.c - which columns of an earlier part's bundle a field may take: values that nobody
 * but the part being made still reads, each of them before the field is written there. */
#include <stdlib.h>

#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/compile/in_place.h"

/* ---- the values that they may lie over ---- */

/* The value of a symbol, if it is in the bundle that the fields move into, where it may have moved
 * itself; else NULL. */
static const struct cavs__operand *value_there(const struct cavs__moving *m, int symbol)
{
    const struct cavs__value *v = &m->p->value[symbol];

    return v->part != m->p->part && v->placed && cavs__lies_in(&v->at, &m->into) ? &v->at : NULL;
}

/* Operands come first in the list: by the time a concatenation that is made again is visited, what
 * it reads is known. */
static struct cavs__reach reach_of(const struct cavs__moving *m, const struct cavs_symbol *x)
{
    const struct cavs__placer *p = m->p;
    struct cavs__reach reach = {false};

    for (int k = 0; k < x->ninputs; k++) {
        const struct cavs_symbol *b = cavs__root(p, x->inputs[k]);
        bool remade = cavs__is_remade(p, b);

        reach.there |= value_there(m, b->number) || (remade && m->of[b->number].there);
        reach.made |= p->value[b->number].part == p->part || m->of[b->number].made;
    }
    return reach;
}

static void note_read(struct cavs__moving *m, const struct cavs_symbol *x)
{
    for (int k = 0; k < x->ninputs; k++) {
        const struct cavs_symbol *b = cavs__root(m->p, x->inputs[k]);

        if (m->of[b->number].later)
            continue;
        m->of[b->number].later = true;
        if (cavs__is_remade(m->p, b))
            note_read(m, b);
    }
}

/* Has the part, another one, read all that it wants before the part being made begins?  The chain
 * of dF begins when F is through: losses are made of what it leaves. */
static bool is_over(const struct cavs__placer *p, int part)
{
    return p->part >= 3 + CAVS__CHAIN && part < 3;
}

/* Whoever else reads that bundle waits for the part being made from now on.  False: it would be
 * someone who does not wait for it anyway. */
static bool find_later_readers(struct cavs__moving *m)
{
    const struct cavs__placer *p = m->p;

    for (int i = 0; i < p->f->nsymbols; i++)
        m->of[i] = reach_of(m, p->f->symbols[i]);
    for (int i = 0; i < p->f->nsymbols; i++) {
        const struct cavs_symbol *x = p->f->symbols[i];
        int part = p->value[i].part;

        if (part == CAVS__NO_PART || part == m->from || part == p->part || is_over(p, part) ||
            cavs__is_remade(p, x) || !m->of[i].there)
            continue;
        if (part < p->part || !x->backward || !m->of[i].made)
            return false;
        note_read(m, x);
    }
    return true;
}

/* Counts the values of each line, or enters them: from the back, which makes first[l] where they
 * begin. */
static int each_line(struct cavs__moving *m, bool enter)
{
    int n = 0;

    for (int i = m->p->f->nsymbols - 1; i >= 0; i--) {
        const struct cavs__operand *at = value_there(m, i);

        for (int l = at ? at->col / CAVS__LINE : 0; at && l * CAVS__LINE < at->col + at->cols;
             l++, n++) {
            if (enter)
                m->lines.value[--m->lines.first[l]] = i;
            else
                m->lines.first[l]++;
        }
    }
    return n;
}

static int list_lines(struct cavs__moving *m)
{
    struct cavs__field_lines *lines = &m->lines;
    size_t n = (size_t)cavs__lines_of(m->into.end), values;

    *lines = (struct cavs__field_lines){.n = (int)n};
    lines->first = calloc(n + 1, sizeof *lines->first);
    lines->taken = calloc(n + 1, sizeof *lines->taken);
    if (!lines->first || !lines->taken)
        return cavs__fail_nomem("plan: kept values", (n + 1) * sizeof *lines->first);
    values = (size_t)each_line(m, false);
    lines->value = malloc((values + 1) * sizeof *lines->value);
    if (!lines->value)
        return cavs__fail_nomem("plan: kept values", (values + 1) * sizeof *lines->value);
    for (size_t l = 0; l < n; l++)
        lines->first[l + 1] += lines->first[l];
    each_line(m, true);
    return CAVS_OK;
}

/* ---- where a field may go ---- */

struct columns {
    int from, end;
};

static bool meet(struct columns a, struct columns b)
{
    return a.from < b.end && b.from < a.end;
}

/* The item reads `in`, which is the value or columns of it, while `writer` writes to `w` in the
 * same group: number by number it has read before it writes if these are the same columns. */
static bool in_step(const struct cavs__moving *m, const struct cavs__item *reader,
                    const struct cavs__item *writer, struct cavs_symbol *in, struct columns w)
{
    int col;
    struct cavs_symbol *y = cavs__base(m->p, in, &col);
    int from = m->p->value[y->number].at.col + col;

    if (!meet((struct columns){from, from + in->width}, w))
        return true;
    return !reader->copy && !writer->copy && y->op != CAVS__OP_REPEAT && from == w.from &&
           from + in->width == w.end && in->width % CAVS__EW_VECTOR == 0;
}

/* Has item r read all that it wants of y when the writer writes to columns w of it? */
static bool reads_before(const struct cavs__moving *m, int r, int writer,
                         const struct cavs_symbol *y, struct columns w)
{
    struct cavs__placer *p = m->p;
    const struct cavs__item *reader = &p->items[r];
    struct cavs_symbol *in;

    if (reader->time < p->items[writer].time)
        return true;
    if (reader->time > p->items[writer].time || !cavs__same_group(p, r, writer))
        return false;
    for (int k = 0; (in = cavs__item_operand(reader, k)) != NULL; k++) {
        if (cavs__root(p, in) == y && !in_step(m, reader, &p->items[writer], in, w))
            return false;
    }
    return true;
}

/* Have all items read y when the writer writes to columns w? */
static bool has_been_read(const struct cavs__moving *m, const struct cavs_symbol *y, int writer,
                          struct columns w)
{
    const struct cavs__readers *r = &m->p->root_readers;

    for (int at = r->first[y->number]; at < r->first[y->number + 1]; at++) {
        if (!reads_before(m, r->item[at], writer, y, w))
            return false;
    }
    return true;
}

/* The same question for all items that write the field, when it begins at column `to`. */
static bool may_lie_over(const struct cavs__moving *m, const struct cavs__field *f, int to,
                         const struct cavs_symbol *y)
{
    const struct cavs__operand *at = &m->p->value[y->number].at;

    for (int i = f->first; i < f->first + f->n; i++) {
        const struct cavs__field_writer *writer = &m->writers[i];
        int from = writer->col - f->col + to;
        struct columns w = {from, from + writer->cols};

        if (meet(w, (struct columns){at->col, at->col + at->cols}) &&
            !has_been_read(m, y, writer->item, w))
            return false;
    }
    return true;
}

bool cavs__field_fits(const struct cavs__moving *m, const struct cavs__field *f, int to)
{
    int end = to / CAVS__LINE + cavs__lines_of(f->end - f->col);

    if (end > m->lines.n)
        return false;
    for (int l = to / CAVS__LINE; l < end; l++) {
        if (m->lines.taken[l])
            return false;
        for (int at = m->lines.first[l]; at < m->lines.first[l + 1]; at++) {
            int y = m->lines.value[at];

            if (m->of[y].later || !may_lie_over(m, f, to, m->p->f->symbols[y]))
                return false;
        }
    }
    return true;
}

int cavs__find_room(struct cavs__moving *m, bool *may)
{
    *may = find_later_readers(m);
    return *may ? list_lines(m) : CAVS_OK;
}

void cavs__free_room(struct cavs__moving *m)
{
    free(m->lines.first);
    free(m->lines.value);
    free(m->lines.taken);
    m->lines = (struct cavs__field_lines){0};
}
