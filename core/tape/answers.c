/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c - what the user gets of a tape: values, the end of a recording, gradients. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/tape/answered_rows.h"

/* ---- what is asked for ---- */

/* Can the recording still be used? */
static int check_recording(const struct cavs_tape *t, const char *call)
{
    int rc = cavs__recording_begun(t, call);

    if (!rc)
        rc = cavs__recording_error(&t->recording);
    return rc;
}

/* The i-th symbol that is asked for. */
static int check_symbol(const struct cavs_tape *t, const char *call, int i,
                        const struct cavs_symbol *x)
{
    const struct cavs_function *f = t->recording.recorder.present;

    if (!x)
        return cavs__fail(CAVS_EINVAL, "%s: symbol %d is NULL", call, i);
    if (x->function != f || x->number >= f->nsymbols)
        return cavs__fail(CAVS_ESTATE,
                          "%s: symbol %d is of another tape or an earlier recording, "
                          "or was taken back",
                          call, i);
    if (x->op == CAVS__OP_IDS || x->domain > 0)
        return cavs__fail(CAVS_EPROGRAM, "%s: symbol %d (%s:%d) is %s", call, i, x->at.file,
                          x->at.line,
                          x->domain > 0 ? "a list: ask for its entries" : "an id, and has no row");
    return CAVS_OK;
}

static int check_symbols(const struct cavs_tape *t, const char *call, int n,
                         struct cavs_symbol *const *xs, float *const *rows)
{
    int rc = check_recording(t, call);

    if (!rc && (n < 0 || (n > 0 && (!xs || !rows))))
        rc = cavs__fail(CAVS_EINVAL, "%s: no symbols, or nowhere to put their rows", call);
    for (int i = 0; i < n && !rc; i++)
        rc = check_symbol(t, call, i, xs[i]);
    return rc;
}

/* ---- blocks ---- */

/* Where symbols are asked for once it is too late to keep them, they are kept from the next
 * recording on: as results of their blocks, or, for their gradients, in no block at all. */
static struct cavs__site *site_of(struct cavs_tape *t, int symbol)
{
    int32_t site = symbol >= 0 ? t->recording.entries[symbol].site : CAVS__NO_SITE;

    return site >= 0 ? &t->recording.sites.all[site] : NULL;
}

static void keep_rows(struct cavs_tape *t, int n, const int32_t *symbols)
{
    for (int i = 0; i < n; i++) {
        struct cavs__site *site = site_of(t, symbols[i]);

        if (site)
            site->asked = true;
    }
    cavs__sites_visit_all(&t->recording.sites);
}

static void keep_gradients(struct cavs_tape *t, int n, struct cavs_symbol *const *xs)
{
    for (int i = 0; i < n; i++) {
        int from;
        struct cavs__site *site = site_of(t, cavs__node_of(xs[i], &from)->x.number);

        if (site)
            site->alone = true;
    }
    cavs__sites_visit_all(&t->recording.sites);
}

static int in_a_block(const char *call, const struct cavs_symbol *x)
{
    return cavs__fail(CAVS_ESTATE,
                      "%s: %s (%s:%d) was computed inside of a block and not kept; in the next "
                      "recording it will be (struct cavs_tape_options: blocks_after)",
                      call, cavs__symbol_label(x), x->at.file, x->at.line);
}

/* ---- values ---- */

/* The numbers of those among the symbols that are computed at all, *wanted of them.  The caller
 * frees them; NULL: out of memory, which is reported. */
static int32_t *computed_symbols(const struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                                 int *wanted)
{
    int32_t *symbols = malloc(((size_t)n + 1) * sizeof *symbols);

    *wanted = 0;
    for (int i = 0; i < n && symbols; i++) {
        int from;
        const struct cavs__node *node = cavs__node_of(xs[i], &from);

        if (cavs__is_computed(&t->recording, node))
            symbols[(*wanted)++] = node->x.number;
    }
    if (!symbols)
        cavs__fail_nomem("symbols", ((size_t)n + 1) * sizeof *symbols);
    return symbols;
}

static int all_evaluated(const struct cavs_tape *t, int n, const int32_t *symbols)
{
    for (int i = 0; i < n; i++) {
        const struct cavs__node *node = cavs__node_at(&t->recording, symbols[i]);

        if (cavs__is_marked(&t->recording, symbols[i], CAVS__ORDERED))
            continue;
        if (cavs__is_marked(&t->recording, symbols[i], CAVS__IN_BLOCK))
            return in_a_block("cavs_tape_values", &node->x);
        return cavs__fail(CAVS_ESTATE,
                          "cavs_tape_values: %s (%s:%d) was not computed before "
                          "cavs_tape_finish(), and cannot be any more",
                          cavs__symbol_label(&node->x), node->x.at.file, node->x.at.line);
    }
    return CAVS_OK;
}

/* A parameter has no row on the tape: it is read where the session keeps it, which an update has
 * changed by then. */
static int none_updated(const struct cavs_tape *t, int n, struct cavs_symbol *const *xs)
{
    for (int i = 0; i < n && t->finished && t->recording.run == CAVS_TAPE_TRAIN; i++) {
        int from;
        const struct cavs__node *node = cavs__node_of(xs[i], &from);

        if (node->x.op == CAVS__OP_USE)
            return cavs__fail(CAVS_ESTATE,
                              "cavs_tape_values: %s (%s:%d) is a parameter, which "
                              "cavs_tape_finish() has updated; ask for it before, or for what it "
                              "is now (cavs_session_get_param)",
                              cavs__symbol_label(&node->x), node->x.at.file, node->x.at.line);
    }
    return CAVS_OK;
}

