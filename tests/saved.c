/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/saved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void build(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_param *W = zoo_weight(m, "W", 2, 3), *b = zoo_weight(m, "b", 1, 3);
    struct cavs_symbol *y = cavs_affine(cavs_pull(f, "x", 2), W, b);
    cavs_loss(f, "loss", cavs_sum(cavs_square(y)), NULL);
}

int saved_open(void **state, const struct cavs_session_options *options)
{
    static const struct zoo_entry model = {"saved", build, {NULL}};
    const char *text = "flat:3";
    struct saved *a = calloc(1, sizeof *a);

    assert_non_null(a);
    *state = a;
    trial_open(&a->t, zoo_model(&model), &text, 1, NULL);
    a->s = trial_session(&a->t, options);
    snprintf(a->folder, sizeof a->folder, "/tmp/cavs-saved-XXXXXX");
    if (!mkdtemp(a->folder))
        return -1;
    snprintf(a->path, sizeof a->path, "%s/model", a->folder);
    return 0;
}

int saved_close(void **state)
{
    struct saved *a = *state;

    cavs_session_destroy(a->s);
    trial_close(&a->t);
    unlink(a->path);
    rmdir(a->folder);
    free(a);
    return 0;
}

unsigned char *saved_read(const char *path, size_t *nbytes)
{
    const size_t most = 65536;
    unsigned char *bytes = calloc(1, most);
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_non_null(bytes);
    *nbytes = fread(bytes, 1, most, f);
    fclose(f);
    assert_true(*nbytes < most);
    return bytes;
}

void saved_write(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

void saved_write_model(const char *path, const char *header, const void *values, size_t n)
{
    unsigned char bytes[8192] = {0};
    size_t length = (strlen(header) + 7) / 8 * 8;

    assert_true(8 + length + n <= sizeof bytes);
    bytes[0] = (unsigned char)length;
    bytes[1] = (unsigned char)(length >> 8);
    memset(bytes + 8, ' ', length);
    memcpy(bytes + 8, header, strlen(header));
    memcpy(bytes + 8 + length, values, n);
    saved_write(path, bytes, 8 + length + n);
}
