/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows how far a training is, on terminals of different widths and elsewhere. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/common/progress.h"

static const struct progress_state state = {.epoch = 3,
                                            .epochs = 10,
                                            .done = 6400,
                                            .samples = 8544,
                                            .batch = 100,
                                            .batches = 134,
                                            .loss = 12.345678,
                                            .all_done = 23488,
                                            .all_seconds = 60};
static const char all[] = "epoch 3/10  batch 100/134  loss 12.35  391 samples/s  2:38 left";

/* Opens a terminal of that many columns; *inside is its side of a program, the result that of who
 * looks at it. */
static int open_terminal(int columns, int *inside)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    int outside = posix_openpt(O_RDWR | O_NOCTTY);

    assert_true(outside >= 0 && grantpt(outside) == 0 && unlockpt(outside) == 0);
    *inside = open(ptsname(outside), O_RDWR | O_NOCTTY);
    assert_true(*inside >= 0);
    assert_int_equal(ioctl(*inside, TIOCSWINSZ, &size), 0);
    return outside;
}

/* Shows the state, and the end of the epoch if `over`, with stderr led to `to`. */
static void show(int to, bool quiet, bool over)
{
    int before = dup(STDERR_FILENO);
    struct progress p;

    assert_true(before >= 0 && dup2(to, STDERR_FILENO) >= 0);
    p = progress_start(quiet, "samples");
    if (over)
        progress_epoch(&p, &state, 2);
    else
        progress_show(&p, &state);
    fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
}

/* What appears on a terminal of that width. */
static void on_terminal(int columns, bool over, char *text, size_t size)
{
    int inside, outside = open_terminal(columns, &inside);
    size_t n = 0;
    ssize_t more;

    show(inside, false, over);
    close(inside); /* then it ends: a terminal may give what was written in pieces */
    while (n < size - 1 && (more = read(outside, text + n, size - 1 - n)) > 0)
        n += (size_t)more;
    assert_true(n > 0);
    text[n] = '\0';
    close(outside);
}

static void a_wide_terminal_shows_all_in_one_line(void **unused)
{
    char text[512], expected[128];

    (void)unused;
    snprintf(expected, sizeof expected, "\r%s\033[K", all);
    on_terminal(80, false, text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_narrow_terminal_shows_what_has_room_in_one_line(void **unused)
{
    static const int widths[] = {2, 20, 50, sizeof all - 1, sizeof all};
    char text[512], expected[128];

    (void)unused;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        snprintf(expected, sizeof expected, "\r%.*s\033[K", widths[i] - 1, all);
        on_terminal(widths[i], false, text, sizeof text);
        assert_string_equal(text, expected);
    }
}

static void the_end_of_an_epoch_stays(void **unused)
{
    char text[512];

    (void)unused;
    on_terminal(30, true, text, sizeof text);
    assert_string_equal(text, "\repoch 3/10  loss 12.3457  320\033[K\r\n");
}

static void a_terminal_without_a_width_gets_all(void **unused)
{
    char text[512];

    (void)unused;
    on_terminal(0, false, text, sizeof text);
    assert_non_null(strstr(text, all));
}

static void elsewhere_there_are_whole_lines(void **unused)
{
    char text[512] = "";
    FILE *f = tmpfile();

    (void)unused;
    assert_non_null(f);
    show(fileno(f), false, false);
    show(fileno(f), true, false);
    rewind(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_int_equal(strlen(text), sizeof all);
    assert_memory_equal(text, all, sizeof all - 1);
    assert_int_equal(text[sizeof all - 1], '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wide_terminal_shows_all_in_one_line),
        cmocka_unit_test(a_narrow_terminal_shows_what_has_room_in_one_line),
        cmocka_unit_test(the_end_of_an_epoch_stays),
        cmocka_unit_test(a_terminal_without_a_width_gets_all),
        cmocka_unit_test(elsewhere_there_are_whole_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
