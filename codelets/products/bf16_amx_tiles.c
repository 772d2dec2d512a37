/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_amx_tiles.c - the innermost loops of bfloat16 products by AMX.
 *
 * Four tiles of sums with two of x and two of w, or beside one of x, keep the multiplier busy: it
 * takes 16 cycles for a tile and has its result after 52.
 *
 * Written in assembly language: compilers' intrinsics are no shorter, and gcc's do not say that
 * they read and write memory.
 */
#include "codelets/products/bf16_amx.h"

#if defined __x86_64__ && defined __linux__
#include <immintrin.h>
#include <string.h>

#define OP static inline __attribute__((always_inline))

#define TILE_LOAD(tile, p, stride)                                                         \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(p), "r"((ptrdiff_t)(stride)) \
                     : "memory")
#define TILE_STORE(tile, p, stride)                                                            \
    __asm__ volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(p), "r"((ptrdiff_t)(stride)) \
                     : "memory")
#define TILE_ZERO(tile)      __asm__ volatile("tilezero %%tmm" #tile ::)
#define MULTIPLY(sums, x, w) __asm__ volatile("tdpbf16ps %%tmm" #w ", %%tmm" #x ", %%tmm" #sums ::)

struct config {
    uint8_t palette, start, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

void cavs__amx_begin(void)
{
    struct config c = {.palette = 1};

    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = LINE;
        c.rows[i] = TILE;
    }
    __asm__ volatile("ldtilecfg %0" ::"m"(c));
}

void cavs__amx_end(void)
{
    __asm__ volatile("tilerelease" ::);
}

OP const char *fetch(const struct cavs__amx_work *t, const char *soon)
{
    for (int i = t->ahead; i > 0; i--) {
        _mm_prefetch(soon, _MM_HINT_T1);
        _mm_prefetch(soon + LINE, _MM_HINT_T1);
        if (t->lines > 2) {
            _mm_prefetch(soon + 2 * LINE, _MM_HINT_T1);
            _mm_prefetch(soon + 3 * LINE, _MM_HINT_T1);
        }
        soon += t->soon_row;
    }
    return soon;
}

/* 32 rows and 32 or 16 columns of c */
OP void two_rows(const struct cavs__amx_work *t, bool wide)
{
    const uint16_t *a = t->a, *a1 = a + t->a_rows;
    const uint32_t *b = t->b;
    const ptrdiff_t ldc = t->ldc * (ptrdiff_t)sizeof(float);
    float *c = t->c, *c1 = c + TILE * t->ldc;
    const char *soon = t->soon;

    if (t->load) {
        TILE_LOAD(0, c, ldc);
        TILE_LOAD(2, c1, ldc);
        if (wide) {
            TILE_LOAD(1, c + TILE, ldc);
            TILE_LOAD(3, c1 + TILE, ldc);
        }
    } else {
        TILE_ZERO(0);
        TILE_ZERO(1);
        TILE_ZERO(2);
        TILE_ZERO(3);
    }
    for (int s = t->steps; s > 0; s--) {
        TILE_LOAD(4, a, LINE);
        TILE_LOAD(6, b, CAVS__BF16_PANEL * sizeof(*b));
        MULTIPLY(0, 4, 6);
        TILE_LOAD(5, a1, LINE);
        MULTIPLY(2, 5, 6);
        if (wide) {
            TILE_LOAD(7, b + TILE, CAVS__BF16_PANEL * sizeof(*b));
            MULTIPLY(1, 4, 7);
            MULTIPLY(3, 5, 7);
        }
        soon = fetch(t, soon);
        a += NUMBERS;
        a1 += NUMBERS;
        b += TILE * CAVS__BF16_PANEL;
    }
    TILE_STORE(0, c, ldc);
    TILE_STORE(2, c1, ldc);
    if (wide) {
        TILE_STORE(1, c + TILE, ldc);
        TILE_STORE(3, c1 + TILE, ldc);
    }
}

