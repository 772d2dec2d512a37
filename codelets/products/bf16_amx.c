/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_amx.c - bfloat16 products by AMX, whose registers are whole tiles.
 *
 * x is rounded into tiles that lie in one piece, w is read as it is packed.  While a slice of a
 * panel passes all rows it stays in the first-level cache; the next slice is fetched meanwhile.
 * For the transposed product dy is packed slice by slice as w is, and x into transposed tiles; rows
 * of dw are fetched.
 *
 * The multiplier takes numbers below 2^-126 for zero, operands and sums.  Each sum over 32 numbers
 * starts from zero and is then added.
 *
 * Tiles are configured for each call: workers are threads of StarPU's, in which other libraries may
 * use them, too.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/bf16_amx.h"
#include "codelets/products/bf16_providers.h"

#if defined __x86_64__ && defined __linux__
#include <cpuid.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    BUFFER = 1 << 18,    /* numbers of x that are kept in tiles: 512 KB */
    DEEP = 4 * SLICE,    /* w is read once for as many rows as fit at this depth: 256 */
    BUFFER_TN = 1 << 19, /* the same of x^T, for which dy is packed anew each time: 1 MB */
    MOST_ROWS = 1024,    /* of x and dy between reading dw and writing it */
};

/* y (m, n) = or += x w, with x (m, k) in tiles; w begins at row 0 of its panels */
static void packed_gemm(int m, int n, int k, const uint16_t *tiles, const uint32_t *w,
                        ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    struct cavs__amx_work t = {.a_rows = parts_of(k, DEPTH) * (ptrdiff_t)NUMBERS, .ldc = ldy};

    for (int j = 0; j < n; j += CAVS__BF16_PANEL) {
        t.load = load;
        for (int p = 0; p < k; p += SLICE) {
            t.a = tiles + p / DEPTH * NUMBERS;
            t.b = w + j / CAVS__BF16_PANEL * ldw + p / 2 * CAVS__BF16_PANEL;
            t.c = y + j;
            t.steps = parts_of(smaller(k - p, SLICE), DEPTH);
            cavs__amx_slice(m, smaller(n - j, CAVS__BF16_PANEL), &t, true);
            t.load = true;
        }
    }
}

/* How deep a block of x is so that all of its m rows fit, if they are few: w comes from far for
 * each block, and y, which is written and read again from one depth to the next, does not. */
static int block_depth(int m, int k)
{
    const int depth = BUFFER / (parts_of(m, 2 * TILE) * 2 * TILE) / SLICE * SLICE;

    return smaller(k, depth > DEEP ? depth : DEEP);
}

/* Only this path needs so large a frame. */
static __attribute__((noinline)) void multiply(int m, int n, int k, struct cavs__amx_rows x,
                                               const uint32_t *w, ptrdiff_t ldw, float *y,
                                               ptrdiff_t ldy, bool accumulate)
{
    uint16_t tiles[BUFFER] __attribute__((aligned(LINE)));
    const int depth = block_depth(m, k);
    const int rows = BUFFER / (parts_of(depth, DEPTH) * DEPTH) / (2 * TILE) * (2 * TILE);

    cavs__amx_begin();
    for (int p = 0; p < k; p += depth) {
        const int d = smaller(k - p, depth);
        for (int i = 0; i < m; i += rows) {
            const int r = smaller(m - i, rows);
            struct cavs__amx_rows from = x;
            if (x.x)
                from.x += i * x.ld + p;
            else
                from.rounded += i * x.ld + p;
            cavs__amx_pack(r, d, &from, tiles);
            packed_gemm(r, n, d, tiles, w + p / 2 * CAVS__BF16_PANEL, ldw, y + i * ldy, ldy,
                        accumulate || p > 0);
        }
    }
    cavs__amx_end();
}

static void gemm(int m, int n, int k, const float *x, ptrdiff_t ldx, const uint32_t *w,
                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    if (k > 0 && m > 0 && n > 0)
        multiply(m, n, k, (struct cavs__amx_rows){.x = x, .ld = ldx}, w, ldw, y, ldy, accumulate);
    else if (!accumulate)
        clear(m, n, y, ldy);
}

