/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fused_products.c - what a device's launch of products takes along: copies that they read,
 * sums of what they compute, and which of these it has to leave. No device is needed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/device/fused_products.h"
#include "codelets/groups/elementwise.h"

enum { K = 32, N = 48, ROWS = 5, MOST = CAVS__MOST_TOGETHER };

/* Memory by number; these are not looked into. */
static char memories[3 * MOST + 8];
enum { SCRATCH = 3 * MOST, STATES };

static struct cavs__device_view columns(int memory, int64_t at, int cols)
{
    return (struct cavs__device_view){
        .memory = {&memories[memory], at}, .ld = 4 * K, .index = -1, .ptr = -1, .cols = cols};
}

/* Rows of the states, by index. */
static struct cavs__device_view gathered(int index)
{
    struct cavs__device_view v = columns(STATES, 0, K);

    v.index = index;
    return v;
}

static bool same_view(const struct cavs__device_view *a, const struct cavs__device_view *b)
{
    return a->memory.p == b->memory.p && a->memory.at == b->memory.at && a->ld == b->ld &&
           a->index == b->index && a->cols == b->cols;
}

/* n products, of memories of their own. */
struct products {
    struct cavs__device_view v[MOST][3];
    struct cavs__call call;
    struct cavs__device_call calls[MOST];
    struct cavs__fused fused;
};

static void begin(struct products *p, int n)
{
    memset(p, 0, sizeof *p);
    for (int i = 0; i < n; i++) {
        p->v[i][0] = columns(3 * i, 0, K);
        p->v[i][1] = columns(3 * i + 1, 0, N);
        p->v[i][2] = columns(3 * i + 2, 0, N);
        p->calls[i] =
            (struct cavs__device_call){.call = &p->call, .rows = ROWS, .v = p->v[i], .nviews = 3};
    }
}

static void fuse(struct products *p, int n)
{
    const struct cavs__device_call *calls[MOST];

    for (int i = 0; i < n; i++)
        calls[i] = &p->calls[i];
    cavs__fuse_products(&p->fused, n, calls);
}

/* ---- copies ---- */

/* Two states to the columns [0, K) and [K, 2 K) of the scratch, the first last if they are
 * turned. */
static bool take_copies(struct products *p, bool turned)
{
    const struct cavs__device_view first = gathered(7), second = gathered(9),
                                   left = columns(SCRATCH, 0, K), right = columns(SCRATCH, K, K);
    const struct cavs__device_view v[] = {turned ? second : first, turned ? first : second,
                                          turned ? right : left, turned ? left : right};

    return cavs__fuse_copies(&p->fused, &(struct cavs__device_call){
                                            .call = &p->call, .rows = ROWS, .v = v, .nviews = 4});
}

static void what_is_copied_side_by_side_is_read_where_it_was(void **unused)
{
    (void)unused;
    for (int turned = 0; turned < 2; turned++) {
        const struct cavs__device_view first = gathered(7), second = gathered(9);
        struct products p;
        const struct cavs__product_sum *sum = p.fused.products;

        begin(&p, 1);
        p.v[0][0] = columns(SCRATCH, 0, 2 * K);
        fuse(&p, 1);
        assert_true(take_copies(&p, turned));
        assert_int_equal(sum->nterms, 2);
        assert_true(same_view(&sum->term[0].x, &first));
        assert_true(same_view(&sum->term[1].x, &second));
        assert_int_equal(sum->term[0].w.memory.at, 0);
        assert_int_equal(sum->term[1].w.memory.at, K * p.v[0][1].ld); /* the second half of w */
    }
}

static void products_of_one_copy_read_that(void **unused)
{
    const struct cavs__device_view second = gathered(9);
    struct products p;

    (void)unused;
    begin(&p, 2);
    p.v[0][0] = columns(SCRATCH, K, K);
    fuse(&p, 2);
    assert_true(take_copies(&p, false));
    assert_true(same_view(&p.fused.products[0].term[0].x, &second));
    assert_true(same_view(&p.fused.products[1].term[0].x, &p.v[1][0])); /* which is no copy */
    assert_int_equal(p.fused.products[0].nterms, 1);
    assert_int_equal(p.fused.copied[0].from.cols + p.fused.copied[1].from.cols, 2 * K);
}

/* Of these columns, as far apart as usual or not: then the launch stays as it was. */
static void leaves_copies(int64_t at, int cols, int ld)
{
    struct cavs__fused before;
    struct products p;

    begin(&p, 1);
    p.v[0][0] = columns(SCRATCH, at, cols);
    p.v[0][0].ld = ld;
    fuse(&p, 1);
    before = p.fused;
    assert_false(take_copies(&p, false));
    assert_memory_equal(&before, &p.fused, sizeof before);
}

static void copies_that_are_read_otherwise_are_made_before(void **unused)
{
    (void)unused;
    leaves_copies(0, K / 2, 4 * K);
    leaves_copies(K / 2, K, 4 * K);
    leaves_copies(0, 3 * K, 4 * K);
    leaves_copies(0, 2 * K, 8 * K);
}

