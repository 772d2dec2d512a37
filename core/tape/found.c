/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.c - what a tape has found out about the program that records, for checkpoints: with it a
 * run that is resumed has the blocks of one that was never stopped, and so its bits.
 *
 *     {"sites": [print, after, flags, ..], "blocks": [print, seen, wanted, results, those to come,
 *      flags, ..], "made": blocks, "due": recordings until some are used, "used", "apart"}
 *
 * Sites and forms of runs are told by their prints, hashes of names, lines and numbers, and are met
 * anew when the program records them; a block's function is made then.  So nothing here is trusted:
 * what is wrong in a file is never met.
 */
#include <stdlib.h>

#include "core/tape/tape.h"

enum { SITE_BRANCHES = 1, SITE_ASKED = 2, SITE_ALONE = 4, SITE_FIRST = 8 };
enum { BLOCK_USED = 1, BLOCK_COMING = 2, BLOCK_REFUSED = 4 };
enum { SITE_NUMBERS = 3, BLOCK_NUMBERS = 6 };

/* ---- to a checkpoint ---- */

static bool append(json_t *to, int n, const int64_t *numbers)
{
    for (int i = 0; i < n; i++) {
        if (json_array_append_new(to, json_integer(numbers[i])) != 0)
            return false;
    }
    return true;
}

static json_t *describe_sites(const struct cavs__sites *s)
{
    json_t *all = json_array();

    for (int32_t i = 0; i < s->n; i++) {
        struct cavs__site x = cavs__site_ended(s, i);
        const int64_t numbers[SITE_NUMBERS] = {(int64_t)x.print, x.after,
                                               x.branches * SITE_BRANCHES | x.asked * SITE_ASKED |
                                                   x.alone * SITE_ALONE | x.first * SITE_FIRST};

        if (!append(all, SITE_NUMBERS, numbers)) {
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
        const struct cavs__tape_block *x = b->all[i];
        const int64_t numbers[BLOCK_NUMBERS] = {(int64_t)x->print,
                                                x->seen,
                                                (int64_t)x->wanted,
                                                (int64_t)x->results,
                                                (int64_t)x->coming_results,
                                                (x->signature != CAVS__NO_BLOCK) * BLOCK_USED |
                                                    (x->coming != CAVS__NO_BLOCK) * BLOCK_COMING |
                                                    x->refused * BLOCK_REFUSED};

        if (!append(all, BLOCK_NUMBERS, numbers)) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* What the session was resumed with for this tape, which is the nth of it; NULL: nothing. */
static json_t *given(const struct cavs_tape *t)
{
    const struct cavs__session_tape *x = t->session->tapes;
    size_t i = 0;

    for (; x && x != &t->of_session; x = x->next)
        i++;
    return json_array_get(t->session->found, i);
}

json_t *cavs__describe_found(const struct cavs__session_tape *tape)
{
    const struct cavs_tape *t = (const struct cavs_tape *)tape;
    const struct cavs__blocks *b = &t->blocks;
    bool recalled = t->resumed == t->session->resumed;
    json_t *all = recalled || !given(t) ? json_object() : json_incref(given(t));

    if (!recalled || b->after == 0)
        return all;
    if (all && json_object_set_new(all, "sites", describe_sites(&t->recording.sites)) == 0 &&
        json_object_set_new(all, "blocks", describe_blocks(b)) == 0 &&
        json_object_set_new(all, "made", json_integer(b->made + b->made_before)) == 0 &&
        json_object_set_new(all, "due",
                            json_integer(b->coming ? b->due - t->stats.recordings : -1)) == 0 &&
        json_object_set_new(all, "used", json_boolean(b->used)) == 0 &&
        json_object_set_new(all, "apart", json_boolean(b->apart)) == 0)
        return all;
    json_decref(all);
    return NULL;
}

/* ---- from there ---- */

static int64_t number_at(const json_t *all, size_t i)
{
    return json_integer_value(json_array_get(all, i));
}

/* Times that something has been. */
static int64_t count_of(const json_t *x, int64_t most)
{
    int64_t n = json_integer_value(x);

    return n < 0 ? 0 : n < most ? n : most;
}

static bool recall_sites(struct cavs__sites *s, const json_t *all)
{
    size_t n = json_array_size(all) / SITE_NUMBERS;

    for (size_t i = 0; i < n; i++) {
        int64_t after = number_at(all, SITE_NUMBERS * i + 1);
        int64_t flags = number_at(all, SITE_NUMBERS * i + 2);
        bool known = after >= CAVS__SAMPLE_ENDS && after < (int64_t)n;
        struct cavs__site x = {.print = (uint64_t)number_at(all, SITE_NUMBERS * i),
                               .after = known ? (int32_t)after : CAVS__NO_SITE,
                               .block = -1,
                               .signature = -1,
                               .branches = flags & SITE_BRANCHES,
                               .asked = flags & SITE_ASKED,
                               .alone = flags & SITE_ALONE,
                               .first = flags & SITE_FIRST};

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
    size_t n = json_array_size(all) / BLOCK_NUMBERS;

    for (size_t i = 0; i < n; i++) {
        size_t at = BLOCK_NUMBERS * i;
        int64_t flags = number_at(all, at + 5);
        struct cavs__tape_block x = {.print = (uint64_t)number_at(all, at),
                                     .seen = count_of(json_array_get(all, at + 1), INT32_MAX),
                                     .wanted = (uint64_t)number_at(all, at + 2),
                                     .results = (uint64_t)number_at(all, at + 3),
                                     .coming_results = (uint64_t)number_at(all, at + 4),
                                     .signature = later(flags & BLOCK_USED),
                                     .coming = later(flags & BLOCK_COMING),
                                     .refused = flags & BLOCK_REFUSED};

        if (!cavs__block_expect(b, &x))
            return false;
    }
    return true;
}

/* As a tape that has found nothing. */
static void forget(struct cavs_tape *t)
{
    struct cavs__blocks *b = &t->blocks;

    cavs__end_blocks(t);
    cavs__sites_free(&t->recording.sites);
    t->recording.sites = (struct cavs__sites){.last = CAVS__NO_SITE};
    cavs__blocks_free(b);
    b->all = NULL;
    b->n = b->unmet = b->made_before = 0;
    b->coming = b->used = b->apart = false;
}

bool cavs__recall_found(struct cavs_tape *t)
{
    struct cavs__blocks *b = &t->blocks;
    const json_t *all = given(t);

    if (t->resumed == t->session->resumed)
        return true;
    forget(t);
    if (b->after > 0 && all) {
        b->made_before = (int)count_of(json_object_get(all, "made"), CAVS__MOST_BLOCKS);
        b->coming = json_integer_value(json_object_get(all, "due")) >= 0;
        b->due = t->stats.recordings + count_of(json_object_get(all, "due"), INT32_MAX);
        b->used = json_is_true(json_object_get(all, "used"));
        b->apart = json_is_true(json_object_get(all, "apart"));
        if (!recall_sites(&t->recording.sites, json_object_get(all, "sites")) ||
            !recall_blocks(b, json_object_get(all, "blocks")))
            return false;
    }
    t->resumed = t->session->resumed;
    return true;
}
