/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h. */
#include "core/tape/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"

/* ---- life ---- */

int cavs__order_init(struct cavs__order *o, int nshards, enum cavs_policy policy)
{
    *o = (struct cavs__order){.policy = &cavs__policies[policy], .nshards = nshards};
    o->schedules = calloc((size_t)nshards, sizeof *o->schedules);
    if (!o->schedules)
        return cavs__fail_nomem("schedules of a tape", (size_t)nshards * sizeof *o->schedules);
    for (int i = 0; i < nshards; i++)
        cavs__schedule_init(&o->schedules[i]);
    return CAVS_OK;
}

void cavs__order_free(struct cavs__order *o)
{
    for (int i = 0; i < o->nshards && o->schedules; i++)
        cavs__schedule_free(&o->schedules[i]);
    cavs__shard_scratch_free(&o->split);
    free(o->schedules);
    free(o->list);
    free(o->found);
    free(o->shard);
    free(o->work);
    free(o->bytes);
    free(o->chosen);
    free(o->groups);
    free(o->signature);
    free(o->slots);
    free(o->number);
    free(o->function);
    free(o->child_ptr);
    free(o->child);
    free(o->vertex);
    free(o->read[0]);
    free(o->read[1]);
    for (int i = 0; i < CAVS__MOST_IDS; i++)
        free(o->ids[i]);
}

void cavs__order_begin(struct cavs__order *o)
{
    o->known = 0;
}

/* ---- what is needed ---- */

/* Vertices that are none: of an earlier increment; not numbered yet. */
enum { EVALUATED = -1, FOUND = 0 };
enum { SYMBOLS_A_WORD = 64 /* of o->found */ };

/* Symbols being collected. */
struct needed {
    struct cavs__order *o;
    struct cavs__recording *r;
    bool cut;     /* what nothing waits for comes later */
    int n;        /* found */
    int lo, hi;   /* the first and the last word of o->found in which some were */
    int64_t rows; /* that they read */
};

/* The symbol is not there yet.  One that a block has computed and not kept is computed once more;
 * the next time it is kept. */
static void find(struct needed *d, int symbol)
{
    uint8_t *marks = &d->r->marks[symbol];
    int word = symbol / SYMBOLS_A_WORD;

    if (*marks & CAVS__IN_BLOCK) {
        d->r->entries[symbol].vertex = FOUND;
        d->r->sites.all[d->r->entries[symbol].site].asked = true;
    }
    *marks = (*marks & ~CAVS__WAITED_FOR) | CAVS__ORDERED | (d->cut ? 0 : CAVS__WAITED_FOR);
    d->n++;
    d->o->found[word] |= (uint64_t)1 << symbol % SYMBOLS_A_WORD;
    d->lo = word < d->lo ? word : d->lo;
    d->hi = word > d->hi ? word : d->hi;
}

static inline void need(struct needed *d, int symbol, unsigned marks)
{
    if (!(d->r->marks[symbol] & CAVS__ORDERED))
        find(d, symbol);
    d->r->marks[symbol] |= marks;
}

/* The rows that the symbol reads.  All its readers are behind it: it is known whether it is waited
 * for, and what it reads is waited for then, and also where another run reads it, but for a sum. */
static inline void need_operands(struct needed *d, int symbol)
{
    const struct cavs__entry *e = &d->r->entries[symbol];
    const struct cavs__read *reads = d->r->reads + e->reads;
    unsigned marks = d->r->marks[symbol], inside = marks & CAVS__WAITED_FOR,
             outside = CAVS__READ_OUTSIDE | (marks & CAVS__SUMMED_UP ? 0 : CAVS__WAITED_FOR);

    d->rows += e->nreads;
    for (int k = 0; k < e->nreads; k++) {
        if (reads[k].from != CAVS__NO_ROW)
            need(d, reads[k].of, reads[k].in_run ? inside : outside);
    }
}

/* Room for all symbols that there are, none of them found. */
static bool reserve_symbols(struct cavs__order *o, size_t n)
{
    size_t words = n / SYMBOLS_A_WORD + 1, old = o->found_room;

    if (!cavs__array_reserve(&o->list, &o->list_room, n, sizeof *o->list) ||
        !cavs__array_reserve(&o->found, &o->found_room, words, sizeof *o->found))
        return false;
    memset(o->found + old, 0, (o->found_room - old) * sizeof *o->found);
    return true;
}