static void gemm_rounded(int m, int n, int k, const uint16_t *x, ptrdiff_t ldx, const uint32_t *w,
                         ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate)
{
    if (k > 0 && m > 0 && n > 0)
        multiply(m, n, k, (struct cavs__amx_rows){.rounded = x, .ld = ldx}, w, ldw, y, ldy,
                 accumulate);
    else if (!accumulate)
        clear(m, n, y, ldy);
}

/* ---- the transposed product ---- */

/* dw (k, n) = or += x^T dy, with x^T (k, m) in tiles, by rows [r, r + m) of dy */
static void packed_gemm_tn(int r, int m, int n, int k, const uint16_t *tiles,
                           const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool load)
{
    uint32_t pairs_of_dy[SLICE_PAIRS] __attribute__((aligned(LINE)));
    struct cavs__amx_work t = {.a_rows = parts_of(m, DEPTH) * (ptrdiff_t)NUMBERS, .ldc = lddw};

    for (int j = 0; j < n; j += CAVS__BF16_PANEL) {
        const int cols = smaller(n - j, CAVS__BF16_PANEL);
        t.load = load;
        for (int p = 0; p < m; p += SLICE) {
            const int depth = smaller(m - p, SLICE);
            t.a = tiles + p / DEPTH * NUMBERS;
            t.b = pairs_of_dy;
            t.c = dw + j;
            t.steps = parts_of(depth, DEPTH);
            cavs__amx_pack_slice(&(struct cavs__amx_block){dy, r + p, depth, j, cols}, pairs_of_dy);
            cavs__amx_slice(k, cols, &t, false);
            t.load = true;
        }
    }
}

static __attribute__((noinline)) void multiply_tn(int m, int n, int k,
                                                  const struct cavs__gemm_rows *x,
                                                  const struct cavs__gemm_rows *dy, float *dw,
                                                  ptrdiff_t lddw, bool accumulate)
{
    uint16_t tiles[BUFFER_TN] __attribute__((aligned(LINE)));
    const int depth = smaller(parts_of(m, DEPTH) * DEPTH, MOST_ROWS),
              cols = BUFFER_TN / depth / TILE * TILE;

    cavs__amx_begin();
    for (int p = 0; p < m; p += depth)
        for (int i = 0; i < k; i += cols) {
            const int d = smaller(m - p, depth), c = smaller(k - i, cols);
            cavs__amx_pack_transposed(&(struct cavs__amx_block){x, p, d, i, c}, tiles);
            packed_gemm_tn(p, d, n, c, tiles, dy, dw + i * lddw, lddw, accumulate || p > 0);
        }
    cavs__amx_end();
}

static void gemm_tn(int m, int n, int k, const struct cavs__gemm_rows *x,
                    const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw, bool accumulate)
{
    if (k > 0 && m > 0 && n > 0)
        multiply_tn(m, n, k, x, dy, dw, lddw, accumulate);
    else if (!accumulate)
        clear(k, n, dw, lddw);
}

/* ---- whether the processor has it and the kernel lets us ---- */

static bool processor_has(void)
{
    enum { AMX = 1 << 24 | 1 << 22, AVX512_BF16 = 1 << 5 };
    unsigned a, b, c, d;

    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & AMX) != AMX)
        return false;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & AVX512_BF16 &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

/* Tiles are 8 KB of state a thread, so Linux wants to be asked once a process. */
static bool allowed(void)
{
    enum { ASK = 0x1023, TILE_DATA = 18 };

    return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

static bool available(void)
{
    static atomic_int known; /* 0: not yet */
    int answer = atomic_load(&known);

    if (!answer) {
        answer = processor_has() && allowed() ? 1 : -1;
        atomic_store(&known, answer);
    }
    return answer > 0;
}

const struct cavs__bf16_provider cavs__bf16_amx = {
    .name = "amx",
    .available = available,
    .gemm = gemm,
    .gemm_rounded = gemm_rounded,
    .gemm_tn = gemm_tn,
};
#endif
