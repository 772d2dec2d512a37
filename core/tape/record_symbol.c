/* SPDX-License-Identifier: Apache-2.0 */
/* record_symbol.c - see recording_parts.h: any symbol that a builder describes; rows, ids. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/tape/recording_parts.h"

enum { NO_NUMBER = -1 /* of a symbol that belongs to no sample: before all others */ };

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

/* May a symbol be recorded?  Otherwise the reason is reported. */
static bool has_room(struct cavs__recording *r, const struct cavs_symbol *like)
{
    const struct cavs_function *f = r->recorder.present;

    if (r->nsamples > 0 && f->nsymbols < r->most && like != &r->nowhere && !f->error)
        return true;
    refuse(r, like);
    return false;
}

static bool is_computed(enum cavs__op op)
{
    return op != CAVS__OP_IDS && op != CAVS__OP_CONST && op != CAVS__OP_USE &&
           op != CAVS__OP_SLICE && op != CAVS__OP_EACH_CHILD;
}

/* What the operands of a symbol have in common. */
struct operands {
    int domains;  /* 0: none is a list */
    int sample;   /* of the first operand that belongs to one; -1: none does */
    bool several; /* another operand belongs to another sample */
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
        int sample = cavs__told_by(inputs[i])->sample;

        to[i] = inputs[i];
        all->domains |= inputs[i]->domain;
        all->sample = all->sample < 0 ? sample : all->sample;
        all->several |= sample >= 0 && sample != all->sample;
    }
    return true;
}

/* Notes for its readers what a slice is: as the row that it is columns of, further right. */
static void tell_of_columns(struct cavs__node *node, const struct cavs__to_readers *of)
{
    struct cavs__to_readers *told = &node->to_readers;

    *told = *of;
    told->read.from += node->x.k;
    told->key[0] = cavs__columns_key(told->read.from % CAVS__LINE, node->x.width);
}

/* Notes for its readers what a symbol is that has no row of its own. */
static void tell_as_it_is(const struct cavs__recording *r, struct cavs__node *node)
{
    struct cavs__operand_sort o;
    struct cavs__read read = cavs__sort_operand(&node->x, &o);
    const struct cavs__entry *e = read.from != CAVS__NO_ROW ? &r->entries[read.of] : NULL;
    struct cavs__to_readers *told = &node->to_readers;

    told->key[0] = o.key[0];
    told->key[1] = o.key[1];
    told->read = read;
    told->sample = e ? e->sample : -1;
    told->run = e ? e->run : -1;
    told->row = e ? -1 : 0;
}

/* Where the symbol of a parameter of one row is kept; NULL: no memory. */
static struct cavs_symbol **place_of_use(struct cavs__recording *r, const struct cavs_param *p)
{
    struct cavs__uses *uses = &r->uses[r->generation & 1];
    size_t old = uses->room;

    if (!cavs__array_reserve(&uses->of, &uses->room, (size_t)p->number + 1, sizeof *uses->of))
        return NULL;
    memset(uses->of + old, 0, (uses->room - old) * sizeof *uses->of);
    return uses->of + p->number;
}

/* The symbol of a parameter of one row.  All samples share it, so it belongs to none and is not
 * counted: numbers of symbols do not depend on which sample mentions a parameter first.  NULL: out
 * of memory. */
static struct cavs_symbol *new_use(struct cavs__recording *r, const struct cavs_symbol *like)
{
    struct cavs__node *node = calloc(1, sizeof *node);

    if (!node)
        return NULL;
    node->x = *like;
    node->x.function = r->recorder.present;
    node->x.number = NO_NUMBER;
    node->x.ninputs = 0;
    node->x.inputs = NULL;
    node->x.needs_grad = node->x.whole = node->x.read_past = false;
    tell_as_it_is(r, node);
    return &node->x;
}

static struct cavs_symbol *record_use(struct cavs__recording *r, const struct cavs_symbol *like)
{
    struct cavs_symbol **use = place_of_use(r, like->param);

    if (use && !*use)
        *use = new_use(r, like);
    if (!use || !*use) {
        cavs__symbol_nomem(r->recorder.present, like);
        return NULL;
    }
    return *use;
}

/* An operator on a list becomes one on each of its entries; a sum, mean or maximum of rows stays
 * one symbol, whose operands are the entries. */
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

/* Begins the entry of a symbol with what its operands say.  The symbol is not counted yet. */
static inline struct cavs__entry *begin_entry(struct cavs__recording *r, struct cavs__node *node,
                                              const struct operands *operands)
{
    struct cavs_symbol *x = &node->x;
    int number = r->recorder.present->nsymbols;
    int sample = operands->sample < 0 ? cavs__present_sample(r) : operands->sample;
    struct cavs__entry *e = &r->entries[number];

    x->function = r->recorder.present;
    x->number = number;
    x->needs_grad = x->whole = x->read_past = false;
    node->place = r->count[sample];
    *e = (struct cavs__entry){.site = CAVS__NO_SITE, .sample = sample, .reads = (int32_t)r->nreads};
    r->marks[number] = x->op == CAVS__OP_METRIC ? CAVS__SUMMED_UP : 0;
    return e;
}

