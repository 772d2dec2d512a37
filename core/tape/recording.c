/* SPDX-License-Identifier: Apache-2.0 */
/* recording.c - see recording.h. */
#include "core/tape/recording.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/declare/build.h"
#include "core/tape/unfolded.h"

/* ---- life ---- */

static struct cavs_symbol *record(struct cavs__recorder *recorder, int n,
                                  struct cavs_symbol *const *inputs);

int cavs__recording_init(struct cavs__recording *r, struct cavs_model *m, int stage, int64_t most)
{
    int rc;

    *r = (struct cavs__recording){.most = most, .sites.last = CAVS__NO_SITE, .sourced.number = -1};
    rc = cavs__signatures_init(&r->signatures, m, stage);
    for (int i = 0; i < 2; i++)
        r->of[i] = (struct cavs_function){.stage = &r->signatures.stage,
                                          .name = r->signatures.stage.name,
                                          .recorder = &r->recorder,
                                          .finished = true};
    r->recorder = (struct cavs__recorder){.next = &r->nowhere, .add = record, .present = &r->of[0]};
    return rc;
}

void cavs__recording_free(struct cavs__recording *r)
{
    for (int i = 0; i < 2; i++) {
        for (int b = 0; b < r->nodes[i].nchunks; b++)
            free(r->nodes[i].chunks[b]);
        free(r->nodes[i].chunks);
        cavs__arena_free(&r->nodes[i].arena);
        free(r->of[i].message);
    }
    free(r->entries);
    free(r->marks);
    free(r->signature);
    free(r->reads);
    free(r->first);
    free(r->count);
    free(r->group);
    free(r->sinks);
    free(r->uses);
    free(r->sorts);
    free(r->codes);
    cavs__sites_free(&r->sites);
    cavs__signatures_free(&r->signatures);
}

/* ---- room ---- */

static bool add_room(struct cavs__recording *r, struct cavs__nodes *nodes)
{
    int n = cavs__symbols_of(r);
    struct cavs__node *chunk;

    if (!cavs__array_reserve(&r->marks, &r->mark_room, (size_t)n + 1, sizeof *r->marks) ||
        !cavs__array_reserve(&r->signature, &r->signature_room, (size_t)n + 1,
                             sizeof *r->signature) ||
        !cavs__array_reserve(&r->entries, &r->entry_room, (size_t)n + 1, sizeof *r->entries))
        return false;
    if (n < nodes->nchunks * CAVS__NODES_A_CHUNK)
        return true;
    chunk = calloc(CAVS__NODES_A_CHUNK, sizeof *chunk); /* builders do not write all of them */
    if (!chunk || !CAVS__APPEND(nodes->chunks, nodes->nchunks, chunk)) {
        free(chunk);
        return false;
    }
    return true;
}

/* Where the next symbol is to be; nowhere, if there is no memory: has_room(). */
static inline void find_next(struct cavs__recording *r)
{
    struct cavs__nodes *nodes = &r->nodes[r->generation & 1];
    int n = cavs__symbols_of(r);
    bool room = (size_t)n < r->entry_room && n < nodes->nchunks * CAVS__NODES_A_CHUNK;

    r->recorder.next = room || add_room(r, nodes) ? &cavs__node_at(r, n)->x : &r->nowhere;
}

/* The same behind this one, which is the last. */
static inline void find_following(struct cavs__recording *r, struct cavs__node *last)
{
    unsigned n = (unsigned)cavs__symbols_of(r);

    if (n % CAVS__NODES_A_CHUNK != 0 && n < r->entry_room)
        r->recorder.next = &last[1].x;
    else
        find_next(r);
}

/* ---- recordings ---- */

void cavs__recording_begin(struct cavs__recording *r, enum cavs_tape_run run)
{
    struct cavs_function *f = &r->of[++r->generation & 1];

    r->recorder.present->finished = true;
    free(f->message);
    f->message = NULL;
    f->error = 0;
    f->nsymbols = 0;
    f->finished = false;
    r->recorder.present = f;
    cavs__arena_reset(&r->nodes[r->generation & 1].arena);
    r->run = run;
    r->nsamples = 0;
    r->nreads = 0;
    r->nsinks = 0;
    cavs__sites_end(&r->sites);
    r->open = true;
    find_next(r);
}

