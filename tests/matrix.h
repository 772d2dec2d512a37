/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h - float32 matrices for kernel tests, with guards around them and between their rows.
 *
 * Guards are NaN: a kernel that reads one spoils its result, a kernel that writes one is found by
 * matrix_check().
 */
#ifndef CAVS_TESTS_MATRIX_H
#define CAVS_TESTS_MATRIX_H

#include <stddef.h>
#include <stdint.h>

struct matrix {
    int rows, cols;
    ptrdiff_t ld; /* cols + pad */
    float *p;
    float *memory;
    size_t size; /* of memory, in numbers */
};

/* Numbers from [-1, 1), or guards only (outputs that have to be written).  Fails the test when out
 * of memory. */
struct matrix matrix_random(uint64_t *state, int rows, int cols, int pad);
struct matrix matrix_unset(int rows, int cols, int pad);
struct matrix matrix_copy(const struct matrix *m);
void matrix_free(struct matrix *m);

static inline float *matrix_at(const struct matrix *m, ptrdiff_t r, ptrdiff_t c)
{
    return m->p + r * m->ld + c;
}

/* Fails the test if a guard was overwritten. */
void matrix_check(const struct matrix *m, const char *what);
/* Fails the test unless a and b hold the same bits. */
void matrix_same(const struct matrix *a, const struct matrix *b, const char *what);
/* Fails the test unless |a - b| <= tolerance (1 + |b|) everywhere; NaN is never near. */
void matrix_near(const struct matrix *a, const struct matrix *b, double tolerance,
                 const char *what);
/* The same for two numbers. */
void number_near(double a, double b, double tolerance, const char *what);

/* An index of so many rows of a matrix of n: any number of times, in any order, or -1, none.  The
 * caller frees it; fails the test when out of memory. */
int32_t *matrix_random_rows(uint64_t *state, int rows, int n);

#endif