/* Does a worker record a symbol that reads another sample?  That is no use to the tape: such a
 * sample is recorded again, on the tape itself. */
static bool reads_others(const struct cavs__recording *r, const struct cavs__node *node,
                         const struct operands *operands)
{
    const int sample = r->entries[node->x.number].sample;

    if (!r->recorder.aside || (!operands->several && sample == cavs__present_sample(r)))
        return false;
    cavs__function_fail(node->x.function, CAVS_ESTATE, node->x.at, "%s reads sample %d",
                        cavs__symbol_label(&node->x), sample);
    return true;
}

/* Counts it, to the sample that its entry names. */
static inline struct cavs_symbol *end_entry(struct cavs__recording *r, struct cavs__node *node,
                                            int sample)
{
    r->count[sample]++;
    r->recorder.present->nsymbols++;
    cavs__find_following(r, node);
    return &node->x;
}

static struct cavs_symbol *record(struct cavs__recording *r, struct cavs__node *node,
                                  const struct operands *operands)
{
    struct cavs__entry *e = begin_entry(r, node, operands);

    if (reads_others(r, node, operands))
        return NULL;
    if (is_computed(node->x.op)) {
        if (!cavs__record_computed(r, node, e, operands->several))
            return NULL;
        cavs__tell_of_row(node, e->sample, e->run);
    } else {
        r->signature[node->x.number] = CAVS__NOT_COMPUTED;
        if (node->x.op == CAVS__OP_SLICE && cavs__told_by(node->in[0])->row)
            tell_of_columns(node, cavs__told_by(node->in[0]));
        else
            tell_as_it_is(r, node);
    }
    return end_entry(r, node, e->sample);
}

/* Is it columns of a row that has been recorded for the present sample? */
static inline bool is_columns(const struct cavs__recording *r, const struct cavs_symbol *x,
                              const struct cavs_symbol *of)
{
    return x->op == CAVS__OP_SLICE && of->domain == 0 && cavs__told_by(of)->row &&
           cavs__told_by(of)->sample == cavs__present_sample(r);
}

/* Records a symbol of the present sample that is not computed and whose operands, n, are noted:
 * what its readers read in its place is told already. */
static struct cavs_symbol *record_view(struct cavs__recording *r, struct cavs__node *node, int n)
{
    const struct operands operands = {.sample = cavs__present_sample(r)};

    node->x.ninputs = n;
    node->x.inputs = node->in;
    begin_entry(r, node, &operands);
    r->signature[node->x.number] = CAVS__NOT_COMPUTED;
    return end_entry(r, node, operands.sample);
}

/* Notes for its readers that it is an id, and no list of ids. */
static inline void tell_of_id(struct cavs__node *node)
{
    struct cavs__operand_sort o = {.kind = CAVS__OPERAND_ID};
    struct cavs__to_readers *told = &node->to_readers;

    cavs__set_key(&o);
    *told = (struct cavs__to_readers){.key = {o.key[0], o.key[1]},
                                      .read = {.of = node->x.k, .from = CAVS__NO_ROW},
                                      .sample = -1,
                                      .run = -1};
}

/* Records any other symbol.  This is not inlined, so that views need not save its registers. */
static __attribute__((noinline)) struct cavs_symbol *record_reading(
    struct cavs__recording *r, struct cavs__node *node, int n, struct cavs_symbol *const *inputs)
{
    struct cavs_symbol *x = &node->x;
    const struct cavs_symbol *other = cavs__other_likely(&r->sites);
    struct operands operands;

    if (x->op == CAVS__OP_USE)
        return record_use(r, x);
    if (other && other != r->sites.likely && cavs__is_like(x, n, other)) {
        struct cavs_symbol *usual;

        r->sites.likely = other;
        usual = cavs__record_usual(&r->recorder, inputs);
        if (usual)
            return usual;
    }
    if (!set_operands(r, node, n, inputs, &operands)) {
        cavs__symbol_nomem(r->recorder.present, x);
        return NULL;
    }
    if ((operands.domains > 0 || x->domain > 0 || x->op == CAVS__OP_LIST_SHARE) &&
        cavs__reads_lists(x, n, inputs))
        return record_on_lists(r, n, inputs);
    return record(r, node, &operands);
}

struct cavs_symbol *cavs__record_symbol(struct cavs__recorder *recorder, int n,
                                        struct cavs_symbol *const *inputs)
{
    struct cavs__recording *r = (struct cavs__recording *)recorder;
    struct cavs__node *node = (struct cavs__node *)recorder->next;
    struct cavs_symbol *x = &node->x;

    if (!has_room(r, x))
        return NULL;
    if (x->op == CAVS__OP_IDS && n == 0) {
        tell_of_id(node);
        return record_view(r, node, 0);
    }
    if (n == 1 && is_columns(r, x, inputs[0])) {
        node->in[0] = inputs[0];
        tell_of_columns(node, cavs__told_by(inputs[0]));
        return record_view(r, node, 1);
    }
    return record_reading(r, node, n, inputs);
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