int cavs__recording_error(const struct cavs__recording *r)
{
    const struct cavs_function *f = r->recorder.present;

    return f->error ? cavs__fail(f->error, "%s", f->message ? f->message : cavs_strerror(f->error))
                    : CAVS_OK;
}

/* ---- samples ---- */

struct cavs_function *cavs__next_sample(struct cavs__recording *r)
{
    size_t n = (size_t)r->nsamples + 1;

    if (!r->open) {
        cavs__fail(CAVS_ESTATE, "cavs_tape_sample: no recording has begun (cavs_tape_begin)");
        return NULL;
    }
    if (r->nsamples == INT32_MAX ||
        !cavs__array_reserve(&r->first, &r->first_room, n, sizeof *r->first) ||
        !cavs__array_reserve(&r->count, &r->count_room, n, sizeof *r->count) ||
        !cavs__array_reserve(&r->group, &r->group_room, n, sizeof *r->group)) {
        cavs__fail_nomem("samples of a tape", 2 * n * sizeof *r->first);
        return NULL;
    }
    r->first[r->nsamples] = cavs__symbols_of(r);
    r->count[r->nsamples] = 0;
    r->group[r->nsamples] = r->nsamples;
    r->present = r->nsamples++;
    return r->recorder.present;
}

struct cavs_function *cavs__resume_sample(struct cavs__recording *r, int sample)
{
    if (!r->open || sample < 0 || sample >= r->nsamples) {
        cavs__fail(CAVS_EINVAL, "cavs_tape_resume: there is no sample %d in this recording",
                   sample);
        return NULL;
    }
    r->present = sample;
    return r->recorder.present;
}

enum { MARK_BITS = 32 };

int64_t cavs__recording_mark(const struct cavs__recording *r)
{
    if (!r->open)
        return cavs__fail(CAVS_ESTATE, "cavs_tape_mark: no recording has begun (cavs_tape_begin)");
    return (int64_t)r->nsamples << MARK_BITS | cavs__symbols_of(r);
}

int cavs__recording_rewind(struct cavs__recording *r, int64_t mark)
{
    int64_t samples = mark >> MARK_BITS, symbols = mark & (((int64_t)1 << MARK_BITS) - 1);

    if (!r->open || mark < 0 || samples > r->nsamples || symbols > cavs__symbols_of(r) ||
        (samples > 0 && symbols < r->first[samples - 1]))
        return cavs__fail(CAVS_EINVAL, "cavs_tape_rewind: %lld is no mark of this recording",
                          (long long)mark);
    for (int i = cavs__symbols_of(r) - 1; i >= symbols; i--)
        r->count[r->entries[i].sample]--;
    cavs__sites_leave(&r->sites);
    r->nsamples = (int)samples;
    r->present = r->nsamples - 1;
    if (symbols < cavs__symbols_of(r))
        r->nreads = r->entries[symbols].reads;
    r->recorder.present->nsymbols = (int)symbols;
    find_next(r);
    while (r->nsinks > 0 && r->sinks[r->nsinks - 1] >= symbols)
        r->nsinks--;
    return CAVS_OK;
}

/* ---- symbols ---- */

static void refuse(struct cavs__recording *r, const struct cavs_symbol *like)
{
    struct cavs_function *f = r->recorder.present;
    struct cavs_place at = like->at;

    if (r->nsamples == 0)
        FAIL(f, CAVS_ESTATE, "%s: no sample has begun (cavs_tape_sample)",
             cavs__symbol_label(like));
    else if (f->nsymbols >= r->most)
        FAIL(f, CAVS_EINVAL, "%s: more than %lld symbols (most_symbols)", cavs__symbol_label(like),
             (long long)r->most);
    else if (like == &r->nowhere)
        FAIL(f, CAVS_ENOMEM, "%s: out of memory after %d symbols", cavs__symbol_label(like),
             f->nsymbols);
}

/* May something like this be recorded there? */
static bool has_room(struct cavs__recording *r, const struct cavs_symbol *like)
{
    const struct cavs_function *f = r->recorder.present;

    if (r->nsamples > 0 && f->nsymbols < r->most && like != &r->nowhere && !f->error)
        return true;
    refuse(r, like);
    return false;
}

