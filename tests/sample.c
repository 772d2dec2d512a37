/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - samples with random inputs. */
#include "tests/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

static void *must(void *p, const char *what)
{
    if (!p) {
        fprintf(stderr, "sample: %s\n", what);
        abort();
    }
    return p;
}

static void *array(size_t n, size_t size)
{
    return must(calloc(n + 1, size), "out of memory");
}

/* A vertex for each vertex, or root, of the stage below. */
static void stand_over(struct sample_stage *s, const struct sample_stage *base,
                       enum cavs_over which)
{
    int *wanted = array((size_t)base->n, sizeof *wanted);
    if (which == CAVS_ROOTS)
        graph_roots(base->graph, wanted);
    s->under = array((size_t)base->n, sizeof *s->under);
    for (int v = 0; v < base->n; v++) {
        if (which == CAVS_ALL_VERTICES || wanted[v])
            s->under[s->n++] = v;
    }
    free(wanted);
    char text[32];
    snprintf(text, sizeof text, "flat:%d", s->n);
    s->graph = must(graph_make(text), text);
}

/* The graph of one stage from the next part of the text. */
static const char *bring_graph(struct sample_stage *s, const char *text)
{
    char part[128];
    size_t length = strcspn(must((void *)text, "more stages than graphs"), "|");
    snprintf(part, sizeof part, "%.*s", (int)length, text);
    s->graph = must(graph_make(part), part);
    s->n = s->graph->n;
    return text[length] ? text + length + 1 : NULL;
}

static void fill_ids(struct sample *s, const struct cavs__input *in, int *ids, int n,
                     uint64_t *seed)
{
    int limit = in->limit == INT32_MAX ? 2 : in->limit;
    if (in->vertices_of)
        limit = s->stages[in->vertices_of->number].n;
    for (int v = 0; v < n; v++)
        ids[v] = limit == 0 || random_int(seed, 0, 7) == 0 ? -1 : random_int(seed, 0, limit - 1);
}

/* How many values an input has; lists get their lengths. */
static int values(struct sample_stage *own, const struct cavs__input *in, uint64_t *seed)
{
    if (in->per == CAVS__PER_EDGE)
        return own->graph->child_ptr[own->n];
    if (in->per == CAVS__PER_VERTEX)
        return own->n;
    int *ptr = own->ptr[in->number] = array((size_t)own->n + 1, sizeof *ptr);
    for (int v = 0; v < own->n; v++)
        ptr[v + 1] = ptr[v] + random_int(seed, 0, 4);
    return ptr[own->n];
}

static void fill_stage(struct sample *s, const struct cavs_stage *stage, uint64_t *seed)
{
    struct sample_stage *own = &s->stages[stage->number];
    own->ids = array((size_t)stage->ninputs, sizeof *own->ids);
    own->rows = array((size_t)stage->ninputs, sizeof *own->rows);
    own->ptr = array((size_t)stage->ninputs, sizeof *own->ptr);
    for (int i = 0; i < stage->ninputs; i++) {
        const struct cavs__input *in = stage->inputs[i];
        int n = values(own, in, seed);
        if (in->ids) {
            own->ids[i] = array((size_t)n, sizeof(int));
            fill_ids(s, in, own->ids[i], n, seed);
            continue;
        }
        own->rows[i] = array((size_t)n * in->width, sizeof(float));
        for (int j = 0; j < n * in->width; j++)
            own->rows[i][j] = (float)random_double(seed, -1, 1);
    }
}

struct sample *sample_make(const struct cavs_model *m, const char *text, uint64_t seed)
{
    struct sample *s = array(1, sizeof *s);
    s->model = m;
    s->stages = array((size_t)m->nstages, sizeof *s->stages);
    for (int i = 0; i < m->nstages; i++) {
        const struct cavs_stage *stage = m->stages[i];
        if (stage->base)
            stand_over(&s->stages[i], &s->stages[stage->base->number], stage->over);
        else
            text = bring_graph(&s->stages[i], text);
        fill_stage(s, stage, &seed);
    }
    return s;
}

void sample_free(struct sample *s)
{
    for (int i = 0; s && i < s->model->nstages; i++) {
        struct sample_stage *own = &s->stages[i];
        for (int j = 0; j < s->model->stages[i]->ninputs; j++) {
            free(own->ids[j]);
            free(own->rows[j]);
            free(own->ptr[j]);
        }
        free(own->ids);
        free(own->rows);
        free(own->ptr);
        free(own->under);
        graph_free(own->graph);
    }
    if (s)
        free(s->stages);
    free(s);
}

static int find_input(const struct sample *s, int stage, const char *input)
{
    const struct cavs_stage *st = s->model->stages[stage];
    for (int i = 0; i < st->ninputs; i++) {
        if (!strcmp(st->inputs[i]->name, input))
            return i;
    }
    must(NULL, input);
    return -1;
}

int *sample_ids(struct sample *s, int stage, const char *input)
{
    return s->stages[stage].ids[find_input(s, stage, input)];
}

float *sample_rows(struct sample *s, int stage, const char *input)
{
    return s->stages[stage].rows[find_input(s, stage, input)];
}

static int add_stage(const struct sample *s, const struct cavs_stage *stage, struct cavs_data *d)
{
    const struct sample_stage *own = &s->stages[stage->number];
    const struct graph *g = own->graph;
    int rc = 0;
    if (!stage->base)
        rc = cavs_data_graph(d, stage, g->n, g->functions, g->child_ptr, g->children);
    for (int i = 0; i < stage->ninputs && rc == 0; i++) {
        const char *name = stage->inputs[i]->name;
        enum cavs__per per = stage->inputs[i]->per;
        if (per == CAVS__PER_ENTRY)
            rc = cavs_data_ragged_ids(d, stage, name, own->n, own->ptr[i], own->ids[i]);
        else if (per == CAVS__PER_EDGE && own->ids[i])
            rc = cavs_data_edge_ids(d, stage, name, g->child_ptr[g->n], own->ids[i]);
        else if (per == CAVS__PER_EDGE)
            rc = cavs_data_edge_rows(d, stage, name, g->child_ptr[g->n], own->rows[i]);
        else if (own->ids[i])
            rc = cavs_data_ids(d, stage, name, own->n, own->ids[i]);
        else
            rc = cavs_data_rows(d, stage, name, own->n, own->rows[i]);
    }
    return rc;
}

int sample_add(const struct sample *s, struct cavs_data *d)
{
    int rc = cavs_data_begin(d);
    for (int i = 0; i < s->model->nstages && rc == 0; i++)
        rc = add_stage(s, s->model->stages[i], d);
    return rc ? rc : cavs_data_end(d);
}
