/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_soak.c - what runs for long takes no more and no more: thousands of batches, hundreds of
 * sessions and sets of samples, files written and read over and over, all with flat memory and as
 * many open files as at first. CAVS_TEST_LONG: minutes of each instead of a second.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/fuzz/fuzz_model.h"
#include "tests/trial.h"

/* How much more resident memory is still flat: the allocator's own moods, not a leak of a few bytes
 * a batch. */
enum { FLAT = 4 << 20, LONG_SECONDS = 120 };

static char folder[] = "/tmp/cavs-soak-XXXXXX", path[64];

static int up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long size, pages = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &pages), 2);
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Calls step() with 0, 1, ...: `warm` times first, then `few` times, or as long as a long test
 * takes. */
static void soak(void (*step)(int i), int warm, int few)
{
    double end = getenv("CAVS_TEST_LONG") ? now() + LONG_SECONDS : 0;
    int i = 0, files;
    long before, after;

    while (i < warm)
        step(i++);
    files = open_files();
    before = resident();
    while (i < warm + few || now() < end)
        step(i++);
    after = resident();
    print_message("# %d times: %ld KiB more in memory\n", i - warm, (after - before) / 1024);
    if (after > before + FLAT)
        fail_msg("%ld KiB, after %d times more %ld KiB", before / 1024, i - warm, after / 1024);
    assert_int_equal(open_files(), files);
}

/* ---- parameters that nothing writes to ----
 * A StarPU that can trace notes their readers, which cavs__forget_readers() has it forget. */

enum { READ = 64 /* parameters */ };

static struct cavs_param *read_only[READ];
static struct cavs_tape *reader;

static struct cavs_model *model_to_read(void)
{
    struct cavs_model *m;
    char name[16];

    check_ok(cavs_model_create(&m));
    for (int i = 0; i < READ; i++) {
        snprintf(name, sizeof name, "p%d", i);
        read_only[i] = cavs_model_param(m, name, 1, 4, CAVS_CONSTANT(1));
    }
    check_ok(cavs_model_finish(m));
    return m;
}

static void read_all(int i)
{
    struct cavs_function *f;
    struct cavs_symbol *sum;
    float row[4], *rows[] = {row};

    (void)i;
    check_ok(cavs_tape_begin(reader, CAVS_TAPE_EVALUATE));
    f = cavs_tape_sample(reader);
    sum = cavs_tape_row(reader, 4, ((const float[]){0, 0, 0, 0}));
    for (int k = 0; k < READ; k++)
        sum = cavs_add(sum, cavs_use(f, read_only[k]));
    check_ok(cavs_tape_values(reader, 1, &sum, rows));
    assert_true(row[0] == READ);
}

static void parameters_that_are_only_read_take_no_memory(void **state)
{
    struct cavs_runtime_options r = {.workers = 1, .leave_to_workers = true};
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_tape_options t = cavs_tape_defaults();
    struct cavs_model *m = model_to_read();
    struct cavs_runtime *runtime;
    struct cavs_session *s;

    (void)state;
    o.inference = true;
    t.blocks_after = 0; /* what is compiled stays open */
    check_ok(cavs_runtime_create(&r, &runtime));
    check_ok(cavs_session_create(runtime, m, &o, &s));
    check_ok(cavs_tape_create(s, &t, &reader));
    soak(read_all, 5000, 5000);
    cavs_tape_destroy(reader);
    cavs_session_destroy(s);
    check_ok(cavs_runtime_destroy(runtime));
    cavs_model_destroy(m);
}

/* ---- what comes and goes ---- */

static void train(int i)
{
    (void)i;
    fuzz_train(fuzz_session());
}

static void batches_take_no_memory(void **state)
{
    (void)state;
    soak(train, 500, 1500);
}

static void fill_and_destroy(int i)
{
    struct cavs_data *d;

    check_ok(cavs_data_create(fuzz_model(), &d));
    for (int k = 0; k < 8; k++)
        fuzz_fill(d);
    check_ok(cavs_session_gradient(fuzz_session(), d, (const int[]){i % 32, 3, 5}, 3));
    cavs_data_destroy(d);
    check_ok(cavs_session_wait(fuzz_session()));
}

static void sets_of_samples_take_no_memory(void **state)
{
    (void)state;
    soak(fill_and_destroy, 300, 500);
}

static void create_and_destroy(int i)
{
    struct cavs_session *s;

    (void)i;
    (void)fuzz_session();
    s = fuzz_new_session();
    fuzz_train(s);
    cavs_session_destroy(s);
}

static void sessions_take_no_memory(void **state)
{
    (void)state;
    soak(create_and_destroy, 50, 100);
}

static void write_and_read(int i)
{
    struct cavs_data *d;
    char *note;

    check_ok(cavs_session_checkpoint(fuzz_session(), path, "note"));
    check_ok(cavs_session_resume(fuzz_session(), path, &note));
    free(note);
    check_ok(cavs_session_load(fuzz_session(), path));
    assert_true(cavs_session_load(fuzz_session(), folder) < 0);
    check_ok(cavs_data_pack(fuzz_model(), path, &d));
    fuzz_fill(d);
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
    check_ok(cavs_data_open(fuzz_model(), path, &d));
    check_ok(cavs_session_train(fuzz_session(), d, (const int[]){i % 4}, 1));
    check_ok(cavs_session_wait(fuzz_session()));
    cavs_data_destroy(d);
}

static void files_take_no_memory_and_stay_closed(void **state)
{
    (void)state;
    soak(write_and_read, 10, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_that_are_only_read_take_no_memory), /* its own runtime: first */
        cmocka_unit_test(batches_take_no_memory),
        cmocka_unit_test(sets_of_samples_take_no_memory),
        cmocka_unit_test(sessions_take_no_memory),
        cmocka_unit_test(files_take_no_memory_and_stay_closed),
    };

    return cmocka_run_group_tests(tests, up, down);
}
