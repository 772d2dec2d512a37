/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_alloc.h - memory that runs out where a test wants it to.
 *
 * A static archive whose calls of malloc() and its kin have been renamed by failing_alloc.names
 * (the rule for tests/failing-*.a in tests/local.mk) makes them through here; so does jansson.
 * Those of the test itself and of other libraries never fail. Only allocations of the thread that
 * began are counted and fail, so that counts can be repeated; or, with _everywhere, those of all.
 */
#ifndef CAVS_TESTS_FAILING_ALLOC_H
#define CAVS_TESTS_FAILING_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* From now on the n-th allocation fails (the first is 1; 0: none), or, with `all_after`, that one
 * and all that follow. */
void failing_alloc_begin(long n, bool all_after);
/* From now on none fails. Returns how many there have been since _begin(). */
long failing_alloc_end(void);
/* How many have failed since _begin(). */
long failing_alloc_failures(void);
/* Bytes that the last of them asked for; 0: the C library was asked, for a file, a line or a text,
 * or there was none. */
size_t failing_alloc_wanted(void);

/* What this thread has allocated since _begin() and nobody has freed: how many blocks, with a word
 * on the first of them in text[size]. */
long failing_alloc_left(char *text, size_t size);
/* For blocks that the library has handed out, and anything else. */
void failing_free(void *p);

/* The same of all threads together, whose order is another one each time. *failures: how many have
 * failed. */
void failing_alloc_begin_everywhere(long n);
long failing_alloc_end_everywhere(long *failures);

#endif
