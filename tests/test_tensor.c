/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tensor.c - the memory of tensors (memory/tensor.h): where chunks begin, what they keep when
 * they grow, and that the system is asked for large pages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "memory/tensor.h"
#include "tests/skip.h"
#include "tests/trial.h"

enum { LARGE_PAGE = 2 << 20, COLS = 1024 };

/* Whether large pages were asked for where p is, as the kernel says; -1: it says nothing. */
static int asked_for(const void *p)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    bool here = false;
    char line[512];
    int found = -1;

    while (f && found < 0 && fgets(line, sizeof line, f)) {
        unsigned long from, to;

        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= (uintptr_t)p && (uintptr_t)p < to;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            found = strstr(line, " hg") != NULL;
    }
    if (f)
        fclose(f);
    return found;
}

static bool system_has_large_pages(void)
{
    FILE *f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");

    if (f)
        fclose(f);
    return f != NULL;
}

static void tensor_with(struct cavs__tensor *t, int64_t rows)
{
    assert_int_equal(cavs__tensor_init(t, "t", COLS, 1), 0);
    assert_int_equal(cavs__tensor_extend(t, 0, rows, 0, CAVS__PAGED), 0);
    assert_int_equal((uintptr_t)t->chunks[0].p % 64, 0);
}

static void large_pages_are_asked_for(void **state)
{
    struct cavs__tensor t;

    (void)state;
    if (!system_has_large_pages())
        SKIP("this system has no large pages for who asks");
    tensor_with(&t, LARGE_PAGE / 8 / sizeof(float) / COLS);
    assert_int_not_equal(asked_for(t.chunks[0].p), 0);
    cavs__tensor_free(&t);
}

/* To the last row. */
static void values_are_kept_where_a_chunk_grows(void **state)
{
    const int64_t rows = LARGE_PAGE / sizeof(float) / COLS - 1;
    struct cavs__tensor t;

    (void)state;
    tensor_with(&t, rows);
    for (int64_t i = 0; i < rows * COLS; i++)
        t.chunks[0].p[i] = (float)i;
    assert_int_equal(cavs__tensor_extend(&t, 0, 3 * rows, rows, CAVS__PAGED), 0);
    for (int64_t i = 0; i < rows * COLS; i++)
        assert_true(t.chunks[0].p[i] == (float)i);
    memset(t.chunks[0].p, 0, (size_t)t.chunks[0].rows * COLS * sizeof(float));
    cavs__tensor_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_pages_are_asked_for),
        cmocka_unit_test(values_are_kept_where_a_chunk_grows),
    };

    return cmocka_run_group_tests(tests, trial_runtime_up, trial_runtime_down);
}
