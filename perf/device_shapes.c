/* SPDX-License-Identifier: Apache-2.0 */
/* device_shapes.c - see device_shapes.h. */
#include "perf/device_shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/groups.h"

enum { LIST = 4 /* entries of each list */, LABELS = 5 };

const struct shape shapes[] = {
    /* Tree-LSTM h 256 K 64 */
    {"column_sum", 1250, "i768 o768"},
    {"column_sum", 2500, "i256 o256"},
    {"column_sum", 2500, "i5 o5"},
    {"copy_rows", 2500, "i256 d256"},
    {"sum_rows", 1250, "s512 d512"},
    {"sum_rows", 60, "s512 d512"},
    {"metric", 2500, "d1 n1 o4"},
    {"group copies", 1250, "i256x2 d256x2"},
    {"group copies", 60, "i256x2 d256x2"},
    {"group lstm", 60, "i256x4 o256x4 i256 d256x7"},
    {"sequence", 60, "s512 d512 d256x7 i256 d256x5"},
    {"update", 512, "d768"},
    {"norm", 512, "d768"},
    {"sparse update", 750, "d256"},
    /* Tree-LSTM h 512 K 256 */
    {"column_sum", 2000, "d1536 o1536"},
    {"column_sum", 5000, "i1536 o1536"},
    {"column_sum", 5000, "i512 o512"},
    {"column_sum", 10500, "i5 o5"},
    {"copy_rows", 5000, "i512 d512"},
    {"copy_rows", 10500, "i512 d512"},
    {"sum_rows", 5000, "s1024 d1024"},
    {"metric", 10500, "d1 n1 o4"},
    {"softmax_xent", 10500, "d5 n1 d1"},
    {"softmax_xent_grad", 10500, "d5 n1 d1 d5"},
    {"correct", 10500, "d5 n1 d1"},
    {"group copies", 5000, "i512x2 d512x2"},
    {"group add", 5000, "i512x2 d512"},
    {"group add", 10500, "d5 o5 d5"},
    {"group lstm", 1000, "i512x4 o512x4 i512 d512x7"},
    {"group lstm_grad", 5000, "d512x7 i512 d512x5"},
    {"sequence", 1000, "s1024 d1024 d512x7 i512 d512x5"},
    {"update", 1024, "d1536"},
    {"norm", 1024, "d1536"},
    {"sparse update", 2000, "d512"},
    /* Tree-FC h 512 K 256 */
    {"column_sum", 65280, "d512 o512"},
    {"sum_rows", 58250, "s512 d512"},
    {"group copies", 16384, "i512x2 d512x2"},
    {"group add", 8192, "d512 o512 d512"},
    /* language models, attention, lists */
    {"softmax_xent", 2240, "d10000 n1 d1"},
    {"softmax_xent_grad", 2240, "d10000 n1 d1 d10000"},
    {"correct", 2240, "d10000 n1 d1"},
    {"softmax", 2240, "d10000x2"},
    {"rms_norm", 5000, "d512x2"},
    {"row_sum", 5000, "d512 d1"},
    {"row_max", 5000, "d512 d1"},
    {"dropout", 5000, "d512 n1x2 d512"},
    {"pick", 10500, "d10 n1 d1"},
    {"pick_grad", 10500, "n1 d1 d10"},
    {"mask", 10500, "n1 d1"},
    {"list_sum", 5000, "l512 d512"},
    {"list_max", 5000, "l512 d512"},
    {"list_max_grad", 5000, "l512 d512 e512"},
    {"list_softmax", 5000, "l64 e64"},
    {"list_softmax_grad", 5000, "l64 e64x2"},
};
const int nshapes = sizeof shapes / sizeof *shapes;
_Static_assert(sizeof shapes / sizeof *shapes <= MOST_SHAPES, "MOST_SHAPES");

/* ---- operands ---- */

static int32_t rows_of(const struct scene *s, char kind)
{
    return kind == 'o' ? 1 : kind == 'l' || kind == 'e' ? LIST * s->rows : s->rows;
}

