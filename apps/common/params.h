/* SPDX-License-Identifier: Apache-2.0 */
/* params.h - parameters as most models have them. */
#ifndef CAVS_APPS_PARAMS_H
#define CAVS_APPS_PARAMS_H

#include "core/cavs.h"

/* n weights of that size side by side, each with a range of its own: the gates of a cell. */
static inline struct cavs_param *app_weights(struct cavs_model *m, const char *name, int rows,
                                             int cols, int n)
{
    return cavs_model_param(m, name, rows, n * cols, cavs_init_glorot(rows, cols));
}

static inline struct cavs_param *app_weight(struct cavs_model *m, const char *name, int rows,
                                            int cols)
{
    return app_weights(m, name, rows, cols, 1);
}

/* Zero at first. */
static inline struct cavs_param *app_bias(struct cavs_model *m, const char *name, int cols)
{
    return cavs_model_param(m, name, 1, cols, CAVS_CONSTANT(0));
}

/* A row for each word, drawn from -range to range. */
static inline struct cavs_param *app_embedding(struct cavs_model *m, const char *name, int rows,
                                               int cols, float range)
{
    return cavs_model_param(m, name, rows, cols, CAVS_UNIFORM(-range, range));
}

#endif
