/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.h - optimizer arithmetic on rows of one parameter.  Pure kernels; core/run/optimizer.c
 * makes tasks of them.
 */
#ifndef CAVS_CODELETS_UPDATE_H
#define CAVS_CODELETS_UPDATE_H

#include <stddef.h>
#include <stdint.h>

enum cavs__rule {
    CAVS__RULE_SGD,
    CAVS__RULE_MOMENTUM,
    CAVS__RULE_NESTEROV,
    CAVS__RULE_ADAGRAD,
    CAVS__RULE_RMSPROP,
    CAVS__RULE_ADAM
};

/* g' = scale * g + weight_decay * w, then
 *   sgd       w -= lr g'
 *   momentum  s0 = momentum s0 + g';  w -= lr s0
 *   nesterov  s0 = momentum s0 + g';  w -= lr (g' + momentum s0)
 *   adagrad   s0 += g'^2;  w -= lr g' / (sqrt(s0) + epsilon)
 *   rmsprop   s0 = decay s0 + (1-decay) g'^2;  w -= lr g' / (sqrt(s0) + epsilon)
 *   adam      s0 = beta1 s0 + (1-beta1) g'; s1 = beta2 s1 + (1-beta2) g'^2;
 *             w -= lr (s0 / correction1) / (sqrt(s1 / correction2) + epsilon)
 *             (Kingma & Ba 2015, algorithm 1)
 */
struct cavs__update {
    enum cavs__rule rule;
    float lr, momentum, decay, beta1, beta2, epsilon, weight_decay, scale;
    float correction1, correction2; /* 1 - beta^t */
};

/* State arrays the rule keeps per parameter: 0, 1 or 2. */
int cavs__update_states(enum cavs__rule rule);

/* Dense: rows x cols of w (ldw), states (ld = ldw), gradient = sum of ngrads arrays g[i] (ldg) in
 * order. wt, if not NULL, receives the transposed new values: wt[c * ldwt + r]. */
void cavs__update_dense(const struct cavs__update *u, int rows, int cols, float *w, ptrdiff_t ldw,
                        float *s0, float *s1, int ngrads, const float *const *g, ptrdiff_t ldg,
                        float *wt, ptrdiff_t ldwt);
/* Sparse: for i in [0, n): row ids[i] of w and states; its gradient is the sum over e in [ptr[i],
 * ptr[i+1]) of row grow[e] of array g[gsrc[e]], in that order.  Untouched rows keep values and
 * states (lazy moments). */
void cavs__update_sparse(const struct cavs__update *u, int n, const int32_t *ids,
                         const int32_t *ptr, const int32_t *gsrc, const int32_t *grow, int cols,
                         float *w, ptrdiff_t ldw, float *s0, float *s1, const float *const *g,
                         ptrdiff_t ldg);
/* Sums of squares of the same gradients before scale and weight decay, in double, fixed order. */
double cavs__squares_dense(int rows, int cols, int ngrads, const float *const *g, ptrdiff_t ldg);
double cavs__squares_sparse(int n, const int32_t *ptr, const int32_t *gsrc, const int32_t *grow,
                            int cols, const float *const *g, ptrdiff_t ldg);
void cavs__transpose(int rows, int cols, const float *x, ptrdiff_t ldx, float *y, ptrdiff_t ldy);

#endif
