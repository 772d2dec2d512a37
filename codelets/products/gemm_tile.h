/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_tile.h - the innermost loop of our matrix products, kept in registers: c = or += a b.
 *
 * A tile has a few rows and a few vectors of columns.  Each of its numbers is ONE chain of fused
 * multiply-adds in the order of the depth, starting from what c holds (or zero).  Storing and
 * reloading a float loses nothing, so the bits do not depend on how a product is cut into tiles and
 * blocks, on the vector length, or on the rows beside it.
 *
 * gemm_tiled.c cuts products into tiles and sees struct cavs__tiles.  A file for one instruction
 * set is a provider: it defines TILE_BODY and what stands in its comment and includes this again
 * (gemm_avx512.c, gemm_avx2.c).
 */
#ifndef CAVS_CODELETS_PRODUCTS_GEMM_TILE_H
#define CAVS_CODELETS_PRODUCTS_GEMM_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"

struct cavs__tile {
    const float *a; /* a(i, p) = a[i * row + p * step]: x as it lies, or transposed */
    ptrdiff_t row, step;
    /* b(p, j) = b[p * ldb + j / CAVS__PANEL * pitch + j % CAVS__PANEL], from the begin of a panel
     * on; as it lies, pitch is CAVS__PANEL. */
    const float *b;
    ptrdiff_t ldb, pitch;
    float *c; /* c(i, j) = c[i * ldc + j] */
    ptrdiff_t ldc;
    int depth;
    int tail;  /* columns of the last vector; only "part" tiles look at it */
    bool load; /* start from c instead of zero */
    /* Tiles of panels: what is fetched into L2, a cache line at each step, next_step from one to
     * the next; of a panel or of strips, what comes after it, NULL: nothing. */
    const float *next;
    ptrdiff_t next_step;
    /* Where c of the next tile begins: a row of it is fetched, too, every so many steps. */
    const float *c_next;
    int steps;
};

typedef void cavs__tile_fn(const struct cavs__tile *t);

#define CAVS__TILE_ROWS 6
#define CAVS__TILE_VECS 8

/* The same for b in panels (panels.h).  Tiles of many rows are narrow, and tall, so that b is read
 * as seldom as can be; those of few rows are wide, so that enough sums are under way: they may take
 * two panels at a time. */
#define CAVS__PANEL_TILE_ROWS 14
#define CAVS__PANEL_TILE_VECS 4
/* Rows of a panel that are fetched into L1 before they are needed: 1 KB. */
#define CAVS__AHEAD 8
#define CAVS__LINE  16 /* floats in a cache line */

struct cavs__tiles {
    int lanes;                 /* float32 numbers in a vector */
    int vecs[CAVS__TILE_ROWS]; /* most vectors of a tile, by rows - 1 */
    /* [0]: the last vector is whole, [1]: it is partial; then by rows - 1 and by vectors - 1 */
    cavs__tile_fn *fn[2][CAVS__TILE_ROWS][CAVS__TILE_VECS];
    int panel_rows;                        /* most rows of a tile of panels */
    int panel_vecs[CAVS__PANEL_TILE_ROWS]; /* most vectors, by rows - 1 */
    cavs__tile_fn *panel_fn[2][CAVS__PANEL_TILE_ROWS][CAVS__PANEL_TILE_VECS];
};

/* Sanitizers would put a check on each of the unrolled loads, which takes compilers minutes; tests
 * have guards. */
#define CAVS__TILE_UNCHECKED __attribute__((no_sanitize("address", "undefined")))

/* ---- the products of a provider ---- */

/* gemm_tiled.c: c (rows, width) = or += a b with columns of b that a tile takes at a time: rows are
 * spread evenly over tiles, 7 = 4 + 3 and not 6 + 1, as thin tiles are slow. */
void cavs__tile_columns(const struct cavs__tiles *s, int rows, int width, struct cavs__tile t);
/* c (rows, cols) = or += a b with both as they lie; pack: with b copied, by pieces */
void cavs__tile_block(const struct cavs__tiles *s, int rows, int cols, struct cavs__tile t,
                      bool pack);
void cavs__tiled_gemm(const struct cavs__tiles *s, int m, int n, int k, const float *x,
                      ptrdiff_t ldx, const float *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy,
                      bool accumulate);

/* gemm_panels.c.  Rows are spread evenly over tiles, 16 = 8 + 8 and not 14 + 2, as thin tiles are
 * slow: so many of `rows` go into the next tile. */
int cavs__next_tile(const struct cavs__tiles *s, int rows);
/* c (rows, cols) = or += a b with b in panels, one after the other, and a in strips: transposed, a
 * tile's rows side by side for each step, and all steps of a tile before those of the next.
 * t.next, with t.next_step from one to the next: rows whose first `cols` columns are fetched. */