/* What the node's operands are to its operator. */
static inline struct cavs__read sort_operand(struct cavs_symbol *in, struct cavs__operand_sort *o)
{
    int from;
    const struct cavs__node *node = cavs__node_of(in, &from);
    struct cavs__read read = {.of = node->x.number, .from = CAVS__NO_ROW};

    *o = (struct cavs__operand_sort){.width = in->width, .from = from};
    switch (node->x.op) {
    case CAVS__OP_IDS:
        o->kind = CAVS__OPERAND_ID;
        o->from = 0;
        read.of = node->x.k;
        break;
    case CAVS__OP_CONST:
        o->kind = CAVS__OPERAND_CONSTANT;
        o->from = 0;
        memcpy(&o->s, &node->x.s, sizeof o->s);
        break;
    case CAVS__OP_USE:
        o->kind = CAVS__OPERAND_PARAM;
        o->param = node->x.param;
        break;
    default:
        o->kind = CAVS__OPERAND_ROW;
        o->grad = node->x.needs_grad;
        read.from = from;
        o->from %= CAVS__LINE; /* the lines before are left out by the index */
    }
    cavs__set_key(o);
    return read;
}

static bool is_computed(enum cavs__op op)
{
    return op != CAVS__OP_IDS && op != CAVS__OP_CONST && op != CAVS__OP_USE &&
           op != CAVS__OP_SLICE && op != CAVS__OP_EACH_CHILD;
}

static inline const struct cavs__to_readers *told_by(const struct cavs_symbol *in)
{
    return &((const struct cavs__node *)in)->to_readers;
}

/* As a symbol of that run reads it. */
static inline struct cavs__read read_of(const struct cavs__to_readers *in, int32_t run)
{
    struct cavs__read read = in->read;

    read.in_run = in->run == run;
    return read;
}

/* Notes what x reads, which is of that run.  Are its operands those of the last signature, which
 * has as many? */
static inline bool has_operands(const struct cavs__recording *r, const struct cavs__glance *last,
                                const struct cavs_symbol *x, int32_t run, struct cavs__read *reads)
{
    const struct cavs__operand_sort *all =
        x->ninputs > 2 ? r->signatures.all[last->number]->operands : NULL;
    uint64_t differ = 0;

    for (int i = 0; i < x->ninputs; i++) {
        const struct cavs__to_readers *in = told_by(x->inputs[i]);
        const uint64_t *key = all ? all[i].key : last->key[i];

        reads[i] = read_of(in, run);
        differ |= (key[0] ^ in->key[0]) | (key[1] ^ in->key[1]);
    }
    return differ == 0;
}

static int find_signature(struct cavs__recording *r, const struct cavs_symbol *x)
{
    if (!cavs__array_reserve(&r->sorts, &r->sort_room, (size_t)x->ninputs, sizeof *r->sorts))
        return -1;
    for (int i = 0; i < x->ninputs; i++)
        sort_operand(x->inputs[i], &r->sorts[i]);
    return cavs__find_signature(&r->signatures, x, x->ninputs, r->sorts);
}

/* A list that is one operand: entries are alike, but that some may have no gradient. */
static struct cavs__operand_sort sort_entries(int n, struct cavs_symbol *const *entries)
{
    struct cavs__operand_sort all, o;

    sort_operand(entries[0], &all);
    for (int i = 1; i < n; i++) {
        sort_operand(entries[i], &o);
        all.grad |= o.grad;
    }
    cavs__set_key(&all);
    return all;
}

/* A list of no entries is as most others of that operand are. */
static struct cavs__operand_sort sort_no_entries(const struct cavs_symbol *operand)
{
    struct cavs__operand_sort all = {.kind = CAVS__OPERAND_ROW, .grad = true};

    if (operand->op == CAVS__OP_IDS)
        all = (struct cavs__operand_sort){.kind = CAVS__OPERAND_ID};
    all.width = operand->width;
    cavs__set_key(&all);
    return all;
}

