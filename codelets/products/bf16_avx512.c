/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_avx512.c - bfloat16 products by AVX512_BF16, whose one instruction multiplies 16 pairs of
 * numbers and adds to 16 sums.
 *
 * Register tiles are those of gemm_avx512.c, 6 rows x 4 vectors: a panel of w is as wide.  x is
 * rounded into rows of pairs; for the transposed product both operands are packed as weights are,
 * in which x's pairs lie as they are needed, too.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/bf16_providers.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <string.h>

#include "codelets/products/bf16_vectors.h"

#define TARGET CAVS__BF16_TARGET
/* Sanitizers would check each of the unrolled loads; tests have guards. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))
#define OP        static inline __attribute__((always_inline)) TARGET UNCHECKED

enum {
    LANES = 16,
    TILE_ROWS = 6,
    TILE_VECS = CAVS__BF16_PANEL / LANES,
    PAIRS = 256, /* depth of a slice of a panel: 64 KB */
    PANEL_PAIRS = PAIRS * CAVS__BF16_PANEL,
    PANELS = 8, /* of x of the transposed product */
    ROWS = 252, /* of x beside it: 252 KB */
};

struct tile {
    const uint32_t *a; /* pair p of row i: a[i * row + p * step] */
    ptrdiff_t row, step;
    const uint32_t *b; /* a slice of a panel */
    int pairs;
    float *c;
    ptrdiff_t ldc;
    __mmask16 tail; /* columns of the last vector */
    bool load;      /* start from c instead of zero */
};

typedef void tile_fn(const struct tile *t);

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* rows and vecs are constants in every instance below. */
OP void multiply(int rows, int vecs, const struct tile *t)
{
    const uint32_t *a = t->a, *b = t->b;
    const ptrdiff_t row = t->row, step = t->step;
    __m512 sums[TILE_ROWS][TILE_VECS];
    __m512bh w[TILE_VECS];

    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            const __mmask16 some = j == vecs - 1 ? t->tail : (__mmask16)~0u;
            sums[i][j] = t->load ? _mm512_maskz_loadu_ps(some, t->c + i * t->ldc + j * LANES)
                                 : _mm512_setzero_ps();
        }
    }
    for (int p = t->pairs; p > 0; p--) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            w[j] = (__m512bh)_mm512_loadu_si512(b + j * LANES);
            __asm__("" : "+v"(w[j])); /* in a register: gcc would load it again for every row */
        }
        UNROLL
        for (int i = 0; i < rows; i++) {
            const __m512bh x = (__m512bh)_mm512_set1_epi32((int)a[i * row]);
            UNROLL
            for (int j = 0; j < vecs; j++)
                sums[i][j] = _mm512_dpbf16_ps(sums[i][j], x, w[j]);
        }
        a += step;
        b += CAVS__BF16_PANEL;
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            _mm512_mask_storeu_ps(t->c + i * t->ldc + j * LANES,
                                  j == vecs - 1 ? t->tail : (__mmask16)~0u, sums[i][j]);
    }
}

#define INSTANCE(rows, vecs)                                                \
    TARGET UNCHECKED static void tile_##rows##_##vecs(const struct tile *t) \
    {                                                                       \
        multiply(rows, vecs, t);                                            \
    }
#define UP_TO_4(rows) INSTANCE(rows, 1) INSTANCE(rows, 2) INSTANCE(rows, 3) INSTANCE(rows, 4)

UP_TO_4(1)
UP_TO_4(2)
UP_TO_4(3)
UP_TO_4(4)
UP_TO_4(5)
UP_TO_4(6)

#define LIST(rows)                                                         \
    {                                                                      \
        tile_##rows##_1, tile_##rows##_2, tile_##rows##_3, tile_##rows##_4 \
    }

static tile_fn *const tiles[TILE_ROWS][TILE_VECS] = {LIST(1), LIST(2), LIST(3),
                                                     LIST(4), LIST(5), LIST(6)};

/* c (rows, cols <= 64), rows spread evenly over tiles */
static void slice(int rows, int cols, struct tile t)
{
    const int vecs = parts_of(cols, LANES);

    t.tail = (__mmask16)((1u << (cols - (vecs - 1) * LANES)) - 1);
    for (int n = parts_of(rows, TILE_ROWS); n > 0; n--) {
        const int r = parts_of(rows, n);
        tiles[r - 1][vecs - 1](&t);
        t.a += r * t.row;
        t.c += r * t.ldc;
        rows -= r;
    }
}

/* x (rows, cols), of float32 numbers or of rounded ones */
struct rows {
    const float *x;
    const uint16_t *rounded;
    ptrdiff_t ld;
};

/* Rows of PAIRS pairs */
TARGET static void pack_x(int rows, int cols, const struct rows *x, uint32_t *pairs)
{
    for (int i = 0; i < rows; i++)
        for (int p = 0; p < cols; p += 2 * LANES) {
            const __m512i v =
                x->x ? cavs__bf16_numbers(x->x + i * x->ld + p, cols - p)
                     : cavs__bf16_rounded_numbers(x->rounded + i * x->ld + p, cols - p);
            _mm512_store_si512(pairs + i * PAIRS + p / 2, v);
        }
}

