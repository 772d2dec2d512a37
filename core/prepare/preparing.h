/* SPDX-License-Identifier: Apache-2.0 */
/* preparing.h - the steps by which a batch is prepared, shard by shard and stage by stage: for this
 * room alone. */
#ifndef CAVS_CORE_PREPARE_PREPARING_H
#define CAVS_CORE_PREPARE_PREPARING_H

#include "core/prepare/prepare.h"

/* Scratch that is used for one batch after the other. */
struct cavs__batch_scratch {
    struct cavs__shard_scratch split;
    double *sample_work; /* [n] of the batch */
    int32_t *sample_shard;
    size_t sample_cap;
    int32_t **id_mark; /* [nstored][rows] of looked-up parameters: 0, or 1 + place */
};

/* shard_memory.c */
int cavs__shard_init(const struct cavs_model *m, struct cavs__shard *shard);
void cavs__shard_free(const struct cavs_model *m, struct cavs__shard *shard);
int cavs__grow(int32_t **p, size_t n); /* to n numbers and one more */
/* Makes room for n vertices, and for n values of an input per edge or entry. */
int cavs__reserve_vertices(struct cavs__shard_stage *t, const struct cavs_stage *stage, int n);
int cavs__reserve_values(struct cavs__shard_stage *t, const struct cavs__input *in, int64_t n);

/* batch_graph.c: makes the graph of a stage from the shard's samples; the stages that it stands
 * over come first. */
int cavs__make_graph(const struct cavs_data *d, struct cavs__shard *shard,
                     const struct cavs_stage *stage);

/* Are the ids of the shard's samples what they were when its graphs were made? */
bool cavs__same_ids(const struct cavs_data *d, const struct cavs__shard *shard,
                    const struct cavs_stage *stage);

/* arrange.c: schedules a stage that has its graph. */
int cavs__arrange(const struct cavs__batch *b, struct cavs__shard *shard,
                  const struct cavs_stage *stage);

/* index.c: where the sections of a stage will be. */
int cavs__lay_out_index(struct cavs__batch *b, struct cavs__shard *shard, int stage);

/* A counting sort: rows[ptr[v]] .. rows[ptr[v + 1] - 1] are the i with values[i] = v, ascending,
 * for v in 0 .. nvalues - 1; negative values have no place. */
void cavs__invert(int32_t *ptr, int32_t *rows, const int32_t *values, int n, int nvalues);

/* noise.c: half of the key that every vertex of t has for dropout in this batch; 0 for all where
 * nothing is dropped. */
void cavs__noise(const struct cavs__batch *b, const struct cavs__shard *shard,
                 const struct cavs__shard_stage *t, bool high, int32_t *noise);

/* list_index.c: lists of the vertices of a shard.  Where the entries of vertex v begin in what the
 * samples brought, and how many there are. */
int cavs__list_start(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                     const struct cavs__list *list, int v);
int cavs__list_length(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                      const struct cavs__list *list, int v);
/* Sets t->entries and t->longest; the stage has its schedule. */
int cavs__count_entries(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                        const struct cavs_stage *stage);
/* How many entries of a list a block of V_t has. */
int64_t cavs__block_entries(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                            const struct cavs__list *list, int block);
/* Fills the section `sec`, which has a value per entry or is the pointers to them.  noise: of the
 * vertices, where it is a section of that. */
void cavs__fill_list_section(int32_t *out, const struct cavs__shard *shard,
                             const struct cavs__shard_stage *t, const struct cavs__section *sec,
                             const int32_t *noise);
/* Fills a section with rows of the fetched stage, per entry. */
void cavs__fill_list_fetch(int32_t *out, const struct cavs__shard *shard,
                           const struct cavs__shard_stage *t, const struct cavs_symbol *fetch);

/* distinct_inputs.c: numbers the distinct inputs of the functions that share work. */
int cavs__number_distinct(struct cavs__shard_stage *t, const struct cavs__stage_plan *sp,
                          struct cavs__table *scratch);
bool cavs__is_distinct(enum cavs__section_kind kind);
int cavs__distinct_length(const struct cavs__section *sec, const struct cavs__shard_stage *t);
/* partner: the section of the rows, where `sec` is that of the pointers to them. */
void cavs__fill_distinct(const struct cavs__section *sec, const struct cavs__shard_stage *t,
                         int32_t *out, int32_t *partner);

/* touched.c: makes b->touched, but for the lists. */
int cavs__find_lookups(struct cavs__batch *b);

#endif
