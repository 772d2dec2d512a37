/* SPDX-License-Identifier: Apache-2.0 */
/*
 * product.h - one matrix product with random operands, for tests of its providers.
 */
#ifndef CAVS_TESTS_PRODUCT_H
#define CAVS_TESTS_PRODUCT_H

#include <stdbool.h>

#include "tests/matrix.h"

struct shape {
    int m, n, k;
};

/* c (m, n) = or += a (m, k) b (k, n); transposed: c (k, n) = or += a^T b with b (m, n).  An index
 * names the rows of a transposed product's operand, -1 a row of zeros; NULL: they are as they
 * lie. */
struct product {
    struct shape shape;
    bool transposed, accumulate;
    struct matrix a, b, c; /* c: before the product */
    int32_t *a_index, *b_index;
    char name[96];
};

/* Without indices.  The caller frees it. */
struct product product_random(const char *provider, const char *entry, struct shape s,
                              bool transposed, bool accumulate, uint64_t *state);
void product_free(struct product *p);

/* How many terms the sum for a number of c has, and the factors of term q of that for (i, j). */
int product_depth(const struct product *p);
float product_a(const struct product *p, int i, int q);
float product_b(const struct product *p, int q, int j);

/* Fails the test unless c is the product, by the classical bound on the error of a sum, and nothing
 * around it was written. */
void product_check(const struct product *p, const struct matrix *c);

#endif