/* The last symbol of a word of o->found, which it is taken out of. */
static int take_last(uint64_t *word)
{
    int last = SYMBOLS_A_WORD - 1 - __builtin_clzll(*word);

    *word &= ~((uint64_t)1 << last);
    return last;
}

/* Symbols read what was recorded before them: from the last one back, all are found, and listed
 * ascending, in the last of the `symbols` places of o->list. */
static void find_needed(struct needed *d, const struct cavs__wanted *wanted, int symbols)
{
    int32_t *list = d->o->list + symbols;

    for (int i = 0; i < wanted->n; i++)
        need(d, wanted->symbols[i], wanted->rows ? CAVS__READ_OUTSIDE | CAVS__WAITED_FOR : 0);
    for (int word = d->hi; word >= d->lo; word--) {
        while (d->o->found[word]) {
            *--list = SYMBOLS_A_WORD * word + take_last(&d->o->found[word]);
            need_operands(d, *list);
        }
    }
}

/* ---- shards ---- */

static bool reserve_samples(struct cavs__order *o, int n)
{
    size_t room = o->sample_room, rooms[4] = {room, room, room, room};

    if ((size_t)n <= room)
        return true;
    if (!cavs__array_reserve(&o->shard, &room, (size_t)n, sizeof *o->shard) ||
        !cavs__array_reserve(&o->work, &rooms[0], (size_t)n, sizeof *o->work) ||
        !cavs__array_reserve(&o->bytes, &rooms[3], (size_t)n, sizeof *o->bytes) ||
        !cavs__array_reserve(&o->chosen, &rooms[1], (size_t)n, sizeof *o->chosen) ||
        !cavs__array_reserve(&o->groups, &rooms[2], (size_t)n, sizeof *o->groups))
        return false;
    o->sample_room = room;
    return true;
}

/* Of a row with so many entries, and of the gradients that it makes: row_places.c. */
static double bytes_of(const struct cavs__signature *s, int32_t entries, bool passes)
{
    double lines = (passes ? 2 : 1) * cavs__lines_of(s->like.width) +
                   cavs__lines_of(s->function->kept) +
                   (double)entries * cavs__lines_of(s->function->kept_entries);

    for (int k = 0; k < s->n && passes; k++) {
        const struct cavs__operand_sort *x = &s->operands[k];

        lines += x->passes ? (x->each ? entries : 1.0) * cavs__lines_of(x->from + x->width) : 0;
    }
    return lines * CAVS__LINE * sizeof(float);
}

/* Vertices lie apart, one for some twenty symbols: what will be read of one soon is fetched. */
static inline struct cavs__entry *entry_of(const struct cavs__recording *r, const int32_t *list,
                                           int i, int n)
{
    enum { AHEAD = 8 };

    if (i + AHEAD < n)
        __builtin_prefetch(&r->entries[list[i + AHEAD]], 1);
    return &r->entries[list[i]];
}

/* Work of each group that has no shard yet, and bytes, if there are homes; how many there are, in
 * o->groups. */
static int new_groups(struct cavs__order *o, struct cavs__recording *r, int n, bool homes)
{
    int groups = 0;

    for (int i = 0; i < r->nsamples; i++)
        o->work[i] = o->bytes[i] = 0;
    for (int i = 0; i < n; i++) {
        const struct cavs__entry *e = entry_of(r, o->list, i, n);
        int group = cavs__group_of(r, e->sample);

        o->work[group] += r->signatures.all[e->as]->nmembers;
        if (homes)
            o->bytes[group] +=
                bytes_of(r->signatures.all[e->as], cavs__entries_of(r->signatures.all[e->as], e),
                         r->run != CAVS_TAPE_EVALUATE);
    }
    for (int i = 0; i < r->nsamples; i++) {
        if (o->work[i] == 0 || o->shard[i] >= 0)
            continue;
        o->work[groups] = o->work[i];
        o->bytes[groups] = o->bytes[i];
        o->groups[groups++] = i;
    }
    return groups;
}