void cavs__tile_strips(const struct cavs__tiles *s, int rows, int cols, const float *panels,
                       struct cavs__tile t);
/* near: panels are in L2 already. */
void cavs__tiled_gemm_panels(const struct cavs__tiles *s, int m, int n, int k, const float *x,
                             ptrdiff_t ldx, const float *w, ptrdiff_t pitch, float *y,
                             ptrdiff_t ldy, bool accumulate, bool near);

/* gemm_long.c */
void cavs__tiled_gemm_tn(const struct cavs__tiles *s, int m, int n, int k,
                         const struct cavs__gemm_rows *x, const struct cavs__gemm_rows *dy,
                         float *dw, ptrdiff_t lddw, bool accumulate);

#endif

#ifdef TILE_BODY
/*
 * Wanted: TILE_TARGET (attributes of every function), vec (type), LANES, and with these attributes
 *     vec vec_zero(void), vec_set(float), vec_fma(vec a, vec b, vec c) = a b + c
 *     vec vec_load(const float *), vec_load_part(const float *, int n)
 *     void vec_store(float *, vec), vec_store_part(float *, int n, vec): the first n numbers
 */
#undef TILE_BODY

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 28")
#endif

/* Keeps a value in a register: gcc would load b again for every row, but loads are scarce. */
#define IN_REGISTER(x) __asm__("" : "+v"(x))
/* Makes gcc forget where an address came from: it would keep them all, in vector registers. */
#define ADDRESS(x) __asm__("" : "+r"(x))

#define TILE_INLINE static inline __attribute__((always_inline)) TILE_TARGET

TILE_INLINE vec load_at(const float *p, bool part, int tail)
{
    return part ? vec_load_part(p, tail) : vec_load(p);
}

/* acc[i * vecs + j]: vector j of row i */
TILE_INLINE void load_tile(vec *acc, int rows, int vecs, bool part, const struct cavs__tile *t)
{
    const float *c = t->c;

    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            acc[i * vecs + j] = load_at(c + j * LANES, part && j == vecs - 1, t->tail);
        c += t->ldc;
        ADDRESS(c);
    }
}

TILE_INLINE void zero_tile(vec *acc, int rows, int vecs)
{
    UNROLL
    for (int i = 0; i < rows * vecs; i++)
        acc[i] = vec_zero();
}

TILE_INLINE void store_tile(const vec *acc, int rows, int vecs, bool part,
                            const struct cavs__tile *t)
{
    float *c = t->c;

    ADDRESS(c);
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            if (part && j == vecs - 1)
                vec_store_part(c + j * LANES, t->tail, acc[i * vecs + j]);
            else
                vec_store(c + j * LANES, acc[i * vecs + j]);
        }
        c += t->ldc;
        ADDRESS(c);
    }
}

/* Vector j of a step of b: a tile may be wider than a panel. */
#define IN_PANELS(j) (b + (j)*LANES / CAVS__PANEL * pitch + (j)*LANES % CAVS__PANEL)

/* rows, vecs and part are constants in every instance below. */
TILE_INLINE void tile(int rows, int vecs, bool part, const struct cavs__tile *t)
{
    const ptrdiff_t row = t->row, step = t->step, ldb = t->ldb, pitch = t->pitch;
    const float *a = t->a, *b = t->b;
    const int tail = t->tail;
    vec acc[CAVS__TILE_ROWS * CAVS__TILE_VECS], bp[CAVS__TILE_VECS];

    if (t->load)
        load_tile(acc, rows, vecs, part, t);
    else
        zero_tile(acc, rows, vecs);

    for (int p = t->depth; p > 0; p--) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            bp[j] = load_at(IN_PANELS(j), part && j == vecs - 1, tail);
            IN_REGISTER(bp[j]);
        }
        UNROLL
        for (int i = 0; i < rows; i++) {
            const vec ap = vec_set(a[i * row]);
            UNROLL
            for (int j = 0; j < vecs; j++)
                acc[i * vecs + j] = vec_fma(ap, bp[j], acc[i * vecs + j]);
        }
        a += step;
        b += ldb;
    }
    store_tile(acc, rows, vecs, part, t);
}

/* Rows of a are addressed from every third of them: base, base + row and base + 2 row are what an
 * instruction can say. */
#define THIRDS ((CAVS__PANEL_TILE_ROWS + 2) / 3)

/* A tile's columns of a row of c. */
TILE_INLINE void fetch_row(const float *c, int cols)
{
    UNROLL
    for (int j = 0; j < cols; j += CAVS__LINE)
        __builtin_prefetch(c + j, 1, 3);
}

