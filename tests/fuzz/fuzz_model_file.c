/* SPDX-License-Identifier: Apache-2.0 */
/* Model files: loaded as a whole, or refused with nothing changed. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

void fuzz_make_model_file(const char *path)
{
    FUZZ_MUST(cavs_session_save(fuzz_session(), path) == 0, "%s", cavs_error_message());
}

void fuzz_model_file(const uint8_t *data, size_t size)
{
    struct cavs_session *s = fuzz_session();
    struct fuzz_file file = fuzz_file(data, size);
    size_t bytes = (size_t)fuzz_values() * sizeof(float);
    float *before = malloc(bytes), *after = malloc(bytes);

    FUZZ_MUST(before && after, "no memory");
    fuzz_get_values(s, before);
    if (cavs_session_load(s, file.path) < 0) {
        FUZZ_MUST(*cavs_error_message(), "refused without a message");
        fuzz_get_values(s, after);
        FUZZ_MUST(memcmp(before, after, bytes) == 0, "a refused file has changed parameters");
    }
    fuzz_set_values(s, before);
    free(before);
    free(after);
    fuzz_file_close(&file);
}
