/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_panels.c - y = x w with w in panels (panels.h): what nearly all work of a batch is.
 *
 * All rows pass one panel before the next one is begun: the panel comes from far once, and from L2
 * for all tiles but the first.  While tiles work on a panel they fetch the next one into L2, a
 * cache line at each step, so that no product waits for L3 (n 1536, k 1024, 64 rows on a core of
 * an Intel Xeon with AMX: 177 GFLOP/s without that, 182 with it, of 190; 16 rows: 139 and 164).
 * Where w is in L2 anyway they fetch nothing.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/gemm_tile.h"

#include <stdint.h>
#include <string.h>

/* Depth done in one go, and rows: x's part has to stay in L2 beside two panels. */
#define DEPTH 1024
#define ROWS  70

/* So few rows of a panel that is in L2 already wait for the fetching of what comes after it. */
#define FEW_ROWS 4

int cavs__next_tile(const struct cavs__tiles *s, int rows)
{
    return rows > 0 ? parts_of(rows, parts_of(rows, s->panel_rows)) : 0;
}

/* c (rows, width) = or += a b with b in one panel, or in as many as a tile takes; t.next: what will
 * be the next one, or NULL.  The first tile fetches a half of that, the second the other; all
 * others what they read themselves, which costs nothing.  c may come from far, all of it: each tile
 * fetches that of the next one, which it starts from or overwrites, little by little, as a core has
 * room for few lines that are under way.
 *
 * Tiles share a record, written member by member.  A copy of one that has just been written to
 * would wait until that, and what the tile before has stored, has reached L1. */
static void by_panel(const struct cavs__tiles *s, int rows, int width, bool strips,
                     struct cavs__tile t)
{
    const int first = cavs__next_tile(s, rows);
    const float *const b = t.b, *fetched = t.next;
    const ptrdiff_t next_step = t.next_step,
                    half = strips ? CAVS__LINE : (ptrdiff_t)t.depth * CAVS__LINE;
    float *c = t.c, *const top = t.c;
    int halves = fetched ? 2 : 0;

    for (int r = first, next; r > 0; r = next) {
        const int most = s->panel_vecs[r - 1] * s->lanes;

        rows -= r;
        next = cavs__next_tile(s, rows);
        t.steps = t.depth / (next > 0 ? next : first) + 1;
        if (strips)
            t.step = r;
        for (int j = 0; j < width; j += most) {
            const int w = smaller(most, width - j), vecs = parts_of(w, s->lanes);

            t.b = b + j;
            t.c = c + j;
            t.tail = w - (vecs - 1) * s->lanes;
            t.next = halves > 0 ? fetched : t.b;
            t.next_step = halves > 0 ? next_step : CAVS__LINE;
            if (halves-- > 0)
                fetched += half;
            t.c_next = (next > 0 ? c + r * t.ldc : top + width) + j;
            s->panel_fn[t.tail < s->lanes][r - 1][vecs - 1](&t);
        }
        t.a += r * (strips ? t.depth : t.row);
        c += r * t.ldc;
    }
}

/* Columns that are done at a time: a panel, or two where tiles are so wide. */
static int columns_at_a_time(const struct cavs__tiles *s, int rows)
{
    const int tallest = cavs__next_tile(s, rows);
    const int most = tallest > 0 ? s->panel_vecs[tallest - 1] * s->lanes : 0;

    return most > CAVS__PANEL ? most : CAVS__PANEL;
}

/* How panels are gone through: from the first to the last, or back. */
enum sweep { FORTH, BACK };

/* c (rows, cols) = or += a b with b in panels `pitch` apart. */
static void by_panels(const struct cavs__tiles *s, int rows, int cols, const float *panels,
                      ptrdiff_t pitch, enum sweep sweep, struct cavs__tile t)
{
    const int at_a_time = columns_at_a_time(s, rows), n = parts_of(cols, at_a_time),
              way = sweep == BACK ? -1 : 1;
    const ptrdiff_t wide = at_a_time / CAVS__PANEL * pitch;
    float *const c = t.c;

    t.pitch = pitch;
    t.next_step = CAVS__LINE;
    for (int i = 0, at = way < 0 ? n - 1 : 0; i < n; i++, at += way) {
        t.b = panels + at * wide;
        t.c = c + at * at_a_time;
        t.next = rows > FEW_ROWS && i + 1 < n ? t.b + way * wide : NULL;
        by_panel(s, rows, smaller(at_a_time, cols - at * at_a_time), false, t);
    }
}