/* Samples that came to read one another after they had got shards. */
static int check_groups(const struct cavs__order *o, struct cavs__recording *r)
{
    for (int i = 0; i < o->known; i++) {
        int first = cavs__group_of(r, i);

        if (o->shard[i] < 0 || o->shard[first] == o->shard[i])
            continue;
        if (o->shard[first] >= 0)
            return cavs__fail(CAVS_EPROGRAM,
                              "tape: sample %d reads symbols of sample %d, but both had been "
                              "evaluated apart before (cavs_tape_values)",
                              i, first);
        o->shard[first] = o->shard[i];
    }
    return CAVS_OK;
}

static int split(struct cavs__order *o, int groups, const double *share)
{
    return cavs__shard_split(groups, o->work, o->nshards, share, o->chosen, &o->split) == 0
               ? CAVS_OK
               : cavs__fail_nomem("shards of a tape", 0);
}

/* Again with smaller shards where they are too large for the memory of their device. */
static int split_among_homes(struct cavs__order *o, int groups, struct cavs__engine *e,
                             enum cavs__run run)
{
    size_t *bytes = e->homes->bytes;
    int rc;

    do {
        rc = split(o, groups, cavs__shares(e, run));
        memset(bytes, 0, (size_t)o->nshards * sizeof *bytes);
        for (int i = 0; i < groups && !rc; i++)
            bytes[o->chosen[i]] += (size_t)o->bytes[i];
    } while (!rc && cavs__homes_crowded(e, bytes));
    return rc;
}

static int choose_shards(struct cavs__order *o, struct cavs__recording *r, int n,
                         struct cavs__engine *e)
{
    int groups, rc;

    for (int i = o->known; i < r->nsamples; i++)
        o->shard[i] = -1;
    o->known = r->nsamples;
    rc = check_groups(o, r);
    if (rc)
        return rc;
    groups = new_groups(o, r, n, e != NULL);
    if (groups > 0)
        rc = e ? split_among_homes(o, groups, e,
                                   r->run == CAVS_TAPE_EVALUATE ? CAVS__RUN_EVALUATE
                                                                : CAVS__RUN_TRAIN)
               : split(o, groups, NULL);
    for (int i = 0; i < groups && !rc; i++)
        o->shard[o->groups[i]] = o->chosen[i];
    return rc;
}

/* ---- graphs ---- */

static bool reserve_functions(struct cavs__order *o, int signatures)
{
    size_t n = (size_t)signatures, old = o->function_room, rooms[2] = {old, old};

    if (!cavs__array_reserve(&o->number, &rooms[0], n, sizeof *o->number) ||
        !cavs__array_reserve(&o->signature, &rooms[1], n, sizeof *o->signature) ||
        !cavs__array_reserve(&o->slots, &o->function_room, n, sizeof *o->slots))
        return false;
    for (size_t i = old; i < o->function_room; i++) {
        o->number[i] = -1;
        o->slots[i] = -1; /* as many children as there are */
    }
    return true;
}

static bool reserve_children(struct cavs__order *o, size_t n)
{
    size_t room = o->child_room, rooms[2] = {room, room};

    return cavs__array_reserve(&o->read[0], &rooms[0], n, sizeof **o->read) &&
           cavs__array_reserve(&o->read[1], &rooms[1], n, sizeof **o->read) &&
           cavs__array_reserve(&o->child, &o->child_room, n, sizeof *o->child);
}

static bool reserve(struct cavs__order *o, int64_t vertices, int64_t children, int signatures)
{
    size_t n = (size_t)vertices + 1, room = o->vertex_room, rooms[2] = {room, room};

    if (vertices > INT32_MAX - 1 || children > INT32_MAX - 1 || !reserve_functions(o, signatures))
        return false;
    if (!cavs__array_reserve(&o->function, &rooms[0], n, sizeof *o->function) ||
        !cavs__array_reserve(&o->vertex, &rooms[1], n, sizeof *o->vertex) ||
        !cavs__array_reserve(&o->child_ptr, &room, n, sizeof *o->child_ptr))
        return false;
    for (int i = 0; i < CAVS__MOST_IDS; i++) {
        size_t ids = o->vertex_room;

        if (!cavs__array_reserve(&o->ids[i], &ids, n, sizeof **o->ids))
            return false;
    }
    o->vertex_room = room;
    return reserve_children(o, (size_t)children + 1);
}

