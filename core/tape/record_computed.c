/* SPDX-License-Identifier: Apache-2.0 */
/* record_computed.c - see recording_parts.h: the site and the signature of a symbol that is
 * computed. */
#include "core/base/array.h"
#include "core/declare/build.h"
#include "core/tape/recording_parts.h"

/* Writes the reads of x, a symbol of that run.  Are its operands of the kinds that the last
 * signature has, which has as many? */
static inline bool has_operands(const struct cavs__recording *r, const struct cavs__glance *last,
                                const struct cavs_symbol *x, int32_t run, struct cavs__read *reads)
{
    const struct cavs__operand_sort *all =
        x->ninputs > 2 ? r->signatures.all[last->number]->operands : NULL;
    uint64_t differ = 0;

    for (int i = 0; i < x->ninputs; i++) {
        const struct cavs__to_readers *in = cavs__told_by(x->inputs[i]);
        const uint64_t *key = all ? all[i].key : last->key[i];

        reads[i] = cavs__read_of(in, run);
        differ |= (key[0] ^ in->key[0]) | (key[1] ^ in->key[1]);
    }
    return differ == 0;
}

/* Mostly it is the one that the last symbol had; that is compared before anything is looked up. */
static inline int signature_of(struct cavs__recording *r, const struct cavs_symbol *x,
                               const struct cavs__entry *e, const struct cavs__glance *last)
{
    struct cavs__read *reads = r->reads + e->reads;

    if ((e->site >= 0 ? cavs__same_at_site(last, x) : cavs__same_at_a_glance(last, x)) &&
        x->op != CAVS__OP_APPLY && !cavs__takes_list(x->op) &&
        has_operands(r, last, x, e->run, reads))
        return last->number;
    for (int i = 0; i < x->ninputs; i++)
        reads[i] = cavs__read_of(cavs__told_by(x->inputs[i]), e->run);
    return cavs__sorted_signature(r, x);
}

static bool out_of_memory(const struct cavs__node *node)
{
    return cavs__symbol_nomem(node->x.function, &node->x);
}

static bool is_plain(const struct cavs__site *site)
{
    const struct cavs_symbol *like = &site->last.like;

    return !site->first && !like->metric && like->ninputs >= 1 && like->ninputs <= 2;
}

/* Finds the signature of a node, which is the last one of its site from then on; NULL: reported. */
static const struct cavs__glance *sign(struct cavs__recording *r, const struct cavs__node *node,
                                       const struct cavs__entry *e)
{
    const struct cavs_symbol *x = &node->x;
    struct cavs__glance *last = e->site >= 0 ? &r->sites.all[e->site].last : &r->sourced;
    int number = -1;

    /* With one more there is an array even before the first symbol that reads. */
    if (r->nreads <= CAVS__MOST_READS - x->ninputs &&
        cavs__array_reserve(&r->reads, &r->read_room, (size_t)(r->nreads + x->ninputs + 1),
                            sizeof *r->reads))
        number = signature_of(r, x, e, last);
    /* What workers record has none that the tape has not, and memory is asked for there. */
    if (number < 0 && cavs__may_note(x->function, cavs__symbol_label(x), x->at))
        out_of_memory(node);
    if (number < 0)
        return NULL;
    if (number == last->number)
        return last;
    *last = cavs__glance_at(&r->signatures, number);
    last->like.at = x->at;
    last->like.number = e->site;
    if (e->site >= 0)
        r->sites.all[e->site].plain = is_plain(&r->sites.all[e->site]);
    return last;
}

bool cavs__add_sink(struct cavs__recording *r, int number)
{
    if (!cavs__array_reserve(&r->sinks, &r->sink_room, (size_t)r->nsinks + 1, sizeof *r->sinks))
        return false;
    r->sinks[r->nsinks++] = number;
    return true;
}

static bool add_run(struct cavs__recording *r, const struct cavs__entry *e)
{
    if (!cavs__array_reserve(&r->runs, &r->run_room, (size_t)r->nruns + 1, sizeof *r->runs))
        return false;
    r->runs[r->nruns++] = (struct cavs__run_begin){e->run, e->site, e->reads, e->sample};
    return true;
}

/* Finds the site and the run.  A symbol that reads nothing computed belongs to no run. */
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
    if (e->site < 0 || (e->run == x->number && !add_run(r, e)))
        return out_of_memory(node);
    if (e->sample != cavs__present_sample(r))
        cavs__sites_visit_next(&r->sites);
    site = &r->sites.all[e->site];
    if (cavs__takes_list(x->op))
        cavs__site_lists(&r->sites, e->site, x->ninputs);
    if (site->asked)
        r->marks[x->number] |= CAVS__READ_OUTSIDE;
    return true;
}

bool cavs__record_computed(struct cavs__recording *r, struct cavs__node *node,
                           struct cavs__entry *e, bool several)
{
    const struct cavs__glance *signature;

    if (!find_site(r, node, e))
        return false;
    if (node->x.op == CAVS__OP_CONCAT)
        node->x.whole = r->sites.all[e->site].alone;
    signature = sign(r, node, e);
    if (!signature)
        return false;
    r->signature[node->x.number] = signature->number;
    node->x.needs_grad = signature->like.needs_grad;
    e->nreads = node->x.ninputs;
    if (several && !cavs__unite_samples(r, node))
        return out_of_memory(node);
    r->nreads += node->x.ninputs;
    return !node->x.metric || cavs__add_sink(r, node->x.number) || out_of_memory(node);
}
