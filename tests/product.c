/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - random matrix products, checked against sums in double. */
#include "tests/product.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/random.h"

struct product product_random(const char *provider, const char *entry, struct shape s,
                              bool transposed, bool accumulate, uint64_t *state)
{
    const int pad = random_int(state, 0, 2) * random_int(state, 0, 20);
    struct product p = {.shape = s, .transposed = transposed, .accumulate = accumulate};

    p.a = matrix_random(state, s.m, s.k, pad);
    p.b = matrix_random(state, transposed ? s.m : s.k, s.n, random_int(state, 0, 9));
    p.c = accumulate ? matrix_random(state, transposed ? s.k : s.m, s.n, pad / 2)
                     : matrix_unset(transposed ? s.k : s.m, s.n, pad / 2);
    snprintf(p.name, sizeof(p.name), "%s %s m %d n %d k %d%s", provider, entry, s.m, s.n, s.k,
             accumulate ? " +=" : "");
    return p;
}

void product_free(struct product *p)
{
    matrix_free(&p->a);
    matrix_free(&p->b);
    matrix_free(&p->c);
    free(p->a_index);
    free(p->b_index);
}

int product_depth(const struct product *p)
{
    return p->transposed ? p->shape.m : p->shape.k;
}

static float element(const struct matrix *m, const int32_t *index, int r, int c)
{
    if (index)
        r = index[r];
    return r < 0 ? 0 : *matrix_at(m, r, c);
}

float product_a(const struct product *p, int i, int q)
{
    return p->transposed ? element(&p->a, p->a_index, q, i) : *matrix_at(&p->a, i, q);
}

float product_b(const struct product *p, int q, int j)
{
    return element(&p->b, p->b_index, q, j);
}

static void check_sum(const struct product *p, const struct matrix *c, int i, int j)
{
    const int depth = product_depth(p);
    double sum = p->accumulate ? *matrix_at(&p->c, i, j) : 0, size = fabs(sum);

    for (int q = 0; q < depth; q++) {
        const double term = (double)product_a(p, i, q) * product_b(p, q, j);
        sum += term;
        size += fabs(term);
    }
    if (!(fabs(*matrix_at(c, i, j) - sum) <= (depth + 2) * 0x1p-24 * size))
        fail_msg("%s: %.9g instead of %.9g in row %d, column %d", p->name, *matrix_at(c, i, j), sum,
                 i, j);
}

void product_check(const struct product *p, const struct matrix *c)
{
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < c->cols; j++)
            check_sum(p, c, i, j);
    matrix_check(c, p->name);
}
