/* SPDX-License-Identifier: Apache-2.0 */
/* unfolded.c - see unfolded.h: life of an unfolded function, and what builders add to it. */
#include "core/tape/unfolded.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/declare/build.h"
#include "core/tape/recording.h"

/* Dropout draws other numbers at each place of the code, also for each entry of a list: so each
 * gets a number, of 32 bits, as the generator takes it. */
enum { SITES_OF_A_MODEL = 1 << 16 };

/* Adds what builders make to the unfolded function; operators on lists are written out entry by
 * entry. */
static struct cavs_symbol *append(struct cavs__recorder *recorder, int n,
                                  struct cavs_symbol *const *inputs)
{
    struct cavs_symbol like = *recorder->next, *x;
    struct cavs_function *f = recorder->present;

    if (!recorder->keeps_lists && cavs__reads_lists(&like, n, inputs))
        return cavs__record_on_lists(f, &like, n, inputs);
    if (like.op == CAVS__OP_DROPOUT)
        like.k = (int)((unsigned)like.k + SITES_OF_A_MODEL * (unsigned)f->nsymbols);
    x = cavs__symbol_append(f, &like, n, inputs);
    if (!x)
        cavs__function_fail(f, CAVS_ENOMEM, like.at, "apply: out of memory");
    return x;
}

static void free_piece(struct cavs__unfolded_piece *p)
{
    if (!p)
        return;
    free(p->members);
    free(p->operands);
    free(p->results);
    free(p->column);
    free(p);
}

void cavs__unfolded_free(struct cavs__unfolded *u)
{
    if (!u)
        return;
    for (int i = 0; i < CAVS__PIECES; i++)
        free_piece(u->pieces[i]);
    cavs__function_destroy(u->f);
    free(u->codes);
    free(u->given);
    free(u->channels);
    free(u);
}

static uint32_t print_of(const struct cavs__unfolded *u)
{
    const struct cavs_stage *stage = u->of->stage;
    uint64_t h = cavs__hash(CAVS__HASH_START, stage->name, strlen(stage->name) + 1);

    h = cavs__hash(h, u->of->name, strlen(u->of->name) + 1);
    h = cavs__hash(h, u->codes, (size_t)u->ncodes * sizeof *u->codes);
    return (uint32_t)(h ^ h >> 32);
}

struct cavs__unfolded *cavs__new_unfolded(struct cavs_stage *stage, const struct cavs_function *of,
                                          int ncodes, const int32_t *codes)
{
    struct cavs__unfolded *u = calloc(1, sizeof *u);

    if (!u)
        return NULL;
    u->of = of;
    u->ncodes = ncodes;
    u->nchildren = ncodes - of->stage->ninputs;
    u->codes = malloc(((size_t)ncodes + 1) * sizeof *codes);
    u->channels = calloc((size_t)of->stage->nchannels + 1, sizeof(*u->channels));
    u->f = calloc(1, sizeof *u->f);
    if (u->f)
        *u->f = (struct cavs_function){
            .stage = stage, .name = strdup(of->name), .recorder = &u->recorder};
    if (!u->codes || !u->channels || !u->f || !u->f->name) {
        cavs__unfolded_free(u);
        return NULL;
    }
    for (int i = 0; i < ncodes; i++) {
        u->codes[i] = codes[i];
        u->listed |= codes[i] == CAVS__ANY_LENGTH;
    }
    u->print = print_of(u);
    u->recorder = (struct cavs__recorder){.next = &u->next,
                                          .add = append,
                                          .likely = &cavs__unlikely,
                                          .present = u->f,
                                          .keeps_lists = u->listed};
    return u;
}