/* The rows that a symbol reads: of this increment by their vertices, else -1. */
static int add_children(struct cavs__order *o, const struct cavs__recording *r,
                        const struct cavs__entry *e, int at)
{
    const struct cavs__signature *s = r->signatures.all[e->as];
    int n = cavs__reads_of(s, e);

    for (int k = 0; k < n; k++) {
        const struct cavs__read *read = &r->reads[e->operands + k];
        const struct cavs__entry *of;

        if (read->from == CAVS__NO_ROW)
            continue;
        of = &r->entries[read->of];
        o->child[at] = of->vertex;
        o->read[0][at] = of->column + read->from;
        o->read[1][at++] = of->vertex == EVALUATED ? read->of : -1;
    }
    return at;
}

/* Ids of vertex v; its own number where it must not be equal to another. */
static void set_ids(struct cavs__order *o, const struct cavs__recording *r,
                    const struct cavs__entry *e, int v)
{
    const struct cavs__signature *s = r->signatures.all[e->as];
    int n = 0;

    for (int k = 0; k < s->n - s->nlisted; k++) {
        if (s->operands[k].kind != CAVS__OPERAND_ID)
            continue;
        if (n < CAVS__MOST_IDS)
            o->ids[n][v] = r->reads[e->operands + k].of;
        n++;
    }
    for (int i = n; i < CAVS__MOST_IDS; i++)
        o->ids[i][v] = -1;
    if (!s->repeatable || n > CAVS__MOST_IDS)
        o->ids[0][v] = -2 - v;
}

/* The symbols that vertex e computes for others are of that number. */
static void set_vertex(struct cavs__recording *r, struct cavs__entry *e, int32_t vertex)
{
    const struct cavs__signature *s = r->signatures.all[e->as];

    e->vertex = vertex;
    for (int i = 0; i < s->nresults; i++)
        r->entries[r->reads[e->operands + s->n + i].of].vertex = vertex;
}

static void forget_functions(struct cavs__order *o)
{
    for (int i = 0; i < o->nfunctions; i++)
        o->number[o->signature[i]] = -1;
    o->nfunctions = 0;
}

static int32_t function_of(struct cavs__order *o, int32_t signature)
{
    if (o->number[signature] < 0) {
        o->number[signature] = o->nfunctions;
        o->signature[o->nfunctions++] = signature;
    }
    return o->number[signature];
}

/* The vertices of a shard: those that are waited for, or those that are not. */
static struct cavs__graph graph_of(struct cavs__order *o, struct cavs__recording *r, int n,
                                   int shard, bool waited_for)
{
    int vertices = 0, at = 0;

    forget_functions(o);
    for (int i = 0; i < n; i++) {
        struct cavs__entry *e = entry_of(r, o->list, i, n);

        if (cavs__is_marked(r, o->list[i], CAVS__WAITED_FOR) != waited_for ||
            o->shard[cavs__group_of(r, e->sample)] != shard)
            continue;
        set_vertex(r, e, vertices);
        o->vertex[vertices] = o->list[i];
        o->function[vertices] = function_of(o, e->as);
        if (o->shares)
            set_ids(o, r, e, vertices);
        o->child_ptr[vertices++] = at;
        at = add_children(o, r, e, at);
    }
    o->child_ptr[vertices] = at;
    return (struct cavs__graph){.n = vertices,
                                .nfunctions = o->nfunctions,
                                .function = o->function,
                                .child_ptr = o->child_ptr,
                                .child = o->child,
                                .slots = o->slots,
                                .nkeys = CAVS__MOST_IDS,
                                .keys = (const int32_t *const *)o->ids,
                                .nedge_keys = 2,
                                .edge_keys = (const int32_t *const *)o->read};
}

/* ---- increments ---- */

/* V_t and rows of functions, by signature. */
static void copy_schedule(const struct cavs__order *o, const struct cavs__schedule *s,
                          struct cavs__increment *d)
{
    memcpy(d->vt, s->vt, (size_t)s->nvt * sizeof *d->vt);
    for (int i = 0; i < d->nvt; i++)
        d->vt[i].function = o->signature[d->vt[i].function];
    memset(d->function_rows, 0, (size_t)d->nfunctions * sizeof *d->function_rows);
    for (int i = 0; i < o->nfunctions; i++)
        d->function_rows[o->signature[i]] = s->function_rows[i];
}

/* Vertex e is evaluated, by itself or in the row of this head, which is equal: as many symbols are
 * there already. */
