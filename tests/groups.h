/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - element-wise groups for tests and benchmarks: descriptions, and operands to run them
 * on. */
#ifndef CAVS_TESTS_GROUPS_H
#define CAVS_TESTS_GROUPS_H

#include <stdint.h>

#include "codelets/groups/elementwise.h"

#define GROUP_MAX 128

struct group {
    struct cavs__ew_spec spec; /* points into this struct: do not copy */
    bool scalar[GROUP_MAX];
    struct cavs__ew_node nodes[GROUP_MAX];
    int outputs[GROUP_MAX];
};

void group_start(struct group *g, int width);
/* These return an operand. */
int group_input(struct group *g);
int group_scalar(struct group *g);
int group_constant(struct group *g, float s);
/* Expression `which` of an operator, its operands in the order of cavs__ew_operands(). */
int group_node(struct group *g, int op, int which, const int *in, float s);
int group_op1(struct group *g, const char *name, int a);
int group_op2(struct group *g, const char *name, int a, int b);
/* The gradients of sigmoid and tanh, which read y and g. */
int group_grad(struct group *g, const char *name, int y, int grad);
void group_output(struct group *g, int operand);

/* LSTM cell. Inputs zi zf zo zg (products), bi bf bo bg (biases), c of the child;
 * outputs i f o g c tanh(c) h. */
void group_lstm(struct group *g, int width);
/* Its gradient. Inputs dh dc i f o g tanh(c), c of the child; outputs dzi dzf dzo dzg, dc of the
 * child. */
void group_lstm_grad(struct group *g, int width);

/* Random operands: inputs of every kind that a view can be (direct, one row for all, gathered with
 * missing rows), rows at odd distances, unset outputs. */
struct group_data {
    const struct cavs__ew_spec *spec;
    int rows;
    struct cavs__view views[GROUP_MAX];
    void *memory[2 * GROUP_MAX];
    int nmemory;
};

void group_data_init(struct group_data *d, const struct cavs__ew_spec *spec, int rows, double lo,
                     double hi, uint64_t *random);
void group_data_free(struct group_data *d);
/* What input i reads as, and what stands in output k. */
float group_data_input(const struct group_data *d, int i, int row, int column);
float group_data_output(const struct group_data *d, int k, int row, int column);
/* Fills the outputs with NaN, also between and after their rows. */
void group_data_unset(struct group_data *d);
/* Between and after the rows there still is NaN. */
bool group_data_untouched_outside(const struct group_data *d);

#endif
