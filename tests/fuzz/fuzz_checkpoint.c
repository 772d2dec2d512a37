/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: resumed and trained on from, or refused with nothing changed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/tape/tape.h"
#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

static void must(int rc)
{
    FUZZ_MUST(rc == 0, "%d: %s", rc, cavs_error_message());
}

/* A tape that has blocks, or those of the checkpoint before. */
static struct cavs_tape *recorded(struct cavs_session *s)
{
    struct cavs_tape_options o = cavs_tape_defaults();
    struct cavs_param *embedding = cavs_model_find_param(fuzz_model(), "embedding");
    struct cavs_param *u = cavs_model_find_param(fuzz_model(), "U");
    struct cavs_tape *t;

    o.blocks_after = 1;
    must(cavs_tape_create(s, &o, &t));
    t->blocks.worth = 1;
    for (int i = 0; i < 3; i++) {
        struct cavs_symbol *x;

        must(cavs_tape_begin(t, CAVS_TAPE_GRADIENT));
        cavs_tape_sample(t);
        x = cavs_lookup(embedding, cavs_tape_id(t, 1));
        for (int k = 0; k < 2; k++)
            x = cavs_tanh(cavs_matmul(cavs_mul(x, x), u));
        cavs_loss(cavs_tape_function(t), "loss", cavs_sum(x), NULL);
        must(cavs_tape_finish(t));
    }
    return t;
}

void fuzz_make_checkpoint(const char *path)
{
    struct cavs_tape *t = recorded(fuzz_session());

    fuzz_train(fuzz_session());
    must(cavs_session_checkpoint(fuzz_session(), path, "how far: \xc3\xa9"));
    cavs_tape_destroy(t);
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
        cavs_tape_destroy(recorded(s));
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