static int set_evaluated(struct cavs__recording *r, struct cavs__entry *e, int32_t head)
{
    const struct cavs__signature *s = r->signatures.all[e->as];

    set_vertex(r, e, EVALUATED);
    if (e->head == head)
        return 0;
    r->entries[head].shared = true;
    e->head = head;
    for (int i = 0; i < s->nresults; i++)
        r->entries[r->reads[e->operands + s->n + i].of].head = head;
    return s->nmembers;
}

/* What is kept of a schedule. */
static struct cavs__increment *keep(const struct cavs__order *o, struct cavs__recording *r,
                                    const struct cavs__schedule *s, int vertices)
{
    struct cavs__arena *arena = &r->nodes[r->generation & 1].arena;
    int nf = r->signatures.n;
    struct cavs__increment *d = cavs__arena_alloc(arena, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct cavs__increment){.n = s->rows, .nvt = s->nvt, .nfunctions = nf};
    d->vt = cavs__arena_alloc(arena, (size_t)s->nvt * sizeof *d->vt);
    d->node = cavs__arena_alloc(arena, (size_t)s->rows * sizeof *d->node);
    d->function_rows = cavs__arena_alloc(arena, (size_t)nf * sizeof *d->function_rows);
    if (!d->vt || !d->node || !d->function_rows)
        return NULL;
    copy_schedule(o, s, d);
    for (int i = 0; i < s->rows; i++) {
        d->node[i] = o->vertex[s->vertex_of[i]];
        d->highest = d->node[i] > d->highest ? d->node[i] : d->highest;
    }
    for (int v = 0; v < vertices; v++)
        d->repeated += set_evaluated(r, entry_of(r, o->vertex, v, vertices), d->node[s->row_of[v]]);
    return d;
}

void cavs__take_rows_back(struct cavs__increment *d, int symbols)
{
    if (d->highest < symbols)
        return;
    for (int i = 0; i < d->n; i++)
        d->node[i] = d->node[i] >= symbols ? -1 : d->node[i];
    d->highest = symbols - 1;
}

static int order_some(struct cavs__order *o, struct cavs__recording *r, int n, int shard,
                      bool waited_for, struct cavs__increment **out)
{
    struct cavs__graph g = graph_of(o, r, n, shard, waited_for);

    *out = NULL;
    if (g.n == 0)
        return CAVS_OK;
    if (cavs__schedule_make(&o->schedules[shard], &g, o->policy, o->shares) != 0 ||
        !(*out = keep(o, r, &o->schedules[shard], g.n)))
        return cavs__fail_nomem("schedule of a tape", (size_t)g.n * sizeof(int32_t));
    return CAVS_OK;
}

static int order_shard(struct cavs__order *o, struct cavs__recording *r, int n, int shard,
                       struct cavs__increment **out)
{
    struct cavs__increment *later = NULL;
    int rc = order_some(o, r, n, shard, true, out);

    if (!rc)
        rc = order_some(o, r, n, shard, false, &later);
    if (*out)
        (*out)->after = later;
    else
        *out = later;
    return rc;
}

int cavs__order(struct cavs__order *o, struct cavs__recording *r, struct cavs__blocks *b,
                const struct cavs__wanted *wanted, struct cavs__increment **out)
{
    struct needed d = {
        .o = o, .r = r, .cut = b->after > 0 && wanted->together, .lo = INT32_MAX, .hi = -1};
    int rc = CAVS_OK, symbols = cavs__symbols_of(r), n;

    memset(out, 0, (size_t)o->nshards * sizeof(*out));
    o->shares = d.cut && b->used && !b->apart;
    if (!reserve_symbols(o, (size_t)symbols))
        return cavs__fail_nomem("order of a tape", (size_t)symbols * sizeof *o->list);
    find_needed(&d, wanted, symbols);
    if (d.n == 0)
        return CAVS_OK;
    n = cavs__find_vertices(b, r, wanted->together, d.n, o->list + symbols - d.n, o->list);
    if (n < 0 || !reserve_samples(o, r->nsamples))
        return cavs__fail_nomem("order of a tape", 0);
    rc = choose_shards(o, r, n, wanted->e);
    if (!rc && !reserve(o, n, d.rows, r->signatures.n))
        rc = cavs__fail_nomem("graph of a tape", (size_t)n * 3 * sizeof(int32_t));
    for (int i = 0; i < o->nshards && !rc; i++)
        rc = order_shard(o, r, n, i, &out[i]);
    return rc;
}
