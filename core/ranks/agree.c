/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - what the main threads of all ranks tell one another: every call is a meeting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/ranks/mpi.h"

int cavs__rank(const struct cavs__ranks *r)
{
    return r ? r->rank : 0;
}

int cavs__ranks_count(const struct cavs__ranks *r)
{
    return r ? r->count : 1;
}

struct cavs__word {
    char call[16]; /* its beginning */
    uint64_t same, given;
    int64_t length;
    struct cavs__pace pace;
    int32_t rc;
    uint32_t wanted;
    char text[240];
    int32_t list[CAVS__SHORT_LIST];
};

_Static_assert(sizeof(struct cavs__word) <= 4000, "what MPI sends at once");

static int check_words(const struct cavs__ranks *r, const struct cavs__word *all)
{
    for (int i = 0; i < r->count; i++) {
        if (strncmp(all[i].call, all[r->count].call, sizeof all->call) != 0)
            return cavs__fail(CAVS_ESTATE,
                              "rank %d makes another call than rank %d (%.*s, and %.*s): all have "
                              "to make the same",
                              i, r->rank, (int)sizeof all->call, all[i].call, (int)sizeof all->call,
                              all[r->count].call);
    }
    return CAVS_OK;
}

static int outcome(const struct cavs__ranks *r, const struct cavs__word *all,
                   const struct cavs__meeting *m)
{
    for (int i = 0; i < r->count; i++) {
        if (all[i].rc)
            return i == 0 ? cavs__fail(all[i].rc, "%s", all[i].text)
                          : cavs__fail(all[i].rc, "rank %d: %s", i, all[i].text);
    }
    for (int i = 1; i < r->count; i++) {
        if (all[i].given != all[0].given)
            return cavs__fail(CAVS_ESTATE,
                              "rank %d has given parameters other values than rank 0, or another "
                              "learning rate",
                              i);
        if (all[i].same == all[0].same)
            continue;
        return m->value ? cavs__fail(CAVS_EINVAL, "rank %d and rank 0 differ in %s: %s and %s", i,
                                     m->what, all[i].text, all[0].text)
                        : cavs__fail(CAVS_ESTATE, "rank %d has another %s than rank 0", i,
                                     m->what ? m->what : "mind");
    }
    return CAVS_OK;
}

static void fill(struct cavs__word *w, const struct cavs__ranks *r, const struct cavs__meeting *m)
{
    snprintf(w->call, sizeof w->call, "%s", m->call ? m->call : "meeting");
    w->same = m->same;
    w->given = m->given;
    w->length = m->length;
    w->pace = m->pace;
    w->rc = m->rc;
    w->wanted = r->wanted;
    if (m->rc || m->value)
        snprintf(w->text, sizeof w->text, "%s", m->rc ? cavs_error_text(m->rc) : m->value);
    if (m->list && m->length <= CAVS__SHORT_LIST)
        memcpy(w->list, m->list, (size_t)m->length * sizeof *w->list);
}

static void tell(const struct cavs__ranks *r, const struct cavs__word *all,
                 const struct cavs__meeting *m)
{
    int32_t *to = m->lists;

    for (int i = 0; i < r->count; i++) {
        if (m->lengths)
            m->lengths[i] = all[i].length;
        if (m->paces)
            m->paces[i] = all[i].pace;
        if (!to || all[i].length > CAVS__SHORT_LIST)
            continue;
        memcpy(to, all[i].list, (size_t)all[i].length * sizeof *to);
        to += all[i].length;
    }
}

int cavs__ranks_room(struct cavs__ranks *r)
{
    r->room = malloc(((size_t)r->count + 1) * sizeof *r->room);
    return r->room ? CAVS_OK : cavs__fail_nomem("ranks", ((size_t)r->count + 1) * sizeof *r->room);
}

/* Other versions may bring something of another length, but what is exchanged here never
 * changes. */
int cavs__ranks_same_version(struct cavs__ranks *r)
{
    char own[64] = "", (*all)[sizeof own] = (void *)r->room;
    int rc;

    snprintf(own, sizeof own, "%s", cavs_version());
    rc = cavs__ranks_gather(r, own, sizeof own, all);
    for (int i = 1; i < r->count && !rc; i++) {
        if (memcmp(all[i], all[0], sizeof own) != 0)
            rc =
                cavs__fail(CAVS_EINVAL, "rank %d and rank 0 differ in the version: %.63s and %.63s",
                           i, all[i], all[0]);
    }
    return rc;
}

int cavs__ranks_meet(struct cavs__ranks *r, const struct cavs__meeting *m)
{
    struct cavs__word *all;
    int rc;

    if (!r)
        return m->rc;
    all = r->room;
    memset(all, 0, ((size_t)r->count + 1) * sizeof *all);
    fill(&all[r->count], r, m);
    rc = cavs__ranks_gather(r, &all[r->count], sizeof *all, all);
    if (!rc)
        rc = check_words(r, all);
    r->wanted = 0;
    if (rc)
        return rc;
    for (int i = 0; i < r->count; i++)
        r->raised |= all[i].wanted;
    tell(r, all, m);
    return outcome(r, all, m);
}

int cavs__ranks_agree(struct cavs__ranks *r, int rc)
{
    return cavs__ranks_meet(r, &(struct cavs__meeting){.rc = rc});
}

int cavs__ranks_agree_on(struct cavs__ranks *r, const char *call, int rc)
{
    return cavs__ranks_meet(r, &(struct cavs__meeting){.call = call, .rc = rc});
}

void cavs__ranks_raise(struct cavs__ranks *r, unsigned bits)
{
    if (r)
        r->wanted |= bits;
}

unsigned cavs__ranks_raised(struct cavs__ranks *r)
{
    unsigned raised = r->raised;

    r->raised = 0;
    return raised;
}

int cavs__ranks_same(struct cavs__ranks *r, const char *what, const char *value)
{
    uint64_t hash = cavs__hash(CAVS__HASH_START, value, strlen(value));

    return cavs__ranks_meet(
        r, &(struct cavs__meeting){.call = "same", .same = hash, .what = what, .value = value});
}