/* The same for b in panels: whole vectors of it can be read, and what comes next is known. */
TILE_INLINE void panel_tile(int rows, int vecs, bool part, const struct cavs__tile *t)
{
    const ptrdiff_t row = t->row, step = t->step, pitch = t->pitch, next_step = t->next_step;
    const float *a[THIRDS], *b = t->b, *next = t->next, *c = t->c_next;
    vec acc[CAVS__PANEL_TILE_ROWS * CAVS__PANEL_TILE_VECS], bp[CAVS__PANEL_TILE_VECS];

    UNROLL
    for (int i = 0; i < (rows + 2) / 3; i++)
        a[i] = t->a + 3 * i * row;
    if (t->load)
        load_tile(acc, rows, vecs, part, t);
    else
        zero_tile(acc, rows, vecs);

    for (int left = t->depth; left > 0; left -= t->steps, c += t->ldc) {
        fetch_row(c, vecs * LANES);
        for (int p = left < t->steps ? left : t->steps; p > 0; p--) {
            UNROLL
            for (int j = 0; j < vecs; j++) {
                bp[j] = vec_load(IN_PANELS(j));
                IN_REGISTER(bp[j]);
            }
            UNROLL
            for (int i = 0; i < rows; i++) {
                const vec ap = vec_set(a[i / 3][i % 3 * row]);
                UNROLL
                for (int j = 0; j < vecs; j++)
                    acc[i * vecs + j] = vec_fma(ap, bp[j], acc[i * vecs + j]);
            }
            UNROLL
            for (int j = 0; j < vecs; j += CAVS__LINE / LANES)
                __builtin_prefetch(IN_PANELS(j) + CAVS__AHEAD * CAVS__PANEL, 0, 3);
            __builtin_prefetch(next, 0, 2);
            UNROLL
            for (int i = 0; i < (rows + 2) / 3; i++)
                a[i] += step;
            b += CAVS__PANEL;
            next += next_step;
        }
    }
    store_tile(acc, rows, vecs, part, t);
}

#define INSTANCE(rows, vecs)                                                  \
    TILE_TARGET static void whole_##rows##_##vecs(const struct cavs__tile *t) \
    {                                                                         \
        tile(rows, vecs, false, t);                                           \
    }                                                                         \
    TILE_TARGET static void part_##rows##_##vecs(const struct cavs__tile *t)  \
    {                                                                         \
        tile(rows, vecs, true, t);                                            \
    }

#define PANEL_INSTANCE(rows, vecs)                                                  \
    TILE_TARGET static void panel_whole_##rows##_##vecs(const struct cavs__tile *t) \
    {                                                                               \
        panel_tile(rows, vecs, false, t);                                           \
    }                                                                               \
    TILE_TARGET static void panel_part_##rows##_##vecs(const struct cavs__tile *t)  \
    {                                                                               \
        panel_tile(rows, vecs, true, t);                                            \
    }

/* Tiles of so many rows. */
#define NARROW_INSTANCES(rows) PANEL_INSTANCE(rows, 1) PANEL_INSTANCE(rows, 2)
#define WIDE_INSTANCES(rows)   NARROW_INSTANCES(rows) FOURTH_INSTANCES(rows)
#define FOURTH_INSTANCES(rows) PANEL_INSTANCE(rows, 3) PANEL_INSTANCE(rows, 4)
#define NARROW(f, rows)        f##_##rows##_1, f##_##rows##_2
#define WIDE(f, rows)          NARROW(f, rows), f##_##rows##_3, f##_##rows##_4

/* The provider, with `tiles` filled in by the file. */
static const struct cavs__tiles tiles;

static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw,
                 float *y, ptrdiff_t ldy, bool accumulate)
{
    cavs__tiled_gemm(&tiles, m, n, k, x, ldx, w, ldw, y, ldy, accumulate);
}

static void gemm_panels(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                        ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate)
{
    cavs__tiled_gemm_panels(&tiles, m, n, k, x, ldx, w, pitch, y, ldy, accumulate, false);
}

static void gemm_near(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                      ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate)
{
    cavs__tiled_gemm_panels(&tiles, m, n, k, x, ldx, w, pitch, y, ldy, accumulate, true);
}

static void gemm_tn(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *dy,
                    ptrdiff_t lddy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    cavs__tiled_gemm_tn(&tiles, m, n, k, &(struct cavs__gemm_rows){x, ldx, NULL},
                        &(struct cavs__gemm_rows){dy, lddy, NULL}, dw, lddw, accumulate);
}

static void gemm_tn_rows(int m, int n, int k, const struct cavs__gemm_rows *x,
                         const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw,
                         bool accumulate)
{
    cavs__tiled_gemm_tn(&tiles, m, n, k, x, dy, dw, lddw, accumulate);
}
#endif
