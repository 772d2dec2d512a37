/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c - guarded matrices for kernel tests. */
#include "tests/matrix.h"
#include "tests/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MARGIN = 16 }; /* guards before and after, a vector of the widest kind */
static const uint32_t guard = 0x7fc0beef;

struct matrix matrix_unset(int rows, int cols, int pad)
{
    struct matrix m = {.rows = rows, .cols = cols, .ld = cols + pad};

    m.size = (size_t)rows * (size_t)m.ld + 2 * MARGIN;
    m.memory = malloc(m.size * sizeof(*m.memory));
    assert_non_null(m.memory);
    for (size_t i = 0; i < m.size; i++)
        memcpy(&m.memory[i], &guard, sizeof(guard));
    m.p = m.memory + MARGIN;
    return m;
}

struct matrix matrix_random(uint64_t *state, int rows, int cols, int pad)
{
    struct matrix m = matrix_unset(rows, cols, pad);

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            *matrix_at(&m, r, c) = (float)random_double(state, -1, 1);
    return m;
}

struct matrix matrix_copy(const struct matrix *m)
{
    struct matrix copy = matrix_unset(m->rows, m->cols, (int)(m->ld - m->cols));

    memcpy(copy.memory, m->memory, m->size * sizeof(*m->memory));
    return copy;
}

void matrix_free(struct matrix *m)
{
    free(m->memory);
    m->memory = m->p = NULL;
}

void matrix_check(const struct matrix *m, const char *what)
{
    for (size_t i = 0; i < m->size; i++) {
        const ptrdiff_t at = (ptrdiff_t)i - MARGIN;
        const ptrdiff_t row = at >= 0 && m->ld > 0 ? at / m->ld : -1;
        if (row >= 0 && row < m->rows && at % m->ld < m->cols)
            continue;
        if (memcmp(&m->memory[i], &guard, sizeof(guard)))
            fail_msg("%s: wrote %g outside, at row %td, column %td of %d x %d", what, m->memory[i],
                     row, m->ld > 0 ? at % m->ld : at, m->rows, m->cols);
    }
}

void matrix_same(const struct matrix *a, const struct matrix *b, const char *what)
{
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < a->cols; c++)
            if (memcmp(matrix_at(a, r, c), matrix_at(b, r, c), sizeof(float)))
                fail_msg("%s: %.9g is not %.9g in row %d, column %d of %d x %d", what,
                         *matrix_at(a, r, c), *matrix_at(b, r, c), r, c, a->rows, a->cols);
}

void matrix_near(const struct matrix *a, const struct matrix *b, double tolerance, const char *what)
{
    for (int r = 0; r < a->rows; r++)
        for (int c = 0; c < a->cols; c++) {
            const double x = *matrix_at(a, r, c), y = *matrix_at(b, r, c);
            if (!(fabs(x - y) <= tolerance * (1 + fabs(y))))
                fail_msg("%s: %.9g is not near %.9g in row %d, column %d of %d x %d", what, x, y, r,
                         c, a->rows, a->cols);
        }
}

void number_near(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance * (1 + fabs(b))))
        fail_msg("%s: %.9g is not near %.9g", what, a, b);
}

int32_t *matrix_random_rows(uint64_t *state, int rows, int n)
{
    int32_t *index = calloc((size_t)rows + 1, sizeof *index);

    assert_non_null(index);
    for (int i = 0; i < rows; i++)
        index[i] = random_int(state, -1, n - 1);
    return index;
}