static void add_operand(struct scene *s, char kind, int cols)
{
    int32_t rows = rows_of(s, kind);
    bool named = kind == 'i' || kind == 's';

    s->v[s->nviews] = (struct cavs__device_view){.memory = {NULL, s->floats},
                                                 .ld = kind == 'o' ? 0 : cols,
                                                 .cols = cols,
                                                 .index = named         ? s->order
                                                          : kind == 'n' ? s->labels
                                                                        : -1,
                                                 .ptr = kind == 's'   ? s->numbers
                                                        : kind == 'l' ? s->lists
                                                                      : -1};
    s->operands[s->nviews].cols = cols;
    s->kind[s->nviews++] = kind;
    s->floats += kind == 'n' ? 0 : ((int64_t)rows * cols + 15) / 16 * 16;
    s->bytes += 4.0 * rows * cols + (named || kind == 'l' ? 4.0 * s->rows : 0);
}

static void add_operands(struct scene *s, const char *views)
{
    char kind;

    for (int cols, n; sscanf(views, " %c%d%n", &kind, &cols, &n) == 2; views += n) {
        int times = 1, more = 0;

        sscanf(views + n, "x%d%n", &times, &more);
        n += more;
        for (int i = 0; i < times; i++)
            add_operand(s, kind, cols);
    }
}

int32_t *scene_index(const struct scene *s, size_t *bytes)
{
    int32_t *index = calloc(1, *bytes = (size_t)(s->zeros + s->rows) * sizeof *index);

    for (int i = 0; index && i < s->rows; i++) {
        index[s->order + i] = (int32_t)((int64_t)i * 7919 % s->rows);
        index[s->labels + i] = i % LABELS;
    }
    for (int i = 0; index && i <= s->rows; i++) {
        index[s->numbers + i] = i;
        index[s->lists + i] = i * LIST;
    }
    return index;
}

/* ---- calls ---- */

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static void make_group(struct scene *s, const char *name)
{
    static struct group g;
    int width = s->v[s->nviews - 1].cols;

    if (strcmp(name, "lstm") == 0) {
        group_lstm(&g, width);
    } else if (strcmp(name, "lstm_grad") == 0) {
        group_lstm_grad(&g, width);
    } else {
        int a, b;

        group_start(&g, width);
        a = group_input(&g);
        b = group_input(&g);
        if (strcmp(name, "add") == 0) {
            group_output(&g, group_op2(&g, "add", a, b));
        } else {
            group_output(&g, a);
            group_output(&g, b);
        }
    }
    s->program = cavs__ew_program_create(&g.spec, CAVS__EW_INTERPRET);
    s->call =
        (struct cavs__call){.kernel = cavs__kernel_find("elementwise"), .program = s->program};
}

/* The sum of rows, then the gradient of an LSTM cell. */
static void make_sequence(struct scene *s)
{
    make_group(s, "lstm_grad");
    s->steps[0] = (struct cavs__step){
        .call = {.kernel = cavs__kernel_find("sum_rows")}, .nviews = 2, .v = s->operands};
    s->steps[1] =
        (struct cavs__step){.call = s->call, .nviews = s->nviews - 2, .v = s->operands + 2};
    s->sequence = (struct cavs__sequence){.n = 2, .steps = s->steps};
}

void scene_make(struct scene *s, const struct shape *shape, int divide)
{
    int rows = (shape->rows + divide - 1) / divide;

    *s = (struct scene){.shape = shape,
                        .rows = rows,
                        .labels = rows,
                        .numbers = 2 * rows,
                        .lists = 3 * rows + 1,
                        .zeros = 4 * rows + 2};
    add_operands(s, shape->views);
    if (starts(shape->name, "group "))
        make_group(s, shape->name + strlen("group "));
    else if (starts(shape->name, "sequence"))
        make_sequence(s);
    else
        s->call.kernel = cavs__kernel_find(shape->name);
    if (s->sequence.n > 0) /* the sums are read again */
        s->bytes += 4.0 * rows * s->v[1].cols;
    else if (strcmp(shape->name, "update") == 0) /* values, two states, a transposed copy */
        s->bytes *= 9;
    else if (starts(shape->name, "sparse")) /* a gradient, values, two states */
        s->bytes *= 7;
}
