/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_seen.c - see random_program_scene.h: what random programs had so far, lest some of
 * it is drawn by nobody any more. */
#include "codelets/groups/elementwise.h"
#include "core/declare/operator.h"
#include "tests/random_program_scene.h"
#include "tests/trial.h"

static bool operators[CAVS__OP_COUNT], elementwise[CAVS__EW_OPERATORS];
static bool optimizers[CAVS_OPTIMIZERS];
/* Numbers are dropped in training; a batch, an update, or a recording, is made amid a recording. */
static bool drops, batch_amid, update_amid, recording_amid;
/* Something is taken back amid what is taken back later, and twice to one mark. */
static bool nested, twice;
static int64_t together;

static void note_operators(const struct cavs__recording *r, const struct program *p)
{
    for (int i = 0; i < cavs__symbols_of(r); i++) {
        const struct cavs_symbol *x = &cavs__node_at(r, i)->x;

        operators[x->op] = true;
        if (x->op == CAVS__OP_ELEMENTWISE)
            elementwise[x->k] = true;
        drops |= x->op == CAVS__OP_DROPOUT && p->run == CAVS_TAPE_TRAIN;
    }
    for (int i = 0; i < p->nsteps; i++) /* it is no symbol of the recording's */
        operators[CAVS__OP_USE] |= p->steps[i].op == PROGRAM_USE;
}

static void note_rewinds(const struct program *p)
{
    for (int i = 0; i < p->nsteps; i++) {
        for (int k = p->steps[i].k; p->steps[i].op == PROGRAM_REWIND && k < i; k++) {
            nested |= p->steps[k].op == PROGRAM_REWIND && p->steps[k].k > p->steps[i].k;
            twice |= p->steps[k].op == PROGRAM_REWIND && p->steps[k].k == p->steps[i].k;
        }
    }
}

void program_note_recording(const struct program_scene *x, const struct program_turn *turn)
{
    const struct program_turn *amid = turn->amid;

    note_operators(&x->t[turn->tape]->recording, turn->program);
    note_rewinds(turn->program);
    batch_amid |= amid && !amid->program;
    recording_amid |= amid && amid->program;
    update_amid |= amid && (amid->program ? amid->program->run : amid->run) == CAVS_TAPE_TRAIN;
}

void program_note_session(const struct program_scene *x)
{
    if (x->updates.n > 1)
        optimizers[x->s->options.optimizer] = true;
    for (int i = 0; i < PROGRAM_TAPES; i++) {
        struct cavs_tape_stats stats;

        cavs_tape_stats(x->t[i], &stats);
        together += stats.side_by_side;
    }
}

/* Vertices have these, which a tape has not; or a tape records others for them, entry by entry; or
 * passes make them. */
static bool is_on_no_tape(int op)
{
    return op == CAVS__OP_FETCH || op == CAVS__OP_GATHER || op == CAVS__OP_SCATTER ||
           op == CAVS__OP_PUSH || op == CAVS__OP_REPEAT || op == CAVS__OP_LIST_SHARE ||
           op == CAVS__OP_LIST_SOFTMAX || op == CAVS__OP_SPREAD;
}

/* The oracle knows all operators of vertices, and these two are a tape's own. */
static void check_operators(void)
{
    for (int op = 0; op < CAVS__OP_COUNT; op++) {
        bool wanted = op == CAVS__OP_LIST_MEAN || op == CAVS__OP_APPLY ||
                      (naive_knows((enum cavs__op)op) && !is_on_no_tape(op));

        if (wanted && !operators[op])
            fail_msg("no program has the operator %s", cavs__operators[op]->name);
    }
    for (int k = 0; k < cavs__ew_count(); k++) {
        if (!elementwise[k])
            fail_msg("no program has the operator %s", cavs__ew_name(k));
    }
}

void program_check_all_seen(void)
{
    check_operators();
    for (int i = 0; i < CAVS_OPTIMIZERS; i++) {
        if (!optimizers[i])
            fail_msg("nothing was trained with %s", cavs_optimizer_name(i));
    }
    assert_true(drops && batch_amid && update_amid && recording_amid);
    assert_true(nested && twice);
    assert_true(together > 0);
}
