/* SPDX-License-Identifier: Apache-2.0 */
/* Packed data: opened, described, verified, and used for a batch. */
#include <stdlib.h>

#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

enum { MOST_SAMPLES = 64 };

void fuzz_make_packed(const char *path)
{
    struct cavs_data *d;

    FUZZ_MUST(cavs_data_pack(fuzz_model(), path, &d) == 0, "%s", cavs_error_message());
    fuzz_fill(d);
    FUZZ_MUST(cavs_data_note(d, "words", "a\0b", 4) == 0, "%s", cavs_error_message());
    FUZZ_MUST(cavs_data_write(d) == 0, "%s", cavs_error_message());
    cavs_data_destroy(d);
}

static void ask(const char *path)
{
    struct cavs_packed *p;
    char *text = NULL;
    size_t n;

    if (cavs_packed_open(path, &p) < 0) {
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
        return;
    }
    FUZZ_MUST(cavs_packed_size(p) >= 0, "%d samples", cavs_packed_size(p));
    for (int i = 0; i < cavs_packed_functions(p, "tree"); i++)
        cavs_packed_function(p, "tree", i);
    cavs_packed_note(p, "words", &n);
    cavs_packed_describe(p, &text);
    cavs_packed_verify(p);
    free(text);
    cavs_packed_close(p);
}

static void use(const char *path)
{
    int samples[MOST_SAMPLES], n;
    struct cavs_data *d;

    if (cavs_data_open(fuzz_model(), path, &d) < 0) {
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
        return;
    }
    n = cavs_data_size(d);
    for (int i = 0; i < n && i < MOST_SAMPLES; i++)
        samples[i] = i;
    if (cavs_session_gradient(fuzz_session(), d, samples, n < MOST_SAMPLES ? n : MOST_SAMPLES) < 0)
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
    cavs_session_wait(fuzz_session());
    cavs_data_destroy(d);
}

void fuzz_packed(const uint8_t *data, size_t size)
{
    struct fuzz_file file = fuzz_file(data, size);

    ask(file.path);
    use(file.path);
    fuzz_file_close(&file);
}
