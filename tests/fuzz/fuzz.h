/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what the fuzz targets share.
 *
 * A target takes any bytes for the input of one reader (or of one part that checks what it is
 * given), and fails if what must hold for all inputs does not.  Crashes, hangs, leaks and undefined
 * behaviour are for the sanitizers to see.  Two mains run targets:
 *
 *     replay.c      tests/test_fuzz_corpus: every file of corpus/TARGET and some hundred mutations
 *                   of each, the same ones every time.  Part of `make check`.
 *     libfuzzer.c   tests/fuzz/explore: libFuzzer, which looks for new inputs.  Wants clang and
 *                   configure --enable-fuzzing.
 *
 * An input that found something becomes a file of the corpus when it has been mended.
 */
#ifndef CAVS_TESTS_FUZZ_H
#define CAVS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fuzz_target {
    const char *name; /* and that of its folder in the corpus */
    void (*run)(const uint8_t *data, size_t size);
    /* Writes a file that is as it should be, for formats that are no text; NULL: the corpus has
     * some. */
    void (*make)(const char *path);
};

extern const struct fuzz_target fuzz_targets[]; /* ended by a NULL name */
const struct fuzz_target *fuzz_find(const char *name);

/* Ends the process with a message unless the condition holds. */
#define FUZZ_MUST(condition, ...)                         \
    do {                                                  \
        if (!(condition))                                 \
            fuzz_failed(__FILE__, __LINE__, __VA_ARGS__); \
    } while (0)
_Noreturn void fuzz_failed(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The input as a file in memory, to be closed. */
FILE *fuzz_stream(const uint8_t *data, size_t size);
/* The input as a file with a name, for readers that want one. */
struct fuzz_file {
    int descriptor;
    char path[40];
};
struct fuzz_file fuzz_file(const uint8_t *data, size_t size);
void fuzz_file_close(struct fuzz_file *f);
/* The bytes that make() writes, to be freed. */
uint8_t *fuzz_made(void (*make)(const char *path), size_t *size);
/* Cuts the input into n parts at lines "====", for readers of several files; parts that are not
 * there are empty. */
struct fuzz_part {
    const uint8_t *data;
    size_t size;
};
void fuzz_split(const uint8_t *data, size_t size, int n, struct fuzz_part *out);

/* Numbers out of the input; 0 behind its end. */
struct fuzz_bytes {
    const uint8_t *data;
    size_t size;
};
int fuzz_byte(struct fuzz_bytes *b);

#endif