/* Of a declared function that is applied to lists: each is one operand, behind all others. */
static int find_applied(struct cavs__recording *r, const struct cavs_symbol *x,
                        const struct cavs__piece *p)
{
    int n = p->noperands, alone = n - p->nlisted, length = (x->ninputs - alone) / p->nlisted;

    if (!cavs__array_reserve(&r->sorts, &r->sort_room, (size_t)n, sizeof *r->sorts))
        return -1;
    for (int k = 0; k < alone; k++)
        sort_operand(x->inputs[k], &r->sorts[k]);
    for (int k = alone, at = alone; k < n; k++, at += length)
        r->sorts[k] =
            length > 0 ? sort_entries(length, x->inputs + at) : sort_no_entries(p->operands[k]);
    return cavs__find_signature(&r->signatures, x, n, r->sorts);
}

/* One that is not as the last of its place. */
static int other_signature(struct cavs__recording *r, const struct cavs_symbol *x)
{
    if (cavs__takes_list(x->op)) {
        struct cavs__operand_sort all = sort_entries(x->ninputs, x->inputs);

        return cavs__find_signature(&r->signatures, x, 1, &all);
    }
    if (x->op == CAVS__OP_APPLY) {
        const struct cavs__piece *p = cavs__piece_of(&r->signatures, x);

        if (p->nlisted > 0)
            return find_applied(r, x, p);
    }
    return find_signature(r, x);
}

/* Mostly that of the last one. */
static inline int signature_of(struct cavs__recording *r, const struct cavs_symbol *x,
                               const struct cavs__entry *e, const struct cavs__glance *last)
{
    struct cavs__read *reads = r->reads + e->reads;

    if ((e->site >= 0 ? cavs__same_at_site(last, x) : cavs__same_at_a_glance(last, x)) &&
        x->op != CAVS__OP_APPLY && !cavs__takes_list(x->op) &&
        has_operands(r, last, x, e->run, reads))
        return last->number;
    for (int i = 0; i < x->ninputs; i++)
        reads[i] = read_of(told_by(x->inputs[i]), e->run);
    return other_signature(r, x);
}

/* The signature of a node; NULL: reported. */
static const struct cavs__glance *sign(struct cavs__recording *r, const struct cavs__node *node,
                                       const struct cavs__entry *e)
{
    const struct cavs_symbol *x = &node->x;
    struct cavs__glance *last = e->site >= 0 ? &r->sites.all[e->site].last : &r->sourced;
    int number = -1;

    if (cavs__array_reserve(&r->reads, &r->read_room, (size_t)(r->nreads + x->ninputs),
                            sizeof *r->reads))
        number = signature_of(r, x, e, last);
    if (number < 0) {
        cavs__function_fail(x->function, CAVS_ENOMEM, x->at, "%s: out of memory",
                            cavs__symbol_label(x));
        return NULL;
    }
    if (number != last->number)
        *last = cavs__glance_at(&r->signatures, number);
    return last;
}

int cavs__group_of(struct cavs__recording *r, int sample)
{
    while (r->group[sample] != sample)
        sample = r->group[sample] = r->group[r->group[sample]];
    return sample;
}

/* The samples that rows come from are computed together with the one that reads them. */
static void join_samples(struct cavs__recording *r, const struct cavs__entry *e, int n)
{
    for (int i = 0; i < n; i++) {
        const struct cavs__read *read = &r->reads[e->reads + i];
        int a, b;

        if (read->from == CAVS__NO_ROW || r->entries[read->of].sample == e->sample)
            continue;
        a = cavs__group_of(r, r->entries[read->of].sample);
        b = cavs__group_of(r, e->sample);
        r->group[a > b ? a : b] = a < b ? a : b;
    }
}

static bool add_sink(struct cavs__recording *r, const struct cavs__node *node)
{
    if (!cavs__array_reserve(&r->sinks, &r->sink_room, (size_t)r->nsinks + 1, sizeof *r->sinks)) {
        cavs__function_fail(r->recorder.present, CAVS_ENOMEM, node->x.at, "%s: out of memory",
                            cavs__symbol_label(&node->x));
        return false;
    }
    r->sinks[r->nsinks++] = node->x.number;
    return true;
}

/* What operands have in common. */
struct operands {
    int domains;  /* 0: none is a list */
    int sample;   /* that of the first one that is computed; -1: none is */
    bool several; /* another one is of another sample */
};

static inline bool set_operands(struct cavs__recording *r, struct cavs__node *node, int n,
                                struct cavs_symbol *const *inputs, struct operands *all)
{
    struct cavs_symbol **to = node->in;

