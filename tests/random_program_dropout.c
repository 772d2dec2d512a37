/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_dropout.c - see random_program.h: what a program drops.
 *
 * Numbers are drawn by the seed, the updates so far, the sample and the symbol: these make a key
 * (core/prepare/prepare.h), which is read here from where the symbol came to stand.  What is drawn
 * by the key is worked out anew, column by column: the kernel, and which rows it is given forwards
 * and backwards, have to agree with that.
 */
#include "codelets/kernels/philox.h"
#include "core/prepare/prepare.h"
#include "core/tape/tape.h"
#include "tests/random_program.h"
#include "tests/trial.h"

static uint64_t key_of(const struct cavs_tape *t, const struct cavs_symbol *x)
{
    const struct cavs__recording *r = &t->recording;
    int sample = cavs__entry_of(r, x)->sample;

    assert_true(x->op == CAVS__OP_DROPOUT && cavs__node_at(r, x->number)->x.number == x->number);
    return cavs__vertex_noise(cavs__sample_noise(t->noise, sample),
                              cavs__node_at(r, x->number)->place);
}

void program_note_keys(struct program_player *to, int step)
{
    const struct program_step *s = &to->p->steps[step];
    struct program_value *v = &to->values[step];
    int n = s->entries ? s->entries : 1;

    if (s->op != PROGRAM_DROPOUT || to->p->run == CAVS_TAPE_EVALUATE || !v->x)
        return;
    v->keys = calloc((size_t)n, sizeof *v->keys);
    assert_non_null(v->keys);
    for (int e = 0; e < n; e++)
        v->keys[e] = key_of(to->t, s->entries ? v->x->inputs[e] : v->x);
}

/* philox.h says which word decides on a column. */
void program_mask(uint64_t key, float rate, int n, float *mask)
{
    const uint32_t halves[2] = {(uint32_t)key, (uint32_t)(key >> 32)};

    for (int c = 0; c < n; c++) {
        const uint32_t counter[4] = {(uint32_t)(c / 64 * 16 + c % 16), 0, 0, 0};
        uint32_t word[4];

        cavs__philox(counter, halves, word);
        mask[c] = word[c % 64 / 16] < cavs__dropout_limit(rate) ? 0 : 1 / (1 - rate);
    }
}
