/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.c - writes to checkpoints, and reads back, what a tape has found out about the program that
 * records.  With it a run that is resumed makes the same blocks as one that was never stopped, and
 * so computes the same bits.
 *
 *     {"updated": [names of parameters, ..],
 *      "sites": [{"print", "after", ..}, ..], "blocks": [{"print", "seen", "wanted", ..}, ..],
 *      "made": blocks, "due": recordings until some are used, "used", "apart"}
 *
 * The names are those of struct cavs__site and struct cavs__tape_block.  Where blocks are turned
 * off the first two are written alone: sites matter even then, since a concatenation whose
 * gradient was asked for is computed by itself from then on.  "updated" are the parameters that
 * have had a gradient: they are updated in each batch, also in one that does not use them, since
 * momentum goes on.
 *
 * Sites and forms of runs are known by their prints, which are hashes of names, lines and numbers.
 * They are met when the program records them again, and a block's function is made then.  So a file
 * is not trusted: what is wrong in it is never met.
 */
#include <stdlib.h>

#include "core/tape/tape.h"

/* ---- to a checkpoint ---- */

static json_t *describe_site(const struct cavs__site *x)
{
    return json_pack("{s:I, s:i, s:i, s:b, s:b, s:b, s:b, s:b}", "print", (json_int_t)x->print,
                     "after", x->after, "entries", x->entries, "branches", x->branches, "asked",
                     x->asked, "alone", x->alone, "first", x->first, "cut_off", x->cut_off);
}

static json_t *describe_block(const struct cavs__tape_block *x)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:b}", "print", (json_int_t)x->print,
                     "seen", (json_int_t)x->seen, "wanted", (json_int_t)x->wanted, "results",
                     (json_int_t)x->results, "coming_results", (json_int_t)x->coming_results,
                     "used", x->signature != CAVS__NO_BLOCK, "coming", x->coming != CAVS__NO_BLOCK,
                     "refused", x->refused);
}

