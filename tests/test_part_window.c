/* SPDX-License-Identifier: Apache-2.0 */
/* test_part_window.c - some rows of a gradient of blocks: of a block that no row has selected
 * nothing is written, and of one whose rows are all in a later tile the sum begins there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codelets/kernels/kernel_table.h"
#include "codelets/part.h"
#include "codelets/products/gemm.h"

enum { TILE = 8, ROWS = 20, IN = 64, OUT = 16, BLOCKS = 3, WINDOW = 32, FROM = 16 };
enum { X, DY, DW, INDEX, BUFFERS };

/* Block 2 is that of rows of the second tile and the third, block 1 nobody's. */
static int32_t ids[ROWS] = {0, -1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, -1, 0, 0, 2, 0, 2, 0};
static float x[ROWS * IN], dy[ROWS * OUT], out[WINDOW * OUT];

static void draw(void)
{
    for (int i = 0; i < ROWS * IN; i++)
        x[i] = (float)(i % 13 - 6);
    for (int i = 0; i < ROWS * OUT; i++)
        dy[i] = (float)(i % 7 - 3);
    for (int i = 0; i < WINDOW * OUT; i++)
        out[i] = NAN;
}

/* Rows FROM .. FROM + WINDOW - 1 of that block's gradient; whether anything adds to them. */
static bool run(int block)
{
    struct cavs__operand v[] = {
        {.buffer = X, .space = CAVS__FROWS, .mode = CAVS__DIRECT, .cols = IN, .ld = IN},
        {.buffer = DY, .space = CAVS__FROWS, .mode = CAVS__DIRECT, .cols = OUT, .ld = OUT},
        {.buffer = CAVS__NO_BUFFER, .mode = CAVS__IDS, .cols = 1},
        {.buffer = DW, .space = CAVS__FIXED, .mode = CAVS__DIRECT, .cols = OUT, .ld = OUT}};
    struct cavs__step step = {.call = {.kernel = &cavs__kernel_gemm_tn_select, .rows = BLOCKS * IN},
                              .nviews = 4,
                              .noutputs = 1,
                              .v = v};
    const struct cavs__part part = {.nsteps = 1, .steps = &step, .tile = TILE}, *parts = &part;
    const struct cavs__segment segment = {.rows = ROWS};
    const int32_t sections[] = {0};
    const struct cavs__part_args args = {.parts = &parts,
                                         .segments = &segment,
                                         .nsegments = 1,
                                         .nbuffers = BUFFERS,
                                         .index_buffer = INDEX,
                                         .sections = sections,
                                         .first = 1 << DW};
    void *buffers[BUFFERS] = {x, dy, NULL, ids};
    bool added = false;

    draw();
    cavs__part_run_window(
        &args, buffers, NULL,
        &(struct cavs__window){
            .from = block * IN + FROM, .rows = WINDOW, .out = out, .ld = OUT, .added = &added});
    return added;
}

static void of_rows_that_select_the_block(void **unused)
{
    (void)unused;
    for (int block = 0; block < BLOCKS; block += 2) {
        assert_true(run(block));
        for (int i = 0; i < WINDOW; i++) {
            for (int j = 0; j < OUT; j++) {
                float sum = 0;

                for (int r = 0; r < ROWS; r++)
                    sum += ids[r] == block ? x[r * IN + FROM + i] * dy[r * OUT + j] : 0;
                assert_true(out[i * OUT + j] == sum);
            }
        }
    }
}

static void nothing_where_none_does(void **unused)
{
    (void)unused;
    assert_false(run(1));
    for (int i = 0; i < WINDOW * OUT; i++)
        assert_true(isnan(out[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_rows_that_select_the_block),
                                       cmocka_unit_test(nothing_where_none_does)};

    cavs__gemm_init();
    return cmocka_run_group_tests_name("part_window", tests, NULL, NULL);
}
