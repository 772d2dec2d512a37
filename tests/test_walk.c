/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_walk.c - a part as devices take it, in main memory: blocks instead of tiles, positions
 * instead of pointers, scratch of another shape.  A part with operands of every kind is run by
 * part.c and walked by device/walk.c with the CPU's kernels, over random segments and lists.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/device/walk.h"
#include "codelets/locate.h"
#include "codelets/products/gemm.h"
#include "tests/random.h"

enum { N = 5, LD = 8, TRIALS = 200, SEGMENTS = 3, MOST_ROWS = 80, MOST_ENTRIES = 4 };
/* Function rows of all segments and between them; rows of any table. */
enum { FROWS = SEGMENTS * (MOST_ROWS + 3), TABLE_ROWS = 2 + 2 * MOST_ENTRIES * FROWS };
/* What lies before the first number of a buffer on a device. */
enum { TABLE_AT = 7, INDEX_AT = 5 };

static uint64_t state = 5;

/* ---- the part ---- */

enum {
    IN_ROWS,
    IN_FROWS,
    IN_BROWS,
    IN_ENTRIES,
    IN_SLOTS,
    WEIGHT,
    OUT_ROWS,
    OUT_FROWS,
    OUT_BROWS,
    OUT_ENTRIES,
    OUT_BENTRIES,
    OUT_EDGES,
    OUT_SLOTS,
    OUT_PICKED,
    OUT_SHARE,
    TOTAL,
    TABLES,
    INDEX = TABLES,
    SCRATCH
};
enum { PTR1, PTR2, OWNER1, OWNER2, BY_ROW, BY_ENTRY, IDS, SUM_INDEX, SUM_PTR, SECTIONS };

#define TABLE(of, space_, mode_, width, ...)                                                   \
    {                                                                                          \
        .buffer = of, .space = CAVS__##space_, .mode = CAVS__##mode_, .cols = width, .ld = LD, \
        __VA_ARGS__                                                                            \
    }
/* block: where it begins in scratch and its pitch, as below */
#define VALUE(block, ...) SCRATCH_VALUE(block, __VA_ARGS__)
#define SCRATCH_VALUE(begin, pitch, mode_, ...)                                                  \
    {                                                                                            \
        .buffer = CAVS__SCRATCH, .mode = CAVS__##mode_, .cols = N, .region = begin, .ld = pitch, \
        __VA_ARGS__                                                                              \
    }
#define NUMBERS(mode_, ...)                                                      \
    {                                                                            \
        .buffer = CAVS__NO_BUFFER, .mode = CAVS__##mode_, .cols = 1, __VA_ARGS__ \
    }

/* Scratch of a vertex: A, B, and C and D side by side; of an entry of the first list: E and, with a
 * gap before it, F; of the second: G. */
#define A       0, N
#define B       N, N
#define C_AND_D 2 * N, 2 * N
#define E       0, N
#define F       N, LD
#define G       0, N
enum { SCRATCH_ROW = 4 * N, SCRATCH_ENTRY1 = N + LD, SCRATCH_ENTRY2 = N };

