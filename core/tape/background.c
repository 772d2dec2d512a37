/* SPDX-License-Identifier: Apache-2.0 */
/* background.c - blocks that are worth it get functions, whose groups a thread compiles; see
 * tape_blocks.h. */
#include <stddef.h>
#include <stdlib.h>

#include "codelets/device_set.h"
#include "core/tape/tape.h"

/* ---- the end ---- */

static void *compile(void *blocks)
{
    const struct cavs__blocks *b = blocks;

    if (b->programs)
        cavs__ew_batch_compile(b->programs);
    if (b->text)
        cavs__devices->compile_ahead(b->text);
    return NULL;
}

static void wait_for_compiler(struct cavs__blocks *b)
{
    if (b->threaded)
        pthread_join(b->thread, NULL);
    b->threaded = false;
    free(b->text);
    b->text = NULL;
}

void cavs__end_blocks(struct cavs_tape *t)
{
    wait_for_compiler(&t->blocks);
}

static void set_coming(struct cavs_tape *t, int32_t signature, bool coming)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    int f = t->recording.signatures.all[signature]->function->number;

    for (int i = 0; i < sp->nkinds; i++) {
        if (f < sp->kinds[i]->nparts && sp->kinds[i]->parts[f])
            sp->kinds[i]->parts[f]->coming = coming;
    }
}

void cavs__use_blocks(struct cavs_tape *t)
{
    struct cavs__blocks *all = &t->blocks;

    if (!all->coming || t->stats.recordings < all->due)
        return;
    wait_for_compiler(all);
    all->coming = false;
    t->behind = true; /* devices have no kernels for them yet */
    for (int i = 0; i < all->n; i++) {
        struct cavs__tape_block *b = all->all[i];

        if (b->coming == CAVS__NO_BLOCK)
            continue;
        if (b->coming >= 0)
            set_coming(t, b->coming, false);
        b->signature = b->coming;
        b->results = b->coming_results;
        b->coming = CAVS__NO_BLOCK;
        all->used = true;
    }
}

/* ---- the beginning ---- */

static bool is_worth_it(const struct cavs__tape_block *b, int64_t times)
{
    return !b->refused && b->seen >= times &&
           (b->signature == CAVS__NO_BLOCK || (b->wanted & ~b->results));
}

/* The number of the block's signature: the one that was made in a past that is gone (found.c), or a
 * new one.  CAVS__NO_BLOCK: it cannot be made, and its runs go on being computed operator by
 * operator. */
static int32_t signature_of(struct cavs_tape *t, struct cavs__tape_block *b, uint64_t results)
{
    int32_t signature = cavs__find_block(&t->recording.signatures, &b->form, results);

    if (signature >= 0)
        return signature;
    signature = cavs__add_block(&t->recording.signatures, &b->form, results);
    if (signature < 0 || cavs__compile_block(t, signature) != 0) {
        b->refused = true;
        return CAVS__NO_BLOCK;
    }
    cavs__keep_form(t->recording.signatures.all[signature], &b->form);
    t->blocks.made++;
    return signature;
}

static void make(struct cavs_tape *t, struct cavs__tape_block *b)
{
    int made = t->blocks.made;

    b->coming = b->form.codes ? signature_of(t, b, b->wanted) : CAVS__BLOCK_LATER;
    if (b->coming >= 0)
        set_coming(t, b->coming, true);
    b->coming_results = b->wanted;
    t->blocks.made_before += b->coming != CAVS__NO_BLOCK && t->blocks.made == made;
    t->blocks.coming |= b->coming != CAVS__NO_BLOCK;
}

/* The block may have been in use for long before a checkpoint: then a resumed run compiles it at
 * once. */
void cavs__make_later(struct cavs__blocks *all, struct cavs__tape_block *b)
{
    struct cavs_tape *t = (struct cavs_tape *)((char *)all - offsetof(struct cavs_tape, blocks));
    int made = all->made;

    if (b->signature != CAVS__BLOCK_LATER && b->coming != CAVS__BLOCK_LATER)
        return;
    wait_for_compiler(all);
    cavs__ew_batch_begin();
    if (b->signature == CAVS__BLOCK_LATER)
        b->signature = signature_of(t, b, b->results);
    if (b->coming == CAVS__BLOCK_LATER)
        b->coming = signature_of(t, b, b->coming_results);
    cavs__ew_batch_end();
    all->made_before -= all->made - made;
}

int cavs__make_blocks(struct cavs_tape *t)
{
    struct cavs__blocks *all = &t->blocks;

    if (all->after == 0 || all->coming)
        return CAVS_OK;
    cavs__ew_batch_begin();
    for (int i = 0; i < all->n && all->made + all->made_before < CAVS__MOST_BLOCKS; i++) {
        if (is_worth_it(all->all[i], all->worth))
            make(t, all->all[i]);
    }
    all->programs = cavs__ew_batch_take();
    all->text = cavs__plan_coming_text(t->session->plan);
    all->due = t->stats.recordings + all->after;
    all->threaded =
        (all->programs || all->text) && pthread_create(&all->thread, NULL, compile, all) == 0;
    if (!all->threaded)
        compile(all);
    return t->behind ? cavs__compile_signatures(t) : CAVS_OK;
}
