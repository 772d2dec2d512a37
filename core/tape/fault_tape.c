/* SPDX-License-Identifier: Apache-2.0 */
/* fault_tape.c - where a number of a recording that is not finite came from: as core/run/fault.c
 * tells it of a declared batch. */
#include "codelets/part.h"
#include "core/base/error.h"
#include "core/tape/tape.h"

/* The increment whose rows the task computed. */
static const struct cavs__increment *increment_of(const struct cavs_tape *t,
                                                  const struct cavs__fault *f)
{
    const struct cavs__increment *d = t->shards[f->shard].last;

    while (d->before && d->offsets != f->sections)
        d = d->before;
    return d;
}

/* Does the part belong to dF? */
static bool is_backward(const struct cavs_tape *t, const struct cavs__fault *f)
{
    const struct cavs__signature *s = t->recording.signatures.all[f->function];

    return s->chain[CAVS__FORWARD].part != f->part;
}

int cavs__report_tape_fault(struct cavs_tape *t)
{
    struct cavs__fault *f = &t->session->engine.fault;
    const struct cavs__node *node;
    const struct cavs__vertex *v;
    int rc;

    if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != 2)
        return CAVS_OK;
    f->state = 0;
    v = cavs__vertex_of_row(&t->recording, increment_of(t, f), f->row);
    if (!v)
        return cavs__fail(CAVS_ENUMERIC,
                          "not a finite number: operator %s, of a symbol that was "
                          "taken back (cavs_tape_rewind)",
                          f->step->label);
    node = cavs__node_at(&t->recording, v->symbol);
    rc = cavs__fail(CAVS_ENUMERIC,
                    "not a finite number: %soperator %s, batch %ld, sample %d, symbol %d of the "
                    "recording",
                    is_backward(t, f) ? "gradient of " : "",
                    node->x.op == CAVS__OP_APPLY ? f->step->label : cavs__symbol_label(&node->x),
                    f->batch, v->sample, v->symbol);
    return cavs__fail_in(rc, "%s:%d", node->x.at.file, node->x.at.line);
}