/* NULL: out of memory. */
static json_t *describe_sites(const struct cavs__sites *s)
{
    json_t *all = json_array();

    for (int32_t i = 0; i < s->n; i++) {
        struct cavs__site x = cavs__site_ended(s, i);

        if (json_array_append_new(all, describe_site(&x)) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *describe_blocks(const struct cavs__blocks *b)
{
    json_t *all = json_array();

    for (int i = 0; i < b->n; i++) {
        if (json_array_append_new(all, describe_block(b->all[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *describe_updated(const struct cavs_session *s)
{
    json_t *all = json_array();

    for (int i = 0; i < s->model->nparams; i++) {
        const struct cavs_param *p = s->model->params[i];

        if (!p->merged && cavs__has_dense_gradient(s->plan, p) &&
            json_array_append_new(all, json_string(p->name)) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* What the checkpoint that the session was resumed from says of this tape: tapes are told apart by
 * the order in which the session made them.  NULL: nothing. */
static json_t *given(const struct cavs_tape *t)
{
    const struct cavs__session_tape *x = t->session->tapes;
    size_t i = 0;

    for (; x && x != &t->of_session; x = x->next)
        i++;
    return json_array_get(t->session->found, i);
}

/* In how many recordings blocks come into use; -1: none are coming.  Where their time has come, the
 * next recording that computes anything uses them, however many have been begun meanwhile. */
static int64_t due_in(const struct cavs_tape *t)
{
    int64_t n = t->blocks.due - t->stats.recordings;

    return !t->blocks.coming ? -1 : n > 0 ? n : 0;
}

static bool add_blocks(json_t *all, const struct cavs_tape *t)
{
    const struct cavs__blocks *b = &t->blocks;

    return json_object_set_new(all, "blocks", describe_blocks(b)) == 0 &&
           json_object_set_new(all, "made", json_integer(b->made + b->made_before)) == 0 &&
           json_object_set_new(all, "due", json_integer(due_in(t))) == 0 &&
           json_object_set_new(all, "used", json_boolean(b->used)) == 0 &&
           json_object_set_new(all, "apart", json_boolean(b->apart)) == 0;
}

json_t *cavs__describe_found(const struct cavs__session_tape *tape)
{
    const struct cavs_tape *t = (const struct cavs_tape *)tape;
    bool recalled = t->resumed == t->session->resumed;
    json_t *all = recalled || !given(t) ? json_object() : json_incref(given(t));

    if (!recalled)
        return all;
    if (all && json_object_set_new(all, "updated", describe_updated(t->session)) == 0 &&
        json_object_set_new(all, "sites", describe_sites(&t->recording.sites)) == 0 &&
        (t->blocks.after == 0 || add_blocks(all, t)))
        return all;
    json_decref(all);
    return NULL;
}

/* ---- from there ---- */

static int64_t number_of(const json_t *x, const char *name)
{
    return json_integer_value(json_object_get(x, name));
}

static bool is_so(const json_t *x, const char *name)
{
    return json_is_true(json_object_get(x, name));
}

/* A count, kept within [0, most]. */
static int64_t count_of(const json_t *x, const char *name, int64_t most)
{
    int64_t n = number_of(x, name);

    return n < 0 ? 0 : n < most ? n : most;
}

static bool recall_sites(struct cavs__sites *s, const json_t *all)
{
    json_t *of;
    size_t i;

    json_array_foreach(all, i, of)
    {
        int64_t after = number_of(of, "after");
        bool known = after >= CAVS__SAMPLE_ENDS && after < (int64_t)json_array_size(all);
        struct cavs__site x = {.print = (uint64_t)number_of(of, "print"),
                               .after = known ? (int32_t)after : CAVS__NO_SITE,
                               .block = -1,
                               .known = -1,
                               .last.number = -1,
                               .entries = (int32_t)number_of(of, "entries"),
                               .branches = is_so(of, "branches"),
                               .asked = is_so(of, "asked"),
                               .alone = is_so(of, "alone"),
                               .first = is_so(of, "first"),
                               .cut_off = is_so(of, "cut_off")};

        if (!cavs__site_expect(s, &x))
            return false;
    }
    return true;
}

static int32_t later(bool there)
{
    return there ? CAVS__BLOCK_LATER : CAVS__NO_BLOCK;
}

static bool recall_blocks(struct cavs__blocks *b, const json_t *all)
{
    json_t *of;
    size_t i;

    json_array_foreach(all, i, of)
    {
        struct cavs__tape_block x = {.print = (uint64_t)number_of(of, "print"),
                                     .seen = count_of(of, "seen", INT32_MAX),
                                     .wanted = (uint64_t)number_of(of, "wanted"),
                                     .results = (uint64_t)number_of(of, "results"),
                                     .coming_results = (uint64_t)number_of(of, "coming_results"),
                                     .signature = later(is_so(of, "used")),
                                     .coming = later(is_so(of, "coming")),
                                     .refused = is_so(of, "refused")};

        if (!cavs__block_expect(b, &x))
            return false;
    }
    return true;
}

static bool recall_updated(struct cavs_tape *t, const json_t *all)
{
    const json_t *name;
    size_t i;

    json_array_foreach(all, i, name)
    {
        const char *text = json_string_value(name);
        struct cavs_param *p = text ? cavs_model_find_param(t->session->model, text) : NULL;

        if (!p || p->frozen || t->session->options.inference)
            continue;
        t->behind = true;
        if (cavs__plan_gradient(t->session->plan, p) < 0)
            return false;
    }
    return true;
}

/* Makes the tape as one that has found nothing.  `changes` goes up, so that scribes do not go on
 * with the sites that they have copied. */
static void forget(struct cavs_tape *t)
{
    struct cavs__blocks *b = &t->blocks;
    int64_t changes = t->recording.sites.changes + 1;

    cavs__end_blocks(t);
    cavs__sites_free(&t->recording.sites);
    cavs__sites_init(&t->recording.sites, changes);
    cavs__blocks_free(b);
    b->all = NULL;
    b->n = b->unmet = 0;
    b->made_before = -b->made;
    b->coming = b->used = b->apart = false;
}

bool cavs__recall_found(struct cavs_tape *t)
{
    struct cavs__blocks *b = &t->blocks;
    const json_t *all = given(t);

    if (t->resumed == t->session->resumed)
        return true;
    forget(t);
    if (!recall_updated(t, json_object_get(all, "updated")) ||
        !recall_sites(&t->recording.sites, json_object_get(all, "sites")))
        return false;
    if (b->after > 0 && all) {
        b->made_before += (int)count_of(all, "made", CAVS__MOST_BLOCKS);
        b->coming = number_of(all, "due") >= 0;
        b->due = t->stats.recordings + count_of(all, "due", INT32_MAX);
        b->used = is_so(all, "used");
        b->apart = is_so(all, "apart");
        if (!recall_blocks(b, json_object_get(all, "blocks")))
            return false;
    }
    t->resumed = t->session->resumed;
    return true;
}
