/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - files of named matrices: 8 bytes of header length (little endian), a JSON header
 * that names every matrix with its type, shape and byte range, then the numbers, row-major.
 *
 *     safetensors.c           opens: the header; checksums
 *     safetensors_matrices.c  reads matrices
 *     safetensors_write.c     writes
 *
 * The metadata, texts under names, are part of the header.  Ours hold checksums, as 16 hexadecimal
 * digits:
 *
 *     cavs.checksum.NAME   of the matrix: its type, its shape and all its bytes
 *     cavs.checksum        of all other metadata, these included: as JSON without spaces,
 *                          sorted by names
 *
 * Files without them are read, too.
 */
#ifndef CAVS_CORE_FILES_SAFETENSORS_H
#define CAVS_CORE_FILES_SAFETENSORS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/base/own_name.h"

#define CAVS__CHECKSUM CAVS__OWN_PREFIX "checksum"
enum { CAVS__MOST_HEADER = 100 << 20 /* the format's own limit */ };

/* ---- writing ---- */

struct cavs__matrix {
    const char *name;
    int rows, cols;
    int size; /* bytes of a number: 2 is BF16, 4 is F32, 8 is F64 */
};

size_t cavs__matrix_bytes(const struct cavs__matrix *m);
const char *cavs__matrix_type(const struct cavs__matrix *m);

/* Writes the numbers of matrix i to `values`; 0 or a cavs_error.  Called twice for each, with the
 * same result. */
typedef int cavs__matrix_get(void *context, int i, void *values);

/* Writes n matrices and the metadata, an object of strings, which it takes (NULL: out of memory),
 * in one step (replace.h). */
int cavs__safetensors_write(const char *path, json_t *metadata, int n, const struct cavs__matrix *m,
                            cavs__matrix_get *get, void *context);

/* ---- reading ---- */

struct cavs__safetensors {
    const char *path; /* not owned */
    FILE *file;
    int64_t size; /* of the file */
    json_t *header;
    long data; /* where the numbers begin */
};

/* A matrix as the file describes it; its bytes lie within the file. */
struct cavs__stored {
    const char *name, *type; /* F32, .. */
    json_t *entry;
    int rows, cols; /* a vector is one row; of more dimensions all but the last are rows */
    size_t bytes;
    long offset; /* in the file */
};

/* Bytes of a number; 0: of a type that cannot be read. */
size_t cavs__type_size(const char *type);
/* On success, to be closed. */
int cavs__safetensors_open(struct cavs__safetensors *f, const char *path);
void cavs__safetensors_close(struct cavs__safetensors *f);
/* A string of the metadata, valid while the file is open; NULL if there is none of that name. */
const char *cavs__safetensors_note(const struct cavs__safetensors *f, const char *name);
/* Says where a matrix is, which has to be there. */
int cavs__safetensors_find(const struct cavs__safetensors *f, const char *name,
                           struct cavs__stored *out);
/* model_file.c: n numbers of a type that can be read, as float32. */
void cavs__to_floats(const char *type, const void *from, size_t n, float *to);
/* Its bytes, which agree with their checksum. */
int cavs__safetensors_bytes(const struct cavs__safetensors *f, const struct cavs__stored *m,
                            void *bytes);
/* The numbers of the matrix of that name, which has to have this shape; *values is to be freed.
 * Numbers of another type become float32 where that is wanted. */
int cavs__safetensors_read(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                           void **values);

/* ---- both ---- */

/* Checksums as text.  Of a matrix with this entry in the header; of the metadata.  False: out of
 * memory. */
bool cavs__matrix_checksum(const json_t *entry, const void *bytes, size_t n, char text[17]);
bool cavs__metadata_checksum(json_t *metadata, char text[17]);

#endif