static const struct {
    const char *kernel;
    int list, together;
    struct cavs__operand v[3];
} steps[] = {
    {"softmax", .v = {TABLE(IN_ROWS, ROWS, DIRECT, N, .col = 2), VALUE(A, DIRECT)}},
    {"softmax",
     .v = {TABLE(IN_FROWS, FROWS, INDEXED, N, .col = 1, .section = BY_ROW), VALUE(B, DIRECT)}},
    {"softmax", .list = 1,
     .v = {VALUE(A, REPEATED, .section = OWNER1, .list = 1), VALUE(E, DIRECT, .list = 1)}},
    {"list_sum",
     .v = {VALUE(E, DIRECT, .list = 1, .listed = true), TABLE(OUT_FROWS, FROWS, DIRECT, N)}},
    {"softmax", .list = 2,
     .v = {TABLE(IN_BROWS, BROWS, REPEATED, N, .section = OWNER2, .list = 2),
           TABLE(OUT_BENTRIES, BENTRIES, DIRECT, N, .list = 2)}},
    {"softmax", .list = 1,
     .v = {TABLE(IN_ENTRIES, ENTRIES, INDEXED, N, .section = BY_ENTRY, .list = 1),
           VALUE(F, DIRECT, .col = 2, .list = 1)}},
    {"softmax", .list = 1,
     .v = {VALUE(F, DIRECT, .col = 2, .list = 1), TABLE(OUT_EDGES, EDGES, DIRECT, N, .list = 1)}},
    {"softmax", .list = 2,
     .v = {TABLE(IN_SLOTS, EDGES, REPEATED, N, .slots = 2, .slot = 1, .section = OWNER2, .list = 2),
           VALUE(G, DIRECT, .list = 2)}},
    {"softmax", .list = 2,
     .v = {VALUE(G, DIRECT, .list = 2), TABLE(OUT_ENTRIES, ENTRIES, DIRECT, N, .list = 2)}},
    {"sum_rows",
     .v = {TABLE(IN_ENTRIES, EDGES, SUMMED, N, .section = SUM_INDEX, .ptr_section = SUM_PTR),
           TABLE(OUT_BROWS, BROWS, DIRECT, N)}},
    {"softmax", .v = {TABLE(WEIGHT, FIXED, SAME, N, .col = 3),
                      TABLE(OUT_SLOTS, EDGES, DIRECT, N, .slots = 2, .slot = 1)}},
    {"gemm", .together = 2,
     .v = {VALUE(A, DIRECT), TABLE(WEIGHT, FIXED, DIRECT, N), VALUE(C_AND_D, DIRECT)}},
    {"gemm", .v = {TABLE(IN_FROWS, FROWS, INDEXED, N, .section = BY_ROW),
                   TABLE(WEIGHT, FIXED, DIRECT, N), VALUE(C_AND_D, DIRECT, .col = N)}},
    {"gemm", .v = {VALUE(B, DIRECT), TABLE(WEIGHT, FIXED, DIRECT, N), VALUE(A, DIRECT)}},
    {"softmax",
     .v = {VALUE(C_AND_D, DIRECT, .col = N), TABLE(OUT_ROWS, ROWS, DIRECT, N, .col = 1)}},
    {"pick",
     .v = {VALUE(A, DIRECT), NUMBERS(IDS, .section = IDS), TABLE(OUT_PICKED, FROWS, DIRECT, 1)}},
    {"list_share",
     .v = {NUMBERS(ABSENT, .list = 1, .listed = true), TABLE(OUT_SHARE, ROWS, DIRECT, 1)}},
    {"column_sum", .v = {VALUE(C_AND_D, DIRECT), TABLE(TOTAL, FIXED, DIRECT, N)}},
};
enum { STEPS = sizeof steps / sizeof *steps, CALLS = STEPS - 1 /* two products are one */ };

static struct cavs__step made[STEPS];

static void make_part(struct cavs__part *p)
{
    *p = (struct cavs__part){.name = (char *)"part",
                             .nsteps = STEPS,
                             .steps = made,
                             .scratch = SCRATCH_ROW,
                             .tile = random_int(&state, 1, 64)};
    p->lists[0] = (struct cavs__part_list){.used = true,
                                           .ptr_section = PTR1,
                                           .scratch = SCRATCH_ENTRY1,
                                           .tile = random_int(&state, 1, 64)};
    p->lists[1] = (struct cavs__part_list){.used = true,
                                           .ptr_section = PTR2,
                                           .scratch = SCRATCH_ENTRY2,
                                           .tile = random_int(&state, 1, 64)};
    for (int i = 0; i < STEPS; i++) {
        const struct cavs__kernel *k = cavs__kernel_find(steps[i].kernel);

        assert_non_null(k);
        made[i] = (struct cavs__step){.call = {.kernel = k},
                                      .nviews = k->nviews,
                                      .noutputs = 1,
                                      .v = (struct cavs__operand *)steps[i].v,
                                      .list = steps[i].list,
                                      .together = steps[i].together ? steps[i].together : 1};
    }
}

/* ---- rows and lists ---- */

struct world {
    struct cavs__part part;
    const struct cavs__part *parts[1];
    struct cavs__segment segments[SEGMENTS];
    int nsegments, frows;
    int32_t index[INDEX_AT + 16 * TABLE_ROWS], sections[SECTIONS];
    int nindex;
    int32_t longest[CAVS__PART_LISTS];
    float tables[TABLES][TABLE_AT + TABLE_ROWS * LD];
    struct cavs__part_args args;
};

static int32_t *section(struct world *w, int number)
{
    return w->index + INDEX_AT + w->sections[number];
}

static int32_t *new_section(struct world *w, int number, int n)
{
    w->sections[number] = w->nindex;
    w->nindex += n;
    assert_true(w->nindex <= 16 * TABLE_ROWS);
    return section(w, number);
}

static void random_section(struct world *w, int number, int n, int least, int most)
{
    int32_t *to = new_section(w, number, n);

    for (int i = 0; i < n; i++)
        to[i] = random_int(&state, least, most);
}

