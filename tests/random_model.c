/* SPDX-License-Identifier: Apache-2.0 */
/* random_model.c - see random_model.h. */
#include "tests/random_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

void draw_range(const char *seeds, uint64_t *first, uint64_t *last)
{
    char *end;

    *first = *last = strtoull(seeds, &end, 10);
    if (*end == '-')
        *last = strtoull(end + 1, NULL, 10);
}

int draw_tests(struct CMUnitTest *to, struct CMUnitTest each, int n)
{
    static uint64_t seeds[DRAW_SEEDS];
    static char names[DRAW_SEEDS][32];
    const char *only = getenv("CAVS_TEST_SEED");
    uint64_t first = 0, last = (uint64_t)n - 1;

    if (only)
        draw_range(only, &first, &last);
    for (n = 0; n < DRAW_SEEDS && first + (uint64_t)n <= last; n++) {
        seeds[n] = first + (uint64_t)n;
        snprintf(names[n], sizeof names[n], "%s %llu", each.name, (unsigned long long)seeds[n]);
        to[n] = each;
        to[n].name = names[n];
        to[n].initial_state = &seeds[n];
    }
    return n;
}

uint64_t draw_seed(void **state)
{
    const uint64_t *seed = *state;

    return *seed;
}

int draw_pick(struct draw *d, int n)
{
    return random_int(&d->seed, 0, n - 1);
}

/* ---- functions and stages ---- */

/* What the vertex scatters: something new, or beside it what its first child scattered. */
static struct cavs_symbol *scattered(struct draw *d, int width)
{
    int kept = draw_pick(d, 4) || d->f->slots < 1 ? 0 : draw_pick(d, width + 1);
    struct cavs_symbol *xs[2];
    if (kept)
        xs[0] = cavs_slice(cavs_gather(d->f, 0), draw_pick(d, width - kept + 1), kept);
    if (kept < width)
        xs[kept != 0] = cavs_tanh(draw_of_width(d, width - kept));
    return cavs_concat(1 + (kept && kept < width), xs);
}

/* Channels show values, or columns of the state. */
static void push(struct draw *d, struct cavs_symbol *state)
{
    int w = cavs_symbol_width(state);
    bool shows = w >= 3 && draw_pick(d, 3) == 0;
    cavs_push(d->f, "y", shows ? cavs_slice(state, draw_pick(d, w - 2), 3) : draw_of_width(d, 3));
    cavs_push(d->f, "z", draw_of_width(d, 2));
}

static void function(struct draw *d, struct cavs_stage *s)
{
    struct cavs_symbol *state = NULL;
    char name[16];
    snprintf(name, sizeof name, "f%d", s->nfunctions);
    d->f = cavs_function_create(s, name);
    d->nsymbols = 0;
    draw_sources(d, 2 + draw_pick(d, 4));
    draw_operators(d, 2 + draw_pick(d, 14));
    if (s->state_width) {
        state = scattered(d, s->state_width);
        cavs_scatter(d->f, state);
    }
    if (s->nfunctions == 1 || draw_pick(d, 3))
        push(d, state);
    draw_losses(d);
}

static void graph_stage(struct draw *d)
{
    int width = draw_pick(d, 6) ? 1 + draw_pick(d, d->widest + 2) : 0;
    char name[16];
    snprintf(name, sizeof name, "graph%d", d->nstages);
    struct cavs_stage *s = d->stages[d->nstages++] = cavs_stage_create(d->m, name, width);
    d->kinds = width ? 1 + draw_pick(d, 3) : 1;
    d->slots = 2 + draw_pick(d, 3);
    for (int i = 0; i < d->kinds; i++)
        function(d, s);
}

static void stage_over(struct draw *d)
{
    struct cavs_stage *base = d->stages[draw_pick(d, d->nstages)];
    char name[16];
    snprintf(name, sizeof name, "over%d", d->nstages);
    d->stages[d->nstages] =
        cavs_stage_over(d->m, name, base, draw_pick(d, 2) ? CAVS_ROOTS : CAVS_ALL_VERTICES);
    d->kinds = 1;
    function(d, d->stages[d->nstages++]);
}

