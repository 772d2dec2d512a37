/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors.h - files of named matrices: 8 bytes of header length (little endian), a JSON header that
 * names every matrix with its type, shape and byte range, then the numbers, row-major.
 */
#ifndef CAVS_CORE_SAFETENSORS_H
#define CAVS_CORE_SAFETENSORS_H

#include <jansson.h>
#include <stdio.h>

struct cavs__matrix {
    const char *name;
    int rows, cols;
    int size; /* bytes of a number: 4 is F32, 8 is F64 */
};

size_t cavs__matrix_bytes(const struct cavs__matrix *m);

/* Writes the numbers of matrix i to `values`; 0 or a cavs_error. */
typedef int cavs__matrix_get(void *context, int i, void *values);

/* Writes n matrices and the metadata, an object of strings, which it takes (NULL: out of memory), in one step
 * (replace.h). */
int cavs__safetensors_write(const char *path, json_t *metadata, int n, const struct cavs__matrix *m,
                            cavs__matrix_get *get, void *context);

struct cavs__safetensors {
    const char *path; /* not owned */
    FILE *file;
    json_t *header;
    long data; /* where the numbers begin */
};

/* On success, to be closed. */
int cavs__safetensors_open(struct cavs__safetensors *f, const char *path);
void cavs__safetensors_close(struct cavs__safetensors *f);
/* A string of the metadata, valid while the file is open; NULL if there is none of that name. */
const char *cavs__safetensors_note(const struct cavs__safetensors *f, const char *name);
/* The numbers of the matrix of that name, which has to have this shape and type; *values is to be freed. */
int cavs__safetensors_read(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                           void **values);

#endif