static void list(struct world *w, int l, int ptr_number, int owner_number)
{
    int32_t *ptr = new_section(w, ptr_number, w->frows + 1), *owner;

    ptr[0] = random_int(&state, 0, 3);
    w->longest[l] = 0;
    for (int f = 0; f < w->frows; f++) {
        int n = random_int(&state, 0, MOST_ENTRIES);

        ptr[f + 1] = ptr[f] + n;
        w->longest[l] = n > w->longest[l] ? n : w->longest[l];
    }
    owner = new_section(w, owner_number, ptr[w->frows] + 1);
    for (int f = 0; f < w->frows; f++)
        for (int e = section(w, ptr_number)[f]; e < section(w, ptr_number)[f + 1]; e++)
            owner[e] = f;
}

/* Segments with rows of other functions or of other tasks between them; each block of V_t begins at
 * its first segment. */
static void make_segments(struct world *w)
{
    int frow = 0, block = 0;

    w->nsegments = random_int(&state, 1, SEGMENTS);
    for (int i = 0; i < w->nsegments; i++) {
        struct cavs__segment *s = &w->segments[i];

        frow += random_int(&state, 0, 3);
        block = i == 0 || random_int(&state, 0, 1) ? frow : block;
        s->rows = random_int(&state, 1, MOST_ROWS);
        s->frow0 = frow;
        s->row0 = frow + 11 * i;
        s->brow0 = frow - block;
        frow += s->rows;
    }
    w->frows = frow;
}

/* Edges of the stage: room for two slots of each row, or for the entries of the first list. */
static void number_edges(struct world *w)
{
    int edge = 1;

    for (int i = 0; i < w->nsegments; i++) {
        struct cavs__segment *s = &w->segments[i];
        const int32_t *ptr = section(w, PTR1) + s->frow0;
        int entries = ptr[s->rows] - ptr[0];

        s->edge0 = edge;
        edge += entries > 2 * s->rows ? entries : 2 * s->rows;
    }
    assert_true(edge <= TABLE_ROWS);
}

static void make_sections(struct world *w)
{
    int rows = w->frows + 11 * SEGMENTS, sums;
    int32_t *ptr;

    list(w, 0, PTR1, OWNER1);
    list(w, 1, PTR2, OWNER2);
    number_edges(w);
    random_section(w, BY_ROW, w->frows, -1, TABLE_ROWS - 1);
    random_section(w, BY_ENTRY, section(w, PTR1)[w->frows] + 1, -1, TABLE_ROWS - 1);
    random_section(w, IDS, w->frows, -1, N - 1);
    ptr = new_section(w, SUM_PTR, rows + 1);
    for (int r = 0; r <= rows; r++)
        ptr[r] = r == 0 ? 0 : ptr[r - 1] + random_int(&state, 0, 3);
    sums = ptr[rows];
    random_section(w, SUM_INDEX, sums + 1, -1, TABLE_ROWS - 1);
}

static void make_world(struct world *w)
{
    memset(w, 0, sizeof *w);
    make_part(&w->part);
    w->parts[0] = &w->part;
    make_segments(w);
    make_sections(w);
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < TABLE_AT + TABLE_ROWS * LD; k++)
            w->tables[i][k] = (float)random_double(&state, -1, 1);
    w->args = (struct cavs__part_args){.parts = w->parts,
                                       .segments = w->segments,
                                       .nsegments = w->nsegments,
                                       .index_buffer = INDEX,
                                       .sections = w->sections,
                                       .host_index = w->index + INDEX_AT,
                                       .first = (uint64_t)random_int(&state, 0, 1) << TOTAL};
}

/* ---- on a CPU ---- */

static float *new_scratch(size_t floats)
{
    float *scratch = malloc((floats + TABLE_AT) * sizeof *scratch);

    assert_non_null(scratch);
    for (size_t i = 0; i < floats + TABLE_AT; i++)
        scratch[i] = NAN;
    return scratch;
}

static void run(struct world *w)
{
    void *buffers[TABLES + 1];
    float *scratch = new_scratch(cavs__part_scratch(&w->part, w->longest));

    for (int i = 0; i < TABLES; i++)
        buffers[i] = w->tables[i] + TABLE_AT;
    buffers[INDEX] = w->index + INDEX_AT;
    cavs__part_run(&w->args, buffers, scratch);
    free(scratch);
}

/* ---- as a device, in main memory ---- */

static struct {
    int calls, fail_at;
    const float *scratch_end;
} walk;

