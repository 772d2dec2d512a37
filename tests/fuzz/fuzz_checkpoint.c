/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: resumed and trained on from, or refused with nothing changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/session.h"
#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

void fuzz_make_checkpoint(const char *path)
{
    fuzz_train(fuzz_session());
    FUZZ_MUST(cavs_session_checkpoint(fuzz_session(), path, "how far: \xc3\xa9") == 0, "%s",
              cavs_error_message());
}

/* The session as it was at first, for every input. */
static void go_back(struct cavs_session *s)
{
    static struct fuzz_file first;

    if (!*first.path) {
        size_t n;
        uint8_t *bytes = fuzz_made(fuzz_make_checkpoint, &n);

        first = fuzz_file(bytes, n);
        free(bytes);
    }
    FUZZ_MUST(cavs_session_resume(s, first.path, NULL) == 0, "%s", cavs_error_message());
}

void fuzz_checkpoint(const uint8_t *data, size_t size)
{
    struct cavs_session *s = fuzz_session();
    struct fuzz_file file = fuzz_file(data, size);
    size_t bytes = (size_t)fuzz_values() * sizeof(float);
    float *before = malloc(bytes), *after = malloc(bytes);
    char *note = NULL;

    FUZZ_MUST(before && after, "no memory");
    go_back(s);
    fuzz_get_values(s, before);
    if (cavs_session_resume(s, file.path, &note) == 0) {
        FUZZ_MUST(note, "no note");
        FUZZ_MUST(isfinite(s->optimizer.rule.lr), "a learning rate of %g",
                  (double)s->optimizer.rule.lr);
        fuzz_train(s);
    } else {
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
        FUZZ_MUST(!note, "a note of a refused file");
        fuzz_get_values(s, after);
        FUZZ_MUST(memcmp(before, after, bytes) == 0, "a refused file has changed parameters");
    }
    free(note);
    free(before);
    free(after);
    fuzz_file_close(&file);
}
