/* SPDX-License-Identifier: Apache-2.0 */
/* columns_of_stage.c - the columns of a stage by number and by name, and where samples begin in
 * each. */
#include "core/data/packed.h"

/* The columns that every stage has. */
static const struct {
    const char *name;
    size_t offset;
    enum { OF_SAMPLES, OF_VERTICES, OF_CHILDREN } has_values;
} fixed_columns[] = {
    {"start", offsetof(struct cavs__stage_data, start), OF_SAMPLES},
    {"function", offsetof(struct cavs__stage_data, function), OF_VERTICES},
    {"degree", offsetof(struct cavs__stage_data, degree), OF_VERTICES},
    {"first", offsetof(struct cavs__stage_data, first), OF_SAMPLES},
    {"child", offsetof(struct cavs__stage_data, child), OF_CHILDREN},
    {"count", offsetof(struct cavs__stage_data, count), OF_SAMPLES},
    {"over", offsetof(struct cavs__stage_data, over), OF_VERTICES},
};

/* Those that every input has. */
static const char *const input_columns[] = {"values", "equal", "length", "entry"};

enum {
    NFIXED = sizeof fixed_columns / sizeof *fixed_columns,
    NINPUT = sizeof input_columns / sizeof *input_columns
};

int cavs__stage_columns(const struct cavs__stage_data *s)
{
    return NFIXED + NINPUT * s->stage->ninputs;
}

struct cavs__column *cavs__stage_column(struct cavs__stage_data *s, int i, const char **name,
                                        const struct cavs__input **input)
{
    bool fixed = i < NFIXED;
    int k = (i - NFIXED) / NINPUT, which = (i - NFIXED) % NINPUT;

    if (name)
        *name = fixed ? fixed_columns[i].name : input_columns[which];
    if (input)
        *input = fixed ? NULL : s->stage->inputs[k];
    if (fixed)
        return (struct cavs__column *)((char *)s + fixed_columns[i].offset);
    return which == 0   ? &s->inputs[k]
           : which == 1 ? &s->equal[k]
           : which == 2 ? &s->length[k]
                        : &s->entry[k];
}

static const int64_t *fixed_column_starts(const struct cavs__stage_data *s, int i)
{
    switch (fixed_columns[i].has_values) {
    case OF_VERTICES: return s->start.p;
    case OF_CHILDREN: return s->first.p;
    default: return NULL;
    }
}

const int64_t *cavs__stage_column_starts(const struct cavs__stage_data *s, int i)
{
    int k = (i - NFIXED) / NINPUT;

    if (i < NFIXED)
        return fixed_column_starts(s, i);
    switch ((i - NFIXED) % NINPUT) {
    case 2: return s->start.p; /* lengths of lists */
    case 3: return NULL;
    default: return cavs__input_starts(s, k);
    }
}

const int64_t *cavs__input_starts(const struct cavs__stage_data *s, int input)
{
    switch (s->stage->inputs[input]->per) {
    case CAVS__PER_EDGE: return s->first.p;
    case CAVS__PER_ENTRY: return s->entry[input].p;
    default: return s->start.p;
    }
}
