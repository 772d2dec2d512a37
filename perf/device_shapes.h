/* SPDX-License-Identifier: Apache-2.0 */
/* device_shapes.h - what device_kernels measures: kernels at the shapes that they have in programs,
 * and operands for them. */
#ifndef CAVS_PERF_DEVICE_SHAPES_H
#define CAVS_PERF_DEVICE_SHAPES_H

#include "codelets/device/device.h"

/* Operands are letters with columns, and how many of them there are (x4): d a row for each, i rows
 * by index, s sums of one row each, o one row, n ids, l lists, e a row for each of their
 * entries. */
struct shape {
    const char *name; /* a kernel's, or one that queue() of device_kernels.c knows */
    int rows;
    const char *views;
};

enum { MOST_SHAPES = 64, MOST_VIEWS = 32 };

/* A shape whose operands have places in memory that is not there yet. */
struct scene {
    const struct shape *shape;
    struct cavs__call call; /* without a kernel: see shape.name */
    struct cavs__ew_program *program;
    struct cavs__step steps[2]; /* of a sequence */
    struct cavs__operand operands[MOST_VIEWS];
    struct cavs__sequence sequence; /* n is 0: it is none */
    int rows, nviews;
    char kind[MOST_VIEWS];
    struct cavs__device_view v[MOST_VIEWS];
    int64_t floats; /* of all operands */
    double bytes;   /* that have to be read and written */
    /* Where the index buffer has rows in another order, labels, the numbers from 0 on, the first
     * entries of lists, and zeros. */
    int order, labels, numbers, lists, zeros;
};

extern const struct shape shapes[];
extern const int nshapes;

/* divide: so many times fewer rows */
void scene_make(struct scene *s, const struct shape *shape, int divide);
/* To be freed; NULL when out of memory. */
int32_t *scene_index(const struct scene *s, size_t *bytes);

#endif
