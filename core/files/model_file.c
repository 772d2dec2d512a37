/* SPDX-License-Identifier: Apache-2.0 */
/* model_file.c - a model file by itself: its notes and parameters, without a model or a session. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/files/safetensors.h"

struct cavs_model_file {
    char *path;
    struct cavs__safetensors f;
    bool open;
    int n;
    struct cavs__stored *params;
};

/* ---- opening ---- */

static int list_params(struct cavs_model_file *f)
{
    const char *name;
    json_t *entry;

    json_object_foreach(f->f.header, name, entry)
    {
        struct cavs__stored m;
        int rc;

        if (strcmp(name, "__metadata__") == 0 || cavs__is_own(name))
            continue;
        rc = cavs__safetensors_find(&f->f, name, &m);
        if (rc)
            return rc;
        if (!CAVS__APPEND(f->params, f->n, m))
            return cavs__fail_nomem("list of parameters", 2 * ((size_t)f->n + 1) * sizeof m);
    }
    return CAVS_OK;
}

int cavs_model_file_open(const char *path, struct cavs_model_file **out)
{
    struct cavs_model_file *f;
    int rc;

    if (!path || !out)
        return cavs__fail(CAVS_EINVAL, "cavs_model_file_open: no path or result");
    f = calloc(1, sizeof *f);
    if (!f || !(f->path = strdup(path))) {
        free(f);
        return cavs__fail_nomem("model file", sizeof *f + strlen(path) + 1);
    }
    rc = cavs__safetensors_open(&f->f, f->path);
    f->open = !rc;
    if (!rc)
        rc = list_params(f);
    if (rc) {
        cavs_model_file_close(f);
        return rc;
    }
    *out = f;
    return CAVS_OK;
}

void cavs_model_file_close(struct cavs_model_file *f)
{
    if (!f)
        return;
    if (f->open)
        cavs__safetensors_close(&f->f);
    free(f->params);
    free(f->path);
    free(f);
}

/* ---- questions ---- */

static const struct cavs__stored *param(const struct cavs_model_file *f, int i)
{
    return f && i >= 0 && i < f->n ? &f->params[i] : NULL;
}

const char *cavs_model_file_note(const struct cavs_model_file *f, const char *name)
{
    return f && name ? cavs__safetensors_note(&f->f, name) : NULL;
}

int cavs_model_file_count(const struct cavs_model_file *f)
{
    return f ? f->n : 0;
}

const char *cavs_model_file_name(const struct cavs_model_file *f, int i)
{
    const struct cavs__stored *p = param(f, i);

    return p ? p->name : NULL;
}

int cavs_model_file_rows(const struct cavs_model_file *f, int i)
{
    const struct cavs__stored *p = param(f, i);

    return p ? p->rows : -1;
}

int cavs_model_file_cols(const struct cavs_model_file *f, int i)
{
    const struct cavs__stored *p = param(f, i);

    return p ? p->cols : -1;
}

/* ---- numbers ---- */

static float of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Half precision: 1 bit of sign, 5 of exponent, 10 of fraction. */
static float of_half(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 1023;

    if (exponent == 0)
        return of_bits(sign) + (sign ? -1.0f : 1.0f) * ldexpf((float)fraction, -24);
    exponent = exponent == 31 ? 255 : exponent + 127 - 15;
    return of_bits(sign | exponent << 23 | fraction << 13);
}

void cavs__to_floats(const char *type, const void *from, size_t n, float *to)
{
    const uint16_t *shorts = from;
    const double *doubles = from;

    if (strcmp(type, "F32") == 0) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (strcmp(type, "F64") == 0)
            to[i] = (float)doubles[i];
        else
            to[i] = type[0] == 'B' ? of_bits((uint32_t)shorts[i] << 16) : of_half(shorts[i]);
    }
}

int cavs_model_file_read(struct cavs_model_file *f, int i, float *values)
{
    const struct cavs__stored *p = param(f, i);
    void *bytes;
    int rc;

    if (!p || !values)
        return cavs__fail(CAVS_EINVAL, "cavs_model_file_read: no file, parameter %d, or values", i);
    if (!cavs__type_size(p->type))
        return cavs__fail(CAVS_EFORMAT, "%s: %s has type %s; F32, F64, F16 and BF16 can be read",
                          f->path, p->name, p->type);
    bytes = malloc(p->bytes + 1);
    rc = bytes ? cavs__safetensors_bytes(&f->f, p, bytes) : cavs__fail_nomem(p->name, p->bytes + 1);
    if (!rc)
        cavs__to_floats(p->type, bytes, (size_t)p->rows * (size_t)p->cols, values);
    free(bytes);
    return rc;
}
