/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - the header of a file of named matrices, and checksums; see safetensors.h. */
#include "core/files/safetensors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/hash.h"
#include "core/base/error.h"
#include "core/base/json_text.h"

/* ---- checksums ---- */

static void hash_text(uint64_t h, char text[17])
{
    snprintf(text, 17, "%016llx", (unsigned long long)h);
}

bool cavs__matrix_checksum(const json_t *entry, const void *bytes, size_t n, char text[17])
{
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    char *shape = cavs__json_text(json_object_get(entry, "shape"), JSON_COMPACT);
    uint64_t h = CAVS__HASH_START;

    if (!type || !shape) {
        free(shape);
        return false;
    }
    h = cavs__hash(h, type, strlen(type));
    h = cavs__hash(h, shape, strlen(shape));
    hash_text(cavs__hash(h, bytes, n), text);
    free(shape);
    return true;
}

bool cavs__metadata_checksum(json_t *metadata, char text[17])
{
    json_t *others = json_copy(metadata);
    bool whole = json_object_size(others) == json_object_size(metadata); /* it does not say */
    char *all;

    json_object_del(others, CAVS__CHECKSUM);
    all = whole ? cavs__json_text(others, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    json_decref(others);
    if (!all)
        return false;
    hash_text(cavs__hash(CAVS__HASH_START, all, strlen(all)), text);
    free(all);
    return true;
}

/* ---- opening ---- */

static int too_short(const struct cavs__safetensors *f, const char *what)
{
    if (ferror(f->file))
        return cavs__fail(cavs__system_error(), "%s: %s", f->path, strerror(errno));
    return cavs__fail(CAVS_EFORMAT, "%s: %s", f->path, what);
}

static int read_length(struct cavs__safetensors *f, uint64_t *n)
{
    unsigned char length[8];

    if (fread(length, 1, 8, f->file) != 8)
        return too_short(f, "shorter than a safetensors header");
    *n = 0;
    for (int i = 0; i < 8; i++)
        *n |= (uint64_t)length[i] << (8 * i);
    if (*n < 2 || *n > CAVS__MOST_HEADER)
        return cavs__fail(CAVS_EFORMAT, "%s: not a safetensors file (header of %llu bytes)",
                          f->path, (unsigned long long)*n);
    return CAVS_OK;
}

static int read_text(struct cavs__safetensors *f, char *text, size_t n)
{
    json_error_t error;

    if (fread(text, 1, n, f->file) != n)
        return too_short(f, "ends within its header");
    f->header = cavs__json_read(text, n, JSON_REJECT_DUPLICATES, &error);
    if (!f->header && !*error.text)
        return cavs__fail_nomem("header of a model file", n);
    if (!json_is_object(f->header))
        return cavs__fail(CAVS_EFORMAT, "%s: header is not a JSON object: %s", f->path,
                          f->header ? "another kind of value" : error.text);
    f->data = 8 + (long)n;
    return CAVS_OK;
}

static int check_metadata(const struct cavs__safetensors *f)
{
    const char *want = cavs__safetensors_note(f, CAVS__CHECKSUM);
    char got[17];

    if (!want)
        return CAVS_OK;
    if (!cavs__metadata_checksum(json_object_get(f->header, "__metadata__"), got))
        return cavs__fail_nomem("checksum of the metadata", 0);
    return strcmp(want, got) == 0
               ? CAVS_OK
               : cavs__fail(CAVS_EFORMAT, "%s: damaged (wrong checksum of the metadata)", f->path);
}

static int read_header(struct cavs__safetensors *f)
{
    uint64_t n = 0;
    char *text;
    int rc = read_length(f, &n);

    if (rc)
        return rc;
    text = malloc(n);
    rc = text ? read_text(f, text, n) : cavs__fail_nomem("header of a model file", n);
    free(text);
    return rc ? rc : check_metadata(f);
}

int cavs__safetensors_open(struct cavs__safetensors *f, const char *path)
{
    struct stat st;
    int rc = CAVS_OK;

    *f = (struct cavs__safetensors){.path = path, .file = fopen(path, "rbe")};
    if (!f->file)
        return cavs__fail(cavs__system_error(), "%s: %s", path, strerror(errno));
    if (fstat(fileno(f->file), &st) != 0)
        rc = cavs__fail(cavs__system_error(), "%s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        rc = cavs__fail(CAVS_EFORMAT, "%s is a folder; a model file is wanted", path);
    else if (S_ISFIFO(st.st_mode))
        rc = cavs__fail(CAVS_EFORMAT, "%s is a pipe; a model file is wanted, which is read twice",
                        path);
    if (!rc) {
        f->size = st.st_size;
        rc = read_header(f);
    }
    if (rc)
        cavs__safetensors_close(f);
    return rc;
}

void cavs__safetensors_close(struct cavs__safetensors *f)
{
    fclose(f->file);
    json_decref(f->header);
}

const char *cavs__safetensors_note(const struct cavs__safetensors *f, const char *name)
{
    return json_string_value(json_object_get(json_object_get(f->header, "__metadata__"), name));
}