    *all = (struct operands){.sample = -1};
    if (n > 2)
        to = cavs__arena_alloc(&r->nodes[r->generation & 1].arena, (size_t)n * sizeof *inputs);
    node->x.ninputs = n;
    node->x.inputs = to;
    if (!to)
        return false;
    for (int i = 0; i < n; i++) {
        int sample = told_by(inputs[i])->sample;

        to[i] = inputs[i];
        all->domains |= inputs[i]->domain;
        all->sample = all->sample < 0 ? sample : all->sample;
        all->several |= sample >= 0 && sample != all->sample;
    }
    return true;
}

/* Where it was recorded; what reads nothing that is computed is of no run. */
static bool find_site(struct cavs__recording *r, const struct cavs__node *node,
                      struct cavs__entry *e)
{
    const struct cavs_symbol *x = &node->x;
    struct cavs__site *site;

    e->run = x->number;
    if (x->op == CAVS__OP_LOOKUP || x->op == CAVS__OP_PULL) {
        r->marks[x->number] |= CAVS__SOURCE;
        return true;
    }
    e->site = cavs__site_visit(&r->sites, x, e->sample);
    e->run = r->sites.run;
    if (e->site < 0) {
        cavs__function_fail(x->function, CAVS_ENOMEM, x->at, "%s: out of memory",
                            cavs__symbol_label(x));
        return false;
    }
    site = &r->sites.all[e->site];
    if (cavs__takes_list(x->op))
        cavs__site_lists(site, x->ninputs);
    if (site->asked)
        r->marks[x->number] |= CAVS__READ_OUTSIDE;
    return true;
}

/* What readers need to know of a symbol that is computed, and of one that they read as it is. */
static inline void tell_of_row(struct cavs__node *node, const struct cavs__entry *e)
{
    struct cavs__operand_sort o = {
        .kind = CAVS__OPERAND_ROW, .grad = node->x.needs_grad, .width = node->x.width};

    cavs__set_key(&o);
    node->to_readers = (struct cavs__to_readers){.key = {o.key[0], o.key[1]},
                                                 .read = {.of = node->x.number},
                                                 .sample = e->sample,
                                                 .run = e->run};
}

static void tell_as_it_is(const struct cavs__recording *r, struct cavs__node *node)
{
    struct cavs__operand_sort o;
    struct cavs__read read = sort_operand(&node->x, &o);
    bool row = read.from != CAVS__NO_ROW;

    node->to_readers = (struct cavs__to_readers){.key = {o.key[0], o.key[1]},
                                                 .read = read,
                                                 .sample = row ? r->entries[read.of].sample : -1,
                                                 .run = row ? r->entries[read.of].run : -1};
}

/* The signature of a symbol that is computed, and what that takes.  false: reported. */
static bool sign_entry(struct cavs__recording *r, struct cavs__node *node, struct cavs__entry *e,
                       bool several)
{
    const struct cavs__glance *signature;

    if (!find_site(r, node, e))
        return false;
    signature = sign(r, node, e);
    if (!signature)
        return false;
    r->signature[node->x.number] = signature->number;
    node->x.needs_grad = signature->needs_grad;
    e->nreads = node->x.ninputs;
    if (several)
        join_samples(r, e, node->x.ninputs);
    r->nreads += node->x.ninputs;
    return !node->x.metric || add_sink(r, node);
}

/* The symbol that stands for a parameter of one row; NULL: there is none yet, or no memory to know
 * of it. */
static struct cavs_symbol *find_use(struct cavs__recording *r, const struct cavs_param *p)
{
    size_t room = r->use_room;
    struct cavs__node *node;

    if (!cavs__array_reserve(&r->uses, &r->use_room, (size_t)p->number + 1, sizeof *r->uses))
        return NULL;
    for (size_t i = room; i < r->use_room; i++)
        r->uses[i] = INT32_MAX;
    if (r->uses[p->number] < cavs__symbols_of(r)) {
        node = cavs__node_at(r, r->uses[p->number]);
        if (node->x.op == CAVS__OP_USE && node->x.param == p)
            return &node->x;
    }
    r->uses[p->number] = cavs__symbols_of(r);
    return NULL;
}