/* y (m, n) = or += x w */
static void multiply_rows(int m, int n, int k, struct rows x, const uint32_t *w, ptrdiff_t ldw,
                          float *y, ptrdiff_t ldy, bool accumulate)
{
    uint32_t pairs[ROWS * PAIRS] __attribute__((aligned(64)));

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    for (int i = 0; i < m; i += ROWS)
        for (int p = 0; p < k; p += 2 * PAIRS) {
            const int rows = smaller(m - i, ROWS), depth = smaller(k - p, 2 * PAIRS);
            struct tile t = {.a = pairs,
                             .row = PAIRS,
                             .step = 1,
                             .pairs = parts_of(depth, 2),
                             .ldc = ldy,
                             .load = accumulate || p > 0};
            struct rows from = x;
            if (x.x)
                from.x += i * x.ld + p;
            else
                from.rounded += i * x.ld + p;
            pack_x(rows, depth, &from, pairs);
            for (int j = 0; j < n; j += CAVS__BF16_PANEL) {
                t.b = w + j / CAVS__BF16_PANEL * ldw + p / 2 * CAVS__BF16_PANEL;
                t.c = y + i * ldy + j;
                slice(rows, smaller(n - j, CAVS__BF16_PANEL), t);
            }
        }
}

static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const uint32_t *w,
                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply_rows(m, n, k, (struct rows){.x = x, .ld = ldx}, w, ldw, y, ldy, accumulate);
}

static void gemm_rounded(int m, int n, int k, const uint16_t *x, ptrdiff_t ldx, const uint32_t *w,
                         ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    multiply_rows(m, n, k, (struct rows){.rounded = x, .ld = ldx}, w, ldw, y, ldy, accumulate);
}

/* Rows [r, r + rows) and columns [c, c + cols) of x as panels */
TARGET static void pack_columns(const struct cavs__gemm_rows *x, int r, int rows, int c, int cols,
                                uint32_t *panels)
{
    for (int i = 0; i < rows; i += 2) {
        const float *upper = cavs__gemm_row(x, r + i);
        const float *lower = i + 1 < rows ? cavs__gemm_row(x, r + i + 1) : NULL;
        uint32_t *to = panels + i / 2 * CAVS__BF16_PANEL;

        for (int j = 0; j < cols; j += LANES)
            _mm512_store_si512(to + j / CAVS__BF16_PANEL * PANEL_PAIRS + j % CAVS__BF16_PANEL,
                               cavs__bf16_pairs(upper ? upper + c + j : NULL,
                                                lower ? lower + c + j : NULL, cols - j));
    }
}

/* dw (k, n) = or += x^T dy by rows [r, r + m), m <= 2 * PAIRS */
static void multiply_columns(int r, int m, int n, int k, const struct cavs__gemm_rows *x,
                             const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool load)
{
    uint32_t a[PANELS * PANEL_PAIRS] __attribute__((aligned(64)));
    uint32_t b[PANEL_PAIRS] __attribute__((aligned(64)));
    struct tile t = {.row = 1,
                     .step = CAVS__BF16_PANEL,
                     .b = b,
                     .pairs = parts_of(m, 2),
                     .ldc = lddw,
                     .load = load};

    for (int i = 0; i < k; i += PANELS * CAVS__BF16_PANEL) {
        const int height = smaller(k - i, PANELS * CAVS__BF16_PANEL);
        pack_columns(x, r, m, i, height, a);
        for (int j = 0; j < n; j += CAVS__BF16_PANEL) {
            const int width = smaller(n - j, CAVS__BF16_PANEL);
            pack_columns(dy, r, m, j, width, b);
            for (int q = 0; q < height; q += CAVS__BF16_PANEL) {
                t.a = a + q / CAVS__BF16_PANEL * PANEL_PAIRS;
                t.c = dw + (i + q) * lddw + j;
                slice(smaller(height - q, CAVS__BF16_PANEL), width, t);
            }
        }
    }
}

static void gemm_tn(int m, int n, int k, const struct cavs__gemm_rows *x,
                    const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    if (m <= 0 && !accumulate)
        clear(k, n, dw, lddw);
    for (int i = 0; i < m; i += 2 * PAIRS)
        multiply_columns(i, smaller(m - i, 2 * PAIRS), n, k, x, dy, dw, lddw, accumulate || i > 0);
}

static bool available(void)
{
    enum { AVX512_BF16 = 1 << 5 };
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & AVX512_BF16 &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

const struct cavs__bf16_provider cavs__bf16_avx512 = {
    .name = "avx512_bf16",
    .available = available,
    .gemm = gemm,
    .gemm_rounded = gemm_rounded,
    .gemm_tn = gemm_tn,
};
#endif