int cavs_tape_values(struct cavs_tape *t, int n, struct cavs_symbol *const *xs, float *const *rows)
{
    int rc = check_symbols(t, "cavs_tape_values", n, xs, rows), wanted;
    int32_t *symbols;

    if (!rc)
        rc = none_updated(t, n, xs);
    if (rc || n == 0)
        return rc;
    symbols = computed_symbols(t, n, xs, &wanted);
    if (!symbols)
        return CAVS_ENOMEM;
    if (t->finished)
        keep_rows(t, wanted, symbols);
    rc = t->finished && t->recording.run != CAVS_TAPE_EVALUATE
             ? all_evaluated(t, wanted, symbols)
             : cavs__evaluate(t, wanted, symbols, false);
    free(symbols);
    if (!rc)
        rc = cavs__copy_rows(t, false, n, xs, rows);
    for (int i = 0; i < n && !rc; i++)
        rc = cavs__copy_fixed(t, xs[i], rows[i]);
    return rc;
}

/* ---- the end ---- */

int cavs_tape_finish(struct cavs_tape *t)
{
    int rc = check_recording(t, "cavs_tape_finish");

    if (!rc && t->finished)
        rc = cavs__fail(CAVS_ESTATE, "cavs_tape_finish: the recording is finished already");
    if (!rc)
        rc = cavs__check_devices(t->session);
    if (rc || t->recording.nsamples == 0)
        return rc;
    t->finished = true;
    t->symbols_finished = cavs__symbols_of(&t->recording);
    t->session->stats.samples += t->recording.nsamples;
    return cavs__evaluate(t, t->recording.nsinks, t->recording.sinks, true);
}

/* ---- gradients ---- */

/* Is there another symbol in the recording that its vertex has computed?  Those that were equal may
 * have been taken back since. */
static bool is_shared(const struct cavs__recording *r, int symbol)
{
    int32_t vertex = r->places[symbol].vertex;

    for (int i = 0; i < r->nvertices && r->vertices[vertex].shared; i++) {
        int32_t other = r->vertices[i].symbol;

        if (other != symbol && other < cavs__symbols_of(r) &&
            cavs__is_marked(r, other, CAVS__ORDERED) && r->places[other].vertex == vertex)
            return true;
    }
    return false;
}

static int check_gradient(const struct cavs_tape *t, const struct cavs_symbol *x)
{
    int from;
    const struct cavs__node *node = cavs__node_of((struct cavs_symbol *)x, &from);

    if (!cavs__is_computed(&t->recording, node))
        return cavs__fail(CAVS_EPROGRAM,
                          "cavs_tape_gradients: %s (%s:%d) is the same for all "
                          "samples (cavs_session_get_gradient)",
                          cavs__symbol_label(x), x->at.file, x->at.line);
    if (node->x.number >= t->symbols_finished)
        return cavs__fail(CAVS_ESTATE,
                          "cavs_tape_gradients: %s (%s:%d) was recorded after cavs_tape_finish(), "
                          "which has computed all gradients",
                          cavs__symbol_label(x), x->at.file, x->at.line);
    if (!node->x.needs_grad)
        return cavs__fail(CAVS_EPROGRAM,
                          "cavs_tape_gradients: %s (%s:%d) is made of nothing that "
                          "has a gradient",
                          cavs__symbol_label(x), x->at.file, x->at.line);
    if (node->x.read_past)
        return cavs__fail(CAVS_ESTATE,
                          "cavs_tape_gradients: of %s (%s:%d) some columns were read as those of "
                          "what it is made of; in the next recording they will be its own",
                          cavs__symbol_label(x), x->at.file, x->at.line);
    /* This also holds for a result of a block, which has a row: what reads it inside of the block
     * adds nothing to the gradient of that row. */
    if (cavs__is_marked(&t->recording, node->x.number, CAVS__IN_BLOCK))
        return in_a_block("cavs_tape_gradients", &node->x);
    if (cavs__is_marked(&t->recording, node->x.number, CAVS__ORDERED) &&
        is_shared(&t->recording, node->x.number))
        return cavs__fail(CAVS_ESTATE,
                          "cavs_tape_gradients: %s (%s:%d) was computed together with equal "
                          "symbols, in a block or beside one, and their gradients were added; in "
                          "the next recording they will not be (struct cavs_tape_options: "
                          "blocks_after)",
                          cavs__symbol_label(x), x->at.file, x->at.line);
    return CAVS_OK;
}

int cavs_tape_gradients(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                        float *const *rows)
{
    int rc = check_symbols(t, "cavs_tape_gradients", n, xs, rows);

    if (!rc && (!t->finished || t->recording.run == CAVS_TAPE_EVALUATE))
        rc = cavs__fail(CAVS_ESTATE, "cavs_tape_gradients: %s",
                        t->finished ? "the recording was begun to be evaluated alone"
                                    : "the recording is not finished (cavs_tape_finish)");
    if (!rc) {
        keep_gradients(t, n, xs);
        t->blocks.apart = true;
    }
    for (int i = 0; i < n && !rc; i++)
        rc = check_gradient(t, xs[i]);
    if (!rc)
        rc = cavs__copy_rows(t, true, n, xs, rows);
    return rc;
}
