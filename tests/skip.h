/* SPDX-License-Identifier: Apache-2.0 */
/* skip.h - skips a test of cmocka's and says why: build-aux/run-test puts the reason into the line
 * of TAP.  To be included behind the header of cmocka. */
#ifndef CAVS_TESTS_SKIP_H
#define CAVS_TESTS_SKIP_H

/* Takes a format and its arguments. */
#define SKIP(...)                   \
    do {                            \
        print_message("# SKIP: ");  \
        print_message(__VA_ARGS__); \
        print_message("\n");        \
        skip();                     \
    } while (0)

#endif
