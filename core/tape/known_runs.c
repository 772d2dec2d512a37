/* SPDX-License-Identifier: Apache-2.0 */
/* known_runs.c - see known_runs.h: finds the known run that a run equals, and its vertices. */
#include "core/tape/known_runs.h"

#include <string.h>

/* ---- comparing ---- */

/* Are the rows that it reads of other runs sources where those of the known one were, and exactly
 * those of its reads equal that were equal there, so that its blocks have the same operands?  All
 * is compared without a branch, because nearly always nothing differs. */
static bool has_operands(const struct cavs__known_run *known, const struct cavs__recording *r,
                         const struct cavs__read *reads)
{
    uint64_t differ = 0;
    bool equal = false;

    for (int i = 0; i < known->nrows; i++)
        differ |= (r->marks[reads[known->rows[i].read].of] ^ known->rows[i].marks) & CAVS__SOURCE;
    for (int i = 0; i < known->nsame; i++)
        differ |=
            cavs__read_word(reads[known->same[i].a]) ^ cavs__read_word(reads[known->same[i].b]);
    for (int i = 0; i < known->ndiffer; i++)
        equal |= cavs__read_word(reads[known->differ[i].a]) ==
                 cavs__read_word(reads[known->differ[i].b]);
    return differ == 0 && !equal;
}

/* Are its reads equal?  They are compared without a branch, because nearly always all are. */
static bool has_reads(const struct cavs__known_run *known, const struct cavs__read *reads,
                      int32_t first)
{
    uint64_t differ = 0;

    for (int i = 0; i < known->nreads; i++)
        differ |= (cavs__read_word(reads[i]) ^ (known->reads[i].is + (uint32_t)first)) &
                  known->reads[i].counts;
    return differ == 0;
}

/* Do its reads lie side by side, as those of a known run do?  If an increment was computed while
 * the run was recorded, the reads of its blocks lie in between. */
static bool is_dense(const struct cavs__recording *r, const struct cavs__known_run *known,
                     const struct cavs__run_begin *run)
{
    const struct cavs__entry *last = &r->entries[run->first + known->span - 1];

    return r->block_reads == 0 || last->reads + last->nreads - run->reads == known->nreads;
}

static bool is_as(const struct cavs__recording *r, const struct cavs__known_run *known,
                  const struct cavs__run_begin *run, const uint8_t *marks)
{
    size_t span = (size_t)known->span;
    const struct cavs__read *reads = r->reads + run->reads;
    bool same =
        memcmp(marks, known->marks, span) == 0 &&
        memcmp(r->signature + run->first, known->signature, span * sizeof *known->signature) == 0 &&
        is_dense(r, known, run) && has_reads(known, reads, run->first) &&
        has_operands(known, r, reads);

    for (int i = 0; i < known->nparts && same; i++)
        same = cavs__is_usable(&known->parts[i]);
    return same;
}

/* The known run that equals these symbols with these marks; -1: there is none. */
static int32_t find(const struct cavs__blocks *b, const struct cavs__recording *r,
                    const struct cavs__run_begin *run, int span, const uint8_t *marks)
{
    int32_t number = r->sites.all[run->site].known;

    while (number >= 0 &&
           (b->known[number]->span != span || !is_as(r, b->known[number], run, marks)))
        number = b->known[number]->next;
    return number;
}

bool cavs__known_since(const struct cavs__blocks *b, const struct cavs__recording *r,
                       const struct cavs__run_begin *run, int span)
{
    return find(b, r, run, span, b->before + run->first) >= 0;
}

int32_t cavs__known_find(struct cavs__blocks *b, const struct cavs__recording *r,
                         const struct cavs__run_begin *run, int span)
{
    int32_t number = find(b, r, run, span, r->marks + run->first);

    if (number < 0)
        memcpy(b->before + run->first, r->marks + run->first, (size_t)span);
    return number;
}

/* ---- making vertices ---- */

static bool become_block(struct cavs__recording *r, const struct cavs__known_part *p,
                         const struct cavs__run_begin *run)
{
    const struct cavs__signature *s = r->signatures.all[p->signature];
    struct cavs__together v;

    v.head = run->first + p->head;
    v.sample = run->sample;
    v.signature = p->signature;
    v.noperands = p->noperands;
    v.operands = p->operands;
    v.from = run->reads;
    for (int i = 0; i < s->nresults; i++)
        v.results[i] = run->first + p->symbols[s->results[i].member];
    return cavs__put_together(r, &v);
}

void cavs__known_count(struct cavs__blocks *b, int32_t number, int32_t times)
{
    const struct cavs__known_run *known = b->known[number];

    for (int i = 0; i < known->nparts; i++) {
        struct cavs__tape_block *block = known->parts[i].block;

        if (!block) {
            b->alone[CAVS__ALONE_RUN] += times;
            continue;
        }
        block->seen += times;
        block->wanted |= known->parts[i].members;
    }
}

int cavs__take_sources(struct cavs__recording *r, int n, const int32_t *list)
{
    int i = 0;

    for (; i < n && list[i] >= 0 && cavs__is_marked(r, list[i], CAVS__SOURCE); i++)
        cavs__leave_alone(r, list[i]);
    return i;
}

int cavs__known_become(struct cavs__blocks *b, struct cavs__recording *r, int n,
                       const int32_t *list)
{
    struct cavs__taken_run taken = b->taken[--b->ntaken];
    const struct cavs__known_run *known = b->known[taken.known];
    const struct cavs__run_begin *run = &r->runs[taken.run];
    int places = 1 + cavs__take_sources(r, n - 1, list + 1);
    bool done = true;

    for (int i = 0; i < known->nparts && done; i++) {
        const struct cavs__known_part *p = &known->parts[i];

        if (p->block)
            done = become_block(r, p, run);
        else
            cavs__leave_alone(r, run->first + p->head);
    }
    return done ? places : -1;
}
