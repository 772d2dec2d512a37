/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_cache.h - surroundings for tests of compiled groups: a cache folder of their own, and a
 * compiler that counts its runs.
 *
 * $CC is a script, which writes a line into the file `runs` each time.
 */
#ifndef CAVS_TESTS_GROUP_CACHE_H
#define CAVS_TESTS_GROUP_CACHE_H

#include <stdbool.h>
#include <sys/types.h>

struct cavs__ew_program;

#define CACHE_PATH 4200 /* room for a path */

/* cmocka fixtures: each test has a new folder; its cache is folder/kernels. */
int cache_set_up(void **unused);
int cache_tear_down(void **unused);
/* No compiler here: nothing to test. */
bool cache_without_compiler(void);

/* The path of a file in the folder, until the next call. */
char *cache_path(const char *name);
void cache_write(const char *name, const char *text, mode_t mode);
/* Files that match; the only one that does (else the test fails), until the next call. */
int cache_count(const char *pattern);
char *cache_only(const char *pattern);
int cache_compiler_runs(void);

/* A small group, different for each width (1 to 3). */
struct cavs__ew_program *cache_make(int width);
void cache_check_result(const struct cavs__ew_program *p);
/* Makes the group of width 1 once more: it has to work, compiled or not, and the compiler has to
 * have run so many times in all. */
void cache_check(bool compiled, int runs);
/* Makes a group that computes something else, x + x, and checks it. */
void cache_check_other(void);

#endif