/* 16 rows and 16 to 64 columns of c */
OP void one_row(const struct cavs__amx_work *t, int tiles)
{
    const uint16_t *a = t->a;
    const uint32_t *b = t->b;
    const ptrdiff_t ldc = t->ldc * (ptrdiff_t)sizeof(float);
    float *c = t->c;
    const char *soon = t->soon;

    if (t->load) {
        TILE_LOAD(0, c, ldc);
        if (tiles > 1)
            TILE_LOAD(1, c + TILE, ldc);
        if (tiles > 2)
            TILE_LOAD(2, c + 2 * TILE, ldc);
        if (tiles > 3)
            TILE_LOAD(3, c + 3 * TILE, ldc);
    } else {
        TILE_ZERO(0);
        TILE_ZERO(1);
        TILE_ZERO(2);
        TILE_ZERO(3);
    }
    for (int s = t->steps; s > 0; s--) {
        TILE_LOAD(4, a, LINE);
        TILE_LOAD(5, b, CAVS__BF16_PANEL * sizeof(*b));
        MULTIPLY(0, 4, 5);
        if (tiles > 1) {
            TILE_LOAD(6, b + TILE, CAVS__BF16_PANEL * sizeof(*b));
            MULTIPLY(1, 4, 6);
        }
        if (tiles > 2) {
            TILE_LOAD(7, b + 2 * TILE, CAVS__BF16_PANEL * sizeof(*b));
            MULTIPLY(2, 4, 7);
        }
        if (tiles > 3) {
            TILE_LOAD(5, b + 3 * TILE, CAVS__BF16_PANEL * sizeof(*b));
            MULTIPLY(3, 4, 5);
        }
        soon = fetch(t, soon);
        a += NUMBERS;
        b += TILE * CAVS__BF16_PANEL;
    }
    TILE_STORE(0, c, ldc);
    if (tiles > 1)
        TILE_STORE(1, c + TILE, ldc);
    if (tiles > 2)
        TILE_STORE(2, c + 2 * TILE, ldc);
    if (tiles > 3)
        TILE_STORE(3, c + 3 * TILE, ldc);
}

#define INSTANCE(name, ...)                          \
    static void name(const struct cavs__amx_work *t) \
    {                                                \
        __VA_ARGS__;                                 \
    }

INSTANCE(two_rows_narrow, two_rows(t, false))
INSTANCE(two_rows_wide, two_rows(t, true))
INSTANCE(one_row_of_1, one_row(t, 1))
INSTANCE(one_row_of_2, one_row(t, 2))
INSTANCE(one_row_of_3, one_row(t, 3))
INSTANCE(one_row_of_4, one_row(t, 4))

typedef void work_fn(const struct cavs__amx_work *t);

/* rows <= 32, cols <= 32; or rows <= 16, cols <= 64 */
static work_fn *function(int rows, int cols)
{
    static work_fn *const one[] = {one_row_of_1, one_row_of_2, one_row_of_3, one_row_of_4};

    if (rows > TILE)
        return cols > TILE ? two_rows_wide : two_rows_narrow;
    return one[parts_of(cols, TILE) - 1];
}

/* Tiles of c that are not whole are worked on in a copy. */
static __attribute__((noinline)) void at_the_edge(work_fn *f, int rows, int cols,
                                                  struct cavs__amx_work *t)
{
    float copy[2 * TILE * CAVS__BF16_PANEL] __attribute__((aligned(LINE)));
    float *const c = t->c;
    const ptrdiff_t ldc = t->ldc;

    for (int i = 0; i < rows && t->load; i++)
        memcpy(copy + i * CAVS__BF16_PANEL, c + i * ldc, (size_t)cols * sizeof(*copy));
    t->c = copy;
    t->ldc = CAVS__BF16_PANEL;
    f(t);
    t->c = c;
    t->ldc = ldc;
    for (int i = 0; i < rows; i++)
        memcpy(c + i * ldc, copy + i * CAVS__BF16_PANEL, (size_t)cols * sizeof(*copy));
}

static void block(int rows, int cols, struct cavs__amx_work *t)
{
    work_fn *f = function(rows, cols);

    if (rows % TILE || cols % TILE)
        at_the_edge(f, rows, cols, t);
    else
        f(t);
}

static int blocks_of(int rows, int cols)
{
    const int halves = parts_of(cols, 2 * TILE), rest = rows % (2 * TILE);

    return rows / (2 * TILE) * halves + (rest > TILE ? halves : rest > 0);
}

/* 32 rows at a time, so that these of x are still near for the other half of the columns.  The
 * record is changed member by member: copies of it, read as vectors, would wait for the tiles that
 * were stored before its members. */
void cavs__amx_slice(int rows, int cols, struct cavs__amx_work *t, bool fetch_slice)
{
    const uint32_t *b = t->b;
    const char *soon = (const char *)(b + t->steps * TILE * CAVS__BF16_PANEL);
    float *c = t->c;

    t->lines = fetch_slice ? 4 : 2;
    t->soon_row = (fetch_slice ? CAVS__BF16_PANEL : t->ldc) * (ptrdiff_t)sizeof(float);
    t->ahead = fetch_slice ? parts_of(TILE, blocks_of(rows, cols)) : parts_of(2 * TILE, t->steps);
    for (int i = 0; i < rows; i += 2 * TILE) {
        const int r = smaller(2 * TILE, rows - i), width = r > TILE ? 2 * TILE : CAVS__BF16_PANEL;
        for (int j = 0; j < cols; j += width) {
            t->b = b + j;
            t->c = c + j;
            t->soon = fetch_slice ? soon : (const char *)(t->c + 2 * TILE * t->ldc);
            block(r, smaller(width, cols - j), t);
            soon += t->ahead * t->steps * t->soon_row;
        }
        t->a += 2 * t->a_rows;
        c += 2 * TILE * t->ldc;
    }
}
#endif