/* ---- sums ---- */

/* The group that adds up the views 2 i and 2 i + 1, each to columns of its own; n sums. */
static bool take_sums(struct products *p, int n, const struct cavs__device_view *terms)
{
    struct cavs__device_view v[3 * MOST];
    struct cavs__ew_node nodes[MOST];
    const bool scalar[2 * MOST] = {false};
    int outputs[MOST];
    const struct cavs__ew_spec spec = {.width = terms[0].cols,
                                       .ninputs = 2 * n,
                                       .scalar = scalar,
                                       .nnodes = n,
                                       .nodes = nodes,
                                       .noutputs = n,
                                       .outputs = outputs};
    struct cavs__ew_program *program;
    struct cavs__call call = {0};
    bool taken;

    for (int i = 0; i < n; i++) {
        nodes[i] =
            (struct cavs__ew_node){.op = cavs__ew_find("add"), .in = {~(2 * i), ~(2 * i + 1)}};
        outputs[i] = i;
        v[2 * i] = terms[2 * i];
        v[2 * i + 1] = terms[2 * i + 1];
        v[2 * n + i] = columns(STATES, i * N, terms[0].cols);
    }
    program = cavs__ew_program_create(&spec, CAVS__EW_INTERPRET);
    assert_non_null(program);
    call.program = program;
    taken = cavs__fuse_sums(&p->fused, &(struct cavs__device_call){
                                           .call = &call, .rows = ROWS, .v = v, .nviews = 3 * n});
    cavs__ew_program_destroy(program);
    return taken;
}

/* Columns of a wider result, and another product; the third is by itself. */
static void a_sum_of_two_products_is_one(void **unused)
{
    const struct cavs__product_sum *sum, *other;
    struct cavs__device_view to;
    struct products p;

    (void)unused;
    begin(&p, 3);
    p.v[1][2].cols = N / 2;
    fuse(&p, 3);
    sum = &p.fused.products[0];
    other = &p.fused.products[1];
    assert_true(
        take_sums(&p, 1, (struct cavs__device_view[]){columns(2, N / 2, N / 2), p.v[1][2]}));
    to = columns(STATES, 0, N / 2);
    assert_int_equal(p.fused.n, 2);
    assert_int_equal(sum->nterms, 2);
    assert_true(same_view(&sum->y, &to));
    assert_true(same_view(&sum->term[0].x, &p.v[0][0]));
    assert_true(same_view(&sum->term[1].x, &p.v[1][0]));
    assert_int_equal(sum->term[0].w.memory.at, N / 2);
    assert_int_equal(sum->term[1].w.memory.at, 0);
    assert_true(same_view(&other->y, &p.v[2][2]));
}

/* The first two of n products, of which the first one's x has so many columns. */
static bool sum_of_two(int n, int cols)
{
    struct cavs__fused before;
    struct products p;
    bool taken;

    begin(&p, n);
    p.v[0][0].cols = cols;
    fuse(&p, n);
    before = p.fused;
    taken = take_sums(&p, 1, (struct cavs__device_view[]){p.v[0][2], p.v[1][2]});
    if (!taken)
        assert_memory_equal(&before, &p.fused, sizeof before);
    return taken;
}

static void sums_of_other_widths_are_made_afterwards(void **unused)
{
    (void)unused;
    assert_true(sum_of_two(2, K));
    assert_true(sum_of_two(MOST, K));
    assert_false(sum_of_two(2, K + 8)); /* a chunk would be of both products */
}

static void so_are_sums_of_what_no_product_has_computed(void **unused)
{
    struct products p;

    (void)unused;
    begin(&p, 2);
    fuse(&p, 2);
    assert_false(take_sums(&p, 1, (struct cavs__device_view[]){p.v[0][2], gathered(3)}));
    assert_false(take_sums(&p, 1, (struct cavs__device_view[]){p.v[0][2], columns(5, N / 2, N)}));
}

/* Sums of a few columns each of the same two products. */
static void a_launch_has_room_for_half_as_many_sums(void **unused)
{
    struct cavs__device_view terms[2 * MOST];
    struct products p;

    (void)unused;
    for (int n = MOST / 2; n <= MOST / 2 + 1; n++) {
        begin(&p, 2);
        fuse(&p, 2);
        for (int i = 0; i < n; i++) {
            terms[2 * i] = columns(2, i * 8, 8);
            terms[2 * i + 1] = columns(5, i * 8, 8);
        }
        assert_int_equal(take_sums(&p, n, terms), n == MOST / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_copied_side_by_side_is_read_where_it_was),
        cmocka_unit_test(products_of_one_copy_read_that),
        cmocka_unit_test(copies_that_are_read_otherwise_are_made_before),
        cmocka_unit_test(a_sum_of_two_products_is_one),
        cmocka_unit_test(sums_of_other_widths_are_made_afterwards),
        cmocka_unit_test(so_are_sums_of_what_no_product_has_computed),
        cmocka_unit_test(a_launch_has_room_for_half_as_many_sums),
    };

    return cmocka_run_group_tests_name("fused products", tests, NULL, NULL);
}
