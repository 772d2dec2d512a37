/* SPDX-License-Identifier: Apache-2.0 */
/* block_forms.c - see run_form.h: forms that runs have had, and the blocks that they got. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/tape/run_form.h"

void cavs__blocks_free(struct cavs__blocks *b)
{
    for (int i = 0; i < b->n; i++) {
        free((int32_t *)b->all[i]->form.codes);
        free(b->all[i]);
    }
    free(b->all);
    cavs__table_free(&b->table);
    cavs__known_free(b);
}

static bool has_form(const struct cavs__tape_block *b, const struct cavs__formed_run *x)
{
    return b->form.ncodes == x->ncodes &&
           memcmp(b->form.codes, x->codes, (size_t)x->ncodes * sizeof *x->codes) == 0;
}

/* How many codes there are of what a symbol of that signature reads; the first one says so where it
 * reads a list. */
static int codes_of(const struct cavs__signature *s, const int32_t *codes)
{
    int n = 0;

    for (int k = 0; k < s->n; k++)
        n += s->operands[k].kind == CAVS__OPERAND_ID    ? 1
             : s->operands[k].kind == CAVS__OPERAND_ROW ? 2
                                                        : 0;
    return s->nlisted > 0 ? 1 + n * codes[0] : n;
}

/* The print of a form, which is the same in any process: numbers of signatures are not, so the
 * prints of these stand in their place. */
static uint64_t print_of(const struct cavs__formed_run *x)
{
    uint64_t h = cavs__hash(CAVS__HASH_START, x->codes, 0);

    for (int i = 0, at = 0; i < x->n; i++) {
        const struct cavs__signature *s = x->r->signatures.all[x->codes[at++]];
        int n = codes_of(s, x->codes + at);

        h = cavs__hash(h, &s->print, sizeof s->print);
        h = cavs__hash(h, x->codes + at, (size_t)n * sizeof *x->codes);
        at += n;
    }
    return h;
}

bool cavs__block_expect(struct cavs__blocks *all, const struct cavs__tape_block *expected)
{
    struct cavs__tape_block *b = malloc(sizeof *b);

    if (b && CAVS__APPEND(all->all, all->n, b)) {
        *b = *expected;
        all->unmet++;
        return true;
    }
    free(b);
    return false;
}

/* The number of the block that a checkpoint told of by this print, and that was not met since; -1:
 * there is none. */
static int32_t expected_block(const struct cavs__blocks *all, uint64_t print)
{
    for (int i = 0; all->unmet > 0 && i < all->n; i++) {
        if (!all->all[i]->form.codes && all->all[i]->print == print)
            return i;
    }
    return -1;
}

/* Adds a block of this form.  Its number; -1: out of memory. */
static int32_t add_block(struct cavs__blocks *all, const struct cavs__formed_run *x)
{
    struct cavs__tape_block new = {
        .print = print_of(x), .signature = CAVS__NO_BLOCK, .coming = CAVS__NO_BLOCK};
    int32_t *codes = malloc((size_t)x->ncodes * sizeof *codes), i;

    if (!codes)
        return -1;
    i = expected_block(all, new.print);
    if (i < 0 && cavs__block_expect(all, &new))
        i = all->n - 1;
    if (i < 0) {
        free(codes);
        return -1;
    }
    memcpy(codes, x->codes, (size_t)x->ncodes * sizeof *codes);
    all->all[i]->form = (struct cavs__block_form){x->n, x->ncodes, codes};
    all->unmet--;
    cavs__make_later(all, all->all[i]);
    return i;
}

static int32_t look_up(struct cavs__blocks *all, const struct cavs__formed_run *x)
{
    uint64_t h = 0;
    struct cavs__probe p;
    int32_t number;

    for (int i = 0; i < x->ncodes; i++)
        h = cavs__mix(h, (uint32_t)x->codes[i]);
    if (!cavs__table_grow(&all->table, (size_t)all->n + 1))
        return -1;
    p = cavs__table_probe(&all->table, cavs__mixed(h));
    while ((number = cavs__probe_at(&p)) >= 0 && !has_form(all->all[number], x))
        cavs__probe_step(&p);
    if (number < 0 && (number = add_block(all, x)) >= 0)
        cavs__probe_put(&p, number);
    return number;
}

/* The block of this form, which is added if it is new.  NULL: out of memory. */
struct cavs__tape_block *cavs__block_of_form(struct cavs__blocks *all,
                                             const struct cavs__formed_run *x)
{
    int32_t *last = &x->r->sites.all[x->r->entries[x->symbols[0]].site].block;

    if (*last < 0 || !has_form(all->all[*last], x))
        *last = look_up(all, x);
    return *last < 0 ? NULL : all->all[*last];
}
