/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed.h - files of packed data; doc/packed-format.md describes the format.
 *
 *     packing.c          data that are to become one
 *     packed_write.c     writes one
 *     packed_gather.c    the records of data that are being packed
 *     packed.c           maps one and checks its directory
 *     packed_arrays.c    finds its arrays, checks their places and sums
 *     packed_records.c   finds what a sample brings: where its record is, and each column there
 *     packed_describe.c  says what is in it
 *     packed_data.c      data whose columns are such arrays, or parts of records
 *     sound.c            the first look at a sample
 *     packed_read.c      values of samples, which may be pages of one
 */
#ifndef CAVS_CORE_DATA_PACKED_H
#define CAVS_CORE_DATA_PACKED_H

#include <jansson.h>

#include "core/base/hash.h"
#include "core/data/data.h"

#define CAVS__PACKED_MAGIC "CAVSPACK"
/* Bytes of a file whose samples are used where they lie; those of a larger one are copied. */
enum { CAVS__MOST_MAPPED = 64 << 20 };
enum { CAVS__PACKED_ALIGN = 64, CAVS__PACKED_VERSION = 2, CAVS__PACKED_ORDER = 0x01020304 };

/* The first 64 bytes.  The directory follows, padded with spaces so that the arrays behind it are
 * aligned. */
struct cavs__packed_header {
    char magic[8];
    uint32_t order; /* CAVS__PACKED_ORDER in the byte order of the writing machine */
    uint32_t version;
    uint64_t directory; /* bytes of the directory, a multiple of 64 */
    uint64_t file;      /* bytes of the whole file */
    uint64_t checksum;  /* of the directory */
    uint64_t zero[3];
};

/* A column that records consist of. */
struct cavs__record_part {
    const json_t *of; /* the arrays of the stage, or the input, as they are in the directory */
    const char *name;
    size_t size; /* bytes of a value */
    int starts;  /* by which its values are counted; -1: it has none */
};

/* What lies in the file sample by sample. */
struct cavs__records {
    const char *p;
    size_t offset; /* of it in the file */
    int nparts, nstarts;
    struct cavs__record_part *parts;
    struct cavs__record_starts {
        const int64_t *at; /* [samples + 1] */
        size_t bytes;      /* of a record for each value that is counted here */
    } * starts;
    size_t *before; /* [nparts][nstarts] how many of these lie ahead of the part */
};

struct cavs_packed {
    char *path;
    int fd;
    const char *bytes; /* the mapped file */
    size_t n;
    size_t arrays; /* where they begin */
    bool large;    /* samples are copied, not used where they lie */
    json_t *directory;
    /* of a file that data are opened from: */
    struct cavs__records records;
    char *index; /* of a large one, a copy of the arrays ahead of the records */
    size_t nindex;
};

/* columns_of_stage.c: the columns of a stage, by number: those that each stage has and then four of
 * each input (its values, the numbers of equal rows, and where the lists of an input per entry
 * are).  *name: what the column is called in files, *input: of which input, or NULL. */
int cavs__stage_columns(const struct cavs__stage_data *s);
struct cavs__column *cavs__stage_column(struct cavs__stage_data *s, int i, const char **name,
                                        const struct cavs__input **input);
/* Where the values of each sample begin in a column; NULL if it has a fixed number for each. */
const int64_t *cavs__stage_column_starts(const struct cavs__stage_data *s, int i);
/* Is it an array of its own in a file, ahead of the records? */
static inline bool cavs__is_ahead(const struct cavs__stage_data *s, int i,
                                  const struct cavs__input *of)
{
    return !cavs__stage_column_starts(s, i) && (!of || of->per == CAVS__PER_ENTRY);
}

/* What the values of an input belong to, by enum cavs__per. */
extern const char *const cavs__packed_per[];
/* The part of the directory for a stage, or NULL. */
json_t *cavs__packed_stage(const struct cavs_packed *p, const char *name);
/* The array that an entry of the directory describes; its place has been checked when the file was
 * opened.  False if it is not there. */
bool cavs__packed_array(const struct cavs_packed *p, const json_t *entry, const void **bytes,
                        size_t *n);

/* An error if an array that the directory names does not lie within the file. */
int cavs__packed_check_places(const struct cavs_packed *p);
/* An error if the file was shortened since it was opened: what is no longer there must not be
 * read. */
int cavs__packed_whole(const struct cavs_packed *p);

/* packed_records.c: finds the records of a file whose directory has been checked, and makes sure
 * that each is within it. */
int cavs__records_open(struct cavs_packed *p);
void cavs__records_close(struct cavs__records *r);
/* The number of a part, -1: there is none. */
int cavs__records_find(const struct cavs__records *r, const json_t *of, const char *name);
/* Where the values of a part begin in the record of a sample. */
const void *cavs__record_values(const struct cavs__records *r, int part, int sample);
/* Where the record itself begins among all, and how long it is. */
size_t cavs__record_place(const struct cavs__records *r, int sample, size_t *from);

/* packed_gather.c: hands over the records, a piece after the other, until `take` returns false,
 * which it then does, too. */
typedef bool cavs__take_bytes(void *to, const void *bytes, size_t n);
bool cavs__records_visit(const struct cavs_data *d, cavs__take_bytes *take, void *to);

/* packed_read.c: from now on samples are read, here and there. */
void cavs__packed_read_by_samples(const struct cavs_packed *p);

/* packing.c: what is to be in a file, beside the columns of the data. */
struct cavs__packed_note {
    char *name;
    void *bytes;
    size_t n;
};

struct cavs__pack {
    char *path;
    int nnotes;
    struct cavs__packed_note *notes;
};

void cavs__pack_free(struct cavs__pack *p);

#endif
