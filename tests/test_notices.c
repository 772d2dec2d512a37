/* SPDX-License-Identifier: Apache-2.0 */
/* test_notices.c - what is no error is said once, to who listens, whenever that begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/groups/elementwise.h"
#include "core/base/notice.h"
#include "core/cavs.h"
#include "tests/group_cache.h"

#define MOST 8

struct heard {
    int n;
    const char *text[MOST];
};

static void hear(const char *text, void *context)
{
    struct heard *h = context;

    if (h->n < MOST)
        h->text[h->n] = text;
    h->n++;
}

/* How many notices have this in them. */
static int with(const struct heard *h, const char *part)
{
    int n = 0;

    assert_in_range(h->n, 0, MOST);
    for (int i = 0; i < h->n; i++)
        n += strstr(h->text[i], part) != NULL;
    return n;
}

static void notice_is_given_once(void **unused)
{
    struct heard h = {0};

    (void)unused;
    cavs_notice_set_handler(hear, &h);
    for (int i = 0; i < 3; i++)
        cavs__notice("one of %d", 7);
    cavs__notice("one of %d", 8);
    cavs_notice_set_handler(NULL, NULL);
    assert_int_equal(with(&h, "one of 7"), 1);
    assert_int_equal(with(&h, "one of 8"), 1);
}

static void late_listener_hears_what_was_said(void **unused)
{
    struct heard h = {0};

    (void)unused;
    cavs__notice("before anybody listened");
    cavs_notice_set_handler(hear, &h);
    assert_int_equal(with(&h, "before anybody listened"), 1);
    cavs_notice_set_handler(NULL, NULL);
    cavs__notice("when nobody listens any more");
    assert_int_equal(with(&h, "any more"), 0);
}

static void lines_are_notices(void **unused)
{
    struct heard h = {0};

    (void)unused;
    cavs__notice_lines("first line\n\nsecond line\n");
    cavs__notice_lines(NULL);
    cavs_notice_set_handler(hear, &h);
    cavs_notice_set_handler(NULL, NULL);
    assert_int_equal(with(&h, "first line"), 1);
    assert_int_equal(with(&h, "second line"), 1);
    assert_int_equal(with(&h, "\n"), 0);
}

static void interpreted_groups_are_said_with_their_reason(void **unused)
{
    struct heard h = {0};

    (void)unused;
    setenv("CC", "/nonexistent/compiler", 1);
    cavs_notice_set_handler(hear, &h);
    for (int width = 1; width < 4; width++)
        cavs__ew_program_destroy(cache_make(width));
    cavs_notice_set_handler(NULL, NULL);
    assert_int_equal(with(&h, "interpreted, which is slower: there is no C compiler "
                              "/nonexistent/compiler"),
                     1);
}

/* Processes that never end would have endless lists. */
static void list_has_an_end(void **unused)
{
    struct heard h = {0};

    (void)unused;
    cavs_notice_set_handler(hear, &h);
    for (int i = 0; i < 1000; i++)
        cavs__notice("number %d", i);
    cavs_notice_set_handler(NULL, NULL);
    assert_in_range(h.n, 10, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notice_is_given_once),
        cmocka_unit_test(late_listener_hears_what_was_said),
        cmocka_unit_test(lines_are_notices),
        cmocka_unit_test_setup_teardown(interpreted_groups_are_said_with_their_reason, cache_set_up,
                                        cache_tear_down),
        cmocka_unit_test(list_has_an_end),
    };

    return cmocka_run_group_tests_name("notices", tests, NULL, NULL);
}