static float *address(struct cavs__memory m)
{
    return m.p ? (float *)((uintptr_t)m.p + (uintptr_t)m.at * sizeof(float)) : NULL;
}

static struct cavs__view view_of(const struct cavs__device_call *c,
                                 const struct cavs__device_view *v)
{
    const int32_t *index = c->index;

    return (struct cavs__view){.p = address(v->memory),
                               .ld = v->ld,
                               .index = v->index >= 0 ? index + v->index : NULL,
                               .ptr = v->ptr >= 0 ? index + v->ptr : NULL,
                               .cols = v->cols};
}

/* What a device packs there must not be in anybody's way. */
static void spoil_room(const struct cavs__device_call *c)
{
    bool scattered[3];
    int cols[3];
    size_t n;

    for (int i = 0; i < c->nviews; i++) {
        cols[i] = c->v[i].cols;
        scattered[i] = c->v[i].index >= 0 || c->v[i].ld < c->v[i].cols;
    }
    n = (size_t)cavs__device_room(c->call, cols, scattered) * (size_t)c->rows;
    assert_true(address(c->room) + n <= walk.scratch_end);
    for (size_t i = 0; i < n; i++)
        address(c->room)[i] = NAN;
}

static int take(int n, const struct cavs__device_call *const *calls)
{
    if (++walk.calls == walk.fail_at)
        return -1;
    for (int i = 0; i < n; i++)
        spoil_room(calls[i]);
    for (int i = 0; i < n; i++) {
        const struct cavs__device_call *c = calls[i];
        struct cavs__view v[3];

        for (int k = 0; k < c->nviews; k++)
            v[k] = view_of(c, &c->v[k]);
        c->call->kernel->cpu(c->call, c->rows, v, c->flags);
    }
    return 0;
}

static int walk_with(struct world *w, size_t floats, int fail_at)
{
    struct cavs__memory buffers[SCRATCH + 1];
    float *scratch = new_scratch(floats);
    int rc;

    for (int i = 0; i < TABLES; i++)
        buffers[i] = (struct cavs__memory){w->tables[i], TABLE_AT};
    buffers[INDEX] = (struct cavs__memory){w->index, INDEX_AT};
    buffers[SCRATCH] = (struct cavs__memory){scratch, TABLE_AT};
    walk.calls = 0;
    walk.fail_at = fail_at;
    walk.scratch_end = scratch + TABLE_AT + floats;
    rc = cavs__part_walk(NULL, &w->args, SCRATCH + 1, buffers, floats, take);
    free(scratch);
    return rc;
}

/* Enough for one row, whichever it is. */
static size_t least_floats(const struct world *w)
{
    return cavs__part_device_floats(&w->part, 1, w->longest);
}

static size_t most_floats(const struct world *w)
{
    int32_t entries[CAVS__PART_LISTS] = {MOST_ROWS * MOST_ENTRIES, MOST_ROWS * MOST_ENTRIES};

    return cavs__part_device_floats(&w->part, MOST_ROWS, entries);
}

/* ---- tests ---- */

static void check_equal(const struct world *got, const struct world *want)
{
    for (int i = 0; i < TABLES; i++)
        for (int k = 0; k < TABLE_AT + TABLE_ROWS * LD; k++)
            if (!(fabsf(got->tables[i][k] - want->tables[i][k]) <= 1e-5f))
                fail_msg("table %d, number %d: %g, not %g", i, k, (double)got->tables[i][k],
                         (double)want->tables[i][k]);
}

static struct world on_cpu, on_device;

static void blocks_give_what_tiles_do(void **unused)
{
    (void)unused;
    for (int i = 0; i < TRIALS; i++) {
        int most, least;

        make_world(&on_cpu);
        on_device = on_cpu; /* only the tables are its own */
        least = (int)least_floats(&on_cpu);
        most = (int)most_floats(&on_cpu);
        run(&on_cpu);
        assert_int_equal(walk_with(&on_device, (size_t)random_int(&state, least, most), 0), 0);
        check_equal(&on_device, &on_cpu);
    }
}

static void every_step_is_one_call_where_scratch_is_large(void **unused)
{
    (void)unused;
    for (int i = 0; i < 20; i++) {
        make_world(&on_device);
        assert_int_equal(walk_with(&on_device, most_floats(&on_device), 0), 0);
        assert_int_equal(walk.calls, on_device.nsegments * CALLS);
        assert_int_equal(walk_with(&on_device, least_floats(&on_device), 0), 0);
        assert_true(walk.calls % CALLS == 0);
        if (on_device.frows > 13 * SEGMENTS) /* 14 rows do not fit, even without entries */
            assert_true(walk.calls > on_device.nsegments * CALLS);
    }
}