void draw_model(struct draw *d)
{
    d->widest = draw_pick(d, 6) ? 5 : 20 + draw_pick(d, 50);
    d->deep = draw_pick(d, 8) == 0;
    graph_stage(d);
    while (d->nstages < DRAW_STAGES && draw_pick(d, 2)) {
        if (draw_pick(d, 3))
            stage_over(d);
        else
            graph_stage(d);
    }
    if (!d->m->has_loss) /* it would not be trained */
        cavs_loss(d->f, "loss", cavs_sum(draw_per_vertex(d, draw_any(d))), NULL);
}

/* ---- options ---- */

void draw_engine(struct draw *d, struct cavs_session_options *o)
{
    o->policy = (enum cavs_policy)draw_pick(d, CAVS_POLICIES);
    o->shards = 1 + draw_pick(d, 4);
    o->grain = draw_pick(d, 2) ? 1e-7f : 0;
    o->no_lazy = draw_pick(d, 4) == 0;
    o->no_eager = draw_pick(d, 4) == 0;
    o->no_fusion = draw_pick(d, 4) == 0;
    o->no_dedup = draw_pick(d, 3) == 0;
    o->precision = draw_pick(d, 6) ? CAVS_FLOAT32 : CAVS_BFLOAT16;
}

/* ---- samples ---- */

static bool has_room(const struct cavs_function *f, int children)
{
    return f->slots == CAVS__ANY_CHILDREN || f->slots >= children;
}

/* How many children all vertices may have, up to n: no more than their functions have slots. */
static int room(const struct cavs_stage *s, int n)
{
    for (int i = 0; i < s->nfunctions - 1; i++) {
        if (!has_room(s->functions[i], i))
            return 0;
    }
    while (!has_room(s->functions[s->nfunctions - 1], n))
        n--;
    return n;
}

/* Its kind and size. */
static int graph_kind(struct draw *d, const struct cavs_stage *s, char *text, size_t n)
{
    static const char *const pairs[] = {"random", "chain",    "lattice", "forest",
                                        "binary", "sequence", "single"};
    int size = 1 + draw_pick(d, d->deep && draw_pick(d, 2) ? 60 : 12), most = room(s, size);
    int kind = draw_pick(d, 10);
    if (most == 0)
        return snprintf(text, n, "flat:%d", size);
    if (most == 1)
        return snprintf(text, n, kind ? "chain:%d" : "flat:%d", size);
    if (kind == 9)
        return snprintf(text, n, "star:%d", most);
    if (kind >= 7)
        return snprintf(text, n, "dag:%d,parents=%d,slots=%d", size, 2 + 7 * (kind - 7),
                        most < 5 ? most : 5);
    return snprintf(text, n, kind == 6 ? "%s" : "%s:%d", pairs[kind], size);
}

static const char *graph_text(struct draw *d, const struct cavs_stage *s, char *text, size_t n)
{
    int length = graph_kind(d, s, text, n);
    snprintf(text + length, n - (size_t)length, ",seed=%d,kinds=%d%s%s", 1 + draw_pick(d, 1000),
             s->nfunctions, draw_pick(d, 3) ? "" : ",shuffle=3",
             draw_pick(d, 5) ? "" : ",missing=4");
    return text;
}

static void sample_text(struct draw *d, char *text, size_t n)
{
    char part[80];
    text[0] = 0;
    for (int i = 0; i < d->nstages; i++) {
        if (d->stages[i]->base)
            continue;
        snprintf(text + strlen(text), n - strlen(text), "%s%s", i ? "|" : "",
                 draw_pick(d, 9) ? graph_text(d, d->stages[i], part, sizeof part) : "empty");
    }
}

void draw_samples(struct draw *d)
{
    for (int i = 0; i < DRAW_SAMPLES; i++)
        sample_text(d, d->texts[i], sizeof d->texts[i]);
}