/* A list's symbols are recorded where it was to be; what makes one row of rows is one. */
static struct cavs_symbol *record_on_lists(struct cavs__recording *r, int n,
                                           struct cavs_symbol *const *inputs)
{
    struct cavs_symbol like = *r->recorder.next;

    if (cavs__takes_list(like.op) && inputs[0]->ninputs > 1 && cavs__are_rows(inputs[0])) {
        like.k = 0;
        return cavs__add_symbol(r->recorder.present, like, inputs[0]->ninputs, inputs[0]->inputs);
    }
    return cavs__record_on_lists(r->recorder.present, &like, n, inputs);
}

static struct cavs_symbol *record(struct cavs__recorder *recorder, int n,
                                  struct cavs_symbol *const *inputs)
{
    struct cavs__recording *r = (struct cavs__recording *)recorder;
    struct cavs_function *f = recorder->present;
    struct cavs__node *node = (struct cavs__node *)recorder->next;
    struct cavs_symbol *x = recorder->next, *use;
    struct cavs__entry *e;
    struct operands operands;
    int sample;

    if (!has_room(r, x))
        return NULL;
    use = x->op == CAVS__OP_USE ? find_use(r, x->param) : NULL;
    if (use)
        return use;
    if (!set_operands(r, node, n, inputs, &operands)) {
        cavs__function_fail(f, CAVS_ENOMEM, x->at, "%s: out of memory", cavs__symbol_label(x));
        return NULL;
    }
    if ((operands.domains > 0 || x->domain > 0 || x->op == CAVS__OP_LIST_SHARE) &&
        cavs__reads_lists(x, n, inputs))
        return record_on_lists(r, n, inputs);
    x->function = f;
    x->number = f->nsymbols;
    x->needs_grad = false;
    node->row = NULL;
    e = &r->entries[f->nsymbols];
    sample = operands.sample < 0 ? r->present : operands.sample;
    *e = (struct cavs__entry){.site = CAVS__NO_SITE, .sample = sample, .reads = (int32_t)r->nreads};
    r->marks[f->nsymbols] = x->op == CAVS__OP_METRIC ? CAVS__SUMMED_UP : 0;
    node->place = r->count[sample];
    if (is_computed(x->op)) {
        if (!sign_entry(r, node, e, operands.several))
            return NULL;
        tell_of_row(node, e);
    } else {
        r->signature[f->nsymbols] = CAVS__NOT_COMPUTED;
        tell_as_it_is(r, node);
    }
    r->count[sample]++;
    f->nsymbols++;
    find_following(r, node);
    return x;
}

struct cavs_symbol *cavs__record_row(struct cavs__recording *r, int width, const float *row,
                                     struct cavs_place at)
{
    struct cavs_function *f = r->recorder.present;
    struct cavs_symbol *x;
    float *copy;

    if (!cavs__open_for(f, "row", at))
        return NULL;
    if (width <= 0 || !row) {
        FAIL(f, CAVS_ESHAPE, "row: %s", row ? "the width is not positive" : "no numbers (NULL)");
        return NULL;
    }
    copy = cavs__arena_alloc(&r->nodes[r->generation & 1].arena, (size_t)width * sizeof *copy);
    if (!copy) {
        FAIL(f, CAVS_ENOMEM, "row: out of memory for %d numbers", width);
        return NULL;
    }
    memcpy(copy, row, (size_t)width * sizeof *copy);
    x = cavs__add_symbol(
        f,
        (struct cavs_symbol){
            .op = CAVS__OP_PULL, .width = width, .which = r->run == CAVS_TAPE_GRADIENT, .at = at},
        0, NULL);
    if (x)
        ((struct cavs__node *)x)->row = copy;
    return x;
}

struct cavs_symbol *cavs__record_id(struct cavs__recording *r, int id, struct cavs_place at)
{
    struct cavs_function *f = r->recorder.present;

    if (!cavs__open_for(f, "id", at))
        return NULL;
    if (id < -1) {
        FAIL(f, CAVS_EDATA, "id %d: ids are not below 0, and -1 is none", id);
        return NULL;
    }
    return cavs__add_symbol(f, (struct cavs_symbol){.op = CAVS__OP_IDS, .k = id, .at = at}, 0,
                            NULL);
}
