/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved.h - what the tests of files share: a session with two parameters, a folder of its own for
 * what it saves, and files made or read byte by byte.
 */
#ifndef CAVS_TESTS_SAVED_H
#define CAVS_TESTS_SAVED_H

#include "tests/trial.h"

/* Parameters W (2 x 3) and b (1 x 3) and one sample. */
struct saved {
    struct trial t;
    struct cavs_session *s;
    char folder[64], path[80]; /* path: for a model, in the folder; nothing is there at first */
};

/* A setup of a test; `options` NULL: the defaults. */
int saved_open(void **state, const struct cavs_session_options *options);
/* The teardown: removes the file at path and the folder. */
int saved_close(void **state);

/* The whole file, at most 64 KB; the caller frees it. */
unsigned char *saved_read(const char *path, size_t *nbytes);
void saved_write(const char *path, const void *bytes, size_t n);
/* A model file: the header, which spaces fill to a multiple of 8, and n bytes of values. */
void saved_write_model(const char *path, const char *header, const void *values, size_t n);

#endif
