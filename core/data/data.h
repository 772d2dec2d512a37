/* SPDX-License-Identifier: Apache-2.0 */
/* data.h - samples in memory, stage by stage, in the layout that batches are cut from. */
#ifndef CAVS_CORE_DATA_DATA_H
#define CAVS_CORE_DATA_DATA_H

#include "core/base/hash_table.h"
#include "memory/column.h"
#include "core/declare/model.h"

/* What a stage of a sample has at most of vertices, edges, or values of an input.  A sample is in
 * one shard, and a shard numbers these by 32 bits, with some room: a sample with more could never
 * be used. */
enum { CAVS__MOST_OF_SAMPLE = INT32_MAX / 4 };

/* Equal rows of a column by number; see intern.c. */
struct cavs__intern {
    struct cavs__table table; /* of the positions of rows that no row before is equal to */
    size_t n;                 /* how many these are */
};

/* One stage of all samples, laid one after the other. */
struct cavs__stage_data {
    const struct cavs_stage *stage;
    struct cavs__column start;    /* int64 [samples + 1]: first vertex of each sample */
    struct cavs__column function; /* int32 [vertices] */
    struct cavs__column degree;   /* int32 [vertices]: number of children */
    struct cavs__column first;    /* int64 [samples + 1]: first child entry of each sample */
    struct cavs__column child;    /* int32: vertex of the same sample, or -1 */
    struct cavs__column count;    /* int32 [samples][nfunctions]: vertices of each function */
    struct cavs__column over;     /* int32 [vertices]: vertex of the base stage stood over */
    struct cavs__column *inputs;  /* [ninputs] int32 or rows of floats, per vertex, edge or entry */
    struct cavs__column *length;  /* [ninputs] int32 [vertices]: entries of an input per entry */
    struct cavs__column *entry;   /* [ninputs] int64 [samples + 1]: first entry of each sample */
    struct cavs__column *equal;   /* [ninputs] of rows: int32 number, the same for equal rows */
    struct cavs__intern *interned; /* [ninputs] */
    bool has_graph;                /* of the sample being added */
    bool *has_input;
};

struct cavs__pack; /* what a file of packed data consists of so far; packed.h */
struct cavs_packed;

struct cavs_data {
    const struct cavs_model *model;
    uint64_t number; /* no other data of this process have it, or had */
    int samples;
    bool open;
    bool lent; /* cavs_data_sample_ids() has been called: ids may change */
    struct cavs__stage_data *stages;
    int32_t *work; /* scratch of graph checks */
    size_t work_cap;
    struct cavs__pack *pack;     /* the file that the samples go to, or NULL */
    struct cavs_packed *packed;  /* the file that the columns are pages of, or NULL */
    struct cavs__checks *checks; /* of the samples of a packed file */
};

/* Samples are checked when a batch first has them. */
struct cavs__checks {
    unsigned last; /* how many batches have been looked at */
    unsigned in[]; /* [samples]: in which of them it was found sound; 0: in none */
};

/* sound.c: are samples of these numbers there?  Those that came from a file are checked when they
 * are used first, as cavs_data_graph() checks others. */
int cavs__data_check_samples(const struct cavs_data *d, const int *samples, int n);

/* fingerprint.c: of how many vertices these samples have, and of the children and ids of the first:
 * others may be far from all caches.  A packed file's pages would have to be read, and ids that the
 * user may change need not be the same: of those, the vertices alone. */
uint64_t cavs__samples_sum(const struct cavs_data *d, const int *samples, int n);

/* packed_read.c: where the values begin that a sample has in a column whose samples begin at
 * `starts`; NULL if the column is empty.  Of a large packed file they are better read. */
const void *cavs__values_at(const struct cavs_data *d, const struct cavs__column *c,
                            const int64_t *starts, int sample);
/* Copies them. */
void cavs__values_read(const struct cavs_data *d, const struct cavs__column *c,
                       const int64_t *starts, int sample, void *to);
/* Where they are, or a copy of them; the caller frees *copy. */
const void *cavs__values_view(const struct cavs_data *d, const struct cavs__column *c,
                              const int64_t *starts, int sample, void **copy);
/* Copies n bytes of what cavs__values_at() has told. */
void cavs__values_copy(const struct cavs_data *d, const void *from, size_t n, void *to);
/* These samples are about to be read: has the system fetch them, all at once, but for those that it
 * was told of when the batch was checked. */
void cavs__data_expect(const struct cavs_data *d, const int *samples, int n);

/* Checks the ids of one input of a sample against what they index. */
int cavs__data_check_ids(const struct cavs_data *d, const struct cavs__stage_data *s, int input,
                         int sample);

/* Entries that all vertices of a sample have in a list together. */
int64_t cavs__data_entries(const struct cavs_data *d, const struct cavs__stage_data *s,
                           const struct cavs__list *list, int sample);

/* [samples + 1] where the values of an input begin in each sample. */
const int64_t *cavs__input_starts(const struct cavs__stage_data *s, int input);

static inline const int64_t *cavs__starts(const struct cavs__stage_data *s)
{
    return s->start.p;
}

/* How many vertices of each function a sample has.  With one function that is all of them, which
 * files do not say again: *all is handed in. */
static inline const int32_t *cavs__counts_of(const struct cavs__stage_data *s, int sample,
                                             const int32_t *all)
{
    int nf = s->stage->nfunctions;

    return nf == 1 ? all : cavs__column_at(&s->count, (size_t)sample * (size_t)nf);
}

#endif