static void a_walk_ends_with_the_device(void **unused)
{
    (void)unused;
    make_world(&on_device);
    assert_int_equal(walk_with(&on_device, most_floats(&on_device), 4), -1);
    assert_int_equal(walk.calls, 4);
}

/* ---- by hand ---- */

/* Function rows 4 and 5, the third and fourth of a segment; vertex 4 has the entries 9 and 10, and
 * 5 has 11; the segment's begin with 7, the block's with 2. */
static struct cavs__rows rows_by_hand(void)
{
    static struct cavs__part part = {.scratch = 10};
    static const struct cavs__segment segment = {
        .rows = 4, .row0 = 30, .frow0 = 2, .edge0 = 50, .brow0 = 1};
    static const int32_t sections[] = {0, 100}, index[] = {0, 2, 7, 8, 9, 11, 12};
    struct cavs__rows r = {.part = &part, .segment = &segment, .sections = sections};

    part.lists[0] = (struct cavs__part_list){.used = true, .scratch = 3};
    r.index = index;
    r.start = 2;
    cavs__rows_take(&r, 2, 64);
    return r;
}

static void check_location(struct cavs__operand o, int64_t floats, int ld, int index, int ptr)
{
    struct cavs__rows r = rows_by_hand();
    struct cavs__location at = cavs__locate(&r, &o);

    assert_int_equal(at.buffer, o.buffer);
    assert_int_equal(at.floats, floats);
    assert_int_equal(at.ld, ld);
    assert_int_equal(at.index, index);
    assert_int_equal(at.ptr, ptr);
}

static void locations_are_those_worked_out_by_hand(void **unused)
{
    struct cavs__rows r = rows_by_hand();

    (void)unused;
    assert_int_equal(r.entries[0], 3);
    assert_int_equal(r.used, 10 * 64 + 3 * 16);
    check_location((struct cavs__operand)TABLE(0, ROWS, DIRECT, N, .col = 3), 32 * LD + 3, LD, -1,
                   -1);
    check_location((struct cavs__operand)TABLE(0, FROWS, DIRECT, N), 4 * LD, LD, -1, -1);
    check_location((struct cavs__operand)TABLE(0, BROWS, DIRECT, N), 3 * LD, LD, -1, -1);
    check_location((struct cavs__operand)TABLE(0, EDGES, DIRECT, N, .slots = 2, .slot = 1),
                   (50 + 4 + 1) * LD, 2 * LD, -1, -1);
    check_location((struct cavs__operand)TABLE(0, EDGES, DIRECT, N, .list = 1), (50 + 2) * LD, LD,
                   -1, -1);
    check_location((struct cavs__operand)TABLE(0, ENTRIES, DIRECT, N, .list = 1), 9 * LD, LD, -1,
                   -1);
    check_location((struct cavs__operand)TABLE(0, BENTRIES, DIRECT, N, .list = 1), 7 * LD, LD, -1,
                   -1);
    check_location((struct cavs__operand)TABLE(0, FIXED, SAME, N, .col = 1), 1, 0, -1, -1);
    check_location((struct cavs__operand)TABLE(0, FROWS, INDEXED, N, .section = 1), 0, LD, 104, -1);
    check_location((struct cavs__operand)TABLE(0, ROWS, SUMMED, N, .section = 1, .ptr_section = 1),
                   0, LD, 100, 132);
    check_location((struct cavs__operand)TABLE(0, ROWS, REPEATED, N, .section = 1, .list = 1),
                   (32 - 4) * LD, LD, 109, -1);
    check_location((struct cavs__operand)SCRATCH_VALUE(6, 4, DIRECT, .col = 1), 6 * 64 + 1, 4, -1,
                   -1);
    check_location((struct cavs__operand)SCRATCH_VALUE(1, 2, DIRECT, .list = 1, .listed = true),
                   10 * 64 + 16, 2, -1, 4);
    check_location((struct cavs__operand)NUMBERS(IDS, .section = 1), 0, 0, 104, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locations_are_those_worked_out_by_hand),
        cmocka_unit_test(blocks_give_what_tiles_do),
        cmocka_unit_test(every_step_is_one_call_where_scratch_is_large),
        cmocka_unit_test(a_walk_ends_with_the_device),
    };

    cavs__gemm_init();
    return cmocka_run_group_tests_name("a part as devices walk it", tests, NULL, NULL);
}