void cavs__tile_strips(const struct cavs__tiles *s, int rows, int cols, const float *panels,
                       struct cavs__tile t)
{
    float *const c = t.c;

    t.row = 1;
    for (int j = 0; j < cols; j += CAVS__PANEL) {
        t.b = panels + (ptrdiff_t)j * t.depth;
        t.c = c + j;
        by_panel(s, rows, smaller(CAVS__PANEL, cols - j), true, t);
        if (t.next)
            t.next += CAVS__PANEL;
    }
}

/* Which way to go through w this time: where the last product by it ended its panels may be in L2
 * still, and the V_t of a chain are multiplied by the same w, one after the other.  A bit for each
 * w of this thread, or for some of them. */
static enum sweep next_sweep(const float *w)
{
    static _Thread_local uint64_t back;
    const uint64_t bit = UINT64_C(1) << ((uintptr_t)w / 4096 * UINT64_C(0x9e3779b97f4a7c15) >> 58);

    back ^= bit;
    return back & bit ? FORTH : BACK;
}

/* x (rows, cols) where it is, or in `room` with `rows` rows of cols + CAVS__LINE; sets the pitch.
 * Rows so far apart as this asks fall into one or two sets of L1, where a tall tile needs more ways
 * than it has. */
static const float *apart(int rows, int cols, const float *x, ptrdiff_t *ld, float *room)
{
    const ptrdiff_t wide = cols + CAVS__LINE;

    if (rows < 2 || *ld % 512 != 0)
        return x;
    for (int i = 0; i < rows; i++)
        memcpy(room + i * wide, x + i * *ld, (size_t)cols * sizeof *room);
    *ld = wide;
    return room;
}

/* by_panels() of panels that are in L2 already.  So nothing is fetched, which takes an instruction
 * for every few sums, and tiles may be as wide as two panels, which they would read too often if
 * these came from far (h 64, 16 rows or more, in shares of the peak of a core of an Intel Xeon with
 * AMX: .79 by by_panels(), .87 here).  No panel ends between two tiles. */
static void by_near_panels(const struct cavs__tiles *s, int rows, int cols, const float *panels,
                           ptrdiff_t pitch, struct cavs__tile t)
{
    const int tallest = parts_of(rows, parts_of(rows, CAVS__TILE_ROWS)),
              wide = s->panel_vecs[tallest - 1] * s->lanes;
    float *const c = t.c;

    t.ldb = CAVS__PANEL;
    t.pitch = pitch;
    for (int j = 0; j < cols; j += wide) {
        t.b = panels + j / CAVS__PANEL * pitch + j % CAVS__PANEL;
        t.c = c + j;
        cavs__tile_columns(s, rows, smaller(wide, cols - j), t);
    }
}

/* y (m, n) = or += x (m, k) w (k, n) */
void cavs__tiled_gemm_panels(const struct cavs__tiles *s, int m, int n, int k, const float *x,
                             ptrdiff_t ldx, const float *w, ptrdiff_t pitch, float *y,
                             ptrdiff_t ldy, bool accumulate, bool near)
{
    float room[ROWS * (DEPTH + CAVS__LINE)] __attribute__((aligned(64)));
    struct cavs__tile t = {.step = 1, .ldc = ldy};

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    for (int r = 0; r < m; r += ROWS) {
        const int rows = smaller(ROWS, m - r);
        const enum sweep sweep = near ? FORTH : next_sweep(w);

        for (int p = 0; p < k; p += DEPTH) {
            t.depth = smaller(DEPTH, k - p);
            t.row = ldx;
            t.a = apart(rows, t.depth, x + r * ldx + p, &t.row, room);
            t.c = y + r * ldy;
            t.load = accumulate || p > 0;
            if (near)
                by_near_panels(s, rows, n, w + (ptrdiff_t)p * CAVS__PANEL, pitch, t);
            else
                by_panels(s, rows, n, w + (ptrdiff_t)p * CAVS__PANEL, pitch, sweep, t);
        }
    }
}
